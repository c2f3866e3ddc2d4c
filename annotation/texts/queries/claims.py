"""Claims of texts, for people who correct them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, Q

from annotation.core.lists import Choices, Column, Filter, Kind, List, Viewer, sees_scores
from annotation.core.permissions import READ_CONTENT
from annotation.core.refusals import NotFound
from annotation.models import (
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    CoverageJudgment,
    DocumentSet,
    Summary,
    Unit,
    Verdict,
)
from annotation.models.answer import STANDING_DECISION
from annotation.models.claim import QUESTIONS
from annotation.scoring.unit_lists import has_claims_as_units

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

ClaimOwner = Summary | DocumentSet
"""A text with claims: a summary, or the documents of a set together."""

OPENING_WORDS = 12


@dataclass(frozen=True, slots=True)
class ListedClaim:
    """A claim with its numbers of checks: `checks` in all, `answered` with a human label or a decision, and `waiting`
    without a final label.
    """

    claim_id: str
    text: str
    origin: str
    checks: int
    answered: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ClaimGroup:
    """A unit with its claims. The group of claims without a unit has the number None."""

    number: int | None
    text: str
    claims: tuple[ListedClaim, ...]


@dataclass(frozen=True, slots=True)
class OtherText:
    text_id: str
    name: str
    opening: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class ClaimText:
    """The claims of a text, grouped by unit. `is_locked` is True if assessors judged claims in place of units."""

    text_id: str
    name: str
    is_documents: bool
    document_set: str
    version: int | None
    origin: str
    groups: tuple[ClaimGroup, ...]
    units: int
    is_locked: bool
    texts: tuple[OtherText, ...]

    @property
    def count(self) -> int:
        return sum(len(group.claims) for group in self.groups)

    @property
    def waiting(self) -> int:
        return sum(claim.waiting for group in self.groups for claim in group.claims)

    def holding(self, wanted: str) -> list[ClaimGroup]:
        """Return the groups of the claims that contain `wanted`, ignoring case; all groups if it is empty."""
        words = wanted.casefold()
        found = [
            replace(group, claims=tuple(claim for claim in group.claims if words in claim.text.casefold()))
            for group in self.groups
        ]
        return [group for group in found if group.claims or not words]


def owner_of(claim_set: ClaimSet) -> ClaimOwner:
    owner = claim_set.summary or claim_set.document_set
    assert owner is not None, "the database holds a claim set to one text"
    return owner


def document_set_of(owner: ClaimOwner) -> DocumentSet:
    return owner.document_set if isinstance(owner, Summary) else owner


def of_owner(owner: ClaimOwner) -> Q:
    """Build the condition for claim sets of a text."""
    if isinstance(owner, Summary):
        return Q(summary=owner)
    return Q(document_set=owner, kind=ClaimSet.Kind.CLAIMS)


def text_with_claims(project: Project, public_id: str) -> ClaimOwner:
    """Return the summary or the document set with this public id. Raises NotFound."""
    summaries = Summary.objects.filter(document_set__project=project, public_id=public_id)
    sets = DocumentSet.objects.filter(project=project, public_id=public_id).select_related("project")
    owner = summaries.select_related("document_set__project", "system").first() or sets.first()
    if owner is None:
        raise NotFound("There is no such text in this project.")
    return owner


def claims_in(project: Project) -> QuerySet[Claim]:
    """Select the claims of a project, removed ones too, but no closed questions."""
    return Claim.all_claims.filter(
        ~QUESTIONS,
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project),
    ).select_related(
        "unit",
        "claim_set__summary__document_set__project",
        "claim_set__summary__system",
        "claim_set__document_set__project",
    )


def _is_checked(viewer: Viewer, active: bool) -> Q:
    checked = Q(claim_set__is_active=True, removed_at__isnull=True)
    return checked if active else ~checked


def _in_set(viewer: Viewer, public_id: str) -> Q:
    by_summary = Q(claim_set__summary__document_set__public_id=public_id)
    return by_summary | Q(claim_set__document_set__public_id=public_id)


def _set_of(claim: Claim) -> DocumentSet:
    return document_set_of(owner_of(claim.claim_set))


CLAIMS = List(
    name="claims",
    verbs=READ_CONTENT,
    rows=lambda viewer: claims_in(viewer.project),
    order=("pk",),
    filters=(
        Filter("summary", "claim_set__summary__public_id", help="Claims of the summary of that id."),
        Filter("document_set", _in_set, help="Claims of the set of that id, and of its summaries."),
        Filter(
            "system",
            "claim_set__summary__system__name",
            seen_by=sees_scores,
            help="Claims of that system's summaries; needs the verb view scores.",
        ),
        Filter(
            "active",
            _is_checked,
            kind=Kind.FLAG,
            default="true",
            help="Current claims, or replaced and removed ones.",
        ),
    ),
    columns=(
        Column("id", "public_id"),
        Column("document_set", lambda claim: _set_of(claim).public_id),
        Column(
            "document_id", lambda claim: _set_of(claim).external_id, help="The document set's name in files."
        ),
        Column(
            "summary",
            "claim_set.summary.public_id",
            nullable=True,
            help="The summary it is taken from; null if it is taken from the documents.",
        ),
        Column("unit", "unit.public_id", nullable=True, help="The unit it belongs to, if to one."),
        Column("position", kind=Kind.COUNT, help="From 1, among the claims of one text."),
        Column("text", search=True),
        Column("start", kind=Kind.COUNT, nullable=True),
        Column("end", kind=Kind.COUNT, nullable=True),
        Column("weight", kind=Kind.NUMBER),
        Column("origin", choices=Choices("ClaimOrigin", ClaimOrigin.choices)),
        Column("origin_name", "claim_set.origin_name", help="The file, judge or person that it came from."),
        Column("version", "claim_set.version", kind=Kind.COUNT),
        Column(
            "is_active",
            lambda claim: claim.claim_set.is_active and claim.removed_at is None,
            kind=Kind.FLAG,
            help="True if it is checked: neither removed nor in a replaced list.",
        ),
    ),
)


def claims_of(claim_set: ClaimSet) -> list[Claim]:
    return list(Claim.objects.filter(claim_set=claim_set).select_related("unit").order_by("position"))


def units_of(owner: ClaimOwner) -> QuerySet[Unit]:
    place = Q(summary=owner) if isinstance(owner, Summary) else Q(document__document_set=owner)
    return Unit.objects.filter(place).select_related("document").order_by("position")


def needs_unit(owner: ClaimOwner, claims: Sequence[Claim]) -> bool:
    """Return True if a new claim must have a unit."""
    return (
        isinstance(owner, Summary)
        and owner.is_reference
        and not has_claims_as_units(claims)
        and units_of(owner).exists()
    )


def is_judged_as_unit(claim_set: ClaimSet) -> bool:
    """Return True if a current judgment is on a claim of this set."""
    judged = CoverageJudgment.objects.filter(claim__claim_set=claim_set, is_current=True, withdrawn_at=None)
    return judged.exists()


def claim_text(owner: ClaimOwner, *, names_systems: bool) -> ClaimText:
    """Load the claims of a text. `names_systems` adds the authors of summaries."""
    active = ClaimSet.objects.filter(of_owner(owner), is_active=True).first()
    claims = claims_of(active) if active else []
    units = list(units_of(owner))
    return ClaimText(
        text_id=owner.public_id,
        name=_name(owner, names_systems=names_systems),
        is_documents=isinstance(owner, DocumentSet),
        document_set=document_set_of(owner).external_id,
        version=active.version if active else None,
        origin=_origin(active) if active else "",
        groups=_groups(owner, units, claims),
        units=len(units),
        is_locked=active is not None and is_judged_as_unit(active),
        texts=_texts(owner, names_systems=names_systems),
    )


def _groups(owner: ClaimOwner, units: Sequence[Unit], claims: Sequence[Claim]) -> tuple[ClaimGroup, ...]:
    shows_all = isinstance(owner, Summary) and not has_claims_as_units(claims)
    counts = _counts(claims)
    by_unit: dict[int | None, list[ListedClaim]] = defaultdict(list)
    for claim in claims:
        by_unit[claim.unit_id].append(
            ListedClaim(claim.public_id, claim.text, claim.origin, *counts.get(claim.pk, (0, 0, 0)))
        )
    groups = [
        ClaimGroup(unit.position, _words(owner, unit), tuple(by_unit[unit.pk]))
        for unit in units
        if shows_all or unit.pk in by_unit
    ]
    if by_unit[None]:
        groups.append(ClaimGroup(None, "", tuple(by_unit[None])))
    return tuple(groups)


def _words(owner: ClaimOwner, unit: Unit) -> str:
    text = owner.text if isinstance(owner, Summary) else unit.document.text if unit.document else ""
    return text[unit.start : unit.end]


def _counts(claims: Sequence[Claim]) -> dict[int, tuple[int, int, int]]:
    decided = Verdict.objects.filter(STANDING_DECISION, check_row=OuterRef("pk"))
    rows = (
        Check.objects.filter(claim__in=claims)
        .annotate(is_decided=Exists(decided))
        .order_by()
        .values_list("claim_id")
        .annotate(
            checks=Count("pk"),
            answered=Count("pk", filter=Q(human_label__isnull=False) | Q(is_decided=True)),
            waiting=Count("pk", filter=Q(final_label__isnull=True)),
        )
    )
    return {key: (checks, answered, waiting) for key, checks, answered, waiting in rows}


def _origin(claim_set: ClaimSet) -> str:
    name = claim_set.origin_name
    if claim_set.origin == ClaimOrigin.JUDGE:
        return f"extracted by {name.partition('|')[0]}"
    if claim_set.origin == ClaimOrigin.IMPORTED:
        return f"imported from {name}" if name else "imported"
    return f"written by {name}"


def _name(owner: ClaimOwner, *, names_systems: bool) -> str:
    if isinstance(owner, DocumentSet):
        return "Source documents"
    target = f", target {owner.target_words}" if owner.target_words else ""
    if owner.is_reference:
        return f"Reference {owner.external_id}".rstrip() + target
    return f"Summary{f' by {owner.system}' if names_systems and owner.system else ''}{target}"


def _texts(owner: ClaimOwner, *, names_systems: bool) -> tuple[OtherText, ...]:
    document_set = document_set_of(owner)
    summaries = Summary.objects.filter(document_set=document_set).select_related("system")
    owners: list[ClaimOwner] = [document_set, *summaries.order_by("-is_reference", "public_id")]
    return tuple(
        OtherText(
            text_id=each.public_id,
            name=_name(each, names_systems=names_systems),
            opening=_opening(each.text) if isinstance(each, Summary) else "",
            is_here=each.public_id == owner.public_id,
        )
        for each in owners
    )


def _opening(text: str) -> str:
    words = text.split(maxsplit=OPENING_WORDS)
    return f"{' '.join(words[:OPENING_WORDS])} …" if len(words) > OPENING_WORDS else text.strip()
