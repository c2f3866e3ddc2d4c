"""Store a judge's answers as checks, verdicts and ratings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.core.criteria import criterion_of
from annotation.models import Check, Claim, Criterion, Judge, Project, Run, Summary, Verdict
from annotation.models import Rating as RatingRow
from annotation.models.claim import has_number, new_queue_key
from evaluation.judging.protocol import Rating
from evaluation.judging.protocol import Verdict as Answer
from evaluation.metrics import JUDGED

AnswerPair = tuple[int, int | None]
"""The keys of a claim and of the summary that answers it, None for the source."""
Answered = tuple[int | str, int | None]
"""The key of a claim or the name of a criterion, and the key of the summary, None for the source."""


OF_RATINGS = ("value", "reason", "evidence", "confidence", "expected")


@dataclass(slots=True)
class Judged:
    """The judge's results for one summary.

    By claim, `sides` has the side of each check, which is the kind of text that the claim is checked against. `answers`
    has the answers to open checks by claim, and `repeated` the labels of repeated questions by claim. `ratings` has
    values by criterion, `computed` values by score. The evidence of answers and ratings is given by positions of unit
    rows. `criteria` has the rows of the criteria that were asked. If a request about the summary failed,
    `is_incomplete` is True.
    """

    summary: Summary
    sides: dict[int, Check.Side] = field(default_factory=dict)
    answers: dict[int, Answer] = field(default_factory=dict)
    ratings: dict[str, Rating] = field(default_factory=dict)
    computed: dict[str, dict[str, object]] = field(default_factory=dict)
    repeated: dict[int, str] = field(default_factory=dict)
    is_incomplete: bool = False
    criteria: Mapping[str, Criterion] = field(default_factory=dict)

    @property
    def asked(self) -> list[object]:
        """The judge's labels and values; an unusable answer is None."""
        return [
            *(each.label for each in self.answers.values()),
            *(rated.value for rated in self.ratings.values()),
        ]


class LatestWord(NamedTuple):
    """The latest answer: a label or value (None with the reason if unusable), and the judge's signature."""

    said: str | float | None
    reason: str
    signature: str

    def is_same(self, said: str | float | None, reason: str, signature: str) -> bool:
        """True if no new row is written: the judge has given a usable answer under this signature, which is not
        replaced, or it has failed for this reason already.
        """
        return self.signature == signature and (
            self.said is not None or (said, reason) == (None, self.reason)
        )


class JudgeOfRun(NamedTuple):
    """The author of answers: a judge with its signature, and the run."""

    judge: Judge
    signature: str
    run: Run | None

    @property
    def columns(self) -> dict[str, object]:
        """The columns of an answer that name its author."""
        return {"role": "judge", "judge": self.judge, "run": self.run, "origin_name": self.signature}


def given_by(judge: Judge, summaries: Sequence[int]) -> dict[Answered, LatestWord]:
    """Load the latest verdicts and ratings of a judge about these summaries.

    No query names the judge, because SQLite would then read all answers of the judge.
    """
    verdicts = Verdict.objects.filter(check_row__summary_id__in=summaries, withdrawn_at=None)
    ratings = RatingRow.objects.filter(summary_id__in=summaries, criterion__retired_at=None)
    columns = ("judge_id", "criterion__name", "summary_id", "value", "reason", "origin_name")
    return latest_verdicts(verdicts, judge) | _latest(ratings.order_by("pk").values_list(*columns), judge)


def is_usable(word: LatestWord | None, signature: str) -> bool:
    """True if the latest answer is usable and has this signature."""
    return word is not None and word.said is not None and word.signature == signature


def latest_verdicts(verdicts: QuerySet[Verdict], judge: Judge) -> dict[Answered, LatestWord]:
    """Load the judge's latest verdict on each check, among these verdicts."""
    columns = ("judge_id", "check_row__claim_id", "check_row__summary_id", "label", "reason", "origin_name")
    return _latest(verdicts.order_by("pk").values_list(*columns), judge)


def _latest(rows: Iterable[tuple[Any, ...]], judge: Judge) -> dict[Answered, LatestWord]:
    """Choose the judge's latest answer of each pair; a later failure does not replace a usable answer."""
    latest: dict[Answered, LatestWord] = {}
    for by, what, summary, *word in rows:
        before = latest.get((what, summary))
        if by == judge.pk and (word[0] is not None or before is None or before.said is None):
            latest[what, summary] = LatestWord(*word)
    return latest


