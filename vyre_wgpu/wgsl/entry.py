"""The entry point: from the launch as the driver makes it to the program's logical ids.

A launch may be folded (`Word.ROW`), rounded up to whole workgroups, or have its number of
workgroups in a buffer (`KernelDescriptor.indirect`); the body sees none of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from .descriptor import KernelDescriptor

__all__ = ["entry_point", "lane_index", "required_ids"]


def required_ids(descriptor: KernelDescriptor, used: set[str]) -> set[str]:
    """The logical ids that must be set: those used, and those that traps name the lane by."""
    ids = set(used)
    if descriptor.trap_binding is not None:
        ids.add("gid")
        if descriptor.whole_workgroups:
            ids.add("nwg")
    return ids


def lane_index(descriptor: KernelDescriptor) -> list[str]:
    """The function that numbers lanes linearly, x fastest, for the trap words."""
    dimensions = descriptor.axes
    if descriptor.whole_workgroups:
        x, y, z = descriptor.workgroup_size
        width, height = f"(nwg.x * {x}u)", f"(nwg.y * {y}u)"
        dimensions = max(dimensions, 3 if z > 1 else 2 if y > 1 else 1)
    else:
        width, height = "d.extent_x", "d.extent_y"
    match dimensions:
        case 1:
            text = "gid.x"
        case 2:
            text = f"gid.x + {width} * gid.y"
        case _:
            text = f"gid.x + {width} * (gid.y + {height} * gid.z)"
    return ["fn lane_index() -> u32 {", f"  return {text};", "}"]


def entry_point(
    descriptor: KernelDescriptor, clears: Sequence[str], ids: set[str], body: Sequence[str]
) -> list[str]:
    """The lines of ``main``.

    Args:
        descriptor: the launch contract.
        clears: statements that zero workgroup memory, run by all lanes of a workgroup.
        ids: logical ids to set.
        body: the program's own statements.
    """
    x, y, z = descriptor.workgroup_size
    builtins = [
        "@builtin(workgroup_id) launched: vec3<u32>",
        "@builtin(local_invocation_id) local: vec3<u32>",
        "@builtin(local_invocation_index) local_index: u32",
    ]
    if "subgroup_lanes" in ids:
        builtins.append("@builtin(subgroup_size) subgroup_size: u32")
    if "subgroup_lane" in ids:
        builtins.append("@builtin(subgroup_invocation_id) subgroup_index: u32")
    if descriptor.indirect:
        builtins.append("@builtin(num_workgroups) groups: vec3<u32>")
        lines, surplus = _indirect_workgroup(descriptor)
    elif descriptor.axes == 1:
        lines, surplus = _workgroup_on_one_axis(descriptor, with_count="nwg" in ids)
    else:
        lines, surplus = _workgroup_on_more_axes(descriptor)
    lines.append(f"let at = wg * vec3<u32>({x}u, {y}u, {z}u) + local;")
    # The surplus workgroups of a folded launch leave as a whole; lanes beyond the extent leave only
    # after all lanes of the workgroup have met the barrier behind the clears.
    lines.append(f"if ({surplus}) {{ return; }}")
    if clears:
        lines += [*clears, "workgroupBarrier();"]
    if not descriptor.whole_workgroups:
        sizes = zip("xyz", descriptor.workgroup_size, range(3), strict=True)
        used = [name for name, size, axis in sizes if axis < descriptor.axes or size > 1]
        tests = [f"at.{name} >= d.extent_{name}" for name in used]
        lines.append(f"if ({' || '.join(tests)}) {{ return; }}")
    sources = {"gid": "at", "lid": "local", "wid": "wg", "nwg": "groups"}
    sources |= {
        "first_lane": "local_index == 0u",
        "subgroup_lanes": "subgroup_size",
        "subgroup_lane": "subgroup_index",
    }
    lines += [f"{name} = {source};" for name, source in sources.items() if name in ids]
    # A barrier may depend on these. WGSL takes nothing for uniform that is read from a private
    # variable, so the body reads constants that hide the variables.
    lines += [f"let {name} = {sources[name]};" for name in ("wid", "nwg") if name in ids]
    return [
        f"@compute @workgroup_size({x}, {y}, {z})",
        f"fn main({', '.join(builtins)}) {{",
        *(f"  {line}" for line in lines),
        *body,
        "}",
    ]


def _indirect_workgroup(descriptor: KernelDescriptor) -> tuple[list[str], str]:
    """The launch is the logical grid; counts on axes that the program lacks repeat nothing."""
    unused = [f"launched.{name} != 0u" for name in "xyz"[descriptor.axes :]]
    return ["let wg = launched;"], " || ".join(unused) or "false"


def _workgroup_on_one_axis(
    descriptor: KernelDescriptor, *, with_count: bool
) -> tuple[list[str], str]:
    """Rows of a folded launch follow each other; else ``launched.y`` is 0."""
    x = descriptor.workgroup_size[0]
    # The parts of a split dispatch begin at whole workgroups.
    first = f" + d.base / {x}u" if descriptor.split else ""
    lines = [f"let wg = vec3<u32>(launched.x + launched.y * d.row{first}, 0u, 0u);"]
    if with_count:
        lines.append(f"let groups = vec3<u32>((d.extent_x - 1u) / {x}u + 1u, 1u, 1u);")
    return lines, f"wg.x > (d.extent_x - 1u) / {x}u"


def _workgroup_on_more_axes(descriptor: KernelDescriptor) -> tuple[list[str], str]:
    """A folded launch numbers the logical workgroups in row-major order, x fastest."""
    x, y, z = descriptor.workgroup_size
    lines = [
        f"let groups = vec3<u32>((d.extent_x - 1u) / {x}u + 1u, (d.extent_y - 1u) / {y}u + 1u, "
        f"(d.extent_z - 1u) / {z}u + 1u);",
        "var wg = launched;",
        "if (d.row != 0u) {",
        "  let linear = launched.x + launched.y * d.row;",
        "  wg = vec3<u32>(linear % groups.x, (linear / groups.x) % groups.y,"
        " linear / (groups.x * groups.y));",
        "}",
    ]
    return lines, "wg.z >= groups.z"
