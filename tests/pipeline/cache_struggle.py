"""Processes that share a disk cache, killed at random: run as a process of its own, for it forks.

    python -m tests.pipeline.cache_struggle FOLDER MAX_BYTES PROGRAMS WORKERS SECONDS

Prints a JSON object with ``batches``, ``killed``, ``most_bytes`` and ``problem``: what a worker
found to be wrong, or null.
"""

from __future__ import annotations

import json
import logging
import os
import random
import selectors
import signal
import sys
import time
from pathlib import Path

from tests.pipeline.cached import adder, key_of, load, lowered
from vyre_wgpu.pipeline.cache_files import list_files
from vyre_wgpu.pipeline.disk_cache import DiskCache

BATCH = 25
"""Loads and stores between two signs of life."""


def work(folder: Path, max_bytes: int, programs: int, seed: int, out: int) -> None:
    """Loads, and stores what is missing, until something is wrong or the process is killed."""
    problems: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: problems.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("vyre_wgpu").addHandler(handler)
    chosen = random.Random(seed)
    while True:
        # A new cache now and then, as a new process has it.
        disk = DiskCache(folder, max_bytes=max_bytes)
        for _ in range(chosen.randrange(1, 20)):
            for _ in range(BATCH):
                program = adder(chosen.randrange(programs))
                found = load(disk, program)
                if found is None:
                    disk.store(key_of(program), program, lowered(program))
                elif found != lowered(program):
                    problems.append("an entry of another program was served")
            os.write(out, json.dumps({"problem": problems[:1]}).encode() + b"\n")


def struggle(
    folder: Path, max_bytes: int, programs: int, workers: int, seconds: float
) -> dict[str, object]:
    """Lets workers work, kills and replaces one now and then, and watches the folder."""
    for n in range(programs):
        lowered(adder(n))  # once, for all workers
    chosen = random.Random(workers)
    selector = selectors.DefaultSelector()
    batches = killed = most = 0
    problem = None

    def begin() -> None:
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                work(folder, max_bytes, programs, chosen.randrange(1 << 30), theirs)
            except BaseException as error:
                os.write(theirs, json.dumps({"problem": [repr(error)]}).encode() + b"\n")
            finally:
                os._exit(1)
        os.close(theirs)
        selector.register(os.fdopen(ours, "rb"), selectors.EVENT_READ, pid)

    def end(key: selectors.SelectorKey) -> None:
        os.kill(key.data, signal.SIGKILL)
        os.waitpid(key.data, 0)
        selector.unregister(key.fileobj)
        key.fileobj.close()  # type: ignore[union-attr]

    for _ in range(workers):
        begin()
    deadline = time.monotonic() + seconds
    while problem is None and time.monotonic() < deadline:
        for key, _ in selector.select(timeout=1):
            line = key.fileobj.readline()  # type: ignore[union-attr]
            found = json.loads(line)["problem"] if line else ["a worker died"]
            problem = problem or (found[0] if found else None)
            batches += 1
            most = max(most, list_files(folder).size)
            if chosen.random() < 0.05:
                end(chosen.choice(list(selector.get_map().values())))
                killed += 1
                begin()
                break  # what was ready may be the one that is gone
    for key in list(selector.get_map().values()):
        end(key)
    return {"batches": batches, "killed": killed, "most_bytes": most, "problem": problem}


if __name__ == "__main__":
    place, *numbers = sys.argv[1:]
    limit, count, processes = map(int, numbers[:3])
    print(json.dumps(struggle(Path(place), limit, count, processes, float(numbers[3]))))
