"""`Device`: one opened GPU with its features and limits, and whether it may still be used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from .. import settings
from ..errors import (
    DeviceLostError,
    ForkedProcessError,
    LimitError,
    NoAdapterError,
    VyreError,
)
from .adapter import Adapter, choose
from .calls import Calls, choose_calls
from .forked import current_process
from .info import AdapterInfo, Limits
from .quirks import Quirks, find_quirks

__all__ = ["USEFUL_FEATURES", "Device", "open_device", "safe_label"]

USEFUL_FEATURES = frozenset(
    {
        "immediates",
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

_LOST = ("device is lost", "device lost", "has been destroyed", "is destroyed")


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
    """

    def __init__(
        self,
        info: AdapterInfo,
        wgpu_device: Any,
        *,
        immediates: bool = True,
        quirks: Quirks | None = None,
        native: bool = True,
    ) -> None:
        self.info = info
        self.wgpu = wgpu_device
        self.queue = wgpu_device.queue
        self.features = frozenset(str(name) for name in wgpu_device.features)
        self.limits = Limits.from_wgpu(wgpu_device.limits)
        self.has_immediates = immediates and "immediates" in self.features
        self.quirks = quirks or Quirks()
        self.calls: Calls = choose_calls(wgpu_device, native=native)
        self._process = current_process()
        self._closed = False
        self._lock = threading.Lock()

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
        return self._process == current_process()

    def check(self) -> None:
        """Raises if the device may not be used here.

        Raises:
            DeviceLostError: it was closed.
            ForkedProcessError: this is a child of the process that opened it.
        """
        if self._closed:
            raise DeviceLostError(
                f"the device {self.info.name} is closed", fix="open a new backend"
            )
        if not self.is_ours:
            raise ForkedProcessError(
                f"the device {self.info.name} was opened by process {self._process}, and this is "
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
            if self._closed or any(sign in text.lower() for sign in _LOST):
                raise DeviceLostError(
                    f"the device {self.info.name} was lost while {doing}: {text}",
                    fix="open a new backend",
                ) from error
            raise VyreError(
                f"the device {self.info.name} refused {doing}: {text}",
                fix="report this: it is a fault of vyre_wgpu or of the driver",
            ) from error

    def close(self) -> None:
        """Destroys the device; what was made on it is gone. Closing twice does nothing."""
        with self._lock:
            first, self._closed = not self._closed, True
        # A forked child has no threads of the driver: destroying there could wait for ever.
        if first and self.is_ours:
            self.wgpu.destroy()


def safe_label(text: str) -> str:
    """A name as wgpu takes it: what UTF-8 cannot hold is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def open_device(request: int | str | None = None, *, immediates: bool = True) -> Device:
    """Opens a device on the adapter that `choose` gives, with its limits and useful features.

    Args:
        request: index of an adapter or a part of its name.
        immediates: whether dispatch blocks go as immediates where the adapter has them; otherwise
            through uniform buffers, which every adapter has.

    Raises:
        NoAdapterError: no adapter, none that matches, or one that gives no device.
    """
    adapter = choose(request)
    features = USEFUL_FEATURES & set(adapter.handle.features)
    handle = _request(adapter, features)
    quirks = find_quirks(adapter.info, handle)
    native = settings.current().native
    return Device(adapter.info, handle, immediates=immediates, quirks=quirks, native=native)


def _request(adapter: Adapter, features: frozenset[str]) -> Any:
    import wgpu

    try:
        # Without required limits wgpu-py asks for all that the adapter has.
        return adapter.handle.request_device_sync(
            label="vyre_wgpu", required_features=sorted(features)
        )
    except (wgpu.GPUError, RuntimeError) as error:
        raise NoAdapterError(
            f"adapter {adapter.info.index}, {adapter.info.summary}, gives no device: {error}",
            fix="choose another adapter, or update its driver",
        ) from error
