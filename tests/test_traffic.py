"""Whoever waits for the server waits for the last answer, and not for ever."""

from threading import Timer

import pytest
from django.core.signals import request_finished, request_started

from tests import traffic


def test_a_request_under_way_is_waited_for() -> None:
    told: list[str] = []

    def answer() -> None:
        told.append("answered")
        request_finished.send(sender=None)

    with traffic.Traffic():
        request_started.send(sender=None)
        Timer(0.4, answer).start()
    told.append("at rest")
    assert told == ["answered", "at rest"]


def test_what_comes_while_it_waits_is_waited_for_too() -> None:
    told: list[str] = []

    def ask_again() -> None:
        request_started.send(sender=None)
        request_finished.send(sender=None)
        told.append("second")

    with traffic.Traffic():
        request_started.send(sender=None)
        request_finished.send(sender=None)
        Timer(traffic.QUIET_S / 2, ask_again).start()
    assert told == ["second"]


def test_a_request_that_is_never_answered_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "LONGEST_S", 0.2)
    with pytest.raises(TimeoutError, match="1 requests without an answer"), traffic.Traffic():
        request_started.send(sender=None)
