"""Every pure operation has its defined result on every backend, run-time and literal operands."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from tests import scalar_model
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.ir import OPS, DType, Op, TypedLiteral, Value
from vyre_wgpu.ir.types import ALL_DTYPES
from vyre_wgpu.ir.values import operand_row

LOWERED = ALL_DTYPES
BOUNDED_ULP = {Op.DIV: 2.5, Op.SQRT: 2.5, Op.FMA: 1.0}

CASES = [
    (op, dtype)
    for op, info in OPS.items()
    if info.group in ("unary", "binary")
    for dtype in LOWERED
    if scalar_model.model(op, dtype) is not None
]


@pytest.fixture
def backend(any_backend: Any) -> Any:
    """These tests say what programs mean, so they run on every backend."""
    return any_backend


def pipelines(backend: Any, program: vw.Program) -> Iterator[Any]:
    """The program compiled with passes, and without where that makes another shader."""
    pipe = backend.compile(program)
    yield pipe
    if isinstance(backend, WgpuBackend):
        as_written = backend.compile(program, vw.CompileOptions(passes=False))
        if as_written.wgsl != pipe.wgsl:
            yield as_written


def apply(op: Op, operands: list[Value | TypedLiteral]) -> Value:
    """Records an operation on values, one at least of which is a kernel value."""
    first = next(x for x in operands if isinstance(x, Value))
    recorder = first._recorder
    rows = [operand_row(recorder, x, x.dtype) for x in operands]
    row = recorder.operation(op, *rows)
    return Value(recorder, row, recorder.dtype_of(row))


FLOATS = {np.dtype(t.numpy): t for t in (vw.f16, vw.f32, vw.f64)}


def expect_same(op: Op, got: Any, expected: Any, shown: str) -> None:
    if isinstance(expected, (float, np.floating)):
        dtype = FLOATS.get(np.asarray(expected).dtype, vw.f32)
        if scalar_model.is_subnormal(expected) and got == 0:
            return  # drivers may flush
        distance = scalar_model.ulp_distance(got, expected, dtype)
        zeros_differ = expected == 0 and np.signbit(got) != np.signbit(expected)
        either_zero = op in (Op.FMIN, Op.FMAX, Op.MINIMUM, Op.MAXIMUM)
        assert distance <= BOUNDED_ULP.get(op, 0), f"{shown}: {got!r}, expected {expected!r}"
        assert either_zero or not zeros_differ, f"{shown}: {got!r}, expected {expected!r}"
    else:
        assert got == expected, f"{shown}: {got!r}, expected {expected!r}"


def is_open(op: Op, operands: tuple[Any, ...]) -> bool:
    """Whether the table leaves the result open: subnormal operands may be flushed."""
    return any(scalar_model.is_subnormal(x) for x in operands)


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=lambda x: getattr(x, "name", str(x)).lower())
def test_operation_on_edge_values(op: Op, dtype: DType, backend: Any) -> None:
    """All pairs of edge values, both from buffers."""
    info, function = OPS[op], scalar_model.model(op, dtype)
    assert function is not None
    edges = scalar_model.edges(dtype)
    second = vw.u32 if "shift" in info.operands else dtype
    seconds = scalar_model.edges(second) if info.arity == 2 else [edges[0]]
    pairs = list(product(edges, seconds))
    b = vw.ProgramBuilder(f"{info.name}_{dtype}")
    x, y = b.read("x", dtype), b.read("y", second)
    i = b.global_id(0)
    result = apply(op, [buffer[i] for buffer in (x, y)[: info.arity]])
    out = b.output("out", result.dtype, count=x.length)
    out[i] = result
    columns = list(zip(*pairs, strict=True))
    arrays = [np.array(columns[0], dtype.numpy), np.array(columns[1], second.numpy)]
    for pipe in pipelines(backend, b.build()):
        (got,) = pipe.dispatch(arrays)
        with np.errstate(all="ignore"):
            for pair, value in zip(pairs, got if dtype.is_float else got.tolist(), strict=True):
                used = pair[: info.arity]
                if not is_open(op, used):
                    expected = function(dtype, *used)
                    expect_same(op, value, expected, f"{info.name}{used}")


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_operations_with_literal_operands(dtype: DType, backend: Any) -> None:
    """Each edge value as a literal second operand, and both operands literals."""
    edges = scalar_model.edges(dtype)[::3] + scalar_model.edges(dtype)[-2:]
    ops = [op for op, of in CASES if of is dtype and OPS[op].arity == 2]
    for op in ops:
        function = scalar_model.model(op, dtype)
        assert function is not None
        second = vw.u32 if "shift" in OPS[op].operands else dtype
        literals = scalar_model.edges(second)[::3] + scalar_model.edges(second)[-2:]
        b = vw.ProgramBuilder(f"literal_{OPS[op].name}_{dtype}")
        x = b.read("x", dtype)
        i = b.global_id(0)
        loaded = x[i]
        folded = TypedLiteral(dtype, dtype.encode(edges[-1]))
        results = []
        for value in literals:
            literal = TypedLiteral(second, second.encode(value))
            results += [apply(op, [loaded, literal]), literals_only(loaded, op, folded, literal)]
        out = b.output("out", results[0].dtype, count=x.length * len(results))
        for k, result in enumerate(results):
            out[i * len(results) + k] = result
        b.extent(x.length)
        for pipe in pipelines(backend, b.build()):
            (got,) = pipe.dispatch([np.array(edges, dtype.numpy)])
            rows = got.reshape(len(edges), len(results))
            for a, row in zip(edges, rows, strict=True):
                for k, value in enumerate(literals):
                    shown = f"{OPS[op].name}({a!r}, literal {value!r})"
                    for first, result in ((a, row[2 * k]), (edges[-1], row[2 * k + 1])):
                        expect_of_model(op, dtype, (first, value), result, shown)


def expect_of_model(
    op: Op, dtype: DType, operands: tuple[Any, ...], got: Any, shown: str = ""
) -> None:
    """Compares an element of an output with the model."""
    if not is_open(op, operands):
        function = scalar_model.model(op, dtype)
        assert function is not None
        with np.errstate(all="ignore"):
            expected = function(dtype, *operands)
        shown = shown or f"{OPS[op].name}{operands}"
        expect_same(op, got if dtype.is_float else got.item(), expected, shown)


def few_edges(dtype: DType) -> list[Any]:
    """Some edge values, the last two among them (for floats NaNs): each is a row of a program."""
    edges = scalar_model.edges(dtype)
    return [*edges[:-2:4], *edges[-2:]]


def literal_row(anchor: Value, dtype: DType, value: Any) -> Value:
    """A literal as a value."""
    recorder = anchor._recorder
    return Value(recorder, recorder.literal(dtype, bits_of(dtype, value)), dtype)


def bits_of(dtype: DType, value: Any) -> int:
    return scalar_model.float_bits(dtype, value) if dtype.is_float else dtype.encode(value)


def of_lane(i: Value, values: list[Value]) -> Value:
    """Of some values the one with the lane's number: one store for all of them."""
    chosen = values[0]
    for k, value in enumerate(values[1:], 1):
        chosen = vw.select(i == k, value, chosen)
    return chosen


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_unary_operations_on_literals(dtype: DType, backend: Any) -> None:
    """Edge values as the only operand."""
    ops = [op for op, of in CASES if of is dtype and OPS[op].arity == 1]
    edges = few_edges(dtype)
    b = vw.ProgramBuilder(f"literal_unary_{dtype}")
    b.extent(len(edges))
    i = b.global_id()
    for op in ops:
        result = of_lane(i, [apply(op, [literal_row(i, dtype, value)]) for value in edges])
        b.output(OPS[op].name, result.dtype, count=len(edges))[i] = result
    for pipe in pipelines(backend, b.build()):
        for op, out in zip(ops, pipe.dispatch([]), strict=True):
            for value, got in zip(edges, out, strict=True):
                expect_of_model(op, dtype, (value,), got)


