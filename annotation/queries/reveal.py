"""What one person may see of what the judge and other people said of a check, and since when.

The project's reveal mode decides, and what the person did: whoever has answered a check, or was shown the
judge's verdict on it, knows. Every door asks here. What is asked of one check, at every claim that comes on screen,
is asked in statements by hand: building them anew as queries took several times as long as the answers.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from annotation.models import Check, CheckLook, Label, Project, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

SURE_UP_TO, SURE_FROM = 0.1, 0.9
"""Probabilities of yes at which a judge is all but certain, so that the opposite may be planted."""
HASH_BITS = 64
OPPOSITE: dict[str | None, str] = {Label.YES: Label.NO, Label.NO: Label.YES}

# The same as `knows`, of one check.
_KNOWS = """
SELECT EXISTS (SELECT 1 FROM annotation_verdict WHERE check_row_id = %s AND person_id = %s) OR EXISTS (
    SELECT 1 FROM annotation_checklook WHERE check_row_id = %s AND person_id = %s AND revealed_at IS NOT NULL
)
"""
_LOOK = "SELECT * FROM annotation_checklook WHERE check_row_id = %s AND person_id = %s"


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody at the queues; `may_see_all` tells that scores, and so systems and answers, are open to them."""

    person: User
    may_see_all: bool = False


def is_judge_visible(check: Check, person: User, *, asked: bool = False) -> bool:
    """Whether the person may see what the judge and other people said of this check, now.

    `asked` is that they ask for it now, which only counts where the project shows it on request.
    Whoever has answered once has seen it, also after taking the answer back.
    """
    match Project.Reveal(check.project.reveal):
        case Project.Reveal.SHOWN:
            return True
        case Project.Reveal.ON_REQUEST if asked:
            return True
        case _:
            return _has_seen(check, person)


def knows(person: User) -> Q:
    """The checks of which the person has seen what others said: they answered them, or were shown it."""
    answered = Verdict.objects.filter(check_row=OuterRef("pk"), person=person)
    shown = CheckLook.objects.filter(check_row=OuterRef("pk"), person=person, revealed_at__isnull=False)
    return Q(Exists(answered)) | Q(Exists(shown))


def look_of(check: Check, person: User) -> CheckLook | None:
    """What the person was shown of the check so far; None where they never opened it."""
    return next(iter(CheckLook.objects.raw(_LOOK, [check.pk, person.pk])), None)


def untold(person: User, project: Project) -> QuerySet[CheckLook]:
    """Planted verdicts that the person was shown in the project and does not know to be planted, once they answered."""
    answered = Verdict.objects.filter(check_row=OuterRef("check_row_id"), person=person)
    return CheckLook.objects.filter(
        Exists(answered),
        person=person,
        check_row__project=project,
        planted_label__isnull=False,
        revealed_at__isnull=False,
        disclosed_at__isnull=True,
    )


def label_to_plant(check: Check, person: User) -> str | None:
    """The wrong verdict to show this person as the judge's; None where the true one is to be shown.

    A hash of project, person and check chooses, so that the choice is the same at every sight. Only checks whose
    answer is beyond doubt are chosen: other people have answered it yes or no, or the judge is all but certain.
    """
    if not _is_chosen(check, person):
        return None
    truth = _said_by_others(check, person) or _sure_label(check)
    planted = OPPOSITE.get(truth)
    # Where people say otherwise than the judge, the wrong verdict is the judge's own: nothing to plant.
    return None if planted == check.judge_label else planted


def _has_seen(check: Check, person: User) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_KNOWS, [check.pk, person.pk] * 2)
        return bool(cursor.fetchone()[0])


def _is_chosen(check: Check, person: User) -> bool:
    share: float = check.project.planted_share
    if share <= 0:
        return False
    seed = f"planted:{check.project.public_id}:{person.pk}:{check.public_id}"
    place = int.from_bytes(hashlib.sha256(seed.encode()).digest()[: HASH_BITS // 8], "big")
    return place < share * float(2**HASH_BITS)


def _said_by_others(check: Check, person: User) -> str | None:
    return (
        Verdict.objects.filter(check_row=check, source=Verdict.Source.REVIEWER, withdrawn_at=None)
        .exclude(person=person)
        .order_by("-pk")
        .values_list("label", flat=True)
        .first()
    )


def _sure_label(check: Check) -> str | None:
    probability = check.judge_probability
    if probability is None:
        return None
    return None if SURE_UP_TO < probability < SURE_FROM else check.judge_label
