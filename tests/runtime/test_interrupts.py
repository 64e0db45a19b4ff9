"""Signals wait while steps run that their handlers must not come between."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from vyre_wgpu import DeviceLostError
from vyre_wgpu.runtime.interrupts import held_back, is_interruption

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs signals of POSIX")

USED = ("SIGINT", "SIGALRM", "SIGUSR1")


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    numbers = [getattr(signal, name) for name in USED if hasattr(signal, name)]
    before = [(number, signal.getsignal(number)) for number in numbers]
    yield
    for number, handler in before:
        signal.signal(number, handler)


class Own(Exception):
    """What a handler raises."""


def strike(number: int) -> None:
    os.kill(os.getpid(), number)


def test_handlers_are_called_after_the_block_each_once() -> None:
    came: list[int] = []
    handler = lambda number, frame: came.append(number)  # noqa: E731
    for number in (signal.SIGINT, signal.SIGALRM, signal.SIGUSR1):
        signal.signal(number, handler)
    with held_back():
        for number in (signal.SIGALRM, signal.SIGINT, signal.SIGALRM):
            strike(number)
        with held_back():
            strike(signal.SIGUSR1)
        assert not came
    assert sorted(came) == sorted([signal.SIGALRM, signal.SIGINT, signal.SIGUSR1])
    assert signal.getsignal(signal.SIGINT) is handler
    strike(signal.SIGINT)
    assert came[-1] == signal.SIGINT


def test_what_a_handler_raises_comes_after_the_block_and_others_are_called_too() -> None:
    came: list[int] = []

    def handler(number: int, frame: object) -> None:
        came.append(number)
        raise Own

    signal.signal(signal.SIGALRM, handler)
    signal.signal(signal.SIGUSR1, handler)
    done = []

    def strike_twice() -> None:
        with held_back():
            strike(signal.SIGALRM)
            strike(signal.SIGUSR1)
            done.append(True)

    with pytest.raises(Own):
        strike_twice()
    assert done
    assert sorted(came) == sorted([signal.SIGALRM, signal.SIGUSR1])
    assert signal.getsignal(signal.SIGALRM) is handler
    with pytest.raises(Own):
        strike(signal.SIGALRM)


def test_handlers_are_back_though_one_that_is_back_raises() -> None:
    """The signal comes while the others are still to be put back."""

    def handler(number: int, frame: object) -> None:
        raise Own

    for number in (signal.SIGINT, signal.SIGALRM, signal.SIGUSR1):
        signal.signal(number, handler)
    put = signal.signal
    for first in range(3):
        left = [first]

        def put_and_strike(number: int, new: Any, left: list[int] = left) -> Any:
            before = put(number, new)
            if new is handler and left:
                left[0] -= 1
                if left[0] < 0:
                    left.clear()
                    strike(number)
            return before

        def leave(replaced: Any = put_and_strike) -> None:
            with held_back():
                signal.signal = replaced

        try:
            with pytest.raises(Own):
                leave()
        finally:
            signal.signal = put
        for number in (signal.SIGINT, signal.SIGALRM, signal.SIGUSR1):
            assert signal.getsignal(number) is handler


def test_signals_without_a_handler_in_python_are_left_alone() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    with held_back():
        strike(signal.SIGALRM)
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL


def test_other_threads_hold_nothing() -> None:
    found: list[object] = []

    def look() -> None:
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))

    handler = signal.default_int_handler
    signal.signal(signal.SIGINT, handler)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [handler]


def test_an_exception_of_a_handler_is_told_from_one_of_a_call() -> None:
    import wgpu

    assert is_interruption(KeyboardInterrupt())
    assert is_interruption(Own())
    assert is_interruption(TimeoutError())
    calls = (DeviceLostError("x", fix="y"), wgpu.GPUValidationError("x"), RuntimeError())
    for error in (*calls, MemoryError(), ValueError(), TypeError(), KeyError()):
        assert not is_interruption(error)
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(is_interruption(Own())))
    thread.start()
    thread.join()
    assert found == [False]
