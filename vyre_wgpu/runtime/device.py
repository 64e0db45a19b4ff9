"""`Device`: one opened GPU with its features and limits, and whether it may still be used."""

from __future__ import annotations

import gc
import logging
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from .. import settings
from ..errors import (
    DeviceLostError,
    ForkedProcessError,
    InputError,
    LimitError,
    NoAdapterError,
    VyreError,
)
from .adapter import Adapter, choose, find_again
from .calls import UPLOAD_BUDGET, Calls, choose_calls
from .forked import current_process
from .info import AdapterInfo, Limits
from .interrupts import held_back
from .leaving import collect_at_exit
from .quirks import Quirks, find_quirks

__all__ = [
    "CLOSED",
    "USEFUL_FEATURES",
    "Device",
    "is_loss",
    "open_device",
    "reopen_device",
    "safe_label",
]

USEFUL_FEATURES = frozenset(
    {
        "immediates",
        "mappable-primary-buffers",
        "shader-f16",
        "shader-f64",
        "shader-float32-atomic",
        "shader-int64",
        "shader-int64-atomic-all-ops",
        "shader-int64-atomic-min-max",
        "subgroup",
        "subgroup-barrier",
        "timestamp-query",
    }
)
"""Features enabled wherever the adapter has them."""

_IN_PLACE = "mappable-primary-buffers"

MIN_BINDING_BYTES = 1 << 12
"""The lowest limit of a storage binding that may be asked for."""

CLOSED = "compile the program again: vw.compile opens a new backend"
"""What to do where a backend is closed."""

_RECOVER = (
    "call backend.recover(), which opens the device again; pipelines go on, device buffers and "
    "recordings are made anew"
)

_LOST = ("device is lost", "device lost", "device was lost")  # ends of lines
_GONE = ("has been destroyed", "is destroyed")


class Device:
    """An opened device.

    Attributes:
        info: the adapter it was opened on.
        limits: its limits; the adapter's own, not WebGPU's minimum.
        features: names of its enabled features.
        wgpu: wgpu's device.
        queue: wgpu's queue.
        has_immediates: whether dispatch blocks may be passed as immediates.
        quirks: what its driver does that it should not.
        calls: how dispatches call wgpu.
        takes_native: whether dispatches may call wgpu-native directly.
        upload_bytes: bytes of its staging buffers for uploads.
        writes_in_place: whether kernels may write into memory that the host maps.
        loss: why it is lost; None while it is not, as far as is known.
        process: id of the process that opened it.
        is_over: whether it is lost or closed; no call may be made with what was made on it.
        views: what stands for mapped memory of it that arrays of the caller's show. While there is
            any the device is not destroyed, since that would free the memory.
    """

    def __init__(
        self,
        info: AdapterInfo,
        wgpu_device: Any,
        *,
        immediates: bool = True,
        quirks: Quirks | None = None,
        native: bool = True,
        upload_bytes: int = UPLOAD_BUDGET,
    ) -> None:
        self.info = info
        self.wgpu = wgpu_device
        self.queue = wgpu_device.queue
        self.features = frozenset(str(name) for name in wgpu_device.features)
        self.limits = Limits.from_wgpu(wgpu_device.limits)
        self.has_immediates = immediates and "immediates" in self.features
        # Metal and Direct3D have it too, untried.
        self.writes_in_place = _IN_PLACE in self.features and info.api == "Vulkan"
        self.takes_native, self.upload_bytes = native, upload_bytes
        self.quirks = quirks or Quirks()
        self.views: set[object] = set()
        self.calls: Calls = choose_calls(
            wgpu_device, self.views, native=native, api=info.api, upload_bytes=upload_bytes
        )
        self.process = current_process()
        self._closed = self.is_over = False
        self.loss: str | None = None
        self._lock = threading.Lock()
        self._destroy = wgpu_device.destroy
        # Whoever destroys it at wgpu: we must hear of it, for wgpu-native ends the process where
        # work is submitted to it, or memory that was mapped is read.
        itself, destroy = weakref.ref(self), weakref.WeakMethod(wgpu_device.destroy)

        def destroyed() -> None:
            device, method = itself(), destroy()
            if device is not None:
                device.lose("it was destroyed")
            if method is not None and not (device is not None and device.views):
                method()

        wgpu_device.destroy = destroyed

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"the device {self.info.name} is neither copied nor pickled, for it belongs to this "
            "process: open a backend where one is needed"
        )

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it, rather than the one it was forked from."""
        return self.process == current_process()

    def check(self) -> None:
        """Raises if the device may not be used here.

        Raises:
            DeviceLostError: it was lost or closed.
            ForkedProcessError: this is a child of the process that opened it.
        """
        if self.is_over:
            if self.loss is not None:
                raise DeviceLostError(
                    f"the device {self.info.name} was lost: {self.loss}", fix=_RECOVER
                )
            raise DeviceLostError(f"the device {self.info.name} is closed", fix=CLOSED)
        if not self.is_ours:
            raise ForkedProcessError(
                f"the device {self.info.name} was opened by process {self.process}, and this is "
                f"its forked child {current_process()}",
                fix='start workers with multiprocessing.get_context("spawn")',
            )

    @contextmanager
    def reporting(self, doing: str) -> Iterator[None]:
        """Turns wgpu's errors in the block into ours.

        Args:
            doing: what is being done, for messages, such as ``dispatching 'saxpy'``.

        Raises:
            LimitError: the device is out of memory.
            DeviceLostError: it was lost or destroyed.
            VyreError: wgpu refused what we asked of it.
        """
        try:
            yield
        except Exception as error:
            self.report(error, doing)
            raise

    def report(self, error: BaseException, doing: str) -> None:
        """Raises ours for an error of wgpu's; returns for any other.

        Args:
            error: what was caught.
            doing: what was being done, for messages.

        Raises:
            LimitError, DeviceLostError, VyreError: as `reporting`.
        """
        import wgpu

        if isinstance(error, wgpu.GPUOutOfMemoryError):
            raise LimitError(
                f"the device {self.info.name} is out of memory while {doing}: {error}",
                fix="use smaller arrays, or close other users of the device",
            ) from error
        if isinstance(error, (wgpu.GPUError, RuntimeError)) and not isinstance(error, VyreError):
            text = str(error)
            if is_loss(error) and not self._closed:
                self.lose(f"found while {doing}")
            if self.is_over or any(sign in text.lower() for sign in _GONE):
                raise DeviceLostError(
                    f"the device {self.info.name} was lost while {doing}: {text}",
                    fix=_RECOVER if self.loss is not None else CLOSED,
                ) from error
            raise VyreError(
                f"the device {self.info.name} refused {doing}: {text}",
                fix="report this: it is a fault of vyre_wgpu or of the driver",
            ) from error

    def lose(self, reason: str) -> None:
        """Takes note that it is lost; what is reported later says so too.

        Args:
            reason: how that is known; the first one is kept.
        """
        with self._lock:
            if self.loss is None:
                self.loss = reason
            self.is_over = True

    def close(self) -> None:
        """Destroys the device; what was made on it is gone. Closing twice does nothing.

        While there are `views` nothing is destroyed: it ends with the last object made on it.
        """
        with self._lock:
            first, self._closed = not self._closed, True
            self.is_over = True
        # A forked child has no threads of the driver: destroying there could wait for ever.
        if first and self.is_ours and not self.views:
            self._destroy()


def is_loss(error: BaseException) -> bool:
    """Whether an error of wgpu's says that the device is lost."""
    # A label that says so ends in a quotation mark.
    lines = str(error).lower().splitlines()
    return any(line.rstrip(" .").endswith(_LOST) for line in lines)


