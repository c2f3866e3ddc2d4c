"""The closed questions about a document set, what its source answers, and keeping new ones."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.models import ClaimOrigin, DocumentSet, Judge, Question, QuestionAnswer, Run
from annotation.services.judging.texts import Piece
from evaluation.judging.protocol import Question as ReadQuestion

QUESTIONS_MADE = 5
"""How many questions a judge makes up about a document set that has none."""


class ActiveQuestions:
    """The questions of a document set, and which of them this judge, as it is now, has to ask its source yet."""

    def __init__(self, document_set: DocumentSet, judge: Judge, signature: str) -> None:
        self._document_set = document_set
        self._judge = judge
        self._signature = signature
        self.load()

    def load(self) -> None:
        self.all = list(Question.objects.filter(document_set=self._document_set).order_by("position"))
        answers = QuestionAnswer.objects.filter(
            question__document_set=self._document_set, judge=self._judge, summary=None, label__isnull=False
        )
        latest = dict(answers.order_by("pk").values_list("question_id", "origin_name"))
        self.open = [each for each in self.all if latest.get(each.pk) != self._signature]

    def keep(self, read: Sequence[ReadQuestion], source: Piece, run: Run | None) -> bool:
        """Write what the judge read from the source, inside the caller's transaction.

        New questions are kept unless somebody was quicker; answers only to questions that stand. Whether any
        answer was written.
        """
        list(
            DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=self._document_set.pk)
        )
        if not Question.objects.filter(document_set=self._document_set).exists():
            Question.objects.bulk_create(
                Question(
                    document_set=self._document_set,
                    position=position,
                    text=each.text,
                    origin=ClaimOrigin.JUDGE,
                    origin_name=self._signature,
                )
                for position, each in enumerate(read, start=1)
            )
        self.load()
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
            for question in self.open
            if (answer := answers.get(question.text)) is not None
            and not self._failed_so(question, answer.reason)
        ]
        QuestionAnswer.objects.bulk_create(rows)
        self.load()
        return bool(rows)

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
