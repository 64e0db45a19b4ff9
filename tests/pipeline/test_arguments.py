from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vyre_wgpu as vw
from vyre_wgpu.errors import InputError, LimitError, OutputBudgetError
from vyre_wgpu.ir.program import Program
from vyre_wgpu.ir.types import DType
from vyre_wgpu.pipeline import DispatchConfig
from vyre_wgpu.pipeline.arguments import Binder


def copy_program(dtype: DType = vw.f32, params: Sequence[tuple[str, DType]] = ()) -> Program:
    """y = x, of x's shape."""
    b = vw.ProgramBuilder("copy")
    x = b.read("x", dtype)
    y = b.output("y", dtype, like=x)
    for name, param_dtype in params:
        b.param(name, param_dtype)
    i = b.global_id(0)
    y[i] = x[i]
    return b.build()


def axes_program(axes: int) -> Program:
    """A constant output under an extent of some axes."""
    b = vw.ProgramBuilder("axes", workgroup_size=(8, 4, 2))
    y = b.output("y", vw.u32, count=4)
    b.extent(*[2, 3, 4][:axes])
    y[b.global_id(0)] = 1
    return b.build()


def bound(value: object, dtype: DType = vw.f32) -> npt.NDArray[Any]:
    """What a backend gets for an input."""
    return Binder(copy_program(dtype)).bind([value]).inputs[0]


VALUES = np.arange(24, dtype=np.float32).reshape(2, 3, 4) + 0.5


class Foreign:
    """An object with one of NumPy's protocols."""

    def __init__(self, inner: npt.NDArray[Any]) -> None:
        self.__array_interface__ = inner.__array_interface__
        self._inner = inner


class Subclass(np.ndarray[Any, Any]):
    """An array type of somebody's own."""


class Convertible:
    """An object that gives an array when asked."""

    def __array__(self, dtype: object = None, copy: object = None) -> npt.NDArray[Any]:
        return VALUES


