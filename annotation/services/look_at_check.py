"""A reviewer has a check on screen: when, whether the judge's verdict stood there, and whether it was planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotation.models import Check, CheckLook
from annotation.permissions import Verb, require
from annotation.queries.reveal import is_judge_visible, label_to_plant, look_of, untold
from annotation.services.events import log

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


@transaction.atomic
def look_at(*, check: Check, by: User, asked: bool = False) -> CheckLook:
    """Record that the check came on the person's screen, and the judge's verdict with it where they may see it.

    `asked` is that they asked for the verdict now; it counts only where the project shows it on request. The first
    sight of either is kept; later ones change nothing.
    """
    require(by, check.project, Verb.REVIEW)
    return see(check=check, by=by, asked=asked)


@transaction.atomic
def see(*, check: Check, by: User, asked: bool = False) -> CheckLook:
    """As `look_at`, for a service that has asked whether the person may."""
    look = look_of(check, by)
    if look is not None and look.revealed_at is not None:
        return look
    if not is_judge_visible(check, by, asked=asked):
        return look or _opened(check, by)
    look = reveal(check=check, to=by, look=look)
    if asked:
        log(project=check.project, actor=by, verb="ask for the judge's verdict", target=check)
    return look


def reveal(*, check: Check, to: User, look: CheckLook | None = None) -> CheckLook:
    """Keep that the judge's verdict, or a planted one, comes on the person's screen now, unless it has before.

    Call it inside the transaction of the act that shows it.
    """
    if look is not None and look.revealed_at is not None:
        return look
    now, planted = timezone.now(), label_to_plant(check, to)
    if look is None:
        look = CheckLook(check_row=check, person=to, revealed_at=now, planted_label=planted)
        # Opened in another window at this moment: what is planted is the same there.
        CheckLook.objects.bulk_create(
            [look],
            update_conflicts=True,
            unique_fields=["check_row", "person"],
            update_fields=["revealed_at", "planted_label"],
        )
        return look
    CheckLook.objects.filter(pk=look.pk, revealed_at=None).update(revealed_at=now, planted_label=planted)
    look.revealed_at, look.planted_label = now, planted
    return look


@transaction.atomic
def meet_another(*, check: Check, by: User) -> CheckLook:
    """Record that the person was shown what another has answered, for both answers met: from now on they know.

    Nothing is planted then.
    """
    require(by, check.project, Verb.REVIEW)
    look = look_of(check, by) or _opened(check, by)
    CheckLook.objects.filter(pk=look.pk, revealed_at=None).update(revealed_at=timezone.now())
    look.refresh_from_db()
    return look


@transaction.atomic
def tell_planted(*, project: Project, by: User, but: Check | None = None) -> list[CheckLook]:
    """Tell the person which verdicts they were shown were planted: those of checks that they have answered and left.

    `but` is the check whose answer they may still change knowing only what was planted. They are told once.
    """
    require(by, project, Verb.REVIEW)
    looks = untold(by, project).select_related("check_row__project", "check_row__claim").order_by("pk")
    if but is not None:
        looks = looks.exclude(check_row=but)
    return [look for look in looks if disclose(look)]


def disclose(look: CheckLook) -> bool:
    """Tell the person that the verdict they were shown was planted; whether that was news to them.

    Call it inside a transaction.
    """
    now = timezone.now()
    untold_yet = CheckLook.objects.filter(pk=look.pk, planted_label__isnull=False, disclosed_at=None)
    if not untold_yet.update(disclosed_at=now):
        return False
    look.disclosed_at = now
    log(
        project=look.check_row.project,
        actor=look.person,
        verb="learn of a planted verdict",
        target=look.check_row,
        data={"planted": look.planted_label},
    )
    return True


def _opened(check: Check, by: User) -> CheckLook:
    look = CheckLook(check_row=check, person=by)
    CheckLook.objects.bulk_create([look], ignore_conflicts=True)
    found = look_of(check, by)
    assert found is not None, "it was just made, if not before"
    return found
