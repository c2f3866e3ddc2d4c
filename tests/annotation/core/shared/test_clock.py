from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from annotation.core.shared.clock import LeapWatch

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("looks", "has_leapt"),
    [
        # Each reading has the seconds of this process and the seconds of the shared clock.
        ([(0, 0), (3, 3), (6, 6)], [False, False, False]),
        # An hour has passed on both clocks: no leap.
        ([(0, 0), (3600, 3600)], [False, False]),
        # The clock leapt ahead by an hour; the result is True for 5 seconds after the reading that shows it.
        ([(0, 0), (3, 3603), (6, 3606), (8.5, 3608.5)], [False, True, True, False]),
        ([(0, 0), (3, 7)], [False, False]),
        # The clock was set back: leases last longer, so none seems expired.
        ([(0, 0), (3, -3597)], [False, False]),
    ],
)
def test_a_leap_of_the_shared_clock_is_seen(
    looks: list[tuple[float, float]], has_leapt: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, told = LeapWatch(), []
    for here, shared in looks:
        monkeypatch.setattr(time, "monotonic", lambda here=here: 100.0 + here)
        told.append(watch.has_leapt(NOON + timedelta(seconds=shared), by=5.0))
    assert told == has_leapt
