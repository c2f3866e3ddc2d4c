"""The closed questions about a document set, what its source answers, and keeping new ones."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max, QuerySet

from annotation.core.question_texts import question_key
from annotation.judging.services.asked_texts import TextToJudge
from annotation.judging.services.kept_answers import Located, verdict_of
from annotation.models import Check, Claim, ClaimOrigin, ClaimSet, DocumentSet, Judge, Run, Verdict
from annotation.models.claim import QUESTIONS, has_number, new_queue_key
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


def questions_about(document_set: int) -> QuerySet[Claim]:
    """All questions ever asked about a document set, in order."""
    rows = Claim.all_claims.filter(QUESTIONS, claim_set__document_set=document_set)
    return rows.select_related("claim_set").order_by("position")


def add_questions(
    document_set: int, texts: Sequence[str], *, origin: ClaimOrigin, origin_name: str
) -> list[Claim]:
    """Add questions behind those that there are, in the caller's transaction, which holds the document set."""
    last = questions_about(document_set).aggregate(Max("position"))["position__max"] or 0
    together = ClaimSet.objects.create(
        kind=ClaimSet.Kind.QUESTIONS, document_set_id=document_set, origin=origin, origin_name=origin_name
    )
    return Claim.objects.bulk_create(
        Claim(claim_set=together, position=position, text=text, origin=origin)
        for position, text in enumerate(texts, start=last + 1)
    )


class ActiveQuestions:
    """The questions of some document sets that count, and which this judge, as it is now, has to ask their sources.

    `wanted` is what the run asks for, as `questions_to_make` has it.
    """

    def __init__(self, judge: Judge, signature: str, wanted: int | None = None) -> None:
        self._judge = judge
        self._signature = signature
        self._wanted = wanted
        self._all: dict[int, list[Claim]] = {}
        self._answered: dict[int, str] = {}

    def load(self, document_sets: Sequence[int]) -> None:
        """Read them as they are now."""
        rows = Claim.objects.filter(QUESTIONS, claim_set__document_set__in=document_sets)
        self._all |= {key: [] for key in document_sets}
        for key, row in ((row.claim_set.document_set_id, row) for row in rows.select_related("claim_set")):
            self._all[key or 0].append(row)
        answers = self._answers().filter(check_row__document_set__in=document_sets, label__isnull=False)
        self._answered |= dict(answers.values_list("check_row__claim_id", "origin_name"))

    def of(self, document_set: int) -> list[Claim]:
        return self._all.get(document_set, [])

    def open(self, document_set: int) -> list[Claim]:
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
        held = DocumentSet.objects.select_for_update(of=("self",), no_key=True)
        project = held.values_list("project_id", flat=True).get(pk=document_set)
        self.load([document_set])
        self._add(document_set, [each.text for each in read])
        self.load([document_set])
        answers = {each.text: each.answer for each in read}
        failures = self._answers().filter(
            check_row__document_set=document_set, origin_name=self._signature, label=None
        )
        failed = set(failures.values_list("check_row__claim_id", "reason"))
        said = {
            question.pk: answers[question.text]
            for question in self.open(document_set)
            if question.text in answers
            and (answers[question.text].label or (question.pk, answers[question.text].reason) not in failed)
        }
        of_source = Check.objects.filter(document_set=document_set, peer=None)
        there = set(of_source.values_list("claim_id", flat=True))
        Check.objects.bulk_create(
            Check(
                project_id=project,
                claim=question,
                document_set_id=document_set,
                side=Check.Side.QUESTION,
                has_number=has_number(question.text),
                queue_key=new_queue_key(),
            )
            for question in self.of(document_set)
            if question.pk not in there
        )
        checks = dict(of_source.values_list("claim_id", "pk"))
        Verdict.objects.bulk_create(
            verdict_of(
                checks[question],
                Located(answer, source.positions(answer.evidence)),
                judge=self._judge,
                signature=self._signature,
                run=run,
            )
            for question, answer in said.items()
        )
        self.load([document_set])
        return bool(said)

    def _add(self, document_set: int, texts: Sequence[str]) -> None:
        """Keep those that were never asked here; what somebody retired does not come back by itself."""
        ever = questions_about(document_set)
        known = {question_key(text) for text in ever.values_list("text", flat=True)}
        new: dict[str, str] = {}
        for text in texts:
            if (key := question_key(text)) not in known:
                new.setdefault(key, text)
        if made := list(new.values())[: self.missing(document_set)]:
            add_questions(document_set, made, origin=ClaimOrigin.JUDGE, origin_name=self._signature)

    def _answers(self) -> QuerySet[Verdict]:
        """What the judge has said of sources, the latest last."""
        said = Verdict.objects.filter(check_row__peer=None, judge=self._judge, withdrawn_at=None)
        return said.order_by("pk")
