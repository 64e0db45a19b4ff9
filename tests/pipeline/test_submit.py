"""The submit routine on a shader written by hand, so that no part of the lowering takes part."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from tests.pipeline.live_objects import live
from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.errors import DeviceLostError, LimitError, VyreError
from vyre_wgpu.pipeline.compile import Compiler, Kernel
from vyre_wgpu.pipeline.counters import Counters
from vyre_wgpu.pipeline.submission import Frame, Slot, Submission, check_result_bytes
from vyre_wgpu.pipeline.submit import Submitter
from vyre_wgpu.runtime.device import Device
from vyre_wgpu.wgsl.descriptor import HEADER_WORDS, Binding, KernelDescriptor, ShaderArtifact

pytestmark = pytest.mark.gpu

# y = a * x + 1 over u32; the trap words lie in the middle of the bindings.
WGSL = """
struct Block { extent: vec3<u32>, row: u32, base: u32, zero: u32, length: u32, a: u32 }
var<immediate> block: Block;
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> trap: array<atomic<u32>, 4>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<storage, read_write> total: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= block.extent.x { return; }
    atomicAdd(&total[0], x[i]);
    if x[i] == 13u && atomicAdd(&trap[0], 1u) == 0u {
        atomicStore(&trap[1], 77u);
        atomicStore(&trap[2], 2u);
        atomicStore(&trap[3], i);
        return;
    }
    if i < block.length { y[i] = block.a * x[i] + 1u; }
}
"""

ARTIFACT = ShaderArtifact(
    WGSL,
    KernelDescriptor(
        bindings=(Binding(0, False), Binding(1, True), Binding(2, True)),
        trap_binding=1,
        block_words=HEADER_WORDS + 2,
        length_words=((1, HEADER_WORDS),),
        param_words=((0, HEADER_WORDS + 1),),
        workgroup_size=(64, 1, 1),
        whole_workgroups=False,
        axes=1,
    ),
)


class Bench:
    """A submitter with counters of its own and one kernel."""

    def __init__(self, device: Device) -> None:
        self.counters = Counters()
        self.submitter = Submitter(device, self.counters)
        self.kernel: Kernel = Compiler(device, self.counters, max_entries=1).build(ARTIFACT, "hand")

    def submission(
        self,
        x: npt.NDArray[np.uint32],
        a: int = 2,
        length: int | None = None,
        y: Slot | None = None,
    ) -> Submission:
        """One dispatch of the kernel; with a length of 0 it writes no element."""
        self.y = np.full(x.size, 99, np.uint32)
        self.total = np.full(1, 99, np.uint32)
        slots = [
            Slot(x.nbytes, upload=True),
            Slot(x.nbytes, clear=True, result=True) if y is None else y,
            Slot(4, clear=True, result=True),
        ]
        frame = Frame(self.kernel, slots, (-(-x.size // 64), 1, 1), "hand")
        block = self.block(x.size, x.size if length is None else length, a)
        results = [self.y, self.total] if slots[1].result else [self.total]
        return Submission(frame, block, [x], results)

    @staticmethod
    def block(extent: int, length: int, a: int) -> bytes:
        return struct.pack("=8I", extent, 1, 1, 0, 0, 0, length, a)

    def created(self) -> int:
        storage, staging, groups = self.submitter.statistics()
        return storage.created + staging.created + groups.created

    def lent(self) -> int:
        storage, staging, _ = self.submitter.statistics()
        return storage.bytes - storage.idle_bytes + staging.bytes - staging.idle_bytes


@pytest.fixture(scope="module")
def bench(backend: WgpuBackend) -> Bench:
    return Bench(backend.device)


@pytest.fixture(autouse=True)
def nothing_stays_lent(bench: Bench) -> Iterator[None]:
    yield
    assert bench.lent() == 0


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 1000, 100_003])
def test_results_arrive(bench: Bench, size: int) -> None:
    x = np.arange(100, 100 + size, dtype=np.uint32)
    words = bench.submitter.run(bench.submission(x, a=3)).trap
    assert words.flag == 0
    assert (bench.y == 3 * x + 1).all()
    assert bench.total[0] == x.sum(dtype=np.uint32)


def test_seen_shape_makes_nothing_and_is_one_submission(bench: Bench) -> None:
    x = np.arange(100, 5100, dtype=np.uint32)
    bench.submitter.run(bench.submission(x))
    before, counts = bench.created(), bench.counters.snapshot()
    for a in range(10):
        bench.submitter.run(bench.submission(x[a:], a))
        assert (bench.y == a * x[a:] + 1).all()
    assert bench.created() == before
    after = bench.counters.snapshot()
    assert after.dispatches - counts.dispatches == 10
    assert after.submissions - counts.submissions == 10
    assert after.modules_created == counts.modules_created


def test_trap_words_come_first_and_no_result_is_delivered(bench: Bench) -> None:
    x = np.arange(100, dtype=np.uint32)
    traps = bench.counters.snapshot().traps
    words = bench.submitter.run(bench.submission(x)).trap
    assert words == (1, 77, 2, 13)
    assert (bench.y == 99).all()
    assert bench.counters.snapshot().traps == traps + 1


def test_after_a_trap_the_next_run_is_clean(bench: Bench) -> None:
    bench.submitter.run(bench.submission(np.arange(100, dtype=np.uint32)))
    x = np.arange(50, 150, dtype=np.uint32)
    assert bench.submitter.run(bench.submission(x)).trap.flag == 0
    assert (bench.y == 2 * x + 1).all()


def test_cleared_buffers_hold_nothing_of_earlier_runs(bench: Bench) -> None:
    x = np.arange(100, 164, dtype=np.uint32)
    bench.submitter.run(bench.submission(x))
    # A length of 0 in the block: the kernel writes no element.
    bench.submitter.run(bench.submission(x, length=0))
    assert (bench.y == 0).all()


def test_uploads_and_results_of_odd_sizes_keep_to_their_bytes(bench: Bench) -> None:
    data = np.arange(1, 8, dtype=np.uint8)
    result, y = np.zeros(7, np.uint8), np.zeros(5, np.uint8)
    slots = [
        Slot(7, upload=True, result=True),
        Slot(5, upload=True, result=True),
        Slot(4, clear=True),
    ]
    frame = Frame(bench.kernel, slots, (1, 1, 1))
    block = bench.block(2, 1, 1)
    bench.submitter.run(Submission(frame, block, [data, data[:5]], [result, y]))
    assert result.tolist() == [1, 2, 3, 4, 5, 6, 7]
    first = int.from_bytes(bytes(data[:4]), "little") + 1
    assert y[:4].tobytes() == first.to_bytes(4, "little")
    assert y[4] == 5


def test_the_padding_of_an_odd_upload_is_zero(bench: Bench) -> None:
    bench.submitter.run(bench.submission(np.full(64, 0xFFFFFFFF, np.uint32)))
    total = np.zeros(1, np.uint32)
    slots = [Slot(1, upload=True), Slot(4, clear=True), Slot(4, clear=True, result=True)]
    frame = Frame(bench.kernel, slots, (1, 1, 1))
    upload = np.array([200], np.uint8)
    bench.submitter.run(Submission(frame, bench.block(1, 1, 1), [upload], [total]))
    assert total[0] == 200


def test_empty_slots_are_bound_all_the_same(bench: Bench) -> None:
    empty = np.zeros(0, np.uint32)
    slots = [Slot(0, upload=True), Slot(0, clear=True, result=True), Slot(0, clear=True)]
    frame = Frame(bench.kernel, slots, (1, 1, 1))
    submission = Submission(frame, bench.block(0, 0, 1), [], [empty])
    assert bench.submitter.run(submission).trap.flag == 0


def test_an_error_on_the_way_returns_every_buffer(
    bench: Bench, backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.arange(100, 100 + 300_000, dtype=np.uint32)

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(backend.device.calls, "submit", fail)
        with pytest.raises(MemoryError):
            bench.submitter.run(bench.submission(x))
    assert bench.lent() == 0
    assert bench.submitter.run(bench.submission(x)).trap.flag == 0
    assert (bench.y == 2 * x + 1).all()


def test_a_wait_that_is_interrupted_leaves_a_usable_device(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    x = np.arange(100, 200, dtype=np.uint32)
    with monkeypatch.context() as patch:
        patch.setattr(bench.submitter.device.calls, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.submitter.run(bench.submission(x))
    # The buffers of the former are taken back when they are found to be free: by this one or a
    # later one.
    while bench.lent():
        assert bench.submitter.run(bench.submission(x)).trap.flag == 0
        assert (bench.y == 2 * x + 1).all()


def test_a_mapping_that_fails_returns_every_buffer(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*_: object) -> None:
        raise RuntimeError("no")

    x = np.arange(100, 200, dtype=np.uint32)
    with monkeypatch.context() as patch:
        patch.setattr(bench.submitter.device.calls, "wait", failed)
        with pytest.raises(VyreError, match="refused waiting for 'hand': no"):
            bench.submitter.run(bench.submission(x))
    assert bench.lent() == 0


def test_buffers_above_the_limit_are_a_limit_error(bench: Bench) -> None:
    limit = bench.submitter.max_buffer_bytes
    x = np.arange(100, 200, dtype=np.uint32)
    with pytest.raises(LimitError, match=f"{limit + 16} bytes"):
        bench.submitter.run(bench.submission(x, y=Slot(limit + 16, clear=True)))


def test_results_above_the_staging_limit_are_a_limit_error() -> None:
    check_result_bytes([100, 100], 224)
    with pytest.raises(LimitError, match="224 bytes in all, more than the 223"):
        check_result_bytes([100, 100], 223)


def test_closed_submitter_reports_a_lost_device() -> None:
    with WgpuBackend() as own:
        bench = Bench(own.device)
        bench.submitter.close()
        bench.submitter.close()
        with pytest.raises(DeviceLostError, match="closed"):
            bench.submitter.run(bench.submission(np.arange(100, 200, dtype=np.uint32)))
        assert bench.submitter.statistics()[0].bytes == 0


def test_a_dispatch_that_is_repeated_is_encoded_ahead_and_never_confused(bench: Bench) -> None:
    """Equal dispatches, then other params, another grid, equal ones again."""
    x = np.arange(100, 400, dtype=np.uint32)
    for a in (2, 2, 2, 3, 2, 2, 2):
        submission = bench.submission(x, a)
        for _ in range(3):
            bench.y[:] = 0
            assert bench.submitter.run(submission).trap.flag == 0
            assert (bench.y == a * x + 1).all()
    short = bench.submission(x, 2)
    frame = Frame(bench.kernel, short.frame.slots, (1, 1, 1), "short")
    for _ in range(3):
        bench.submitter.run(short._replace(frame=frame))
        assert (bench.y == np.where(x < 164, 2 * x + 1, 0)).all()
        assert bench.submitter.run(submission).trap.flag == 0


def test_nothing_leaks() -> None:
    """Live objects of wgpu-native after many dispatches of every kind are those of before."""

    def work() -> None:
        x = np.arange(100, 400, dtype=np.uint32)
        for a in (2, 2, 3, 2, 2):
            bench.submitter.run(bench.submission(x, a))
        tickets = [bench.submitter.start(bench.submission(x)) for _ in range(3)]
        for ticket in tickets:
            bench.submitter.collect(ticket)
        batch = bench.submitter.hold([submission, submission], "two")
        for _ in range(3):
            ticket = bench.submitter.start_batch(batch, [submission, submission])
            bench.submitter.encode_batch(batch)
            bench.submitter.collect(ticket)
        bench.submitter.let_go(batch)

    with WgpuBackend() as own:
        bench = Bench(own.device)
        submission = bench.submission(np.arange(100, 164, dtype=np.uint32))
        work()
        work()
        before = live()
        for _ in range(40):
            work()
        assert live() == before
        assert bench.lent() == 0
        bench.submitter.close()