@pytest.mark.parametrize("source", LOWERED, ids=str)
def test_casts_of_literals(source: DType, backend: Any) -> None:
    """Edge values of each type, as each other type."""
    edges = few_edges(source)
    b = vw.ProgramBuilder(f"cast_literal_{source}")
    b.extent(len(edges))
    i = b.global_id()
    literals = [literal_row(i, source, value) for value in edges]
    for target in LOWERED:
        result = of_lane(i, [literal.cast(target) for literal in literals])
        b.output(f"to_{target}", target, count=len(edges))[i] = result
    for pipe in pipelines(backend, b.build()):
        for target, out in zip(LOWERED, pipe.dispatch([]), strict=True):
            for given, got in zip(edges, out, strict=True):
                expect_cast(source, given, target, got)


def literals_only(anchor: Value, op: Op, a: TypedLiteral, b: TypedLiteral) -> Value:
    """An operation whose operands are both literals."""
    recorder = anchor._recorder
    rows = [operand_row(recorder, x, x.dtype) for x in (a, b)]
    row = recorder.operation(op, *rows)
    return Value(recorder, row, recorder.dtype_of(row))


@pytest.mark.parametrize("source", LOWERED, ids=str)
def test_casts_on_edge_values(source: DType, backend: Any) -> None:
    """Each type to each other one; floats saturate, integers truncate or extend."""
    edges = scalar_model.edges(source)
    b = vw.ProgramBuilder(f"cast_{source}")
    x = b.read("x", source)
    i = b.global_id(0)
    value = x[i]
    for target in LOWERED:
        out = b.output(f"to_{target}", target, count=x.length)
        out[i] = value.cast(target)
    for pipe in pipelines(backend, b.build()):
        outs = pipe.dispatch([np.array(edges, source.numpy)])
        for target, out in zip(LOWERED, outs, strict=True):
            for given, got in zip(edges, out, strict=True):
                expect_cast(source, given, target, got)


