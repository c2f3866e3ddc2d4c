"""Load and store closed questions, and the answers to them from the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Max, QuerySet

from annotation.judging.question_texts import question_key
from annotation.judging.services.running.answers import (
    Answered,
    AnswerPair,
    JudgeOfRun,
    LatestWord,
    is_usable,
    latest_verdicts,
    make_checks,
    write_verdicts,
)
from annotation.judging.services.running.texts import TextToJudge
from annotation.models import Check, Claim, ClaimOrigin, ClaimSet, DocumentSet, Verdict
from annotation.models.claim import QUESTIONS
from evaluation.judging.protocol import Question as ReadQuestion
from evaluation.judging.protocol import Verdict as Answer

QUESTIONS_MADE = 5
"""The number of questions that a judge generates for a document set without any."""


def questions_to_make(standing: int, wanted: int | None) -> int:
    """The number of questions to generate for a document set that has `standing` questions.

    `wanted` is the total that a run requests. If it is None, questions are generated only for sets without questions.
    Example: 0 standing and None give 5, 3 and None give 0, 3 and 5 give 2.
    """
    if wanted is None:
        return 0 if standing else QUESTIONS_MADE
    return max(0, wanted - standing)


def questions_about(document_set: int) -> QuerySet[Claim]:
    """All questions about a document set, in order, including retired ones."""
    rows = Claim.all_claims.filter(QUESTIONS, claim_set__document_set=document_set)
    return rows.select_related("claim_set").order_by("position")


def add_questions(
    document_set: int, texts: Sequence[str], *, origin: ClaimOrigin, origin_name: str
) -> list[Claim]:
    """Append questions. The caller's transaction must prevent other changes of the set's questions."""
    last = questions_about(document_set).aggregate(Max("position"))["position__max"] or 0
    together = ClaimSet.objects.create(
        kind=ClaimSet.Kind.QUESTIONS, document_set_id=document_set, origin=origin, origin_name=origin_name
    )
    return Claim.objects.bulk_create(
        Claim(claim_set=together, position=position, text=text, origin=origin)
        for position, text in enumerate(texts, start=last + 1)
    )


class ActiveQuestions:
    """The active questions of document sets, and those without a usable answer from the source by this judge."""

    def __init__(self, by: JudgeOfRun, wanted: int | None = None) -> None:
        self._by = by
        self._wanted = wanted
        self._all: dict[int, list[Claim]] = defaultdict(list)
        self._given: dict[Answered, LatestWord] = {}

    def load(self, document_sets: Sequence[int]) -> None:
        """Load the questions and answers of these document sets."""
        rows = Claim.objects.filter(QUESTIONS, claim_set__document_set__in=document_sets)
        self._all |= {key: [] for key in document_sets}
        for row in rows.select_related("claim_set"):
            self._all[row.claim_set.document_set_id or 0].append(row)
        answers = Verdict.objects.filter(withdrawn_at=None, check_row__summary=None)
        own = answers.filter(check_row__document_set__in=document_sets)
        self._given |= latest_verdicts(own, self._by.judge)

    def of(self, document_set: int) -> list[Claim]:
        return self._all[document_set]

    def open(self, document_set: int) -> list[Claim]:
        """Return the questions of a set to which this judge has given no usable answer from the source."""
        return [
            each
            for each in self.of(document_set)
            if not is_usable(self._given.get((each.pk, None)), self._by.signature)
        ]

    def missing(self, document_set: int) -> int:
        """The number of questions to generate."""
        return questions_to_make(len(self.of(document_set)), self._wanted)

    def keep(self, document_set: int, read: Sequence[ReadQuestion], source: TextToJudge) -> bool:
        """Store the judge's questions and answers in the caller's transaction. Returns True if an answer was stored.

        Only as many questions are added as are missing, and only active questions get answers.
        """
        held = DocumentSet.objects.select_for_update(of=("self",), no_key=True)
        project = held.values_list("project_id", flat=True).get(pk=document_set)
        self.load([document_set])
        self._add(document_set, [each.text for each in read])
        self.load([document_set])
        answers = {each.text: each.answer for each in read}
        checks = make_checks(
            {(each.pk, None): Check.Side.QUESTION for each in self.of(document_set)},
            Check.objects.filter(document_set=document_set, summary=None),
            {None: document_set},
            project,
        )
        said: dict[AnswerPair, Answer] = {
            (each.pk, None): source.placed(answers[each.text])
            for each in self.open(document_set)
            if each.text in answers
        }
        has_news = write_verdicts(said, self._given, checks=checks, by=self._by) > 0
        self.load([document_set])
        return has_news

    def _add(self, document_set: int, texts: Sequence[str]) -> None:
        """Add questions that the set never had, up to the missing number; retired questions stay retired."""
        ever = questions_about(document_set)
        known = {question_key(text) for text in ever.values_list("text", flat=True)}
        new: dict[str, str] = {}
        for text in texts:
            if (key := question_key(text)) not in known:
                new.setdefault(key, text)
        if made := list(new.values())[: self.missing(document_set)]:
            add_questions(document_set, made, origin=ClaimOrigin.JUDGE, origin_name=self._by.signature)
