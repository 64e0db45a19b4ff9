"""xor_map: NumPy's XOR with the key repeated, for every length of data and key."""

from __future__ import annotations

import numpy as np
import pytest

import vyre_wgpu as vw
from tests.programs.lengths import LENGTHS, random_bytes
from vyre_wgpu import programs


def test_calls_build_equal_programs() -> None:
    assert programs.xor_map() == programs.xor_map()


@pytest.mark.gpu
@pytest.mark.parametrize("length", [*LENGTHS, (1 << 20) + 3])
@pytest.mark.parametrize("key_length", [1, 2, 3, 4, 5, 256, 4099])
def test_random_bytes(length: int, key_length: int) -> None:
    data, key = random_bytes(length), random_bytes(key_length)
    before = data.copy()
    out = vw.compile(programs.xor_map()).fn(data, key)
    assert out.dtype == np.uint8
    np.testing.assert_array_equal(out, data ^ np.resize(key, length))
    np.testing.assert_array_equal(data, before)


@pytest.mark.gpu
@pytest.mark.parametrize("value", [0, 0xFF])
def test_keys_that_keep_or_flip_everything(value: int) -> None:
    data = random_bytes(1001)
    out = vw.compile(programs.xor_map()).fn(data, bytes([value]))
    np.testing.assert_array_equal(out, data ^ np.uint8(value))


@pytest.mark.gpu
def test_output_has_the_shape_of_the_data() -> None:
    data = random_bytes(15).reshape(3, 5)
    out = vw.compile(programs.xor_map()).fn(data, b"\x01\x02")
    np.testing.assert_array_equal(out, data ^ np.resize(np.uint8([1, 2]), (3, 5)))


@pytest.mark.gpu
def test_mask_of_the_websocket_standard() -> None:
    """The example of RFC 6455, section 5.7."""
    masked = bytes.fromhex("7f9f4d5158")
    out = vw.compile(programs.xor_map()).fn(masked, bytes.fromhex("37fa213d"))
    assert out.tobytes() == b"Hello"


@pytest.mark.gpu
def test_chunks_with_a_rolled_key_are_the_whole() -> None:
    data, key = random_bytes(1000), random_bytes(7)
    pipe = vw.compile(programs.xor_map())
    parts = [pipe.fn(data[at : at + 90], np.roll(key, -(at % 7))) for at in range(0, 1000, 90)]
    np.testing.assert_array_equal(np.concatenate(parts), pipe.fn(data, key))


@pytest.mark.gpu
def test_empty_key_traps_and_the_next_dispatch_works() -> None:
    pipe = vw.compile(programs.xor_map())
    with pytest.raises(vw.TrapError) as caught:
        pipe.fn(b"data", b"")
    assert (caught.value.tag, caught.value.address) == ("empty key", 0)
    assert pipe.fn(b"", b"").size == 0
    assert pipe.fn(b"data", b"\0").tobytes() == b"data"
