"""Coverage-guided fuzzing of `Program.from_bytes` and the validator, or of lowering.

    python -m pip install atheris numpy xxhash
    python -m tests.fuzz.atheris_program_bytes CORPUS [--lower] [LIBFUZZER-OPTIONS]

run at the root of the checkout. CORPUS is a folder; where it is empty or missing, the programs of
the tests and the package are put there first. ``--lower`` gives each program that is read to the
lowering and to the planner of the reference backend too. Useful options: ``-max_total_time=600``,
``-seed=1``, and ``-runs=0`` to go once through the corpus. An input that fails is saved as
``crash-...`` in the working directory; giving that file instead of a folder runs it again.
"""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path

import atheris

LOWERS = "--lower" in sys.argv
# Programs read, print and write themselves with modules that they import at the first use.
MODULES = ["ir", "ir.deserialize", "ir.serialize", "ir.printing", "ir.observes"]
MODULES += ["wgsl.lower", "backends.reference"] * LOWERS

# Before anything else imports them: only code that is imported in here is traced.
with atheris.instrument_imports(include=["vyre_wgpu"]):
    for name in MODULES:
        importlib.import_module(f"vyre_wgpu.{name}")

from tests.fuzz.mutations import joined, mutated  # noqa: E402
from tests.fuzz.properties import bounded, check_bytes, check_lowering  # noqa: E402

MAX_LENGTH = 1 << 14

counts = {"inputs": 0, "programs": 0, "texts": 0}

# Inputs that were programs, some of them. Most of what libFuzzer keeps is none, and hardly ever
# becomes one, so half of the changes start from here.
programs: list[bytes] = []
MOST_KEPT = 1000


def one_input(data: bytes) -> None:
    counts["inputs"] += 1
    with bounded():
        program = check_bytes(data)
    if program is not None:
        counts["programs"] += 1
        if len(programs) < MOST_KEPT:
            programs.append(data)
        else:
            programs[counts["programs"] * 7919 % MOST_KEPT] = data
        if LOWERS:
            counts["texts"] += check_lowering(program)
    if (
        counts["inputs"] % 5000 == 0
    ):  # libFuzzer ends the process itself: there is no end to wait for
        print(counts, file=sys.stderr)


def mutate(data: bytes, max_size: int, seed: int) -> bytes:
    rng = random.Random(seed)
    if programs and rng.random() < 0.5:
        data = rng.choice(programs)
    result = mutated(data, rng, lambda body: atheris.Mutate(body, max_size - 8))
    return result if len(result) <= max_size else data


def cross_over(first: bytes, second: bytes, max_size: int, seed: int) -> bytes:
    if seed % 4:  # libFuzzer asks as often as for other changes; each makes the input longer
        return mutate(first, max_size, seed)
    result = joined(first, second, random.Random(seed))
    return result if len(result) <= max_size else first


def write_corpus(folder: Path) -> None:
    """One file for each program of the tests and of the package."""
    from tests.ir.examples import EXAMPLES
    from tests.wgsl.golden_programs import GOLDEN_PROGRAMS

    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        return
    for name, build in {**EXAMPLES, **GOLDEN_PROGRAMS}.items():
        program = build()
        forms = {name: program.to_bytes(), f"{name}-erased": program.erased_bytes}
        for file, data in forms.items():
            if len(data) <= MAX_LENGTH:
                (folder / file).write_bytes(data)


def main() -> None:
    arguments = [a for a in sys.argv if a != "--lower"]
    if len(arguments) < 2 or arguments[1].startswith("-"):
        sys.exit(f"usage: {arguments[0]} CORPUS [--lower] [LIBFUZZER-OPTIONS]")
    if not Path(arguments[1]).is_file():
        write_corpus(Path(arguments[1]))
    atheris.Setup(
        [*arguments, f"-max_len={MAX_LENGTH}", "-timeout=20", "-rss_limit_mb=4096"],
        one_input,
        custom_mutator=mutate,
        custom_crossover=cross_over,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
