"""A forked child ends, whatever it does with what it inherited, and its parent goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork"),
]

SCRIPT = """
import copy, gc, os, signal, sys, threading, time
import numpy as np
import vyre_wgpu as vw
from vyre_wgpu.backends import registry
from vyre_wgpu.backends.wgpu import WgpuBackend

b = vw.ProgramBuilder("double")
x = b.read("x", vw.u32)
y = b.output("y", vw.u32, like=x)
i = b.global_id(0)
y[i] = x[i] * 2
program = b.build()
array = np.arange(4, dtype=np.uint32)
shared = vw.get_backend()
pipe = vw.compile(program)
own = WgpuBackend()
own_pipe = own.compile(program)
resident = own.upload(array)
own_pipe.fn(resident)
pipe.fn(array)

def child():
{body}

pid = os.fork()
if pid == 0:
    child()
    sys.exit(7)
deadline = time.monotonic() + 20
while time.monotonic() < deadline:
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended:
        break
    time.sleep(0.02)
else:
    os.kill(pid, signal.SIGKILL)
    sys.exit("the child hangs")
assert os.waitstatus_to_exitcode(status) == 7, status
assert (pipe.fn(array) == array * 2).all()
assert (own_pipe.fn(resident) == array * 2).all()
# Freeing works in the parent as ever.
from wgpu.backends.wgpu_native._helpers import generate_report
count = lambda: sum(kind["kept"] for kind in generate_report()["hub"].values())
before = count()
own.close()
del own_pipe, own
gc.collect()
assert count() < before
print("done")
"""


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "global pipe, shared, own, own_pipe\ndel own_pipe, own, pipe, shared\ngc.collect()",
        "resident.close(); own.close(); shared.close()",
        "registry._registry._shared.clear()\nglobal pipe, shared\ndel pipe, shared\ngc.collect()",
        "if os.fork() == 0: sys.exit(1)\nassert os.waitstatus_to_exitcode(os.wait()[1]) == 1",
        (
            "for use in (lambda: pipe.fn(array), vw.get_backend, WgpuBackend, resident.download):\n"
            "    try: use()\n"
            "    except vw.ForkedProcessError: continue\n"
            "    os._exit(1)"
        ),
    ],
    ids=["exit", "drop", "close", "forget", "grandchild", "use"],
)
def test_a_child_ends_normally(body: str) -> None:
    """It may exit, forget or close what it inherited: nothing of it is freed there."""
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT.replace("{body}", indented)],
        capture_output=True,
        timeout=60,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr


BUFFERED = """
import ctypes, os, sys
import vyre_wgpu as vw

library = ctypes.CDLL(None)
vw.get_backend()
pid = os.fork()
if pid == 0:
    library.printf(b"of C\\n")
    print("of Python")
    sys.exit(7)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_child_loses_no_output() -> None:
    """What it left in buffers is written at its exit."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUFFERED],
        stdout=subprocess.PIPE,
        timeout=60,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert sorted(done.stdout.splitlines()) == ["of C", "of Python"]


OPENING = """
import os, signal, sys, threading, time
import vyre_wgpu as vw
from vyre_wgpu.backends import registry

known = registry._registry
held, leave = threading.Event(), threading.Event()
def hold():
    with known._lock:
        held.set()
        leave.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    vw.get_backend("reference")
    os._exit(7)
leave.set()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_a_child_does_not_wait_for_threads_it_lacks() -> None:
    """A thread of the parent's may have been opening a backend at the fork."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", OPENING], timeout=60, check=False)
    assert done.returncode == 7
