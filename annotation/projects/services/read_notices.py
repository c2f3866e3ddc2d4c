"""A person has read notices of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.core.refusals import NotFound
from annotation.models import Notice
from annotation.projects.queries.notices import notices_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def mark_read(*, notice: Notice, by: User) -> Notice:
    """Note that a person has read their notice; twice changes nothing. Raises NotFound for another's."""
    if notice.person_id != by.pk:
        raise NotFound("There is no such notice.")
    if notice.read_at is None:
        notice.read_at = timezone.now()
        notice.save(update_fields=["read_at"])
    return notice


@transaction.atomic
def mark_all_read(*, by: User, up_to: str = "") -> int:
    """Note that a person has read their notices; how many were unread. Those that blindness hides stay unread.

    `up_to` is the public id of the newest one that they had on screen: what came later stays unread.
    Raises NotFound where it is not theirs.
    """
    unread = notices_of(by).filter(read_at=None)
    if up_to:
        newest = Notice.objects.filter(person=by, public_id=up_to).values_list("pk", flat=True).first()
        if newest is None:
            raise NotFound("There is no such notice.")
        unread = unread.filter(pk__lte=newest)
    return unread.update(read_at=timezone.now())
