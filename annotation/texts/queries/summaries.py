"""The summaries of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.core.lists import Choices, Column, Filter, Kind, List, Viewer, sees_scores
from annotation.core.permissions import READ_CONTENT
from annotation.models import Summary

if TYPE_CHECKING:
    from django.db.models import QuerySet

ROLES = Choices("SummaryRole", [("reference", "reference"), ("summary", "summary")])


def summaries_of(viewer: Viewer) -> QuerySet[Summary]:
    return Summary.objects.filter(document_set__project=viewer.project).select_related(
        "system", "document_set"
    )


def _roles(summary: Summary) -> list[str]:
    held = zip(("reference", "summary"), (summary.is_reference, summary.is_summary), strict=True)
    return [role for role, is_held in held if is_held]


SUMMARIES = List(
    name="summaries",
    verbs=READ_CONTENT,
    rows=lambda viewer: summaries_of(viewer).defer("text", "metadata"),
    order=("pk",),
    filters=(
        Filter("system", "system__name", seen_by=sees_scores, help="Summaries by the system of that name."),
        Filter("document_set", "document_set__public_id", help="Summaries of the set of that id."),
        Filter(
            "role",
            lambda viewer, role: Q(**{f"is_{role}": True}),
            choices=ROLES,
            help="Only references, or only summaries under test.",
        ),
        Filter("target_words", kind=Kind.COUNT, help="Summaries of that target length."),
    ),
    columns=(
        Column("id", "public_id"),
        Column("document_set", "document_set.public_id"),
        Column("document_id", "document_set.external_id", order=True),
        Column(
            "system",
            "system.name",
            nullable=True,
            seen_by=sees_scores,
            help="The author; null if unknown, left out for callers who may not view the scores.",
        ),
        Column(
            "roles",
            _roles,
            kind=Kind.TEXTS,
            choices=ROLES,
            help="reference: measured against. summary: under test.",
        ),
        Column("reference_id", "external_id", help="Name of a reference, or empty."),
        Column(
            "target_words", kind=Kind.COUNT, nullable=True, help="Target length in the project's length unit."
        ),
        Column("created_at", kind=Kind.MOMENT, order="pk"),
    ),
)
