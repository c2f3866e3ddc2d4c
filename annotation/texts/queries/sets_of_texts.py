"""The list of document sets with their numbers of texts and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from annotation.core.lists import Choices, Column, Filter, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.models import CoverageJudgment, DocumentSet, Rating, Summary, Unit, Verdict

if TYPE_CHECKING:
    from django.db.models import QuerySet


def _sets(viewer: Viewer) -> QuerySet[DocumentSet]:
    of_set = OuterRef("pk")
    texts = Summary.objects.filter(document_set=of_set)
    return viewer.project.document_sets.annotate(
        references=_number(texts.filter(is_reference=True)),
        tested=_number(texts.filter(is_summary=True)),
        units=_number(Unit.objects.filter(summary__document_set=of_set)),
        is_judged=Exists(Verdict.objects.filter(check_row__document_set=of_set))
        | Exists(CoverageJudgment.objects.filter(comparison__summary__document_set=of_set))
        | Exists(Rating.objects.filter(summary__document_set=of_set)),
    )


def _number(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values(every=Value(1)).annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)


SETS_OF_TEXTS = List(
    name="document sets",
    verbs=(Verb.CHANGE_UNITS,),
    rows=_sets,
    order=("external_id",),
    empty="No document sets yet. Import a file first.",
    filters=(
        Filter(
            "is_judged",
            kind=Kind.FLAG,
            choices=Choices("JudgedSets", (("false", "Not judged yet"), ("true", "Judged"))),
            title="Judging",
        ),
    ),
    columns=(
        Column("name", "external_id", head="Document set", order=True, search=True, link="units-of-set"),
        Column("references", kind=Kind.COUNT, head="References"),
        Column("summaries", "tested", kind=Kind.COUNT, head="Summaries"),
        Column("units", kind=Kind.COUNT, head="Units"),
        Column("is_judged", kind=Kind.FLAG, head="Judged"),
    ),
)
