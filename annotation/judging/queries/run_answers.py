"""The answers of a run's judge: verdicts and ratings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from django.db.models import Count
from django.utils.text import Truncator

from annotation.models import Job, Rating, Run, Verdict

if TYPE_CHECKING:
    from django.db.models import QuerySet

REASON_SHOWN = 200
_KINDS: tuple[tuple[Any, str, str], ...] = (
    (Verdict, "label", "check_row__peer__document_set"),
    (Rating, "value", "summary__document_set"),
)
"""Each kind, the column that is null where an answer cannot be used, and the way to its document set.

What a source answers to questions has no summary and does not count: it alone scores nothing.
"""


def answers(run: Run, *, usable: bool, earlier: bool = False) -> list[QuerySet[Any]]:
    """The answers of each kind in a run, or those of its judge at any time, in the sets where some cannot be used."""
    found = []
    for kind, value, document_set in _KINDS:
        rows = kind.objects.filter(
            judge=run.judge_id, **{f"{value}__isnull": not usable, f"{document_set}__isnull": False}
        ).order_by()
        if earlier:
            fell_short = Job.objects.filter(run=run, unscored__gt=0).values("document_set")
            found.append(rows.filter(**{f"{document_set}__in": fell_short}))
        else:
            found.append(rows.filter(run=run))
    return found


def usable_in(run: Run, document_sets: list[int]) -> bool:
    """The run has a usable answer in one of these document sets."""
    return any(
        rows.filter(**{f"{path}__in": document_sets}).exists()
        for rows, (_, _, path) in zip(answers(run, usable=True), _KINDS, strict=True)
    )


def is_useless(run: Run) -> bool:
    """The run asked its judge and got no usable answer.

    What could not be used before either, where other answers in the same sets can be, makes no run useless: a server
    that refuses one text for good would fail every run that asks about it once more.
    """
    if not Job.objects.filter(run=run, unscored__gt=0).exists() or _any(answers(run, usable=True)):
        return False
    return _any(answers(run, usable=False)) or not _any(answers(run, usable=True, earlier=True))


def why_unusable(run: Run) -> list[tuple[str, int]]:
    """The reasons of unusable answers with their counts, the most common first.

    A failure that repeats itself is not written again: then those of earlier runs say why.
    """
    found = Counter[str]()
    for earlier in (False, True):
        for rows in [] if found else answers(run, usable=False, earlier=earlier):
            found.update(dict(rows.values_list("reason").annotate(times=Count("pk"))))
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))


def most_common_reason(run: Run) -> str:
    """A sentence behind the one that says what came to nothing; empty where no reason is known."""
    reasons = why_unusable(run)
    # A server may have said much, and what stands behind it must have room in the run's row.
    return (
        f" Most common reason: {Truncator(reasons[0][0].rstrip('.')).chars(REASON_SHOWN)}." if reasons else ""
    )


def _any(kinds: list[QuerySet[Any]]) -> bool:
    return any(rows.exists() for rows in kinds)
