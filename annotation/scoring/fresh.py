"""Computing scores and derived columns of new summaries during an import."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from annotation.scoring.records import CheckAnswers, new_records, score_rules
from annotation.scoring.rescore import DERIVED, derived_columns, score_row
from evaluation.blend import flip_impacts, score

if TYPE_CHECKING:
    from annotation.models import Claim, Comparison, Project, Score, Summary, Unit
    from evaluation.judging import Label

Columns = tuple[str | float | bool | None, ...]
"""The values of `DERIVED`, in its order."""


class FreshScore(NamedTuple):
    """The unsaved score of a new summary, and the derived columns of its checks by claim."""

    score: Score
    columns: dict[int, Columns]


def fresh_scores(
    project: Project,
    summaries: Sequence[Summary],
    labels: Mapping[int, Mapping[int, str]],
    *,
    comparisons: Iterable[Comparison],
    units: Iterable[Unit],
    claims: Sequence[Claim],
) -> Iterator[FreshScore]:
    """Compute the scores and derived columns of summaries of new document sets, in order.

    `labels`, by summary and claim, must come from one reviewer, because the function assumes that nothing is disputed.
    The other rows must have been stored.
    """
    rules = score_rules(project)
    names = {claim.pk: claim.public_id for claim in claims}
    answers = {
        summary.pk: {
            claim: _answers(label, summary.is_empty) for claim, label in labels.get(summary.pk, {}).items()
        }
        for summary in summaries
    }
    for record in new_records(
        project, summaries, answers, comparisons=comparisons, units=units, claims=claims
    ):
        result = score(record.value, rules)
        impacts = flip_impacts(record.value, rules, result=result)
        yield FreshScore(
            score_row(project=project, record=record, result=result),
            {
                claim: (*_columns(said), impacts.get(names[claim], 0.0))
                for claim, said in answers[record.summary.pk].items()
            },
        )


def unscored_columns() -> Columns:
    """Return the derived columns of a check without any answer."""
    return (*_columns(CheckAnswers()), 0.0)


@cache
def _answers(label: str, is_empty: bool) -> CheckAnswers:
    said = cast("Label", label)
    return CheckAnswers(standing=(said,), rule="no" if is_empty else None)


@cache
def _columns(answers: CheckAnswers) -> Columns:
    columns = derived_columns(answers, claim_id="", impact=0.0)
    return tuple(columns[name] for name in DERIVED if name != "impact")
