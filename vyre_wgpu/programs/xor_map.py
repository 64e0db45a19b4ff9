"""XOR with a repeating key, one byte a lane."""

from __future__ import annotations

import vyre_wgpu as vw

__all__ = ["xor_map"]


def xor_map() -> vw.Program:
    """Each byte XORed with a byte of a key that repeats; done twice, it gives the data again.

    Input ``data``: u8, any shape; ``key``: u8, one or more elements. Output ``out``: u8, the shape
    of ``data``: ``out[i] = data[i] ^ key[i % len(key)]``.

    This masks and unmasks the payload of WebSocket frames (RFC 6455, section 5.3); it hides nothing
    from anyone. For a chunk that begins at ``offset`` in a stream pass
    ``numpy.roll(key, -(offset % len(key)))``.

    Traps with the tag ``empty key``, address 0, if the key has no elements and the data has some.
    """
    b = vw.ProgramBuilder("xor_map")
    data = b.read("data", vw.u8)
    key = b.read("key", vw.u8)
    out = b.output("out", vw.u8, like=data)
    i = b.global_id(0)
    with b.if_(key.length == 0):
        b.trap("empty key")
    out[i] = data[i] ^ key[i % key.length]
    return b.build()
