"""The suggested verdicts of checks, as workers store them: a statistic beside what was said, which scores nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from django.db import connection, transaction

from annotation.models import Check, Label
from annotation.scoring.records import peers
from annotation.scoring.rescore import RESCORED_AT_ONCE
from annotation.scoring.sql import SUGGEST, SUGGESTED_ROW

if TYPE_CHECKING:
    from annotation.models import Project

DIGITS = 4
UPDATED_AT_ONCE = 2_000


def store_suggested(*, project: Project, suggested: Mapping[str, float]) -> int:
    """Keep these probabilities of yes, by public id, and how likely each is to change the judge's verdict.

    Every other check of the project has none. Commits batch by batch under the locks of `rescore`, so that nobody who
    answers waits for long. How many changed comes back; a second time changes nothing.
    """
    columns = ("public_id", "judge_label", "suggested_probability", "change")
    checks = Check.objects.filter(project=project).order_by().values_list(*columns, "peer_id")
    stale = {
        peer
        for check, label, *stored, peer in checks.iterator()
        if tuple(stored) != _kept(suggested.get(check), label)
    }
    keys, changed = sorted(stale), 0
    for first in range(0, len(keys), RESCORED_AT_ONCE):
        batch = keys[first : first + RESCORED_AT_ONCE]
        with transaction.atomic():
            peers(batch, hold=True)
            held = Check.objects.filter(peer_id__in=batch).order_by().values_list("pk", *columns)
            found = (
                (key, _kept(suggested.get(check), label), tuple(stored))
                for key, check, label, *stored in held.iterator()
            )
            rows = [(key, *wanted) for key, wanted, stored in found if stored != wanted]
            for start in range(0, len(rows), UPDATED_AT_ONCE):
                _update(rows[start : start + UPDATED_AT_ONCE])
            changed += len(rows)
    return changed


def _update(rows: Sequence[tuple[int, float | None, float]]) -> None:
    wanted = ", ".join([SUGGESTED_ROW] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(SUGGEST.format(wanted=wanted), list(chain.from_iterable(rows)))


def _kept(chance: float | None, judge: str | None) -> tuple[float | None, float]:
    """What the two columns hold; where the judge has not answered there is nothing to change."""
    if chance is None:
        return None, 0.0
    chance = round(chance, DIGITS)
    if judge is None:
        return chance, 0.0
    return chance, round(1.0 - chance, DIGITS) if judge == Label.YES else chance
