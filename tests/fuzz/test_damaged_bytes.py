"""What the coverage-guided fuzzer looks for, on a few hundred inputs and without it.

``atheris_program_bytes`` says how to run the fuzzer itself; what it found is in ``tests/ir``.
"""

from __future__ import annotations

import random

import pytest

from tests.fuzz.drafts import read, write
from tests.fuzz.mutations import joined, mutated
from tests.fuzz.properties import check_bytes, check_lowering
from tests.ir.examples import EXAMPLES, loops, saxpy
from vyre_wgpu.ir import Program

CORPUS = [build().to_bytes() for build in EXAMPLES.values()]


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_draft_says_all_of_a_program(name: str) -> None:
    data = EXAMPLES[name]().to_bytes()
    draft = read(data)
    assert draft is not None
    assert write(draft) == data


def test_damaged_programs_are_refused_or_sound() -> None:
    rng = random.Random(11)
    corpus = list(CORPUS)
    read_again = lowered = 0
    for _ in range(400):
        data = rng.choice(corpus)
        data = joined(data, rng.choice(corpus), rng) if rng.random() < 0.1 else mutated(data, rng)
        program = check_bytes(data)
        if program is not None:
            read_again += 1
            corpus.append(data)
            lowered += check_lowering(program) if read_again % 4 == 0 else 0
    # Most damage must go past the decoder, or nothing behind it is looked at.
    assert read_again > 60
    assert lowered > 20


def test_joined_programs_are_programs() -> None:
    rng = random.Random(1)
    both = Program.from_bytes(joined(saxpy().to_bytes(), loops().to_bytes(), rng))
    assert len(both.table) == len(saxpy().table) + len(loops().table)
    assert len(both.buffers) == len(saxpy().buffers) + len(loops().buffers)
