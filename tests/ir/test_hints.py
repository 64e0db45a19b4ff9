"""Mistakes that raise at once while a kernel is written: a table of what is said to each."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import vyre_wgpu as vw


class Kernel(NamedTuple):
    """A kernel that is being written."""

    b: Any
    x: Any
    y: Any
    i: Any
    v: Any


def kernel() -> Kernel:
    b = vw.ProgramBuilder("k")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id(0)
    return Kernel(b, x, y, i, x[i])


class Mistake(NamedTuple):
    """What somebody writes, what is raised, and what the message says, as a pattern."""

    name: str
    write: Callable[[Kernel], Any]
    error: type[Exception]
    says: str


TABLE = [
    Mistake("a value in a tag", lambda k: k.b.trap(f"bad {k.v}"), TypeError, "address=value"),
    Mistake("a length in text", lambda k: f"{k.x.length:>8}", TypeError, "address=value"),
    Mistake("for over for_range", lambda k: list(k.b.for_range(3)), TypeError,
            r"with b\.for_range\(\.\.\.\) as k:"),
    Mistake("for over if_", lambda k: list(k.b.if_(k.v > 0)), TypeError, r"with b\.if_\(\.\.\.\):"),
    Mistake("for over a buffer", lambda k: list(k.x), TypeError, r"b\.for_range\(x\.length\)"),
    Mistake("sum of a buffer", lambda k: sum(k.x), TypeError, r"b\.for_range\(x\.length\)"),
    Mistake("in a buffer", lambda k: k.i in k.x, TypeError, r"b\.for_range\(x\.length\)"),
    Mistake("for over a value", lambda k: list(k.v), TypeError, r"b\.for_range\(n\)"),
    Mistake("in a value", lambda k: 1.0 in k.v, TypeError, "compare"),
    Mistake("shape", lambda k: k.x.shape, AttributeError, r"x\.length.*params"),
    Mistake("size", lambda k: k.x.size, AttributeError, r"x\.length"),
    Mistake("sum", lambda k: k.x.sum(), AttributeError, r"programs\.reduce"),
    Mistake("astype of a buffer", lambda k: k.x.astype(int), AttributeError, r"x\[i\]\.cast"),
    Mistake("astype", lambda k: k.v.astype(np.int32), AttributeError, r"value\.cast\(vw\.f32\)"),
    Mistake("a function as a method", lambda k: k.v.sqrt(), AttributeError, r"vw\.sqrt\(value\)"),
    Mistake("item", lambda k: k.v.item(), AttributeError, "only on the device"),
    Mistake("assigning to a let", lambda k: k.b.let("t", k.v).set(1), AttributeError, r"b\.var\("),
    Mistake("a typo", lambda k: k.v.bitcats, AttributeError, "no attribute 'bitcats'$"),
    Mistake("no type, float", lambda k: k.b.var("t", 0.0), TypeError,
            r"b\.var\('t', vw\.f32, 0\.0\)"),
    Mistake("no type, int", lambda k: k.b.var("t", 0), TypeError, r"b\.var\('t', vw\.i32, 0\)"),
    Mistake("no type, bool", lambda k: k.b.var("t", True), TypeError, r"vw\.bool_, True\)"),
    Mistake("no type, value", lambda k: k.b.var("t", k.i), TypeError, r"vw\.u32, value\)"),
    Mistake("no type, neither", lambda k: k.b.var("t", "f32"), TypeError, "element type"),
    Mistake("like a name", lambda k: k.b.output("z", vw.f32, like="x"), TypeError,
            "'x' is a buffer's name: pass what"),
    Mistake("atomic on a name", lambda k: k.b.atomic_add("y", 0, 1), TypeError, "buffer's name"),
    Mistake("an id without a call", lambda k: k.x[k.b.global_id], TypeError,
            r"call it: global_id\("),
    Mistake("a function without a call", lambda k: k.v + vw.sqrt, TypeError, r"call it: sqrt\("),
    Mistake("a builder runs", lambda k: k.b.fn(1), AttributeError, r"vw\.compile\(b\.build\(\)\)"),
    Mistake("a kernel prints", lambda k: k.b.print(k.v), AttributeError, "cannot print"),
    Mistake("a program runs", lambda k: k.b.build().fn(1), AttributeError,
            r"vw\.compile\(program\).*pipe\.fn"),
    Mistake("philox of numbers", lambda k: vw.random.philox4x32(k.i, key=3), TypeError,
            r"4 words and a key of 2, not a single one and a single one.*\(i, 0, 0, 0\)"),
    Mistake("philox of a buffer", lambda k: vw.random.philox4x32(k.x, (1, 2)), TypeError,
            r"not a single one and 2"),
    Mistake("philox, short key", lambda k: vw.random.philox4x32((k.i, 0, 0, 0), (3,)), TypeError,
            r"not 4 and 1"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", TABLE, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told_what_to_write(mistake: Mistake) -> None:
    with pytest.raises(mistake.error, match=mistake.says):
        mistake.write(kernel())


def test_a_value_shows_its_type_to_who_looks_at_it() -> None:
    """Only text that would go into a program is refused."""
    k = kernel()
    assert (str(k.v), repr(k.i), f"{k.v!r}") == ("<Value f32>", "<Value u32>", "<Value f32>")
    assert repr(k.b) == "<ProgramBuilder 'k'>"


def test_an_attribute_that_is_not_there_is_an_attribute_error_as_ever() -> None:
    """So `hasattr`, a default and copies work."""
    k = kernel()
    k.y[k.i] = k.v
    program = k.b.build()
    for thing in (k.b, k.x, k.v, k.x.length, program):
        assert not hasattr(thing, "fn_")
        assert getattr(thing, "shape", None) is None
    assert copy.copy(k.x).name == "x"
    assert copy.copy(k.v).dtype is vw.f32
    assert pickle.loads(pickle.dumps(program)) == program


def assigned_in_a_loop(k: Kernel) -> None:
    t = k.b.var("t", vw.f32, 0)
    with k.b.for_range(k.x.length) as j:
        t = t + k.x[j]
    k.y[0] = t


def computed_in_a_branch(k: Kernel) -> None:
    with k.b.if_(k.v > 0):
        t = k.v * 2
    k.y[0] = t


@pytest.mark.parametrize(
    ("write", "fix"),
    [
        (assigned_in_a_loop, r"assign to 't' with v \+= \.\.\. or v\.set\(\.\.\.\)"),
        (computed_in_a_branch, r"compute it before the block, or declare a variable with b\.var"),
    ],
)
def test_a_value_of_a_block_that_is_used_after_it(
    write: Callable[[Kernel], None], fix: str
) -> None:
    """``t = t + ...`` of a variable is told from a value that is only computed too deep."""
    k = kernel()
    write(k)
    with pytest.raises(vw.ValidationError, match=fix) as caught:
        k.b.build()
    assert set(caught.value.codes) <= {"E302", "E404", "E405"}
    assert "E302" in caught.value.codes
