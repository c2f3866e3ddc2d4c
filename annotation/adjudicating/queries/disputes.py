"""The adjudicators' queue: what differs, worst first, and a sample of what agrees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import Count, Q
from django.utils import timezone

from annotation.core import paging
from annotation.core.refusals import Invalid, NotFound
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    Dispute,
    Project,
)
from annotation.scoring.own_answers import own_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.db.models import QuerySet


DISPUTES_ON_A_PAGE = 40
DISPUTES_COUNTED_UP_TO = 1000
LEFT_UP_TO = 100
WORST_FIRST = ("-spread", "queue_key", "public_id")
NEWEST_DISPUTES_FIRST = ("-pk",)
JOINED_WITH = (
    "project",
    "check_row__claim",
    "check_row__peer__document_set",
    "comparison__model",
    "comparison__peer__document_set",
    "unit",
    "claim",
)
"""What a line about a dispute is joined with."""


class DisputeKind(StrEnum):
    CHECK = "check"
    UNIT = "unit"


@dataclass(frozen=True, slots=True)
class DisputeFilter:
    """Which disputes a queue holds; empty words stand for both. What is open comes worst first, the rest newest."""

    kind: str = ""
    why: str = ""
    state: str = Dispute.State.OPEN

    @classmethod
    def read(cls, kind: str = "", why: str = "", state: str = "") -> DisputeFilter:
        """The filter that these words name; an empty state is `open`. Raises Invalid."""
        for field, value, known in (
            ("kind", kind, [each.value for each in DisputeKind]),
            ("why", why, Dispute.Why.values),
            ("state", state, Dispute.State.values),
        ):
            if value and value not in known:
                raise Invalid(f"{field} is one of {', '.join(known)}, not {value!r}.", field=field)
        return cls(kind=kind, why=why, state=state or Dispute.State.OPEN)

    @property
    def order(self) -> tuple[str, ...]:
        return WORST_FIRST if self.state == Dispute.State.OPEN else NEWEST_DISPUTES_FIRST

    def as_query(self) -> dict[str, str]:
        """The words that differ from the default, for addresses."""
        words = {"kind": self.kind, "why": self.why, "state": str(self.state)}
        plain = {"kind": "", "why": "", "state": Dispute.State.OPEN.value}
        return {name: word for name, word in words.items() if word != plain[name]}


@dataclass(frozen=True, slots=True)
class DisputeLine:
    """One line of the queue. `held_by` tells who has it in hand: `you`, `somebody`, or nobody."""

    dispute_id: str
    kind: str
    text: str
    document_set: str
    why: str
    state: str
    spread: float
    voices: int
    held_by: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class DisputePage:
    """One page of the queue; `after` names the next one, None at the end.

    `own` of the `counted` ones hold the reader's own answer. Where the project leaves those to others,
    `is_own_left_out` is set and they are not among the rows. Counting stops at 1000.
    """

    rows: tuple[DisputeLine, ...]
    after: str | None
    counted: int
    own: int
    is_own_left_out: bool
    is_counted_out: bool

    @property
    def left(self) -> int:
        """How many wait for the reader."""
        return self.counted - self.own if self.is_own_left_out else self.counted


def queue(project: Project, person: User, filters: DisputeFilter, *, after: str = "") -> DisputePage:
    """One page of the queue, found by the row it starts after, however deep it lies. Three queries, four with it."""
    wanted = disputes_of(project, filters)
    is_left_out = leaves_own_out(project, filters)
    page = wanted.filter(~own_answer(person)) if is_left_out else wanted
    if after:
        page = page.filter(beyond(project, filters, after))
    # Keys first: whole texts would be carried through the search for own answers.
    keys = page.order_by(*filters.order).annotate(is_own=own_answer(person)).values_list("pk", "is_own")
    found = list(keys[: DISPUTES_ON_A_PAGE + 1])
    shown = found[:DISPUTES_ON_A_PAGE]
    rows = rows_of([pk for pk, _ in shown], person, own={pk for pk, is_own in shown if is_own})
    counts = (
        with_own(wanted, person)
        .order_by()[: DISPUTES_COUNTED_UP_TO + 1]
        .aggregate(counted=Count("pk"), own=Count("pk", filter=Q(is_own=True)))
    )
    return DisputePage(
        rows=rows,
        after=rows[-1].dispute_id if len(found) > DISPUTES_ON_A_PAGE else None,
        counted=min(counts["counted"], DISPUTES_COUNTED_UP_TO),
        own=counts["own"],
        is_own_left_out=is_left_out,
        is_counted_out=counts["counted"] <= DISPUTES_COUNTED_UP_TO,
    )


def left_in(project: Project, person: User, filters: DisputeFilter) -> tuple[int, bool]:
    """How many the person could settle, counted no further than 100; whether that is all."""
    wanted = disputes_of(project, filters)
    if leaves_own_out(project, filters):
        wanted = wanted.filter(~own_answer(person))
    found = wanted.order_by().values("pk")[: LEFT_UP_TO + 1].count()
    return min(found, LEFT_UP_TO), found <= LEFT_UP_TO


def disputes_of(project: Project, filters: DisputeFilter) -> QuerySet[Dispute]:
    """The disputes that a filter names, in no order yet."""
    found = Dispute.objects.filter(project=project, state=filters.state)
    if filters.kind:
        found = found.filter(check_row__isnull=filters.kind != DisputeKind.CHECK)
    if filters.why:
        found = found.filter(why=filters.why)
    return found


def free_for(project: Project, person: User, filters: DisputeFilter) -> QuerySet[Dispute]:
    """What the queue may hand out to the person now: not held by somebody else, and not theirs to leave alone."""
    waiting = disputes_of(project, filters)
    if leaves_own_out(project, filters):
        waiting = waiting.filter(~own_answer(person))
    return waiting.filter(is_free(person)).order_by(*filters.order)


def is_free(person: User) -> Q:
    """Not leased to somebody else at this moment."""
    return Q(lease_until__isnull=True) | Q(lease_until__lte=timezone.now()) | Q(leased_to=person)


def beyond(project: Project, filters: DisputeFilter, public_id: str) -> Q:
    """What follows the dispute of that public id in the filter's order, wherever it stands by now. Raises Invalid."""
    rows = Dispute.objects.filter(project=project)
    return paging.beyond(filters.order, paging.place_of(rows, public_id, filters.order, of="queue"))


