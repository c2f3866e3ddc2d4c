"""Database sessions that refer to their person, loaded by one hand-written statement.

Every request of a signed-in person loads the session, and building the query took longer than running it.
The session is read at each request, so ending one takes effect everywhere.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.db import connection
from django.utils import timezone

from annotation.core.by_hand import kept_plan
from annotation.models import AccountSession

SEEN_EVERY = timedelta(minutes=5)
"""The time of the last request is written again when it is older than this."""

# tests/bench/answering.py, which sends whole requests, measures this statement.
_FIND = "SELECT session_data, seen_at < %s FROM annotation_accountsession WHERE session_key = %s AND expire_date > %s"


class SessionStore(db.SessionStore):
    """Django's database sessions with a faster lookup."""

    @classmethod
    def get_model_class(cls) -> type[AccountSession]:
        return AccountSession

    def create_model_instance(self, data: Any) -> AccountSession:
        """The session row, with the client data that `lock_out` stored at sign-in."""
        row = cast("AccountSession", super().create_model_instance(data))
        client: dict[str, str] = data.get("client") or {}
        row.person_id = data.get(SESSION_KEY)
        row.address, row.agent = client.get("address") or None, client.get("agent", "")
        row.began_at = client.get("at") or timezone.now()
        row.seen_at = timezone.now()
        return row

    def load(self) -> dict[str, Any]:
        now = timezone.now()
        at, soon = (connection.ops.adapt_datetimefield_value(moment) for moment in (now, now - SEEN_EVERY))
        with kept_plan() as cursor:
            cursor.execute(_FIND, [soon, self.session_key, at])
            found = cursor.fetchone()
        # If no session has the key, Django drops the key, so that nobody can choose one for someone else.
        if found is None:
            return super().load()
        if found[1]:
            self.get_model_class().objects.filter(session_key=self.session_key).update(seen_at=now)
        return self.decode(found[0])
