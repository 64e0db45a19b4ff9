"""Give WGSL files to a second WGSL compiler: Tint, the one of Dawn and Chromium.

    python scripts/second_compiler.py [--adapter] tests/wgsl/golden/*.wgsl

What the package emits is compiled by naga every day. This asks whether it is WGSL, or what naga
happens to take. Needs the package wgpudawn, which holds Dawn, and by default no device: modules and
pipelines are made on Dawn's null backend, which validates everything and runs nothing. With
``--adapter`` they are made on the first real adapter, whose driver then compiles them too.

A line for each file says ``accepted``; or ``beyond WGSL`` for one that uses what standard WGSL
lacks and that is refused for that reason alone; or ``REFUSED`` and the message. The exit status is
1 if a file is refused that should not be, or accepted that should not be; 2 without Dawn.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What naga has and standard WGSL has not, by the name of the device feature that it needs, and how
# it shows in a text.
EXTENSIONS = {
    "shader-int64": re.compile(r"\b[iu]64\b|[0-9a-f]l[iu]\b"),
    "shader-f64": re.compile(r"\bf64\b|[0-9]lf\b"),
    "shader-int64-atomic-all-ops": re.compile(r"\batomic<[iu]64>"),
    "shader-float32-atomic": re.compile(r"\batomic<f32>"),
}

# Golden files that use them: these, and no others, must be refused.
BEYOND_WGSL: dict[str, tuple[str, ...]] = {
    "all_types": ("shader-f64", "shader-int64"),
    "casts": ("shader-f64", "shader-int64"),
    "doubles": ("shader-f64", "shader-int64"),
    "float_atomics": ("shader-float32-atomic",),
    "literals": ("shader-int64",),
    "long_atomics": ("shader-int64", "shader-int64-atomic-all-ops"),
    "long_integers": ("shader-int64",),
}

# What standard WGSL wants in front of a text, and what tells that it does. The package cannot write
# these lines: naga refuses the first, which it has without being asked, and logs the second as
# unknown. The second is true of our texts: subgroup operations are defined over the lanes that
# still run, those beyond the extent have left.
SUBGROUPS = re.compile(r"\bsubgroup[A-Z]|@builtin\(subgroup_")
DIRECTIVES = {
    "enable subgroups;": SUBGROUPS,
    "diagnostic(off, subgroup_uniformity);": SUBGROUPS,
}

FEATURES = ("shader-f16", "subgroups")
ERROR_LINE = re.compile(r"(?:^|WGSL: ):(\d+):\d+ error: ", re.MULTILINE)


def standard(text: str) -> str:
    """A text with the directives that standard WGSL wants, in front of its first line."""
    needed = [directive for directive, shows in DIRECTIVES.items() if shows.search(text)]
    return " ".join([*needed, text])


def refusal(device: Any, text: str) -> str | None:
    """Why Dawn refuses a text, None if it makes a module and a pipeline of it."""
    try:
        module = device.create_shader_module(code=standard(text))
        buffers = len(re.findall(r"\bvar<storage\b", text))
        if buffers <= device.limits["max-storage-buffers-per-shader-stage"]:
            device.create_compute_pipeline(
                layout="auto", compute={"module": module, "entry_point": "main"}
            )
    except Exception as error:
        return str(error)
    return None


def misplaced(text: str, message: str, extensions: tuple[str, ...]) -> list[str]:
    """The lines that a message complains of, and that use none of the extensions."""
    lines = text.splitlines()
    complained = [lines[int(number) - 1] for number in ERROR_LINE.findall(message)]
    uses = [EXTENSIONS[name] for name in extensions]
    return [line for line in complained if not any(shows.search(line) for shows in uses)]


def verdict(device: Any, name: str, text: str) -> tuple[bool, str]:
    """Whether all is as it should be with a text, and what to say of it."""
    extensions = BEYOND_WGSL.get(name, ())
    message = refusal(device, text)
    if message is None:
        needs = f", though it needs {', '.join(extensions)}" if extensions else ""
        return not extensions, f"accepted{needs}"
    others = misplaced(text, message, extensions)
    if extensions and not others and ERROR_LINE.search(message):
        return True, f"beyond WGSL: {', '.join(extensions)}"
    return False, f"REFUSED\n{message}"


def open_device(*, real: bool) -> Any:
    if not real:
        os.environ["WGPU_BACKEND_TYPE"] = "Null"
    logging.getLogger("wgpu").setLevel(logging.ERROR)  # it warns that a backend was asked for
    import wgpudawn

    logging.getLogger("wgpudawn").setLevel(logging.ERROR)
    adapter = wgpudawn.gpu.request_adapter_sync(power_preference="high-performance")
    print(f"{adapter.info['device']} ({adapter.info['backend_type']})")
    limit = "max-storage-buffers-per-shader-stage"
    return adapter.request_device_sync(
        required_features=[name for name in FEATURES if name in adapter.features],
        required_limits={limit: adapter.limits[limit]},
    )


def verdicts(device: Any, files: list[Path]) -> Iterator[bool]:
    for file in files:
        is_right, words = verdict(device, file.stem, file.read_text(encoding="utf-8"))
        print(f"{file}: {words}")
        yield is_right


def main() -> int:
    parser = argparse.ArgumentParser(description="Give WGSL files to Dawn's WGSL compiler.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--adapter", action="store_true", help="use a real adapter")
    arguments = parser.parse_args()
    try:
        device = open_device(real=arguments.adapter)
    except ImportError:
        print("the package wgpudawn is missing: pip install wgpudawn", file=sys.stderr)
        return 2
    except RuntimeError as error:
        print(
            f"Dawn opens no device here; without --adapter it needs none: {error}", file=sys.stderr
        )
        return 2
    wrong = sum(not is_right for is_right in verdicts(device, arguments.files))
    print(f"{len(arguments.files)} files, {wrong} not as expected")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
