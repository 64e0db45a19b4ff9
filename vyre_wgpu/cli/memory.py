"""How much memory a GPU has, where the system tells: graphics APIs for portable use do not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from ..runtime.info import AdapterInfo

__all__ = ["Memory", "gpu_memory"]

_NVIDIA = 0x10DE
_CARDS = Path("/sys/class/drm")


class Memory(NamedTuple):
    """Memory of an adapter.

    Attributes:
        total_bytes: all of it, whoever uses it.
        source: who says so.
    """

    total_bytes: int
    source: str


def gpu_memory(info: AdapterInfo) -> Memory | None:
    """The memory of an adapter, or None if nobody tells."""
    if info.is_software:
        total = _machine_bytes()
        return Memory(total, "the machine's own memory") if total else None
    if info.vendor_id == _NVIDIA:
        total = nvidia_bytes(_nvidia_listing(), info.device_id)
        return Memory(total, "nvidia-smi") if total else None
    total = amdgpu_bytes(_CARDS, info.vendor_id, info.device_id)
    return Memory(total, "the kernel's driver") if total else None


def _machine_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0


def _nvidia_listing() -> str:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    query = [tool, "--query-gpu=pci.device_id,memory.total", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError, UnicodeError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def nvidia_bytes(listing: str, device_id: int) -> int:
    """The memory of a GPU in nvidia-smi's list of PCI numbers and MiB; 0 if it is not there."""
    for line in listing.splitlines():
        number, _, mebibytes = line.partition(",")
        try:
            if int(number, 16) == device_id << 16 | _NVIDIA:
                return int(mebibytes) << 20
        except ValueError:
            continue  # "[N/A]"
    return 0


def amdgpu_bytes(cards: Path, vendor_id: int, device_id: int) -> int:
    """The memory of a GPU among the kernel's graphics cards; 0 if it is not there or not told."""
    try:
        found = sorted(cards.glob("card*/device/mem_info_vram_total"))
    except OSError:
        return 0
    for file in found:
        try:
            ids = [int((file.parent / name).read_text(), 16) for name in ("vendor", "device")]
            if ids == [vendor_id, device_id]:
                return int(file.read_text())
        except (OSError, ValueError):
            continue
    return 0