def expect_cast(source: DType, given: Any, target: DType, got: Any) -> None:
    expected = scalar_model.cast(given, source, target)
    shown = f"{source}({given!r}) as {target}"
    expect_same(Op.CAST, got if target.is_float else got.item(), expected, shown)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (a, b)
        for a in LOWERED
        for b in LOWERED
        if a.bits == b.bits and a is not b and vw.bool_ not in (a, b)
    ],
    ids=str,
)
def test_bitcasts_on_edge_values(source: DType, target: DType, backend: Any) -> None:
    """The bits survive; NaN payloads may not."""
    edges = scalar_model.edges(source)
    b = vw.ProgramBuilder(f"bitcast_{source}_{target}")
    x = b.read("x", source)
    out = b.output("out", target, count=x.length)
    i = b.global_id(0)
    out[i] = x[i].bitcast(target)
    (got,) = backend.compile(b.build()).dispatch([np.array(edges, source.numpy)])
    for given, value in zip(edges, got, strict=True):
        expected = scalar_model.bitcast(given, source, target)
        if not (source.is_float and np.isnan(given)):
            shown = f"{source}({given!r}) as bits of {target}"
            expect_same(Op.BITCAST, value if target.is_float else value.item(), expected, shown)


def test_select_and_fma(backend: Any) -> None:
    """select takes the second operand where the condition holds; fma within one rounding."""
    rng = np.random.default_rng(7)
    x = rng.standard_normal(1000).astype(np.float32)
    b = vw.ProgramBuilder("select")
    a = b.read("a", vw.f32)
    s, f = b.output("s", vw.f32, like=a), b.output("f", vw.f32, like=a)
    i = b.global_id(0)
    s[i] = vw.select(a[i] > 0.0, a[i], -1.0)
    f[i] = vw.fma(a[i], a[i], 2.0)
    chosen, fused = backend.compile(b.build()).dispatch([x])
    np.testing.assert_array_equal(chosen, np.where(x > 0, x, np.float32(-1)))
    np.testing.assert_allclose(fused, x.astype(np.float64) ** 2 + 2, rtol=2e-7)


