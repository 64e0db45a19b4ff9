"""What to write for names of NumPy and Python that kernels, programs and builders do not have.

An `AttributeError` stays one, so that ``hasattr`` and copying work as ever; its text says what is
meant instead.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["BUFFER_HINTS", "BUILDER_HINTS", "PROGRAM_HINTS", "VALUE_HINTS", "missing_attribute"]

_FLAT = (
    "the size is {name}.length; a kernel sees no shape, so pass width and height as params, such "
    'as b.param("width", vw.u32)'
)
_REDUCED = (
    "a kernel works on one element, {name}[i]; programs.reduce and programs.argmax work on whole "
    "arrays"
)
_ON_DEVICE = (
    "it is known only on the device: store it to an output, or give it to a trap as its address"
)
_NO_METHOD = "it is a function: vw.{attribute}(value)"
_RUN = (
    "a program is compiled before it runs: pipe = vw.compile(program), then pipe.{attribute}(...)"
)
_BUILD = "build and compile first: pipe = vw.compile(b.build()), then pipe.{attribute}(...)"

_RUNNERS = ("fn", "dispatch", "submit", "push_chunk")
_METHODS = (
    "sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "floor", "ceil", "minimum", "maximum", "sign"
)  # fmt: skip

BUFFER_HINTS: Mapping[str, str] = {
    **dict.fromkeys(("shape", "size", "ndim", "count"), _FLAT),
    **dict.fromkeys(("sum", "min", "max", "mean", "argmax"), _REDUCED),
    "astype": "convert an element: {name}[i].cast(vw.f32)",
    "cast": "convert an element: {name}[i].cast(vw.f32)",
    "set": "store an element: {name}[i] = value",
}
VALUE_HINTS: Mapping[str, str] = {
    "astype": "write value.cast(vw.f32) to convert, value.bitcast(vw.u32) to keep the bits",
    "view": "write value.bitcast(vw.u32) to keep the bits",
    "set": 'only a variable is assigned: declare it with v = b.var("v", vw.f32, value)',
    **dict.fromkeys(("item", "tolist", "value"), _ON_DEVICE),
    **dict.fromkeys(_METHODS, _NO_METHOD),
}
PROGRAM_HINTS: Mapping[str, str] = dict.fromkeys(_RUNNERS, _RUN)
BUILDER_HINTS: Mapping[str, str] = {
    **dict.fromkeys(_RUNNERS, _BUILD),
    "compile": "write vw.compile(b.build())",
    "print": "a kernel cannot print: store to an output, or call b.trap",
    "for_": "write with b.for_range(n) as k:",
    "elif_": "put an if_ into the block of an else_",
}


def missing_attribute(
    thing: object, attribute: str, hints: Mapping[str, str], name: str = ""
) -> AttributeError:
    """The error for an attribute that is not there.

    Args:
        thing: what was asked.
        attribute: the name that was asked for.
        hints: what to write, by the name asked for; ``{name}`` and ``{attribute}`` are filled in.
        name: the thing's own name.
    """
    text = f"{type(thing).__name__!r} object has no attribute {attribute!r}"
    hint = hints.get(attribute)
    if hint is not None:
        text += f". Fix: {hint.format(name=name, attribute=attribute)}"
    return AttributeError(text, name=attribute, obj=thing)
