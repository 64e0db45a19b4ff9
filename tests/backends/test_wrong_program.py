"""What compile, precompile and explain say to what is no program, and to misplaced arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import vyre_wgpu as vw
from vyre_wgpu import programs
from vyre_wgpu.backends import Backend


def builder() -> vw.ProgramBuilder:
    b = vw.ProgramBuilder("k")
    x = b.read("x", vw.f32)
    b.output("y", vw.f32, like=x)[b.global_id()] = x[b.global_id()]
    return b


NO_PROGRAMS: list[tuple[str, Callable[[], Any], str]] = [
    ("a builder", builder, r"<ProgramBuilder 'k'> is not a Program.*pass b\.build\(\)"),
    ("build", lambda: builder().build, r"not a Program, but a method.*pass b\.build\(\)"),
    ("a maker", lambda: programs.saxpy, r"not a Program, but a function.*pass saxpy\(\)"),
    ("a lambda", lambda: lambda x: x, r"a function.*pass what ProgramBuilder\.build\(\) gives"),
    ("text", lambda: "k.vyre", r"'k\.vyre' is not a Program, but a str\."),
    ("None", lambda: None, r"None is not a Program\."),
]


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("make", "says"), [row[1:] for row in NO_PROGRAMS], ids=[row[0] for row in NO_PROGRAMS]
)
def test_what_is_no_program_is_named(
    make: Callable[[], Any], says: str, any_backend: Backend
) -> None:
    with pytest.raises(vw.InputError, match=says):
        vw.compile(make(), backend=any_backend)


@pytest.mark.gpu
def test_a_pipeline_is_no_program(any_backend: Backend) -> None:
    pipe = vw.compile(builder().build(), backend=any_backend)
    with pytest.raises(vw.InputError, match=r"compiled program: pass its \.program"):
        vw.compile(pipe, backend=any_backend)  # type: ignore[arg-type]


@pytest.mark.gpu
def test_options_that_are_none_are_told_how_to_write_them(any_backend: Backend) -> None:
    with pytest.raises(vw.InputError, match=r"options=vw\.CompileOptions\("):
        vw.compile(builder().build(), backend=any_backend, options={})  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [vw.compile, vw.precompile, vw.explain])
@pytest.mark.parametrize(
    ("extra", "named", "says"),
    [
        ((vw.CompileOptions(),), {}, r"1 more argument.*options= by name"),
        (("wgpu", vw.CompileOptions()), {}, r"2 more argument.*backend= and"),
        ((), {"checks": "trap"}, r"'checks'.*options=vw\.CompileOptions\(checks=\.\.\.\)"),
        ((), {"max_iterations": 9}, r"CompileOptions\(max_iterations=\.\.\.\)"),
        ((), {"bakend": "wgpu"}, r"no argument 'bakend'.*backend= or options="),
    ],
)
def test_an_argument_in_a_wrong_place_is_told_the_right_one(
    function: Callable[..., Any], extra: tuple[Any, ...], named: dict[str, Any], says: str
) -> None:
    """No backend is opened for it."""
    with pytest.raises(vw.InputError, match=says):
        function(builder().build(), *extra, **named)