@pytest.mark.parametrize(
    "value",
    [
        VALUES,
        VALUES.astype(">f4"),
        VALUES[::-1, :, ::-2],
        VALUES.T,
        np.asfortranarray(VALUES),
        np.broadcast_to(np.float32(3), (2, 3)),
        np.float32(3),
        np.array(3, np.float32),
        np.zeros((0, 3), np.float32),
        memoryview(VALUES)[1:],
        array.array("f", [1, 2, 3]),
        (ctypes.c_float * 3)(1, 2, 3),
        Foreign(VALUES),
        Convertible(),
        VALUES.view(Subclass),
        np.frombuffer(b"\0" + VALUES.tobytes(), np.float32, offset=1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arrays_are_converted_by_value_in_c_order(value: Any) -> None:
    got = bound(value)
    want = np.asarray(value).astype(np.float32)
    assert got.flags.c_contiguous
    assert got.dtype == np.dtype(np.float32)
    assert got.dtype.isnative
    assert got.ravel().tolist() == want.ravel().tolist()


def test_an_array_that_is_ready_is_not_copied() -> None:
    assert bound(VALUES) is VALUES


@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc"), memoryview(b"xabc")[1:], b""])
def test_bytes_are_elements_of_u8(data: Any) -> None:
    assert bound(data, vw.u8).tolist() == list(bytes(data))


def test_a_memory_map_is_bytes() -> None:
    with mmap.mmap(-1, 16) as memory:
        memory[:3] = b"abc"
        assert bound(memory, vw.u8)[:3].tolist() == [97, 98, 99]


def test_read_only_input_is_taken() -> None:
    value = VALUES.copy()
    value.flags.writeable = False
    assert bound(value) is value


@pytest.mark.parametrize(
    ("value", "dtype", "found"),
    [
        (VALUES.astype(np.float64), vw.f32, "float64"),
        (VALUES.astype(np.int32), vw.f32, "int32"),
        (np.arange(3, dtype=np.uint32), vw.i32, "uint32"),
        (np.arange(3, dtype=np.uint8), vw.bool_, "uint8"),
        (np.zeros(3, bool), vw.u8, "bool"),
        (VALUES.astype(complex), vw.f32, "complex"),
        (np.array([1, None]), vw.f32, "object"),
        (np.array(["a"]), vw.f32, "<U1"),
        (np.zeros(3, "f4,f4"), vw.f32, "f0"),
        (np.zeros(3, "M8[s]"), vw.u32, "datetime64"),
        (b"abcd", vw.f32, "uint8"),
        ([1.0, 2.0], vw.f32, "a list"),
        ((1.0,), vw.f32, "a tuple"),
        (1.0, vw.f32, "a float"),
        (None, vw.f32, "None"),
        ("text", vw.u8, "a str"),
        ({1: 2}, vw.f32, "a dict"),
        (np.ma.masked_array([1, 2], dtype=np.float32), vw.f32, "masked"),
    ],
)
def test_what_is_no_array_of_the_type_is_named(value: Any, dtype: DType, found: str) -> None:
    with pytest.raises(InputError, match="'x'") as raised:
        bound(value, dtype)
    text = str(raised.value)
    assert found in text
    assert "Fix: pass" in text or "Fix: convert" in text
    assert str(dtype.numpy) in text or "mask" in text or found == "a dict" or dtype is vw.bool_


def test_an_object_that_refuses_conversion_is_an_input_error() -> None:
    class Remote:
        def __array__(self, dtype: object = None, copy: object = None) -> npt.NDArray[Any]:
            raise RuntimeError("lives on another device")

    with pytest.raises(InputError, match=r"'x' is a Remote.*another device"):
        bound(Remote())
    view = memoryview(bytearray(4))
    view.release()
    with pytest.raises(InputError, match="'x' is a memoryview"):
        bound(view, vw.u8)


def test_more_elements_than_32_bits_hold_are_refused_before_any_copy() -> None:
    with pytest.raises(InputError, match="'x' has 4294967296 elements"):
        bound(np.broadcast_to(np.uint8(0), (1 << 16, 1 << 16)), vw.u8)


@pytest.fixture(scope="module")
def two_inputs() -> Binder:
    b = vw.ProgramBuilder("two")
    x, y = b.read("x", vw.u32), b.read_write("y", vw.u32, count=4)
    n = b.param("n", vw.i16)
    scale = b.param("scale", vw.f32)
    flag = b.param("flag", vw.bool_)
    z = b.output("z", vw.u32, count=x.length * n + 1)
    b.extent(x.length)
    with b.if_(flag):
        y[0] = z.length
    z[0] = scale.cast(vw.u32) + x[0]
    return Binder(b.build())


X, Y = np.arange(3, dtype=np.uint32), np.arange(4, dtype=np.uint32)
PARAMS = {"n": 2, "scale": 1.5, "flag": True}


def test_inputs_by_position_and_by_name_are_the_same(two_inputs: Binder) -> None:
    by_position = two_inputs.bind([X, Y], PARAMS)
    by_name = two_inputs.bind({"y": Y, "x": X}, PARAMS)
    assert by_position == by_name
    assert by_position.lengths == (3, 4, 7)
    assert by_position.extent == (3,)
    assert by_position.shapes == ((4,), (7,))
    assert by_position.params == (2, 0x3FC00000, 1)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([X], r"input 'y' is missing.*takes 2.*1 given.*Fix: pass x \(u32\), y \(u32\)"),
        ([], "input 'x' is missing"),
        ([X, Y, X], "takes 2 input.*3 given"),
        ({"x": X}, "input 'y' is missing"),
        ({"x": X, "y": Y, "w": X}, "has no input 'w'"),
        ({"x": X, 3: Y}, "has no input 3"),
        ({"x": X, "y": Y, "z": X}, "has no input 'z'"),
        (X, r"inputs are an array.*Fix: pass \[x\]"),
        (b"ab", "inputs are a bytes"),
        ("xy", "inputs are a str"),
        (array.array("I", [1, 2]), "inputs are an array"),
        (None, "inputs are None"),
        ({X.tobytes(), b""}, "inputs are a set"),
        ([X, X], "'y' has 3 elements.*declares 4"),
    ],
)
def test_wrong_inputs(two_inputs: Binder, inputs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_inputs.bind(inputs, PARAMS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": None}, "'n' is None, not a value of i16.*-32768 to 32767"),
        ({"n": 32768}, "'n' is 32768"),
        ({"n": 1.0}, "'n' is 1.0"),
        ({"n": True}, "'n' is True"),
        ({"n": "2"}, "'n' is '2'"),
        ({"n": 10**100}, "'n' is an int, not"),
        ({"scale": 1e39}, r"'scale' is 1e\+39, not a value of f32"),
        ({"scale": 1j}, "'scale' is 1j"),
        ({"scale": np.ones(1)}, "'scale' is array"),
        ({"scale": True}, "'scale' is True"),
        ({"flag": 1}, "'flag' is 1.*True or False"),
        ({"k": 1}, "'k' is unknown.*'n', 'scale', 'flag'"),
        ({"x": 1}, "'x' is an input of program 'two', not a param"),
        ({5: 1}, "param 5 is unknown"),
        ({"n": -1}, r"count of 'z', \(x.length \* n\) \+ 1, is -2"),
    ],
)
def test_wrong_params(two_inputs: Binder, change: dict[Any, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_inputs.bind([X, Y], {**PARAMS, **change})


def test_missing_params_and_a_wrong_container(two_inputs: Binder) -> None:
    with pytest.raises(InputError, match=r"param 'n' \(i16\) is missing"):
        two_inputs.bind([X, Y])
    with pytest.raises(InputError, match="params is a list"):
        two_inputs.bind([X, Y], [1, 2])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "bits"),
    [(np.int64(-1), 0xFFFF), (np.uint8(7), 7), (-32768, 0x8000), (32767, 0x7FFF)],
)
def test_numpy_scalars_are_params(two_inputs: Binder, value: Any, bits: int) -> None:
    n = Binder(copy_program(params=[("n", vw.i16)])).bind([VALUES], {"n": value})
    assert n.params == (bits,)


@pytest.mark.parametrize("value", [1, 1.0, np.float64(1), np.int8(1), np.float16(1)])
def test_a_float_param_takes_any_real_number(value: Any) -> None:
    call = Binder(copy_program(params=[("a", vw.f32)])).bind([VALUES], {"a": value})
    assert call.params == (0x3F800000,)


@pytest.mark.parametrize(
    ("axes", "config", "extent"),
    [
        (1, {}, (2,)),
        (3, {}, (2, 3, 4)),
        (1, {"extent": 5}, (5,)),
        (1, {"extent": (5,)}, (5,)),
        (2, {"extent": (5, 0)}, (5, 0)),
        (2, {"extent": np.array([5, 6], np.uint8).tolist()}, (5, 6)),
        (1, {"extent": np.uint64(7)}, (7,)),
        (1, {"grid": 3}, (24,)),
        (3, {"grid": (1, 2, 3)}, (8, 8, 6)),
        (1, {"extent": (1 << 32) - 1}, ((1 << 32) - 1,)),
    ],
)
def test_extent_and_grid(axes: int, config: dict[str, Any], extent: tuple[int, ...]) -> None:
    call = Binder(axes_program(axes)).bind([], config=DispatchConfig(**config))
    assert call.extent == extent
    assert call.is_empty == (0 in extent)


@pytest.mark.parametrize(
    ("axes", "config", "error", "message"),
    [
        (1, {"extent": 1, "grid": 1}, InputError, "both given"),
        (2, {"extent": 5}, InputError, "extent 5 has 1 axes.*has 2"),
        (1, {"extent": (1, 2)}, InputError, "has 2 axes"),
        (1, {"extent": ()}, InputError, "has 0 axes"),
        (1, {"extent": -1}, InputError, "extent is -1"),
        (1, {"extent": 1 << 32}, InputError, "extent is 4294967296"),
        (1, {"extent": 1.0}, InputError, "extent is 1.0"),
        (1, {"extent": "3"}, InputError, "extent is '3'"),
        (1, {"extent": True}, InputError, "extent is True"),
        (1, {"grid": 0}, InputError, "grid is 0, not 1 int.* from 1"),
        (2, {"grid": (1, -1)}, InputError, "grid is"),
        (2, {"extent": (1 << 16, 1 << 16)}, LimitError, "4294967296 lanes"),
        (1, {"grid": 1 << 31}, LimitError, "lanes"),
        (1, {"max_output_bytes": -1}, InputError, "max_output_bytes is -1"),
        (1, {"max_output_bytes": "1"}, InputError, "max_output_bytes"),
        (1, {"label": 3}, InputError, "label is an int"),
    ],
)
def test_wrong_config(
    axes: int, config: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Binder(axes_program(axes)).bind([], config=DispatchConfig(**config))


def test_config_of_another_type() -> None:
    with pytest.raises(InputError, match="config is a dict"):
        Binder(axes_program(1)).bind([], config={"extent": 3})  # type: ignore[arg-type]


def test_budget_counts_every_returned_byte(two_inputs: Binder) -> None:
    two_inputs.bind([X, Y], PARAMS, DispatchConfig(max_output_bytes=(4 + 7) * 4))
    with pytest.raises(OutputBudgetError, match=r"44 bytes \(y 16, z 28\).*=43"):
        two_inputs.bind([X, Y], PARAMS, DispatchConfig(max_output_bytes=43))


def test_check_sees_lengths_before_anything_is_copied() -> None:
    class StopError(Exception):
        pass

    def check(lengths: Sequence[int]) -> None:
        assert list(lengths) == [1 << 31, 1 << 31]
        raise StopError

    huge = np.broadcast_to(np.float32(0), (1 << 31,))
    with pytest.raises(StopError):
        Binder(copy_program()).bind([huge], check=check)


def test_like_follows_shapes_through_other_outputs() -> None:
    b = vw.ProgramBuilder("chain")
    x = b.read_write("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    z = b.output("z", vw.u8, like=y)
    b.output("w", vw.u8, count=z.length * 2)
    b.extent(x.length)
    y[b.global_id(0)] = x[b.global_id(0)]
    call = Binder(b.build()).bind([VALUES])
    assert call.shapes == ((2, 3, 4), (2, 3, 4), (2, 3, 4), (48,))


def test_carry_is_refused_by_name() -> None:
    b = vw.ProgramBuilder("running")
    x = b.read("x", vw.u32)
    total = b.carry("total", vw.u32, count=1)
    b.extent(x.length)
    b.atomic_add(total, 0, x[b.global_id(0)])
    with pytest.raises(InputError, match="carry buffer 'total'"):
        Binder(b.build()).bind([X])


def test_chunk_takes_bytes_as_native_elements() -> None:
    binder = Binder(copy_program(vw.f32))
    for data in (VALUES.tobytes(), bytearray(VALUES.tobytes()), memoryview(VALUES.tobytes())):
        (chunk,) = binder.chunk(data)
        assert binder.bind([chunk]).inputs[0].tolist() == VALUES.ravel().tolist()
    assert binder.chunk(VALUES)[0] is VALUES
    strided = memoryview(bytes(16))[::2]
    assert binder.bind(binder.chunk(strided)).lengths == (2, 2)


def test_wrong_chunks() -> None:
    with pytest.raises(InputError, match=r"'x' takes elements of 4 bytes .* 7 bytes"):
        Binder(copy_program()).chunk(b"1234567")
    with pytest.raises(InputError, match="'x' takes bool"):
        Binder(copy_program(vw.bool_)).chunk(b"\1")
    binder = Binder(copy_program())
    typed = binder.chunk(np.zeros(4, np.uint8))
    with pytest.raises(InputError, match="'x' has dtype uint8"):
        binder.bind(typed)


def test_chunk_needs_exactly_one_input(two_inputs: Binder) -> None:
    with pytest.raises(InputError, match="has 2: 'x', 'y'"):
        two_inputs.chunk(b"")
    with pytest.raises(InputError, match="has 0"):
        Binder(axes_program(1)).chunk(b"")
