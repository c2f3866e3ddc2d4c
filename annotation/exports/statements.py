"""Who said what about a check, with the words, for the levels that tell who decided."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from annotation.models import Check, Verdict

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

RULE = "rule"
"""Named as the decider where nobody had to be asked: an empty summary expresses nothing."""


class Statement(NamedTuple):
    """One answer: who gave it and when, why, and on what evidence (unit numbers)."""

    by: str
    at: datetime | None = None
    reason: str = ""
    evidence: tuple[int, ...] = ()


_BY_RULE = Statement(by=RULE)


@dataclass(slots=True)
class CheckStatements:
    """The statements on one check that count: the last of each source, not withdrawn.

    `judge` is the deciding judge's last usable answer, `failure` its last unusable one; but for `failure` they
    are called as `Check.Decider` calls them.
    """

    judge: Statement | None = None
    failure: Statement | None = None
    reviewer: Statement | None = None
    adjudicator: Statement | None = None

    def deciding(self, final_source: str | None) -> Statement | None:
        """The statement that the final verdict rests on; None where there is no final verdict."""
        if final_source == RULE:
            return _BY_RULE
        said: Statement | None = getattr(self, final_source) if final_source else None
        return said


def statements(project: Project, peer_ids: Sequence[int], people: People) -> dict[int, CheckStatements]:
    """The statements on the checks of some summaries, by check: one query."""
    said: dict[int, CheckStatements] = defaultdict(CheckStatements)
    counts = Q(judge=None) | Q(judge=project.deciding_judge_id)
    verdicts = Verdict.objects.filter(counts, check_row__peer_id__in=peer_ids, withdrawn_at=None)
    for row in verdicts.order_by("pk").values_list(
        "check_row_id",
        "role",
        "label",
        "person_id",
        "person__username",
        "judge__name",
        "origin_name",
        "created_at",
        "reason",
        Cast("evidence", TextField()),
    ):
        check_id, role, label, person_id, username, judge, origin_name, at, reason, evidence = row
        by = rater(people, person_id=person_id, username=username, judge=judge, origin_name=origin_name)
        # As text, since hardly any holds something: to parse each took as long as to read it.
        statement = Statement(by, at, reason, () if evidence == "[]" else tuple(json.loads(evidence)))
        setattr(said[check_id], role if label is not None else "failure", statement)
    return said


def rater(
    people: People, *, person_id: int | None, username: str | None, judge: str | None, origin_name: str
) -> str:
    """How the source of a verdict is called: a person, a judge's name, or where it was imported from."""
    if person_id is not None:
        return people.name(person_id, username or "")
    return judge or origin_name


def reference_of(side: str, external_id: str | None) -> str | None:
    """The reference that a check's claim was taken from; the peer side and documents have none."""
    return (external_id or None) if side == Check.Side.REFERENCE else None
