"""Summaries that a reviewer rates by the project's own criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.core.criteria import asked_of_reviewers
from annotation.models import Comparison, Criterion, Document, Rating, SampledRating, Summary
from annotation.sampling.queries.rating_samples import WAITING
from annotation.scoring.records import judged_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from annotation.models import Project


@dataclass(frozen=True, slots=True)
class SummaryToRate:
    """A summary with the next questions that a reviewer has not answered.

    The texts in `beside` are source documents or references. `more` is the number of questions about this summary that
    follow. `left` is the number of summaries with open questions.
    """

    summary_id: str
    text: str
    heading: str
    beside: tuple[str, ...]
    questions: tuple[Criterion, ...]
    more: int
    left: int


def next_to_rate(project: Project, person: User, *, after: str = "") -> SummaryToRate | None:
    """Find the next summary with open questions for the person; None if none is left.

    Empty summaries are omitted. Summaries up to the id `after` come last.
    """
    criteria = list(asked_of_reviewers(project))
    if not criteria:
        return None
    own = Rating.objects.filter(person=person, criterion__in=criteria, summary=OuterRef("pk")).order_by()
    answered = own.values("summary").annotate(n=Count("criterion", distinct=True)).values("n")
    summaries = Summary.objects.filter(document_set__project=project, is_summary=True, text__regex=r"\S")
    waiting = summaries.annotate(n=Coalesce(Subquery(answered, output_field=IntegerField()), 0))
    sampled = SampledRating.objects.filter(WAITING, sample__criterion__in=criteria, summary=OuterRef("pk"))
    waiting = waiting.filter(n__lt=len(criteria)).order_by(Exists(sampled).desc(), "public_id")
    summary = waiting.filter(public_id__gt=after).first() or waiting.first()
    if summary is None:
        return None
    given = Rating.objects.filter(person=person, summary=summary, criterion__in=criteria)
    known = set(given.values_list("criterion_id", flat=True))
    left = [each for each in criteria if each.pk not in known]
    stage = min(map(_stage, left))
    shown = tuple(each for each in left if _stage(each) == stage)
    heading, beside = texts_beside(summary, shown[0].reads)
    return SummaryToRate(
        summary.public_id,
        judged_text(summary, project),
        heading,
        tuple(beside),
        shown,
        len(left) - len(shown),
        waiting.count(),
    )


def _stage(criterion: Criterion) -> tuple[bool, int]:
    order = (Criterion.Reads.SUMMARY, Criterion.Reads.SOURCE, Criterion.Reads.REFERENCE)
    return criterion.asked == Criterion.Asked.AFTER, order.index(Criterion.Reads(criterion.reads))


def texts_beside(summary: Summary, reads: str) -> tuple[str, Sequence[str]]:
    """Load the texts that a criterion is read with besides the summary, with their heading; ("", ()) for none."""
    if reads == Criterion.Reads.SOURCE:
        documents = Document.objects.filter(document_set=summary.document_set_id).order_by("position")
        return "Source", list(documents.values_list("text", flat=True))
    if reads == Criterion.Reads.REFERENCE:
        compared = Comparison.objects.filter(summary=summary).order_by("pk")
        return "Reference", list(compared.values_list("reference__text", flat=True))
    return "", ()