def leaves_own_out(project: Project, filters: DisputeFilter) -> bool:
    """Whether adjudicators are not handed what they have judged themselves."""
    return not project.own_adjudication and filters.state == Dispute.State.OPEN


def with_own(disputes: QuerySet[Dispute], person: User) -> QuerySet[Dispute]:
    """The disputes with `is_own`; see `own_answer`."""
    return disputes.annotate(is_own=own_answer(person))


def rows_of(keys: Sequence[int], person: User, *, own: set[int]) -> tuple[DisputeLine, ...]:
    """These disputes with their words, in the order of the keys."""
    rows = {row.pk: row for row in with_words(Dispute.objects.filter(pk__in=keys))}
    return tuple(_row(rows[key], person, is_own=key in own) for key in keys if key in rows)


def with_words(disputes: QuerySet[Dispute]) -> QuerySet[Dispute]:
    """Joined with what a line about them says."""
    return disputes.select_related(*JOINED_WITH)


def dispute_of(project: Project, public_id: str) -> Dispute:
    """The dispute of that public id in the project. Raises NotFound."""
    dispute = (
        with_words(Dispute.objects.filter(project=project, public_id=public_id))
        .select_related(
            "project__deciding_judge",
            "check_row__project__deciding_judge",
            "check_row__claim__unit",
            "check_row__claim__claim_set__summary",
            "comparison__peer__document_set__project__deciding_judge",
            "leased_to",
        )
        .first()
    )
    if dispute is None:
        raise NotFound("There is no such dispute in this project.")
    return dispute


def about(decision: Adjudication) -> QuerySet[Dispute]:
    """The dispute that a decision settled, if there is one."""
    return Dispute.objects.filter(_on_the_same(decision))


def decisions_on(row: Dispute | Adjudication) -> QuerySet[Adjudication]:
    """Every decision that was ever made on what a dispute, or another decision, is about."""
    return Adjudication.objects.filter(_on_the_same(row))


def _on_the_same(row: Dispute | Adjudication) -> Q:
    if row.check_row_id is not None:
        return Q(check_row=row.check_row_id)
    return Q(comparison=row.comparison_id, unit=row.unit_id, claim=row.claim_id)


def text_of(dispute: Dispute) -> str:
    """The claim, or the model unit, that a dispute is about."""
    place = dispute.place
    if isinstance(place, Check):
        return place.claim.text
    unit = dispute.unit_judged
    return unit.text if isinstance(unit, Claim) else place.model.text[unit.start : unit.end].strip()


def kind_of(dispute: Dispute) -> DisputeKind:
    return DisputeKind.CHECK if dispute.check_row_id is not None else DisputeKind.UNIT


def held_by(dispute: Dispute, person: User) -> str:
    """`you`, `somebody`, or nobody ("")."""
    if dispute.lease_until is None or dispute.lease_until <= timezone.now():
        return ""
    return "you" if dispute.leased_to_id == person.pk else "somebody"


def _row(dispute: Dispute, person: User, *, is_own: bool) -> DisputeLine:
    return DisputeLine(
        dispute_id=dispute.public_id,
        kind=kind_of(dispute),
        text=text_of(dispute),
        document_set=dispute.place.peer.document_set.external_id,
        why=dispute.why,
        state=dispute.state,
        spread=dispute.spread,
        voices=dispute.voices,
        held_by=held_by(dispute, person),
        is_own=is_own,
    )