@pytest.mark.parametrize("through", ["value", "variable", "memory", "expression"])
def test_no_driver_folds_equal_operands(through: str, backend: Any) -> None:
    """x - x, x / x, x == x and x * 0 keep their meaning for NaN and infinity, however x is had."""
    values = np.array([1.0, np.inf, -np.inf, np.nan, 0.0, -2.5], np.float32)
    b = vw.ProgramBuilder("fold")
    x = b.read("x", vw.f32)
    p = b.private("p", vw.f32, 1)
    out = b.output("out", vw.f32, count=x.length * 5)
    i = b.global_id(0)
    v: Any = x[i]
    w: Any = v
    if through == "variable":
        w = b.var("w", vw.f32, v)
    elif through == "memory":
        p[0] = v
        w = p[0]
    elif through == "expression":
        v, w = x[i] * 1.5, x[i] * 1.5
    out[i * 5] = v - w
    out[i * 5 + 1] = v / w
    out[i * 5 + 2] = vw.select(v == w, vw.f32(1), 0.0)
    out[i * 5 + 3] = v * 0.0
    out[i * 5 + 4] = vw.select(v != w, vw.f32(1), 0.0)
    b.extent(x.length)
    with np.errstate(all="ignore"):
        columns = [values - values, values / values, values == values, values * np.float32(0)]
        columns.append(values != values)
    expected = np.stack([np.asarray(c, np.float32) for c in columns], axis=1)
    for pipe in pipelines(backend, b.build()):
        (got,) = pipe.dispatch([values])
        np.testing.assert_array_equal(got.reshape(-1, 5), expected)


@pytest.mark.parametrize("dtype", [t for t in ALL_DTYPES if t.is_integer], ids=str)
def test_shifts_and_rotations_by_every_literal(dtype: DType, backend: Any) -> None:
    """llvmpipe rotated 64-bit values wrongly by 32 where the count was a literal."""
    x = np.array(scalar_model.edges(dtype)[::5], dtype.numpy)
    counts = [*range(dtype.bits + 2), 97, 255]
    for op in (Op.SHL, Op.SHR, Op.ROTL, Op.ROTR):
        function = scalar_model.model(op, dtype)
        assert function is not None
        b = vw.ProgramBuilder(f"by_literal_{OPS[op].name}")
        values = b.read("x", dtype)
        out = b.output("out", dtype, count=values.length * len(counts))
        b.extent(values.length)
        i = b.global_id()
        v = values[i] ^ 0
        for k, count in enumerate(counts):
            out[i * len(counts) + k] = apply(op, [v, TypedLiteral(vw.u32, count)])
        expected = [function(dtype, int(value), count) for value in x for count in counts]
        for pipe in pipelines(backend, b.build()):
            (got,) = pipe.dispatch([x])
            assert got.tolist() == expected, OPS[op].name


@pytest.mark.parametrize("dtype", [vw.i64, vw.u64], ids=str)
def test_shifts_by_counts_that_a_driver_can_fold(dtype: DType, backend: Any) -> None:
    """Counts that are constant, but not literals, are masked all the same."""
    x = np.array([1, 3, 1 << 40, -5], np.int64).astype(dtype.numpy)
    b = vw.ProgramBuilder("folded_counts")
    values = b.read("x", dtype)
    b.extent(values.length)
    i = b.global_id()
    q, r = b.var("q", vw.u32, 32), b.var("r", vw.u32, 2**32 - 32)
    ops = (Op.SHL, Op.SHR, Op.ROTL, Op.ROTR)
    counts = [0 - q, r + 0, q * 3, q + 64]
    out = b.output("out", dtype, count=values.length * len(ops) * len(counts))
    for k, op in enumerate(ops):
        for j, count in enumerate(counts):
            out[(i * len(ops) + k) * len(counts) + j] = apply(op, [values[i], count])
    numbers = [2**32 - 32, 2**32 - 32, 96, 96]
    expected = [
        scalar_model.model(op, dtype)(dtype, int(v), n) for v in x for op in ops for n in numbers
    ]
    for pipe in pipelines(backend, b.build()):
        (got,) = pipe.dispatch([x])
        assert got.tolist() == expected
