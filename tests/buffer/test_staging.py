from __future__ import annotations

import pytest

from vyre_wgpu.backends.wgpu import WgpuBackend
from vyre_wgpu.buffer.staging import StagingPool, aligned

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize(("nbytes", "step", "want"), [(0, 16, 0), (1, 16, 16), (16, 16, 16)])
def test_aligned_is_the_next_multiple(nbytes: int, step: int, want: int) -> None:
    assert aligned(nbytes, step) == want


def test_lent_buffer_is_mapped_read_and_used_again(backend: WgpuBackend) -> None:
    pool = StagingPool(backend.device)
    device = backend.device.wgpu
    for value in (b"\1", b"\2"):
        with pool.lend(1000) as staging:
            source = device.create_buffer_with_data(data=value * 1000, usage="COPY_SRC")
            encoder = device.create_command_encoder()
            encoder.copy_buffer_to_buffer(source, 0, staging.wgpu, 0, 1000)
            backend.device.queue.submit([encoder.finish()])
            with pool.mapped(staging, 999) as memory:
                assert memory.shape == (999,)
                assert memory.tobytes() == value * 999
                assert not memory.flags.writeable
                del memory
    assert pool.statistics().created == 1
    assert pool.statistics().reuses == 1
    pool.close()


def test_error_while_mapped_unmaps_and_gives_back(backend: WgpuBackend) -> None:
    pool = StagingPool(backend.device)
    with pytest.raises(ZeroDivisionError), pool.lend(16) as staging, pool.mapped(staging, 16):
        1 / 0  # noqa: B018
    assert staging.wgpu.map_state == "unmapped"
    assert pool.statistics().idle_bytes == staging.size
    pool.close()


def test_interrupted_mapping_destroys_the_buffer(
    backend: WgpuBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wgpu.backends.wgpu_native import _api

    def interrupted(self: _api.GPUBuffer, mode: str, offset: int, size: int) -> None:
        self.map_async(mode, offset, size)
        raise KeyboardInterrupt

    pool = StagingPool(backend.device)
    with monkeypatch.context() as patch:
        patch.setattr(_api.GPUBuffer, "map_sync", interrupted)
        with pytest.raises(KeyboardInterrupt), pool.lend(16) as staging, pool.mapped(staging, 16):
            pass
    assert pool.statistics().buffers == 0
    pool.close()
