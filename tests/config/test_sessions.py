"""Sessions: found in one statement, over when they are ended or expired."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.config.sessions import SEEN_EVERY, SessionStore
from annotation.models import AccountSession

pytestmark = pytest.mark.django_db


def started() -> str:
    session = SessionStore()
    session["who"] = "ana"
    session.save()
    assert session.session_key is not None
    return session.session_key


def test_what_was_kept_is_read_in_one_statement() -> None:
    key = started()
    with CaptureQueriesContext(connection) as asked:
        assert SessionStore(key)["who"] == "ana"
    assert len(asked) == 1


def test_a_session_that_was_ended_is_over_for_everybody_who_still_has_its_key() -> None:
    key = started()
    SessionStore(key).flush()
    late = SessionStore(key)
    assert "who" not in late
    assert late.session_key is None


def test_an_expired_session_is_over() -> None:
    key = started()
    AccountSession.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert "who" not in SessionStore(key)


def test_a_key_that_nobody_gave_out_is_forgotten() -> None:
    chosen = SessionStore("a" * 32)
    assert chosen.get("who") is None
    assert chosen.session_key is None


def test_the_last_request_is_written_down_every_few_minutes() -> None:
    key = started()
    long_ago = timezone.now() - SEEN_EVERY - timedelta(seconds=1)
    AccountSession.objects.update(seen_at=long_ago)
    assert SessionStore(key)["who"] == "ana"
    assert AccountSession.objects.get().seen_at > long_ago + SEEN_EVERY
