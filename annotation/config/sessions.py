"""Sessions in the database, as Django keeps them, found in one statement by hand.

Every request of everybody who is signed in begins with it, and building it anew as a query took most of its time. It is
read at each request: a session that was ended anywhere is over everywhere.
"""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends import db
from django.db import connection
from django.utils import timezone

from annotation.core.by_hand import kept_plan

# Defended by tests/bench/review.py and tests/bench/saving.py, which send whole requests.
_FIND = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(db.SessionStore):
    """What Django's own does, more quickly where there is a session."""

    def load(self) -> dict[str, Any]:
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with kept_plan() as cursor:
            cursor.execute(_FIND, [self.session_key, now])
            found = cursor.fetchone()
        # Where there is none, Django forgets the key, so that no stranger chooses one for somebody.
        return self.decode(found[0]) if found else super().load()
