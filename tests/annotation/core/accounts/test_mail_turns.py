"""Turns at asking for mail, taken one by one and by two at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection

from annotation.core.accounts.mail_turns import takes_turn
from annotation.models import MailTurn


def test_of_a_number_of_turns_no_more_are_taken(db: None) -> None:
    assert [takes_turn("a", most=2) for _ in range(3)] == [True, True, False]
    assert takes_turn("b", most=1)


def test_two_who_ask_at_once_take_one_turn_each(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    create, both_have_counted = MailTurn.objects.create, threading.Barrier(2, timeout=1)

    def create_together(**columns: Any) -> MailTurn:
        # Where one waits for the other's transaction, or has lost to it, nobody else comes.
        with suppress(threading.BrokenBarrierError):
            both_have_counted.wait()
        return create(**columns)

    def ask(_: int) -> bool:
        try:
            return takes_turn("a", most=2)
        finally:
            connection.close()

    monkeypatch.setattr(MailTurn.objects, "create", create_together)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(ask, range(2))) == [True, True]
