from __future__ import annotations

from vyre_wgpu.runtime.waiting import Patience, pauses


def test_long_waits_end_the_asking_and_short_ones_restore_it() -> None:
    patience = Patience()
    for _ in range(20):
        patience.blocked(1.0)
    assert patience.polls == Patience.LEAST
    patience.blocked(Patience.SHORT / 2)
    assert patience.polls == Patience.MOST


def test_pauses_grow_and_end_at_the_deadline() -> None:
    lengths: list[float] = []
    for pause in pauses(0.01, lambda: sum(lengths), most=1e-3):
        lengths.append(pause)
    assert lengths[:-1] == sorted(lengths[:-1])
    assert max(lengths) == 1e-3
    assert abs(sum(lengths) - 0.01) < 1e-12
    assert list(pauses(0.01, lambda: 0.02)) == []
