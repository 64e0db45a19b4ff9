"""Print the names of the Vulkan devices of this machine, one a line.

Exits 0 if there is one at least. Otherwise says why on standard error and exits 1.

It asks the Vulkan loader itself, the way wgpu-native will, instead of searching for driver
manifests: so every search path, variable and broken driver counts as it does in real use.
Standard library only, because it runs during set-up.
"""

from __future__ import annotations

import ctypes
import sys

VK_SUCCESS = 0
VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO = 1
NAME_OFFSET, NAME_SIZE = 20, 256  # of deviceName in VkPhysicalDeviceProperties
PROPERTIES_SIZE = 4096  # at least sizeof(VkPhysicalDeviceProperties), 824 today


class InstanceCreateInfo(ctypes.Structure):
    """VkInstanceCreateInfo."""

    _fields_ = (
        ("sType", ctypes.c_int32),
        ("pNext", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("pApplicationInfo", ctypes.c_void_p),
        ("enabledLayerCount", ctypes.c_uint32),
        ("ppEnabledLayerNames", ctypes.c_void_p),
        ("enabledExtensionCount", ctypes.c_uint32),
        ("ppEnabledExtensionNames", ctypes.c_void_p),
    )


class NoDeviceError(Exception):
    """There is no Vulkan device; the message says which part is missing."""


def device_names() -> list[str]:
    """Return the device names, at least one; raise NoDeviceError."""
    try:
        vulkan = ctypes.CDLL("libvulkan.so.1")
    except OSError as error:
        raise NoDeviceError("the Vulkan loader, libvulkan.so.1, is missing") from error

    info = InstanceCreateInfo(sType=VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO)
    instance = ctypes.c_void_p()
    result = vulkan.vkCreateInstance(ctypes.byref(info), None, ctypes.byref(instance))
    if result != VK_SUCCESS:
        raise NoDeviceError(f"the Vulkan loader finds no driver (VkResult {result})")

    try:
        count = ctypes.c_uint32()
        result = vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), None)
        if result != VK_SUCCESS or count.value == 0:
            raise NoDeviceError(f"the Vulkan drivers offer no device (VkResult {result})")
        devices = (ctypes.c_void_p * count.value)()
        vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), devices)
        return [name_of(vulkan, device) for device in devices[: count.value] if device]
    finally:
        vulkan.vkDestroyInstance(instance, None)


def name_of(vulkan: ctypes.CDLL, device: int) -> str:
    """Return the name which the driver gives to a device."""
    properties = ctypes.create_string_buffer(PROPERTIES_SIZE)
    vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(device), properties)
    name = properties.raw[NAME_OFFSET : NAME_OFFSET + NAME_SIZE]
    return name.split(b"\0", 1)[0].decode(errors="replace")


if __name__ == "__main__":
    try:
        print("\n".join(device_names()))
    except NoDeviceError as error:
        sys.exit(str(error))
