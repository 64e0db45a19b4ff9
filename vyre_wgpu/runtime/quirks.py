"""What a driver does that it should not: measured once on each device, then remembered.

The probe is one small shader. Only facts that lowering or dispatch must know are in `Quirks`; what
is worked around on every device alike (folding of ``x - x``, quotients of huge divisors, workgroup
memory that does not start as zeros) needs no probe.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import stat
import struct
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from .. import settings
from .cache_folder import is_plain_folder, make_subfolder, read_file
from .info import AdapterInfo

__all__ = ["PROFILES", "Quirks", "find_quirks", "probe", "profile_path", "remove_profiles"]

_log = logging.getLogger("vyre_wgpu")

PROBE_VERSION = 3
"""Raised whenever the probe asks something else: stored profiles of other versions are not read."""

PROFILES = "profiles"
"""The subfolder of the cache folder."""

_TEMPORARY = re.compile(r"tmp\w{8}\.tmp")

MAX_PROFILE_BYTES = 4096

_PROFILE = re.compile(r"[0-9a-f]{32}\.json")

_ITERATIONS = 200_000


@dataclass(frozen=True, slots=True)
class Quirks:
    """The faults of a device that the package works around where they are found.

    Attributes:
        loop_iterations: iterations in all after which the driver ends a lane's loops silently;
            None if the probe saw no end. Loops that may run longer then trap (``loop-limit``).
        equal_floats_fold: ``x - x`` is folded to 0 even for an infinite x. Lowering hides equal
            operands on every device.
        floats_are_reordered: ``(a + b) - a`` is folded to ``b``, or products with constants are
            put together. Lowering then hides each result from the operation that takes it.
    """

    loop_iterations: int | None = None
    equal_floats_fold: bool = False
    floats_are_reordered: bool = False

    def describe(self) -> list[str]:
        """One line for each quirk that was found."""
        lines: list[str] = []
        if self.loop_iterations is not None:
            lines.append(
                f"ends loops silently after {self.loop_iterations:,} iterations in all: "
                "a lane that needs more traps with the tag 'loop-limit'"
            )
        if self.equal_floats_fold:
            lines.append("folds x - x to 0 for infinite x: equal operands are hidden from it")
        if self.floats_are_reordered:
            lines.append("folds (a + b) - a to b: results of float operations are hidden from it")
        return lines


_SHADER = """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> given: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    // The sum keeps the compiler from doing without the loop.
    var count = 0u;
    var sum = lane;
    loop {
        if (count >= given[0]) { break; }
        sum = sum * 1664525u + 1013904223u;
        count = count + 1u;
    }
    let x = bitcast<f32>(given[1]);
    let y = x - x;
    // The sum rounds to 100,000,000; the product of the last two constants would overflow.
    let large = bitcast<f32>(given[2]);
    let one = bitcast<f32>(given[3]);
    let reordered = (large + one) - large != 0.0f || ((one * 1e-30f) * 1e20f) * 1e20f > 1e12f;
    if (lane == 0u) {
        out[0] = count;
        out[1] = sum;
        if (bitcast<u32>(y) == 0u) { out[2] = 1u; }
        if (reordered) { out[3] = 1u; }
    }
}
"""


def probe(device: Any) -> Quirks:
    """Runs the probe on a wgpu device."""
    import wgpu

    usage = wgpu.BufferUsage
    data = struct.pack("=2I2f", _ITERATIONS, 0x7F800000, 1e8, 1.0)
    out = device.create_buffer(size=32, usage=usage.STORAGE | usage.COPY_SRC | usage.COPY_DST)
    given = device.create_buffer_with_data(data=data, usage=usage.STORAGE)
    module = device.create_shader_module(code=_SHADER, label="vyre_wgpu probe")
    pipeline = device.create_compute_pipeline(
        layout="auto", compute={"module": module, "entry_point": "main"}
    )
    group = device.create_bind_group(
        layout=pipeline.get_bind_group_layout(0),
        entries=[
            {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for number, buffer in enumerate((out, given))
        ],
    )
    encoder = device.create_command_encoder()
    run = encoder.begin_compute_pass()
    run.set_pipeline(pipeline)
    run.set_bind_group(0, group)
    run.dispatch_workgroups(1)
    run.end()
    device.queue.submit([encoder.finish()])
    count, _, folds, reorders = struct.unpack("=4I", device.queue.read_buffer(out, 0, 16))
    out.destroy()
    given.destroy()
    return Quirks(None if count == _ITERATIONS else count, bool(folds), bool(reorders))


def find_quirks(info: AdapterInfo, device: Any) -> Quirks:
    """The quirks of a device: from its stored profile, else from the probe, which is stored."""
    chosen = settings.current()
    folder = chosen.cache_folder if chosen.cache != "off" else None
    path = profile_path(info, folder) if folder else None
    stored = _read(path) if path else None
    if stored is not None:
        return stored
    found = probe(device)
    if path and chosen.cache == "rw":
        _write(path, found)
    return found


def profile_path(info: AdapterInfo, folder: Path) -> Path:
    """Where in a cache folder the profile of an adapter with its present driver is kept."""
    import wgpu

    native: Any = __import__("wgpu.backends.wgpu_native", fromlist=["lib_version_info"])
    facts = [
        str(PROBE_VERSION), info.name, info.api, info.driver, info.vendor,
        str(info.vendor_id), str(info.device_id), wgpu.__version__, str(native.lib_version_info),
    ]  # fmt: skip
    digest = hashlib.sha256("\0".join(facts).encode("utf-8", "replace")).hexdigest()
    return folder / PROFILES / f"{digest[:32]}.json"


class RemovedProfiles(NamedTuple):
    """What `remove_profiles` did.

    Attributes:
        files: how many are gone.
        size: their bytes.
        kept: files that the system does not let go.
    """

    files: int
    size: int
    kept: int


def remove_profiles(folder: Path) -> RemovedProfiles:
    """Removes the stored profiles, and what was left of writing them, from their folder.

    Raises:
        OSError: the folder cannot be read.
    """
    count = size = kept = 0
    for path in list(folder.iterdir()) if is_plain_folder(folder) else ():
        if not (_PROFILE.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name)):
            continue
        try:
            facts = path.lstat()
            if stat.S_ISREG(facts.st_mode):
                path.unlink(missing_ok=True)
                count, size = count + 1, size + facts.st_size
        except FileNotFoundError:
            continue  # another process was faster
        except OSError:
            kept += 1
    return RemovedProfiles(count, size, kept)


def _read(path: Path) -> Quirks | None:
    """A stored profile; None if there is none, or anything but a profile.

    Another process may have put anything there: a pipe is not waited for, a link not followed.
    """
    try:
        values = json.loads(read_file(path, MAX_PROFILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    names = {field.name for field in fields(Quirks)}
    if not isinstance(values, dict) or set(values) != names:
        return None
    limit, *flags = (values[field.name] for field in fields(Quirks))
    is_limit = limit is None or (type(limit) is int and 0 < limit < _ITERATIONS)
    if not is_limit or any(type(flag) is not bool for flag in flags):
        return None
    return Quirks(**values)


def _write(path: Path, quirks: Quirks) -> None:
    """Stores a profile under its final name in one step; a refusal costs only the next probe."""
    try:
        make_subfolder(path.parent.parent, path.parent.name)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "w") as file:
                json.dump(asdict(quirks), file)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        _log.debug("the device profile is not stored: %s", error)
