"""What a random program declares: buffers, params, the extent, and the values it begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import vyre_wgpu.ir as vw
from tests.fuzz.choices import Choices
from tests.fuzz.operations import ATOMICS, EDGES, WORKGROUPS
from vyre_wgpu.ir import DType, ProgramBuilder

__all__ = ["Declarations", "Known", "Phased"]


@dataclass
class Known:
    """A kernel value and what is known of it.

    Attributes:
        value: the value.
        uniform: the same for all lanes of a workgroup.
        product: perhaps the result of a multiplication, which a driver may contract.
        whole: a float that is an integer, infinity or NaN: sums and products are not subnormal.
    """

    value: Any
    uniform: bool = False
    product: bool = False
    whole: bool = False


@dataclass
class Phased:
    """A workgroup buffer: ``own`` while lanes write their elements, else read or atomic."""

    buffer: Any
    atomic: str
    per_lane: int
    own: bool = True


class Declarations:
    """A builder with declarations, and what to run its program with.

    Attributes:
        b: the builder.
        size: the workgroup size as declared.
        inputs: name of a buffer to its content.
        params: name of a param to its value.
        rough: names of outputs that are compared within bounds, and how many ULP so far.
        read: buffers that are only read.
        own: buffers in which each lane has elements of its own, and how many.
        private: private buffers.
        atomics: shared buffers, and their one atomic operation.
        flags: a buffer in which several lanes store one literal, or None.
        phased: workgroup buffers.
        lane: the linear index of the lane.
        local: that in the workgroup, or None if there are no workgroup buffers.
        known: values to begin with.
    """

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.known: list[Known] = []
        self.size = self.choices.pick(WORKGROUPS)
        self.with_barriers = self.choices.chance(2)
        self.b = ProgramBuilder("random", workgroup_size=self.size)
        self.rough: dict[str, float] = {}
        self.inputs: dict[str, Any] = {}
        self.params: dict[str, Any] = {}
        self.rng = np.random.default_rng(self.choices.number(256))
        self.read: list[Any] = []
        for k in range(1 + self.choices.number(3)):
            self.read.append(self.b.read(f"x{k}", self.choices.type()))
            self.inputs[f"x{k}"] = self.contents(self.read[-1].dtype, self.length())
        for k in range(self.choices.number(3)):
            dtype = self.choices.type()
            self.known.append(Known(self.b.param(f"p{k}", dtype), uniform=True))
            self.params[f"p{k}"] = self.contents(dtype, 1)[0]
        self.declare_extent()
        self.own: list[tuple[Any, int]] = []
        for k in range(1 + self.choices.number(3)):
            self.declare_own(k)
        self.private = [
            self.b.private(f"m{k}", self.choices.type(), 1 + self.choices.number(6))
            for k in range(self.choices.number(2))
        ]
        self.declare_shared()
        self.declare_phased()
        self.declare_lanes()

    def declare_extent(self) -> None:
        """The extent, and the padded number of lanes as size, value and bound."""
        lanes: Any = 1
        axes: list[Any] = []
        self.padded: list[Any] = []
        for axis in range(len(self.size)):
            most = (90, 7, 4)[axis]
            form = self.choices.number(3)
            if form == 1 and axis == 0:
                n, number = self.read[0].length, len(self.inputs["x0"])
            elif form == 2:
                name, number = f"n{axis}", self.choices.number(most)
                dtype = self.choices.pick((vw.u32, vw.i32, vw.u16, vw.i64))
                n = self.b.param(name, dtype)
                self.params[name] = dtype.numpy.type(number)
                if self.choices.chance(3):
                    n, number = vw.minimum(n * 2 - 1, 9) + 1, min(number * 2 - 1, 9) + 1
            else:
                n = number = 1 + self.choices.number(most)
            w = self.size[axis]
            whole = -(-n // w) * w if isinstance(n, int) else vw.ceil_div(n, w) * w
            axes.append(n)
            self.padded.append(whole)
            lanes = whole * lanes if isinstance(lanes, int) else lanes * whole
        self.lanes = lanes
        self.b.extent(*axes)

    def length(self) -> int:
        return self.choices.pick((5, 1, 2, 3, 8, 17, 24, 0))

    def declare_own(self, k: int) -> None:
        """A buffer in which each lane has elements of its own."""
        dtype, per_lane = self.choices.type(), self.choices.pick((1, 2, 3))
        kind = self.choices.number(5)
        count = self.lanes * per_lane + (1 if self.choices.chance(4) else 0)
        name = f"y{k}"
        if kind == 3:
            # As long as what is passed: some lanes find their elements out of bounds.
            own = self.b.read_write(name, dtype)
            self.inputs[name] = self.contents(dtype, 1 + self.choices.number(60))
        elif kind == 4 and k:
            own = self.b.scratch(name, dtype, count)
        else:
            own = self.b.output(name, dtype, count)
            if dtype.is_float and self.choices.chance(2):
                self.rough[name] = 0.0
        self.own.append((own, per_lane))

    def declare_shared(self) -> None:
        """Buffers of atomics, and of literals that several lanes store."""
        self.atomics: list[tuple[Any, str]] = []
        for k in range(self.choices.number(3)):
            dtype = self.choices.type((vw.u32, vw.i32, vw.u64, vw.i64))
            if not dtype.is_integer or dtype.bits < 32:
                dtype = vw.u32
            count = self.choices.pick((4, 1, 9))
            shared = self.b.read_write(f"a{k}", dtype, count)
            self.inputs[f"a{k}"] = self.contents(dtype, count)
            self.atomics.append((shared, self.choices.pick(ATOMICS)))
        self.flags = self.b.output("f", self.choices.type(), 16) if self.choices.chance(3) else None

    def declare_phased(self) -> None:
        self.phased: list[Phased] = []
        if not self.with_barriers:
            return
        lanes = int(np.prod(self.size))
        for k in range(1 + self.choices.number(2)):
            if self.choices.chance(3):
                dtype = self.choices.pick((vw.u32, vw.i32))
                shared = self.b.workgroup(f"w{k}", dtype, self.choices.pick((4, 1, 9)))
                self.phased.append(Phased(shared, self.choices.pick(ATOMICS), 0))
            else:
                per_lane = self.choices.pick((1, 2))
                shared = self.b.workgroup(f"w{k}", self.choices.type(), lanes * per_lane)
                self.phased.append(Phased(shared, "", per_lane))

    def contents(self, dtype: DType, count: int) -> Any:
        """Edge values, and for integers any values, of a type."""
        edges = np.array(EDGES[dtype], dtype.numpy)
        data = self.rng.choice(edges, count)
        if dtype.is_integer:
            noise = self.rng.integers(dtype.min, dtype.max, count, dtype.numpy, endpoint=True)
            data = np.where(self.rng.random(count) < 0.4, noise, data)
        return data

    def declare_lanes(self) -> None:
        """Linear indices of the lane: in the padded extent, and in its workgroup."""
        b = self.b
        lane = b.global_id(len(self.size) - 1)
        local = b.local_id(len(self.size) - 1) if self.phased else None
        for axis in reversed(range(len(self.size) - 1)):
            pitch = self.padded[axis]
            lane = lane * (pitch if isinstance(pitch, int) else pitch.cast(vw.u32))
            lane = lane + b.global_id(axis)
            if local is not None:
                local = local * self.size[axis] + b.local_id(axis)
        self.lane, self.local = b.let("lane", lane), local
        self.known.append(Known(self.lane))
        if self.phased:
            self.known += [
                Known(b.local_id(0)),
                Known(b.workgroup_id(0), uniform=True),
                Known(b.num_workgroups(0), uniform=True),
            ]
