"""What the passes cost and save in lowering, for three long programs; needs no device.

    python benchmarks/passes.py [--repeat N]

Prints a table in Markdown. Each of the three times of a row is the best of N (3), taken by turns in
one process; building the programs is no part of them.
"""

from __future__ import annotations

import argparse
import operator
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import vyre_wgpu as vw
from vyre_wgpu.ir.passes import optimise
from vyre_wgpu.wgsl.lower import lower
from vyre_wgpu.wgsl.options import CompileOptions
from vyre_wgpu.wgsl.target import Target


def doubled() -> vw.Program:
    """Sums with a product that is the other term: the products go, the sums stay."""
    b = vw.ProgramBuilder("doubled")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id(0)
    t = x[i]
    for _ in range(50_000):
        t = t + t * 1.0
    y[i] = t
    return b.build()


def loads() -> vw.Program:
    """Different loads, added: all but the first one, of ``x[i + 0]``, stay."""
    b = vw.ProgramBuilder("loads")
    x = b.read("x", vw.f32)
    y = b.output("y", vw.f32, like=x)
    i = b.global_id(0)
    t = x[i]
    for k in range(25_000):
        t = t + x[i + k]
    y[i] = t
    return b.build()


def random_integers() -> vw.Program:
    """Random operations on any two of the values so far, literals among them."""
    choose = random.Random(12)
    operations = (
        operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor,
        operator.floordiv, operator.mod,
    )  # fmt: skip
    b = vw.ProgramBuilder("random integers")
    x = b.read("x", vw.u32)
    y = b.output("y", vw.u32, like=x)
    i = b.global_id(0)
    values = [i, x[i]]
    for _ in range(80_000):
        a = choose.choice(values[-100:])
        b_ = choose.choice([*values[-3:], choose.randrange(4)])
        values.append(choose.choice(operations)(a, b_))
    y[i] = values[-1]
    return b.build()


def seconds(work: Callable[[], object]) -> float:
    """How long something takes once."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    print("| program | rows | left | passes | lowering without | lowering with | with / without |")
    print("|---|---|---|---|---|---|---|")
    for build in (doubled, loads, random_integers):
        program, target = build(), Target()
        kinds: list[Callable[[], object]] = [
            lambda program=program: optimise(program),
            lambda program=program, target=target: lower(
                program, CompileOptions(passes=False), target
            ),
            lambda program=program, target=target: lower(program, CompileOptions(), target),
        ]
        passes, without, with_passes = (
            min(times)
            for times in zip(
                *([seconds(kind) for kind in kinds] for _ in range(repeat)), strict=True
            )
        )
        left = len(optimise(program).program.table)
        print(
            f"| {build.__name__} | {len(program.table):,} | {left:,} | {passes:.2f} s "
            f"| {without:.2f} s | {with_passes:.2f} s | {with_passes / without:.2f} |"
        )


if __name__ == "__main__":
    main()
