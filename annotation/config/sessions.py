"""Sessions in the database, as Django keeps them, with whose they are.

A session is read at each request: one that was ended anywhere is over everywhere.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.utils import timezone

from annotation.models import AccountSession

SEEN_EVERY = timedelta(minutes=5)
"""How old the time of the last request may become before it is written anew."""


class SessionStore(db.SessionStore):
    """Django's own, which also keeps when the session was last seen."""

    @classmethod
    def get_model_class(cls) -> type[AccountSession]:
        return AccountSession

    def create_model_instance(self, data: Any) -> AccountSession:
        """The row of these data, with what `lock_out` put into them when the person came in."""
        row = cast("AccountSession", super().create_model_instance(data))
        client: dict[str, str] = data.get("client") or {}
        row.person_id = data.get(SESSION_KEY)
        row.address, row.agent = client.get("address") or None, client.get("agent", "")
        row.began_at = client.get("at") or timezone.now()
        row.seen_at = timezone.now()
        return row

    def load(self) -> dict[str, Any]:
        row = self._get_session_from_db()  # type: ignore[attr-defined]
        if row is None:
            return {}
        now = timezone.now()
        if row.seen_at < now - SEEN_EVERY:
            self.get_model_class().objects.filter(session_key=self.session_key).update(seen_at=now)
        data: dict[str, Any] = self.decode(row.session_data)
        return data
