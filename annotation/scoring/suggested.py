"""The suggested verdicts of checks, as workers store them: a statistic beside what was said, which scores nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.models import Check, Label
from annotation.scoring.records import peers
from annotation.scoring.rescore import RESCORED_AT_ONCE

if TYPE_CHECKING:
    from annotation.models import Project

DIGITS = 4


def store_suggested(*, project: Project, suggested: Mapping[str, float]) -> int:
    """Keep these probabilities of yes, by public id, and how likely each is to change the judge's verdict.

    Every other check of the project has none. Commits batch by batch under the locks of `rescore`, so that nobody who
    answers waits for long. How many changed comes back; a second time changes nothing.
    """
    rows = Check.objects.filter(project=project).order_by()
    columns = rows.values_list("public_id", "judge_label", "suggested_probability", "change", "peer_id")
    stale = {
        peer
        for check, label, *stored, peer in columns.iterator()
        if tuple(stored) != _kept(suggested.get(check), label)
    }
    keys, changed = sorted(stale), 0
    for first in range(0, len(keys), RESCORED_AT_ONCE):
        batch = keys[first : first + RESCORED_AT_ONCE]
        with transaction.atomic():
            peers(batch, hold=True)
            held = []
            for check in Check.objects.filter(peer_id__in=batch):
                wanted = _kept(suggested.get(check.public_id), check.judge_label)
                if (check.suggested_probability, check.change) != wanted:
                    check.suggested_probability, check.change = wanted
                    held.append(check)
            Check.objects.bulk_create(
                held,
                update_conflicts=True,
                unique_fields=["pk"],
                update_fields=["suggested_probability", "change"],
            )
            changed += len(held)
    return changed


def _kept(chance: float | None, judge: str | None) -> tuple[float | None, float]:
    """What the two columns hold; where the judge has not answered there is nothing to change."""
    if chance is None:
        return None, 0.0
    chance = round(chance, DIGITS)
    if judge is None:
        return chance, 0.0
    return chance, round(1.0 - chance, DIGITS) if judge == Label.YES else chance
