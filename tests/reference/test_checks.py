"""What the oracle says of accesses that the author vouched for, and of traps by checks."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import vyre_wgpu as vw
from vyre_wgpu.backends.reference import ReferenceBackend

TRAP, TRUSTED = vw.CompileOptions(checks="trap"), vw.CompileOptions(checks="trusted")


def line() -> int:
    """The caller's line."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def shifted(kind: str) -> tuple[vw.Program, int]:
    """Lanes 0 to 5, each with its neighbour's element of a buffer of 6; and the line of that."""
    b = vw.ProgramBuilder(kind, workgroup_size=6)
    y = b.output("y", vw.u16, 6)
    b.extent(6)
    i = b.global_id()
    target: Any = {
        "storage": lambda: b.scratch("t", vw.u16, 6),
        "workgroup": lambda: b.workgroup("t", vw.u16, 6),
        "private": lambda: b.private("t", vw.u16, 6),
    }[kind]()
    target[i + 1] = 5; at = line()  # noqa: E702 # fmt: skip
    y[i] = 1
    return b.build(), at


@pytest.mark.parametrize("kind", ["storage", "workgroup", "private"])
@pytest.mark.parametrize("options", [TRAP, TRUSTED], ids=lambda o: o.checks)
def test_an_access_out_of_bounds_is_reported(kind: str, options: vw.CompileOptions) -> None:
    """A broken word is, too: a device would write anywhere."""
    program, at = shifted(kind)
    pipe = pickle.loads(pickle.dumps(ReferenceBackend().compile(program, options)))
    assert {tuple(trap) for trap in pipe.traps([])} == {("out-of-bounds", 6, (5,))}
    report = pipe.examine([])
    assert report.outputs is None
    assert report.traps == pipe.traps([])
    with pytest.raises(vw.BoundsTrapError, match="index 6 is out of bounds of buffer 't' with 6 "):
        pipe()
    with pytest.raises(vw.BoundsTrapError) as caught:
        pipe()
    assert (caught.value.buffer, caught.value.index, caught.value.length) == ("t", 6, 6)
    assert caught.value.source == (__file__, at)
    total = ReferenceBackend().compile(program)
    assert total.traps([]) == frozenset()
    assert total.fn().tolist() == [1] * 6


def test_a_trusted_load_counts_though_its_value_is_dropped() -> None:
    b = vw.ProgramBuilder("padded")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    y[i] = vw.select(i + 1 < x.length, x[i + 1], 9)
    program, data = b.build(), np.arange(3, dtype=np.uint32)
    assert ReferenceBackend().compile(program).fn(data).tolist() == [1, 2, 9]
    with pytest.raises(vw.BoundsTrapError, match="lane 2"):
        ReferenceBackend().compile(program, TRUSTED).fn(data)


def test_a_seed_raises_any_of_the_traps() -> None:
    """Those of one statement and of several."""
    b = vw.ProgramBuilder("many")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id()
    y[i] = 7 // x[i]
    y[i * 2] = 1
    program, data = b.build(), np.array([0, 1, 2, 3, 0, 1], np.uint32)
    raised = set()
    for seed in range(60):
        pipe = ReferenceBackend(seed=seed).compile(program, TRAP)
        with pytest.raises(vw.TrapError) as caught:
            pipe.fn(data)
        raised.add((type(caught.value), caught.value.address, caught.value.lane[0]))
    assert raised == {
        (vw.DivisionTrapError, 0, 0),
        (vw.DivisionTrapError, 0, 4),
        (vw.BoundsTrapError, 6, 3),
        (vw.BoundsTrapError, 10, 5),
    }


def test_lanes_that_a_check_ended_take_no_part_in_what_follows() -> None:
    """Neither in subgroup operations behind it nor in atomics."""
    b = vw.ProgramBuilder("ended", workgroup_size=8)
    total = b.workgroup("total", vw.u32, 3)
    b.extent(8)
    k = b.local_id()
    b.atomic_add(total, k % 5, 1)  # lanes 3 and 4 end
    living = b.subgroup_ballot(vw.bool_(True), 0)
    with b.if_(living != 0b11100111):
        b.trap("living", living)
    b.barrier()
    b.atomic_add(total, 0, 1)
    b.barrier()
    with b.if_(total[0] != 8):  # lanes 0 and 5 at first, then six
        b.trap("total", total[0])
    for seed in (None, 0, 1, 2, 3):
        backend = ReferenceBackend(seed=seed, subgroup_size=8)
        traps = backend.compile(b.build(), TRAP).traps([])
        assert {tuple(t) for t in traps} == {("out-of-bounds", 3, (3,)), ("out-of-bounds", 4, (4,))}
