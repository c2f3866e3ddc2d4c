"""The disputes of a project."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db.models import Q
from django.utils import timezone

from annotation.core.lists import Choices, Column, Filter, Kind, List, Viewer
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.models import (
    Answer,
    Check,
    Claim,
    Comparison,
    CoverageJudgment,
    Dispute,
    DocumentSet,
    Project,
    Rating,
    Summary,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

WORST_FIRST = ("-spread", "queue_key", "public_id")
JOINED_WITH = (
    "project__deciding_judge",
    "check_row__project__deciding_judge",
    "check_row__claim__unit",
    "check_row__claim__claim_set__summary",
    "check_row__document_set",
    "check_row__summary",
    "comparison__reference",
    "comparison__summary__document_set__project__deciding_judge",
    "unit",
    "claim",
    "summary__document_set__project",
    "criterion",
)
"""Related rows that the page of a dispute reads."""


class DisputeKind(StrEnum):
    CHECK = "check"
    UNIT = "unit"
    RATING = "rating"


KINDS = Choices("DisputeKind", [("check", "claim"), ("unit", "unit"), ("rating", "question")])


def open_disputes(project: Project) -> QuerySet[Dispute]:
    return Dispute.objects.filter(project=project, state=Dispute.State.OPEN)


def dispute_of(project: Project, public_id: str) -> Dispute:
    """Return the dispute with this public id in the project. Raises NotFound if there is none."""
    rows = Dispute.objects.filter(project=project, public_id=public_id)
    dispute = rows.select_related(*JOINED_WITH).first()
    if dispute is None:
        raise NotFound("There is no such dispute in this project.")
    return dispute


def decision_of(project: Project, public_id: str) -> Verdict | CoverageJudgment | Rating:
    """Return the decision with this public id in the project. Raises NotFound if there is none."""
    on_check = Verdict.objects.select_related("check_row__project", "check_row__summary").filter(
        check_row__project=project
    )
    on_unit = CoverageJudgment.objects.select_related(
        "comparison__summary__document_set__project", "unit", "claim"
    ).filter(comparison__summary__document_set__project=project)
    on_summary = Rating.objects.select_related("summary__document_set__project", "criterion").filter(
        summary__document_set__project=project
    )
    wanted = Q(role=Answer.Role.ADJUDICATOR, public_id=public_id)
    for rows in (on_check, on_unit, on_summary):
        if found := rows.filter(wanted).first():
            return found
    raise NotFound("There is no such decision in this project.")


def about(decision: Verdict | CoverageJudgment | Rating) -> QuerySet[Dispute]:
    return Dispute.objects.filter(_on_the_same(decision))


def decisions_on(row: Dispute | Verdict | CoverageJudgment | Rating) -> QuerySet[Any]:
    """Select all decisions on the item of a dispute. `row` may also be one of these decisions."""
    kinds: dict[type[Any], type[Any]] = {Check: Verdict, Comparison: CoverageJudgment, Summary: Rating}
    kind = kinds[type(row.place)]
    rows: QuerySet[Any] = kind._default_manager.filter(_on_the_same(row), role=Answer.Role.ADJUDICATOR)
    return rows.select_related("criterion") if kind is Rating else rows


def _on_the_same(row: Any) -> Q:
    if isinstance(row.place, Check):
        return Q(check_row=row.place)
    if isinstance(row.place, Summary):
        return Q(summary=row.place, criterion=row.criterion_id)
    return Q(comparison=row.place, unit=row.unit_id, claim=row.claim_id)


def text_of(dispute: Dispute) -> str:
    place = dispute.place
    if isinstance(place, Check):
        return place.claim.text
    if isinstance(place, Summary):
        return dispute.criterion.question if dispute.criterion else ""
    unit = dispute.unit_judged
    return unit.text if isinstance(unit, Claim) else place.reference.text[unit.start : unit.end].strip()


def set_of(dispute: Dispute) -> DocumentSet:
    place = dispute.place
    return place.summary.document_set if isinstance(place, Comparison) else place.document_set


def kind_of(dispute: Dispute) -> DisputeKind:
    if dispute.summary_id is not None:
        return DisputeKind.RATING
    return DisputeKind.CHECK if dispute.check_row_id is not None else DisputeKind.UNIT


def summary_of(dispute: Dispute) -> Summary | None:
    """Return the summary that a dispute is about; None for a check without a summary."""
    place = dispute.place
    return place if isinstance(place, Summary) else place.summary


def held_by(dispute: Dispute, person: User) -> str:
    """Name the holder of the dispute: `you`, `somebody`, or "" if nobody holds it."""
    if dispute.lease_until is None or dispute.lease_until <= timezone.now():
        return ""
    return "you" if dispute.leased_to_id == person.pk else "somebody"


def _with_holder(viewer: Viewer, rows: Sequence[Dispute]) -> None:
    for row in rows:
        vars(row)["held_by"] = held_by(row, viewer.person)


def _unit_of(dispute: Dispute) -> str | None:
    return dispute.unit_judged.public_id if kind_of(dispute) == DisputeKind.UNIT else None


STATES = Choices("DisputeState", Dispute.State.choices)

DISPUTES = List(
    name="disputes",
    verbs=(Verb.ADJUDICATE,),
    rows=lambda viewer: Dispute.objects.filter(project=viewer.project).select_related(*JOINED_WITH),
    prepare=_with_holder,
    order=WORST_FIRST,
    empty="Disputes appear when two people give different answers to the same claim, unit or question.",
    filters=(Filter("state", choices=STATES, title="State", default=Dispute.State.OPEN),),
    columns=(
        Column(
            "text",
            text_of,
            head="Claim, unit or question",
            search="check_row__claim__text",
            cell="adjudicating/_text.html",
            help="The claim, the reference unit, or the question about the summary.",
        ),
        Column("id", "public_id"),
        Column("document_id", lambda row: set_of(row).external_id, head="Document set"),
        Column("kind", kind_of, choices=KINDS, head="Kind"),
        Column("check_id", "check_row.public_id", nullable=True),
        Column("comparison", "comparison.public_id", nullable=True),
        Column("summary", "summary.public_id", nullable=True, help="The rated summary."),
        Column("criterion", "criterion.name", nullable=True),
        Column("unit", _unit_of, nullable=True, help="The reference unit, or the claim in its place."),
        Column("answers", kind=Kind.COUNT, head="Answers", order=True, help="Number of answers."),
        Column(
            "spread",
            kind=Kind.NUMBER,
            head="Difference",
            cell="adjudicating/_difference.html",
            order=True,
            help="Largest minus smallest answer, 0 to 1; unsure is .5.",
        ),
        Column("state", choices=STATES),
        Column("held_by", help="you, somebody, or empty for nobody."),
    ),
)