def safe_label(text: str) -> str:
    """A name as wgpu takes it: what UTF-8 cannot hold is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def open_device(
    request: int | str | None = None,
    *,
    immediates: bool = True,
    max_binding_bytes: int | None = None,
) -> Device:
    """Opens a device on the adapter that `choose` gives, with its limits and useful features.

    Args:
        request: index of an adapter or a part of its name.
        immediates: whether dispatch blocks go as immediates where the adapter has them; otherwise
            through uniform buffers, which every adapter has.
        max_binding_bytes: a lower limit of a storage binding than the adapter's, which the device
            then has as its own.

    Raises:
        InputError: a limit that is too low, or no int.
        NoAdapterError: no adapter, none that matches, or one that gives no device.
    """
    if max_binding_bytes is not None and (
        type(max_binding_bytes) is not int or max_binding_bytes < MIN_BINDING_BYTES
    ):
        raise InputError(
            f"max_binding_bytes is {max_binding_bytes!r}, not an int of at least "
            f"{MIN_BINDING_BYTES}",
            fix=f"pass {1 << 27}, or None for as much as the device binds",
        )
    collect_at_exit()
    chosen = settings.current()
    with held_back():
        return _open(request, chosen, immediates, max_binding_bytes)


def _open(
    request: int | str | None,
    chosen: settings.Settings,
    immediates: bool,
    max_binding_bytes: int | None,
) -> Device:
    adapter = choose(request)
    handle = _request(adapter, max_binding_bytes)
    quirks = find_quirks(adapter.info, handle)
    return Device(
        adapter.info,
        handle,
        immediates=immediates,
        quirks=quirks,
        native=chosen.native,
        upload_bytes=chosen.upload_bytes,
    )


def reopen_device(lost: Device) -> Device:
    """Opens another device on the adapter of one that is lost, in the same way.

    Raises:
        NoAdapterError: the adapter is gone, or gives no device.
        ForkedProcessError: this is a child of the process that opened it.
    """
    with held_back():
        adapter = find_again(lost.info)
        return Device(
            adapter.info,
            _request(adapter, lost.limits.max_binding_size),
            immediates=lost.has_immediates,
            quirks=lost.quirks,
            native=lost.takes_native,
            upload_bytes=lost.upload_bytes,
        )


def _request(adapter: Adapter, max_binding_bytes: int | None) -> Any:
    import wgpu

    features = USEFUL_FEATURES & set(adapter.handle.features)
    limits = {}
    if max_binding_bytes is not None:
        name = "max-storage-buffer-binding-size"
        limits[name] = min(max_binding_bytes, adapter.handle.limits[name])

    def ask(handle: Any) -> Any:
        # Of limits that are not required wgpu-py asks for all that the adapter has.
        return handle.request_device_sync(
            label="vyre_wgpu", required_features=sorted(features), required_limits=limits
        )

    wgpus_log = logging.getLogger("wgpu")
    wgpus_log.addFilter(_is_news)
    try:
        try:
            return ask(adapter.handle)
        except (wgpu.GPUError, RuntimeError):
            # A driver has room for so many devices, and wgpu-py's are in reference cycles: one that
            # is closed stays with the driver until the garbage collector finds it.
            gc.collect()
            return ask(find_again(adapter.info).handle)
    except (wgpu.GPUError, RuntimeError) as error:
        raise NoAdapterError(
            f"adapter {adapter.info.index}, {adapter.info.summary}, gives no device: {error}",
            fix="close devices that are open, choose another adapter, or update its driver",
        ) from error
    finally:
        wgpus_log.removeFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    """Not what wgpu-native says of a feature that is used for small results only."""
    return "MAPPABLE_PRIMARY_BUFFERS" not in record.getMessage()
