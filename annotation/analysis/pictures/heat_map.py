"""Claims of model summaries and sources against the systems' summaries: one answer each, a page at a time.

Only such claims are compared with the summaries of all systems; a claim taken from a summary is compared with its
source alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Exists, F, OuterRef
from django.db.models.functions import Coalesce

from annotation.core.paging import beyond
from annotation.core.refusals import Invalid
from annotation.models import Check, Claim, ClaimSet, DocumentSet, System
from annotation.texts.queries.claims import claims_in

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

CLAIMS_ON_A_PAGE = 30
PEOPLE = (Check.Decider.REVIEWER, Check.Decider.ADJUDICATOR)


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """The final answer to one check; the label is None where there is no usable one."""

    check_id: str
    summary_id: str
    label: str | None
    by_person: bool


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One claim, with its answer by the name of the system; a system without one has no summary of that set."""

    claim_id: str
    claim: str
    document_set: str
    answers: dict[str, ClaimAnswer]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """One page of claims at one target length.

    `after` names the claim that the next page starts after, "" at the end; `claims` counts those of all pages.
    """

    systems: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    after: str
    claims: int


def heat_map_page(project: Project, *, target_words: int | None, after: str = "") -> HeatMap:
    """Claims by document set and in their order within it. The number of queries does not grow.

    Raises Invalid where `after` names no claim of the project.
    """
    claims = _claims(project, target_words, after)
    shown = claims[:CLAIMS_ON_A_PAGE]
    answers: dict[int, dict[str, ClaimAnswer]] = defaultdict(dict)
    for claim, system, check_id, summary_id, label, source in (
        _checks(target_words)
        .filter(claim__in=[claim.key for claim in shown])
        .order_by()
        .values_list(
            "claim_id", "peer__system__name", "public_id", "peer__public_id", "final_label", "final_source"
        )
    ):
        answers[claim][system] = ClaimAnswer(check_id, summary_id, label, source in PEOPLE)
    seen = {name for of_claim in answers.values() for name in of_claim}
    return HeatMap(
        systems=tuple(name for name in _systems(project) if name in seen),
        rows=tuple(
            HeatRow(claim.public_id, claim.text, claim.set_name, answers[claim.key]) for claim in shown
        ),
        after=shown[-1].public_id if len(claims) > CLAIMS_ON_A_PAGE else "",
        claims=_checks(target_words)
        .filter(project=project)
        .aggregate(all=Count("claim", distinct=True))["all"],
    )


def checks_on(page: HeatMap, *, target_words: int | None) -> QuerySet[Check]:
    """The checks whose answers a page of that target length shows."""
    return _checks(target_words).filter(claim__public_id__in=[row.claim_id for row in page.rows])


class _Placed(NamedTuple):
    """A claim and where it stands: by the name of its document set, then by the text that it was taken from."""

    set_name: str
    claim_set: int
    position: int
    key: int
    public_id: str
    text: str


def _claims(project: Project, target_words: int | None, after: str) -> list[_Placed]:
    """The claims of a page and one more."""
    checks = _checks(target_words)
    sets = DocumentSet.objects.filter(
        Exists(checks.filter(peer__document_set=OuterRef("pk"))), project=project
    ).order_by("external_id")
    claims = Claim.objects.filter(Exists(checks.filter(claim=OuterRef("pk"))))
    last = None
    if after:
        last = next(iter(_placed(claims_in(project).filter(public_id=after))), None)
        if last is None:
            raise Invalid("This page of the list does not exist. Start from the first page.", field="after")
        sets = sets.filter(external_id__gte=last.set_name)
    # Every set here has a claim, so that so many are enough for any page; one more, since the first may be used up.
    some = list(sets.values_list("pk", flat=True)[: CLAIMS_ON_A_PAGE + 2])
    # Asked for by themselves: a condition over both ways at once would read every claim there is.
    claim_sets = ClaimSet.objects.filter(is_active=True).order_by()
    of_sets = claim_sets.filter(summary__document_set__in=some).union(
        claim_sets.filter(document_set__in=some)
    )
    listed = claims.filter(claim_set__in=list(of_sets.values_list("pk", flat=True)))
    return _placed(listed, after=last, most=CLAIMS_ON_A_PAGE + 1)


def _placed(claims: QuerySet[Claim], *, after: _Placed | None = None, most: int = 1) -> list[_Placed]:
    """The first of these claims in order, those up to `after` left out."""
    of_summary, of_source = "claim_set__summary__document_set", "claim_set__document_set"
    named = claims.annotate(
        set_name=Coalesce(F(f"{of_summary}__external_id"), F(f"{of_source}__external_id"))
    )
    if after is not None:
        order = ("set_name", "claim_set", "position")
        named = named.filter(beyond(order, (after.set_name, after.claim_set, after.position)))
    rows = named.order_by("set_name", "claim_set", "position").values_list(
        "set_name", "claim_set_id", "position", "pk", "public_id", "text"
    )
    return [_Placed(*row) for row in rows[:most]]


def _checks(target_words: int | None) -> QuerySet[Check]:
    """Of any project: whoever asks names claims or sets of one, and the project's own indexes would mislead SQLite."""
    return Check.objects.filter(is_current=True, side=Check.Side.REFERENCE, peer__target_words=target_words)


def _systems(project: Project) -> list[str]:
    return list(System.objects.filter(project=project).order_by("name").values_list("name", flat=True))
