"""Random numbers from counters: what a lane draws depends on a key and a counter, nothing else.

`philox4x32` is the generator, Philox 4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror and D. E.
Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11): it mixes a counter of four words with a
key of two and yields four words, by 32-bit integer operations that every device has. There is no
state: a lane makes its counter from what it works on, such as its index. The other functions turn
random words into floats.

All of it runs in a kernel, as the other free functions do: plain numbers among the words are u32.
"""

from __future__ import annotations

from collections.abc import Sequence

from .fixed_normal import normal_pair
from .functions import cos, log, log1p, mul_wide, select, sin, sqrt
from .handles import BufferHandle
from .recorder import Recorder
from .types import f32, f64, i32, u32
from .values import Operand, Value, operand_row

__all__ = [
    "block_counter",
    "normal_f32",
    "normal_f64",
    "philox4x32",
    "uniform_f32",
    "uniform_f64",
]

Four = tuple[Value, Value, Value, Value]

_ROUNDS = 10
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
"""What a round adds to the key's words: the golden ratio and sqrt(3) - 1, as fractions of 2^32."""

_PI = 3.141592653589793
_ALL_ONES = 0xFFFFFFFF
_TWO_BITS_LESS = (1 << 30) - 1


def philox4x32(counter: Sequence[Operand], key: Sequence[Operand]) -> Four:
    """Philox 4x32-10: four random u32 for each counter and key.

    Words of different counters are statistically independent, and so are those of different keys,
    small and consecutive numbers too. Equal to Random123's ``philox4x32`` with 10 rounds.

    Args:
        counter: four u32 operands, the lowest word first.
        key: two u32 operands, the lowest word first.

    Raises:
        TypeError: there are not four and two operands, or no kernel value is among them.
    """
    found = [len(words) if _is_sequence(words) else "a single one" for words in (counter, key)]
    if found != [4, 2]:
        raise TypeError(
            f"vw.random.philox4x32 takes a counter of 4 words and a key of 2, not {found[0]} and "
            f"{found[1]}: write vw.random.philox4x32((i, 0, 0, 0), key=(seed, 0))"
        )
    recorder = _recorder_of("philox4x32", *counter, *key)
    c0, c1, c2, c3 = (_word(recorder, word) for word in counter)
    k0, k1 = (_word(recorder, word) for word in key)
    for _ in range(_ROUNDS):
        low0, high0 = mul_wide(c0, _MULTIPLIERS[0])
        low1, high1 = mul_wide(c2, _MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
    return c0, c1, c2, c3


def block_counter(start: Sequence[Operand], index: Operand) -> Four:
    """A counter whose lower 64 bits are ``start + index``; the upper two words are 0.

    Args:
        start: two u32 operands, the lower word first.
        index: a u32 operand. The sum is taken modulo 2^64.

    Raises:
        TypeError: there are not two words, or no kernel value is among the operands.
    """
    recorder = _recorder_of("block_counter", *start, index)
    if len(start) != 2:
        raise TypeError(f"vw.random.block_counter takes a start of 2 words, not {len(start)}")
    low, high = (_word(recorder, word) for word in start)
    total = low + index
    zero = _word(recorder, 0)
    return total, high + (total < low).cast(u32), zero, zero


def uniform_f32(word: Operand) -> Value:
    """A random word as an f32 in [0, 1): a multiple of 2^-24, each equally likely.

    Exact, so the same bits on every device: the 24 upper bits of the word times 2^-24.
    """
    return (_u32("uniform_f32", word) >> 8).cast(f32) * 2.0**-24


def uniform_f64(first: Operand, second: Operand) -> Value:
    """Two random words as an f64 in [0, 1): a multiple of 2^-53, each equally likely.

    Exact, so the same bits on every device: the 27 upper bits of the first word, then the 26 upper
    bits of the second (as M. Matsumoto and T. Nishimura's genrand_res53, 2002).
    """
    recorder = _recorder_of("uniform_f64", first, second)
    high, low = (_word(recorder, word) for word in (first, second))
    return (high >> 5).cast(f64) * 2.0**-27 + (low >> 6).cast(f64) * 2.0**-53


def normal_f32(first: Operand, second: Operand) -> tuple[Value, Value]:
    """Two random words as two independent normally distributed f32, mean 0 and deviation 1.

    G. E. P. Box and M. E. Muller, "A note on the generation of random normal deviates", Ann. Math.
    Stat. 29, 1958: ``r cos a`` and ``r sin a``, where ``r = sqrt(-2 log u)``, ``u = (first + 1/2) /
    2^32`` and ``a = 2 pi (second + 1/2) / 2^32``. No magnitude is above ``sqrt(66 log 2)``, 6.76.

    Computed in integers, so the same bits on every device: multiples of 2^-28 that are within
    2^-25 of the formula, or where that is above 1 within 2^-25 of its magnitude; then rounded to
    f32.
    """
    recorder = _recorder_of("normal_f32", first, second)
    return normal_pair(_word(recorder, first), _word(recorder, second))


def normal_f64(words: Sequence[Operand]) -> tuple[Value, Value]:
    """Four random words as two independent normally distributed f64, mean 0 and deviation 1.

    The formula of `normal_f32`, with 64 random bits for each of u, the first two words, and ``a``,
    the others; of two words the first is the upper one. No magnitude is above
    ``sqrt(130 log 2)``, 9.49.

    Computed in f64, so the last bits may differ between devices. With functions within 4 ULP and a
    root within 2.5, a result is within 11 * 2^-52 of its magnitude, whatever the words. The worst
    of 129,600, of which 29,600 had words near axes and ends, was 2.1 * 2^-52 away.

    Raises:
        TypeError: there are not four words, or no kernel value is among them.
    """
    recorder = _recorder_of("normal_f64", *words)
    if len(words) != 4:
        raise TypeError(f"vw.random.normal_f64 takes 4 words, not {len(words)}")
    u_high, u_low, a_high, a_low = (_word(recorder, word) for word in words)
    radius = sqrt(_log_of_fraction(recorder, u_high, u_low) * -2.0)
    # The quadrant next to a, and what a is beyond it: from -2^61 to 2^61 parts of 2^64.
    turned = a_high + (1 << 29)
    beyond = ((turned & _TWO_BITS_LESS) - (1 << 29)).bitcast(i32)
    angle = _with_half(beyond, a_low) * (2 * _PI * 2.0**-64)
    near, far = cos(angle), sin(angle)
    swapped = (turned & (1 << 30)) != 0
    cosine, sine = select(swapped, -far, near), select(swapped, near, far)
    signed_radius = select(turned.bitcast(i32) < 0, -radius, radius)
    return signed_radius * cosine, signed_radius * sine


def _log_of_fraction(recorder: Recorder, high: Value, low: Value) -> Value:
    """The logarithm of u = (words + 1/2) / 2^64, where u is near 1 of 1 - u, which has all bits."""
    is_upper = (high >> 31) != 0
    ones = select(is_upper, _word(recorder, _ALL_ONES), _word(recorder, 0))
    # Of all words w, ~w is 2^64 - 1 - w: so this is u or 1 - u, whichever is below 1/2.
    part = _with_half(high ^ ones, low ^ ones) * 2.0**-64
    return select(is_upper, log1p(-part), log(part))


def _with_half(high: Value, low: Value) -> Value:
    """``high * 2^32 + low + 1/2`` as the nearest f64: a relative 2^-53 from it, however small.

    The product and the inner sum are exact: a driver may contract them as it likes.
    """
    return high.cast(f64) * 2.0**32 + (low.cast(f64) + 0.5)


def _is_sequence(words: object) -> bool:
    return hasattr(words, "__len__") and not isinstance(words, BufferHandle)


def _recorder_of(name: str, *operands: object) -> Recorder:
    for operand in operands:
        if isinstance(operand, Value):
            return operand._recorder
    raise TypeError(
        f"vw.random.{name} takes kernel values, not only {', '.join(map(repr, operands))}; on the "
        "host use vyre_wgpu.programs.random_uniform"
    )


def _u32(name: str, word: Operand) -> Value:
    return _word(_recorder_of(name, word), word)


def _word(recorder: Recorder, word: Operand) -> Value:
    """An operand as a u32 value; a value of another type is noted for ``build()``."""
    row = operand_row(recorder, word, u32)
    if recorder.dtype[row] != u32.code:
        found = recorder.dtype_of(row)
        recorder.problem(
            "E203", f"a random word is a u32, found {found}", "write word.cast(vw.u32)"
        )
        row = recorder.placeholder(u32)
    return Value(recorder, row, u32)
