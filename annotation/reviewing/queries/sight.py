"""What one person is shown of a check: the one rule, as a function of what is known and as lists ask the database.

| the person | the judge | other people | what stands |
|---|---|---|---|
| must not know yet | nothing | nothing | only what a rule decided |
| takes a planted verdict for the judge's | the planted label | nobody | their own answer, else the planted one |
| knows, or has nothing kept back from them | as it is | as it is | as it is |

A person knows once they gave an answer that stood, or were shown the judge's verdict. The two forms are held equal by
a test. A planted verdict enters by `_in_place_of_true` and `_planted_in_lists`, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import CharField, F, OuterRef, Q, Subquery, Value
from django.db.models.expressions import Case, When
from django.db.models.functions import Coalesce

from annotation.core.known_checks import FOOLING, fooled, knows
from annotation.models import Check, Verdict
from annotation.reviewing.queries.planted import in_its_place
from annotation.reviewing.queries.sql import TAKEN_FOR_TRUE

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import CheckLook, Project
    from annotation.reviewing.queries.planted import PlantedVerdict

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
    """What a person takes to be so of a check; None for what they must not know yet.

    `planted` is the wrong label that they take for the judge's.
    """

    is_known: bool
    judge: str | None = None
    human: str | None = None
    final: str | None = None
    source: str | None = None
    disputed: bool | None = None
    planted: str | None = None


def seen_by(person: User, check: Check, look: CheckLook | None, said: Sequence[Verdict]) -> CheckAsSeen:
    """What the person takes to be so of a check, by their look at it and by all its verdicts, oldest first."""
    own = [verdict for verdict in said if verdict.person_id == person.pk]
    was_shown = look is not None and look.revealed_at is not None
    seen = _as_it_is(check, is_known=was_shown or any(not verdict.is_set_aside for verdict in own))
    return _in_place_of_true(seen, look, own)


def told_of(
    seen: CheckAsSeen, said: Sequence[Verdict], person: User, check: Check, planted: PlantedVerdict | None
) -> list[Verdict]:
    """What of everything said on a check the person is told; `planted` is how the wrong verdict is worded."""
    if not seen.is_known:
        return [verdict for verdict in said if verdict.person_id == person.pk]
    label = seen.planted
    if label is None:
        return list(said)
    deciding = check.project.deciding_judge_id
    return [
        in_its_place(verdict, label, planted) if verdict.judge_id == deciding and verdict.label else verdict
        for verdict in said
        if verdict.judge_id or verdict.person_id == person.pk
    ]


def met_by(person: User, said: Sequence[Verdict]) -> Iterator[Verdict]:
    """The other's answers that the person was told when theirs were set aside, as long as they stand."""
    others: Verdict | None = None
    for verdict in said:
        if verdict.source != Verdict.Source.REVIEWER:
            continue
        if verdict.person_id != person.pk:
            others = others if verdict.is_set_aside else verdict
        elif verdict.is_set_aside and others is not None and others.withdrawn_at is None:
            yield others


def _as_it_is(check: Check, *, is_known: bool) -> CheckAsSeen:
    if is_known:
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


def _in_place_of_true(seen: CheckAsSeen, look: CheckLook | None, own: Sequence[Verdict]) -> CheckAsSeen:
    if look is None or look.planted_label is None or not look.is_fooling:
        return seen
    standing = (verdict.label for verdict in reversed(own) if verdict.withdrawn_at is None)
    return _fooled(look.planted_label, next(standing, None))


def _fooled(planted: str, own: str | None) -> CheckAsSeen:
    """To them nobody but the judge and they themselves have said anything."""
    return CheckAsSeen(
        is_known=True,
        judge=planted,
        human=own,
        final=own or planted,
        source=Check.Decider.REVIEWER if own else Check.Decider.JUDGE,
        disputed=False,
        planted=planted,
    )


# The same for lists


def as_seen(
    checks: QuerySet[Check], person: User, *, is_kept_back: bool = True, plants: bool = True
) -> QuerySet[Any]:
    """The checks with what the person takes to be so of them, for lists, filters and counts alike.

    The columns are named as those of `CheckAsSeen`, after `seen_`; `is_known`, and `planted_now` for `planted`;
    `own_label` is their own answer that stands, where `plants` tells that a wrong verdict may stand on some. Nothing is
    left out where nothing `is_kept_back` from them.
    """
    if not is_kept_back:
        truth = {seen: F(column) for column, seen in COLUMNS_SEEN.items()}
        return checks.annotate(is_known=Value(True), planted_now=_NOBODY, own_label=_NOBODY, **truth)
    known, fooled = Q(is_known=True), Q(planted_now__isnull=False)
    stands = known | Q(final_source=Check.Decider.RULE)
    label = {"output_field": CharField()}
    by_own, by_judge = Value(Check.Decider.REVIEWER.value), Value(Check.Decider.JUDGE.value)
    return checks.annotate(
        is_known=Case(When(knows(person), then=Value(True)), default=Value(False)),
        **(_planted_in_lists(person) if plants else {"planted_now": _NOBODY, "own_label": _NOBODY}),
    ).annotate(
        seen_judge=Case(When(fooled, then="planted_now"), When(known, then="judge_label"), **label),
        seen_human=Case(When(fooled, then="own_label"), When(known, then="human_label"), **label),
        seen_final=Case(
            When(fooled, then=Coalesce("own_label", "planted_now")), When(stands, then="final_label"), **label
        ),
        seen_source=Case(
            When(fooled & Q(own_label__isnull=False), then=by_own),
            When(fooled, then=by_judge),
            When(stands, then="final_source"),
            **label,
        ),
        seen_disputed=Case(When(fooled, then=Value(False)), When(known, then="is_disputed")),
    )


_NOBODY = Value(None, output_field=CharField())


def _planted_in_lists(person: User) -> dict[str, Subquery]:
    looks = fooled(person).filter(check_row=OuterRef("pk"))
    answers = Verdict.objects.filter(check_row=OuterRef("pk"), person=person, withdrawn_at=None)
    return {
        "planted_now": Subquery(looks.values("planted_label")[:1]),
        "own_label": Subquery(answers.order_by("-pk").values("label")[:1]),
    }


def taken_for_true(person: User, project: Project) -> dict[int, CheckAsSeen]:
    """What the person takes for the judge's verdict and is not, by check.

    They are told once they answered, so these are few.
    """
    with connection.cursor() as cursor:
        cursor.execute(TAKEN_FOR_TRUE.format(fooling=FOOLING), [person.pk, project.pk])
        return {check: _fooled(planted, own) for check, planted, own in cursor.fetchall()}
