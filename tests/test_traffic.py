"""Whoever waits for the server waits for the last answer, and not for ever."""

from threading import Timer
from typing import Any
from urllib.request import urlopen

import pytest

from tests import traffic


def test_a_request_under_way_is_waited_for() -> None:
    told: list[str] = []
    with traffic.Traffic() as server:

        def answer() -> None:
            told.append("answered")
            server.over()

        server.begun()
        Timer(0.4, answer).start()
    told.append("at rest")
    assert told == ["answered", "at rest"]


def test_what_comes_while_it_waits_is_waited_for_too() -> None:
    told: list[str] = []
    with traffic.Traffic() as server:

        def ask_again() -> None:
            server.begun()
            server.over()
            told.append("second")

        server.begun()
        server.over()
        Timer(traffic.QUIET_S / 2, ask_again).start()
    assert told == ["second"]


def test_a_request_that_is_never_answered_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "LONGEST_S", 0.2)
    with pytest.raises(TimeoutError, match="1 requests without an answer"), traffic.Traffic() as server:
        server.begun()


@pytest.mark.django_db(transaction=True)
def test_what_the_live_server_answers_is_counted(live_server: Any) -> None:
    with traffic.Traffic() as server, urlopen(f"{live_server.url}/healthz") as answer:
        assert answer.status == 200
    assert server.answered == 1