def write(judged: Sequence[Judged], *, project: Project, by: JudgeOfRun) -> None:
    """Write the new answers about these summaries, which the caller's transaction must have locked."""
    summaries = {each.summary.pk: each.summary for each in judged}
    given = given_by(by.judge, list(summaries))
    checks = make_checks(
        {(claim, each.summary.pk): side for each in judged for claim, side in each.sides.items()},
        Check.objects.filter(summary__in=summaries),
        {key: summary.document_set_id for key, summary in summaries.items()},
        project.pk,
    )
    said: dict[AnswerPair, Answer] = {
        (claim, each.summary.pk): one for each in judged for claim, one in each.answers.items()
    }
    write_verdicts(said, given, checks=checks, by=by)
    _keep_repeated(
        {checks[claim, each.summary.pk]: label for each in judged for claim, label in each.repeated.items()},
        by,
    )
    own = {name: row for each in judged for name, row in each.criteria.items()}
    names = {name for each in judged for name in each.ratings}
    criteria = {name: own.get(name) or criterion_of(project, JUDGED[name]) for name in names}
    RatingRow.objects.bulk_create(
        RatingRow(
            criterion=criteria[name],
            summary=each.summary,
            **by.columns,
            **{column: getattr(rated, column) for column in OF_RATINGS},
        )
        for each in judged
        for name, rated in each.ratings.items()
        if not (
            (before := given.get((name, each.summary.pk)))
            and before.is_same(rated.value, rated.reason, by.signature)
        )
    )
    if computed := {each.summary.pk: each.computed for each in judged if each.computed}:
        # Read the rows again, because another run may have written other scores.
        rows = list(Summary.objects.filter(pk__in=computed).only("computed"))
        for row in rows:
            row.computed |= computed[row.pk]
        Summary.objects.bulk_update(rows, ["computed"])


def _keep_repeated(repeated: Mapping[int, str], by: JudgeOfRun) -> None:
    """Store the repeated labels of checks with the current verdicts; if a label has changed, the uncertainty becomes
    1.
    """
    rows = Verdict.objects.filter(check_row__in=repeated, origin_name=by.signature, label__isnull=False)
    latest = {row.check_row_id: row for row in rows.order_by("pk") if row.judge_id == by.judge.pk}
    for check, row in latest.items():
        row.repeated = repeated[check]
        if row.repeated != row.label:
            row.uncertainty = 1.0
    Verdict.objects.bulk_update(latest.values(), ["repeated", "uncertainty"])


def write_verdicts(
    said: Mapping[AnswerPair, Answer],
    before: Mapping[Answered, LatestWord],
    *,
    checks: Mapping[AnswerPair, int],
    by: JudgeOfRun,
) -> int:
    """Write the answers, and return the number of rows written.

    An answer is omitted if `before` has a usable answer under the same signature, or the same failure.
    """
    new = [
        Verdict(
            check_row_id=checks[pair],
            **by.columns,
            label=answer.label,
            probability=answer.probability,
            evidence=list(answer.evidence),
            reason=answer.reason,
            uncertainty=answer.uncertainty,
            votes=[list(vote) for vote in answer.votes],
        )
        for pair, answer in said.items()
        if pair not in before or not before[pair].is_same(answer.label, answer.reason, by.signature)
    ]
    Verdict.objects.bulk_create(new)
    return len(new)


def make_checks(
    wanted: Mapping[AnswerPair, Check.Side],
    there: QuerySet[Check],
    sets: Mapping[int | None, int],
    project: int,
) -> dict[AnswerPair, int]:
    """Return the key of the check of each claim and summary; create the checks that are not `there`.

    `sets` maps the keys of summaries to the keys of their document sets.
    """
    found = {
        (claim, summary): key for claim, summary, key in there.values_list("claim_id", "summary_id", "pk")
    }
    missing = [pair for pair in wanted if pair not in found]
    # Read the claims again, because they may have been removed or replaced during the judge's call.
    claims = Claim.all_claims.select_related("claim_set").in_bulk({claim for claim, _ in missing})
    made = Check.objects.bulk_create(
        Check(
            project_id=project,
            claim_id=claim,
            summary_id=summary,
            document_set_id=sets[summary],
            side=wanted[claim, summary],
            is_current=claims[claim].removed_at is None and claims[claim].claim_set.is_active,
            has_number=has_number(claims[claim].text),
            queue_key=new_queue_key(),
        )
        for claim, summary in missing
    )
    return found | dict(zip(missing, (check.pk for check in made), strict=True))
