"""The questions about a document set, what its source answers, and what a summary alone does.

Shown is what counts: the deciding judge's answers. Those of other judges are in the exports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, cast

from django.db.models import Q

from annotation.models import ClaimOrigin, DocumentSet, Project, Question, QuestionAnswer, Rating, Summary
from evaluation.judging import Label

QuestionStanding = Literal["kept", "missed", "not_yes", "unscored", "retired"]
"""What a question means for a summary's question coverage.

`kept` and `missed` count: the source says yes, and the summary does or does not. `not_yes`: the source does
not say yes. `unscored`: a side has no usable answer. `retired`: it is asked no more.
"""

STANDINGS: dict[QuestionStanding, str] = {
    "kept": "counts: yes in both",
    "missed": "counts: yes in the source alone",
    "not_yes": "does not count: the source does not say yes",
    "unscored": "does not count: an answer is missing",
    "retired": "does not count: retired",
}

ORIGINS: dict[str, str] = {
    ClaimOrigin.JUDGE: "made up by a judge",
    ClaimOrigin.PERSON: "asked by",
    ClaimOrigin.IMPORTED: "from the file",
}

EMPTY_ANSWERS_NOTHING = "The summary is empty: it answers nothing, without asking anybody."


class QuestionSaid(NamedTuple):
    """An answer to a question; without a label it is unscored, and the reason says why."""

    label: Label | None
    probability: float | None
    evidence: tuple[int, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the source's answer, and a summary's where one was named; None: nobody has answered."""

    question_id: str
    position: int
    text: str
    origin: str
    is_made_up: bool
    retired_at: datetime | None
    source: QuestionSaid | None
    answer: QuestionSaid | None = None

    @property
    def is_source_not_yes(self) -> bool:
        """Whether the source answers, and not with yes."""
        return self.source is not None and self.source.label not in ("yes", None)

    @property
    def standing(self) -> QuestionStanding:
        """What the question means for the summary's question coverage."""
        if self.retired_at is not None:
            return "retired"
        source, answer = self.source, self.answer
        if self.is_source_not_yes:
            return "not_yes"
        if source is None or source.label is None or answer is None or answer.label is None:
            return "unscored"
        return "kept" if answer.label == "yes" else "missed"

    @property
    def counts(self) -> bool:
        """Whether the question is in the denominator of question coverage."""
        return self.standing in ("kept", "missed")

    @property
    def standing_in_words(self) -> str:
        return STANDINGS[self.standing]


@dataclass(frozen=True, slots=True)
class GivenRating:
    """A number for a summary, who gave it (empty: it was computed), and the reason where there is one."""

    name: str
    value: float | None
    judge: str
    reason: str


def latest_answers(
    project: Project, sets: Iterable[int], peer_ids: Sequence[int]
) -> dict[tuple[int, int | None], QuestionSaid]:
    """The deciding judge's latest usable answer to each question, else its latest failure.

    By question and summary, None standing for the source. A failure takes back no answer that was given before.
    """
    answers = QuestionAnswer.objects.filter(
        Q(summary__isnull=True) | Q(summary_id__in=peer_ids),
        judge=project.deciding_judge_id,
        question__document_set_id__in=sets,
    )
    latest: dict[tuple[int, int | None], QuestionSaid] = {}
    columns = ("question_id", "summary_id", "label", "probability", "evidence", "reason")
    for question, summary, label, probability, evidence, reason in answers.order_by("pk").values_list(
        *columns
    ):
        before = latest.get((question, summary))
        if label is None and before is not None and before.label is not None:
            continue
        latest[question, summary] = QuestionSaid(
            cast("Label | None", label), probability, tuple(evidence), reason
        )
    return latest


def questions_of(document_set: DocumentSet) -> tuple[AskedQuestion, ...]:
    """All questions ever asked about a document set, in order, with what its source answers."""
    said = latest_answers(document_set.project, [document_set.pk], [])
    return tuple(
        _asked(row, said.get((row.pk, None)), None)
        for row in Question.objects.filter(document_set=document_set).order_by("position")
    )


def questions_to(project: Project, summary: Summary) -> tuple[AskedQuestion, ...]:
    """As `questions_of`, with what the peer summary answers."""
    said = latest_answers(project, [summary.document_set_id], [summary.pk])
    by_rule = QuestionSaid("no", None, (), EMPTY_ANSWERS_NOTHING) if summary.is_empty else None
    rows = Question.objects.filter(document_set_id=summary.document_set_id).order_by("position")
    return tuple(
        _asked(row, said.get((row.pk, None)), by_rule or said.get((row.pk, summary.pk))) for row in rows
    )


def ratings_of(project: Project, summary: Summary) -> tuple[GivenRating, ...]:
    """The latest usable rating of each name, else the latest failure: the deciding judge's, or computed."""
    counts = Q(judge__isnull=True) | Q(judge_id=project.deciding_judge_id)
    latest: dict[str, GivenRating] = {}
    rows = Rating.objects.filter(counts, summary=summary).order_by("pk")
    for name, value, judge, reason in rows.values_list("name", "value", "judge__name", "reason"):
        before = latest.get(name)
        if value is None and before is not None and before.value is not None:
            continue
        latest[name] = GivenRating(name, value, judge or "", reason)
    return tuple(latest[name] for name in sorted(latest))


def _asked(row: Question, source: QuestionSaid | None, answer: QuestionSaid | None) -> AskedQuestion:
    made_up = row.origin == ClaimOrigin.JUDGE
    origin = ORIGINS[row.origin]
    return AskedQuestion(
        question_id=row.public_id,
        position=row.position,
        text=row.text,
        origin=origin if made_up or not row.origin_name else f"{origin} {row.origin_name}",
        is_made_up=made_up,
        retired_at=row.retired_at,
        source=source,
        answer=answer,
    )
