"""The columns of a check as one person may see them: of a row at hand, and in lists.

Until a person has answered a check or was shown the judge's verdict, they see only what a rule decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import CharField, F, Q, Value
from django.db.models.expressions import Case, When

from annotation.core.known_checks import knows
from annotation.models import Check, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import CheckLook

COLUMNS_SEEN = {
    "judge_label": "seen_judge",
    "human_label": "seen_human",
    "final_label": "seen_final",
    "final_source": "seen_source",
    "is_disputed": "seen_disputed",
}
"""What `as_seen` puts in the place of these columns of a check."""
OF_THE_JUDGE = ("judge_probability", "unscored_reason")
"""What else of a check's columns tells what its judge said."""


@dataclass(frozen=True, slots=True)
class CheckAsSeen:
    """The columns of a check as a person may see them; None where they are hidden."""

    is_known: bool
    judge: str | None = None
    human: str | None = None
    final: str | None = None
    source: str | None = None
    disputed: bool | None = None


def seen_by(person: User, check: Check, look: CheckLook | None, said: Sequence[Verdict]) -> CheckAsSeen:
    """The columns that the person may see, by their look at the check and by all its verdicts."""
    has_answered = any(verdict.person_id == person.pk for verdict in said)
    if has_answered or (look is not None and look.revealed_at is not None):
        return CheckAsSeen(
            is_known=True,
            judge=check.judge_label,
            human=check.human_label,
            final=check.final_label,
            source=check.final_source,
            disputed=check.is_disputed,
        )
    if check.final_source == Check.Decider.RULE:
        return CheckAsSeen(is_known=False, final=check.final_label, source=check.final_source)
    return CheckAsSeen(is_known=False)


def told_of(said: Sequence[Verdict], person: User, *, is_known: bool) -> list[Verdict]:
    """The verdicts on a check that the person may see."""
    return [verdict for verdict in said if is_known or verdict.person_id == person.pk]


def as_seen(checks: QuerySet[Check], person: User, *, is_kept_back: bool) -> QuerySet[Any]:
    """The checks with the fields of `CheckAsSeen`, named after `seen_`, and `is_known`."""
    if not is_kept_back:
        columns = {seen: F(column) for column, seen in COLUMNS_SEEN.items()}
        return checks.annotate(is_known=Value(True), **columns)
    known = Q(is_known=True)
    decided = known | Q(final_source=Check.Decider.RULE)
    label = {"output_field": CharField()}
    return checks.annotate(
        is_known=Case(When(knows(person), then=Value(True)), default=Value(False))
    ).annotate(
        seen_judge=Case(When(known, then="judge_label"), **label),
        seen_human=Case(When(known, then="human_label"), **label),
        seen_final=Case(When(decided, then="final_label"), **label),
        seen_source=Case(When(decided, then="final_source"), **label),
        seen_disputed=Case(When(known, then="is_disputed")),
    )
