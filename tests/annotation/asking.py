"""Answers to questions, as a judge would have given them."""

from __future__ import annotations

from annotation.models import Judge, Question, QuestionAnswer, Summary


def answer(
    question: Question, label: str | None, *, judge: Judge, summary: Summary | None = None, reason: str = ""
) -> None:
    """What the judge says of the question, from the source or from a summary alone."""
    QuestionAnswer.objects.create(
        question=question, summary=summary, judge=judge, origin_name=judge.name, label=label, reason=reason
    )
