"""Running programs one after another, for the helpers that need several dispatches.

On a backend with device buffers, what one program hands to the next stays on the device; on others
(``reference``) it travels as arrays. Helpers are written once for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

import vyre_wgpu as vw

__all__ = ["Chain", "element_type", "size_of"]

_TYPES = {dtype.numpy: dtype for dtype in (vw.u32, vw.i32, vw.f32, vw.u64, vw.i64, vw.f64)}


def element_type(name: str, values: Any, *allowed: vw.DType) -> vw.DType:
    """The type of the elements of an array or device buffer.

    Args:
        name: what it is, for messages.
        values: what was given.
        allowed: the types that will do; none for every number type of 32 and 64 bits.

    Raises:
        InputError: it has no element type, or another one.
    """
    kinds = allowed or tuple(_TYPES.values())
    given = getattr(values, "dtype", None)
    if given is None and not isinstance(values, (list, tuple, str)):
        given = getattr(_as_array(values), "dtype", None)
    native = given.newbyteorder("=") if isinstance(given, np.dtype) else None
    found = _TYPES.get(native) if native is not None else None
    if found is None or found not in kinds:
        names = ", ".join(str(kind.numpy) for kind in kinds)
        what = type(values).__name__ if native is None else f"of dtype {native}"
        raise vw.InputError(
            f"{name} is {what}", fix=f"pass an array or device buffer of one of: {names}"
        )
    return found


def _as_array(values: object) -> npt.NDArray[Any] | None:
    try:
        return np.asarray(memoryview(values))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def size_of(values: Any) -> int:
    """Number of elements of an array, buffer or device buffer."""
    return int(values.size) if hasattr(values, "size") else int(np.asarray(values).size)


class Chain:
    """Dispatches whose results feed later ones. Closing it frees what it still holds.

    Args:
        backend: where to run, as for `vw.compile`.
    """

    def __init__(self, backend: Any = None) -> None:
        named = backend is None or isinstance(backend, str)
        self._backend: Any = vw.get_backend(backend) if named else backend
        self._resident = hasattr(self._backend, "upload")
        self._held: list[vw.DeviceBuffer] = []

    def run(
        self,
        program: vw.Program,
        inputs: Mapping[str, object],
        params: Mapping[str, Any] | None = None,
        *,
        to_host: bool = False,
    ) -> list[Any]:
        """Runs a program once.

        Args:
            program: a program whose results are all ``output`` buffers.
            inputs: arrays, or what `run` gave before, by name.
            params: the program's params.
            to_host: give arrays of the caller's own instead of what later runs take.

        Raises:
            VyreError: what `vw.compile` and a dispatch raise.
        """
        pipe = vw.compile(program, backend=self._backend)
        if to_host or not self._resident:
            return pipe.dispatch(inputs, params)
        outputs = [buffer.name for buffer in program.buffers if buffer.kind.is_returned]
        results = pipe.dispatch(inputs, params, out=dict.fromkeys(outputs, vw.DEVICE))
        self._held += results
        return results

    def hold(self, values: Any) -> Any:
        """An input that several runs take, uploaded once where there is a device for it."""
        if not self._resident or isinstance(values, vw.DeviceBuffer):
            return values
        uploaded = self._backend.upload(values)
        self._held.append(uploaded)
        return uploaded

    def free(self, *values: object) -> None:
        """Gives back the memory of results that no later run takes; leaves what is not its own."""
        for held in [held for held in self._held if any(held is value for value in values)]:
            self.release(held)
            held.close()

    def release(self, value: Any) -> Any:
        """Hands a result over to the caller, who closes it."""
        self._held = [held for held in self._held if held is not value]
        return value

    def __enter__(self) -> Chain:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.free(*self._held)
