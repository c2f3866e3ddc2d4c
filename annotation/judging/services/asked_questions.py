"""The closed questions about a document set, what its source answers, and keeping new ones."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max

from annotation.core.question_texts import question_key
from annotation.judging.services.asked_texts import TextToJudge
from annotation.models import ClaimOrigin, DocumentSet, Judge, Question, QuestionAnswer, Run
from evaluation.judging.protocol import Question as ReadQuestion

QUESTIONS_MADE = 5
"""How many questions a judge makes up about a document set that has none."""


def questions_to_make(standing: int, wanted: int | None) -> int:
    """How many questions a judge makes up about a document set that has some already.

    `wanted` is what a run asks for: so many in all. Without it given questions win, and those made up
    before are enough.
    Example: 0 standing and None give 5, 3 and None give 0, 3 and 5 give 2.
    """
    if wanted is None:
        return 0 if standing else QUESTIONS_MADE
    return max(0, wanted - standing)


class ActiveQuestions:
    """The questions of some document sets that count, and which this judge, as it is now, has to ask their sources.

    `wanted` is what the run asks for, as `questions_to_make` has it.
    """

    def __init__(self, judge: Judge, signature: str, wanted: int | None = None) -> None:
        self._judge = judge
        self._signature = signature
        self._wanted = wanted
        self._all: dict[int, list[Question]] = {}
        self._answered: dict[int, str] = {}

    def load(self, document_sets: Sequence[int]) -> None:
        """Read them as they are now."""
        self._all |= {key: [] for key in document_sets}
        rows = Question.objects.filter(document_set_id__in=document_sets, retired_at=None)
        for row in rows.order_by("position"):
            self._all[row.document_set_id].append(row)
        answers = QuestionAnswer.objects.filter(
            question__document_set_id__in=document_sets, judge=self._judge, summary=None, label__isnull=False
        )
        self._answered |= dict(answers.order_by("pk").values_list("question_id", "origin_name"))

    def of(self, document_set: int) -> list[Question]:
        return self._all.get(document_set, [])

    def open(self, document_set: int) -> list[Question]:
        """Those that the source has not answered yet."""
        return [each for each in self.of(document_set) if self._answered.get(each.pk) != self._signature]

    def missing(self, document_set: int) -> int:
        """How many are to be made up."""
        return questions_to_make(len(self.of(document_set)), self._wanted)

    def keep(
        self, document_set: int, read: Sequence[ReadQuestion], source: TextToJudge, run: Run | None
    ) -> bool:
        """Write what the judge read from the source, inside the caller's transaction.

        New questions are kept as far as they are still missing; answers only to questions that stand. Whether
        any answer was written.
        """
        held = DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=document_set)
        list(held.values_list("pk"))
        self.load([document_set])
        self._add(document_set, [each.text for each in read])
        self.load([document_set])
        answers = {each.text: each.answer for each in read}
        rows = [
            QuestionAnswer(
                question=question,
                judge=self._judge,
                origin_name=self._signature,
                label=answer.label,
                probability=answer.probability,
                evidence=source.positions(answer.evidence),
                reason=answer.reason,
                run=run,
            )
            for question in self.open(document_set)
            if (answer := answers.get(question.text)) is not None
            and not (answer.label is None and self._failed_so(question, answer.reason))
        ]
        QuestionAnswer.objects.bulk_create(rows)
        self.load([document_set])
        return bool(rows)

    def _add(self, document_set: int, texts: Sequence[str]) -> None:
        """Keep those that were never asked here; what somebody retired does not come back by itself."""
        ever = Question.objects.filter(document_set_id=document_set)
        known = {question_key(text) for text in ever.values_list("text", flat=True)}
        new: dict[str, str] = {}
        for text in texts:
            if (key := question_key(text)) not in known:
                new.setdefault(key, text)
        last = ever.aggregate(Max("position"))["position__max"] or 0
        Question.objects.bulk_create(
            Question(
                document_set_id=document_set,
                position=position,
                text=text,
                origin=ClaimOrigin.JUDGE,
                origin_name=self._signature,
            )
            for position, text in enumerate(list(new.values())[: self.missing(document_set)], start=last + 1)
        )

    def _failed_so(self, question: Question, reason: str) -> bool:
        """Whether the judge failed at this question before, in the same way."""
        return QuestionAnswer.objects.filter(
            question=question,
            summary=None,
            judge=self._judge,
            origin_name=self._signature,
            label=None,
            reason=reason,
        ).exists()
