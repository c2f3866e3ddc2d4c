"""Figures of each reviewer."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from annotation.models import Label, Verdict

if TYPE_CHECKING:
    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class PersonAnswers:
    """A reviewer's number of answered checks, share of answers unlike the deciding judge's, and median seconds per
    answer.

    Only the newest answer to each check that is not withdrawn counts, blind or not. Unsure counts as not yes. The share
    is None if the judge answered none of these checks. The seconds are None if no time was measured.
    """

    name: str
    count: int
    differ: float | None
    seconds: float | None


def people_with_answers(project: Project) -> tuple[PersonAnswers, ...]:
    """Load the figures of each reviewer with answers that are not withdrawn, sorted by name."""
    rows = Verdict.objects.filter(
        check_row__project=project, person__isnull=False, role=Verdict.Role.REVIEWER, withdrawn_at=None
    )
    columns = ("person__username", "check_row_id", "label", "check_row__judge_label", "active_ms")
    latest = {(person, check): rest for person, check, *rest in rows.order_by("pk").values_list(*columns)}
    by_person: dict[str, list[tuple[str, str | None, int]]] = defaultdict(list)
    for (person, _), (label, judge, ms) in latest.items():
        by_person[person].append((label, judge, ms))
    found = []
    for name, answers in sorted(by_person.items()):
        differ = [(label == Label.YES) != (judge == Label.YES) for label, judge, _ in answers if judge]
        timed = [ms / 1000 for _, _, ms in answers if ms]
        share = sum(differ) / len(differ) if differ else None
        found.append(PersonAnswers(name, len(answers), share, median(timed) if timed else None))
    return tuple(found)
