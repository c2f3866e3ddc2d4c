"""Answers that were set aside, because somebody else had answered otherwise first, and that nobody followed up."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from annotation.models import Verdict

_OWN = Verdict.objects.filter(check_row=OuterRef("check_row"), person=OuterRef("person"))
_HEARD = Exists(_OWN.filter(Q(withdrawn_at=None) | Q(pk__gt=OuterRef("pk"))))

OVERTAKEN = Q(is_set_aside=True) & ~_HEARD
"""The verdicts that were set aside and still are all that their author says: the last of each on a check.

Whoever answered again afterwards, or has an answer that stands, is heard by that.
"""
