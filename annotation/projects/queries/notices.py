"""What waits for a person to read, in all their projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q

from annotation.models import Assignment, Membership, Notice

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

COUNTED_UP_TO = 99
SHOWN = 100
TELLING = (
    Notice.Kind.MENTION,
    Notice.Kind.DRAWN,
    Notice.Kind.EXPORT,
    Notice.Kind.DISPUTE,
    Notice.Kind.RUN,
)
"""Notices that speak of others' work or of results; they wait until their reader is blind no more."""


def notices_of(person: User) -> QuerySet[Notice]:
    """The notices that the person may see now: of projects they belong to, and none that blindness hides."""
    is_member = Exists(Membership.objects.filter(project=OuterRef("project"), user=person))
    holds_open_work = Exists(
        Assignment.objects.filter(
            sitting__assessor=person,
            sitting__closed_at__isnull=True,
            sitting__unassigned_at__isnull=True,
            sitting__document_set__project=OuterRef("project"),
        )
    )
    rows = Notice.objects.filter(person=person, project__deleted_at__isnull=True)
    if not person.is_superuser:
        rows = rows.filter(is_member)
    return rows.exclude(Q(kind__in=TELLING) & Q(holds_open_work))


def unread_count(person: User) -> int:
    """How many of them are unread, counted up to one more than 99; one query."""
    return int(notices_of(person).filter(read_at=None).order_by()[: COUNTED_UP_TO + 1].count())


def latest(person: User) -> list[Notice]:
    """The last ones, newest first."""
    return list(notices_of(person).select_related("project").order_by("-pk")[:SHOWN])
