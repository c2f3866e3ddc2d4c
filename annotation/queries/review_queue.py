"""The queue of checks that wait for a reviewer."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import Q

from annotation.models import (
    Check,
    Label,
    Project,
)
from annotation.refusals import Invalid

if TYPE_CHECKING:
    from django.db.models import QuerySet

PAGE_SIZE = 40
COUNTED_UP_TO = 1000
QUEUE_COLUMNS = (
    "public_id",
    "side",
    "doubt",
    "effect",
    "queue_key",
    "human_label",
    "final_label",
    "is_disputed",
    "claim__text",
    "peer__document_set__external_id",
)


class Order(StrEnum):
    DOUBT = "doubt"
    EFFECT = "effect"


class Only(StrEnum):
    WAITING = "waiting"
    DISPUTED = "disputed"
    ANSWERED = "answered"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which checks a queue holds and in which order.

    `label` is what people have answered, so that a filter never tells what a judge said.
    """

    order: Order = Order.DOUBT
    only: Only = Only.WAITING
    side: str = ""
    label: str = ""

    @classmethod
    def read(cls, order: str, only: str, side: str, label: str) -> Filter:
        """The filter that these words name; empty ones take the default. Raises Invalid."""
        for field, value, known in (
            ("order", order, list(Order)),
            ("only", only, list(Only)),
            ("side", side, Check.Side.values),
            ("label", label, Label.values),
        ):
            if value and value not in known:
                raise Invalid(f"{field} is one of {', '.join(known)}, not {value!r}.", field=field)
        return cls(order=Order(order or "doubt"), only=Only(only or "waiting"), side=side, label=label)

    @property
    def column(self) -> str:
        return self.order.value

    def as_query(self) -> dict[str, str]:
        """The words that differ from the default, for addresses."""
        words = {"order": self.order.value, "only": self.only.value, "side": self.side, "label": self.label}
        plain = {"order": Order.DOUBT.value, "only": Only.WAITING.value, "side": "", "label": ""}
        return {name: word for name, word in words.items() if word != plain[name]}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of the queue ends: the values that its last check is ordered by."""

    value: float
    queue_key: int
    public_id: str

    @classmethod
    def of(cls, check: Check, filters: Filter) -> Place:
        value = check.doubt if filters.order == Order.DOUBT else check.effect
        return cls(value=value, queue_key=check.queue_key, public_id=check.public_id)

    @classmethod
    def read(cls, text: str) -> Place:
        """The place that a cursor names. Raises Invalid."""
        try:
            value, queue_key, public_id = json.loads(base64.urlsafe_b64decode(text.encode()))
            return cls(value=float(value), queue_key=int(queue_key), public_id=str(public_id))
        except (ValueError, TypeError, binascii.Error) as error:
            raise Invalid(
                "This page of the queue is not there: start from the top.", field="after"
            ) from error

    def __str__(self) -> str:
        values = json.dumps([self.value, self.queue_key, self.public_id])
        return base64.urlsafe_b64encode(values.encode()).decode()


@dataclass(frozen=True, slots=True)
class QueueRow:
    check_id: str
    claim: str
    document_set: str
    side: str
    doubt: float
    effect: float
    human_label: str | None
    is_disputed: bool
    is_unscored: bool


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One page of the queue; `after` names the next one, None at the end."""

    rows: tuple[QueueRow, ...]
    after: str | None
    counted: int
    is_counted_out: bool

    @property
    def first(self) -> QueueRow | None:
        return self.rows[0] if self.rows else None


def queue(project: Project, filters: Filter, *, after: str = "") -> QueuePage:
    """One page of the queue, found by the values it starts after, however deep it lies. Two queries."""
    waiting = waiting_checks(project, filters)
    following = _after(waiting, filters, Place.read(after)) if after else waiting
    # Named columns: the summaries' texts would be sorted along.
    page = list(following.select_related("claim", "peer__document_set").only(*QUEUE_COLUMNS)[: PAGE_SIZE + 1])
    shown = page[:PAGE_SIZE]
    counted = count(waiting)
    return QueuePage(
        rows=tuple(_queue_row(check) for check in shown),
        after=str(Place.of(shown[-1], filters)) if len(page) > PAGE_SIZE else None,
        counted=min(counted, COUNTED_UP_TO),
        is_counted_out=counted <= COUNTED_UP_TO,
    )


def next_in_queue(check: Check, filters: Filter) -> str | None:
    """The check that follows this one in the queue; the queue's first other one after its end."""
    waiting = waiting_checks(check.project, filters).exclude(pk=check.pk)
    following = _after(waiting, filters, Place.of(check, filters)).values_list("public_id", flat=True).first()
    return following or waiting.values_list("public_id", flat=True).first()


def waiting_checks(project: Project, filters: Filter) -> QuerySet[Check]:
    waiting = Check.objects.filter(project=project, claim__claim_set__is_active=True)
    match filters.only:
        case Only.WAITING:
            waiting = waiting.filter(human_label__isnull=True)
        case Only.ANSWERED:
            waiting = waiting.filter(human_label__isnull=False)
        case Only.DISPUTED:
            waiting = waiting.filter(is_disputed=True)
        case Only.ALL:
            pass
    if filters.side:
        waiting = waiting.filter(side=filters.side)
    if filters.label:
        waiting = waiting.filter(human_label=filters.label)
    return waiting.order_by(f"-{filters.column}", "queue_key", "public_id")


def count(waiting: QuerySet[Check]) -> int:
    """How many there are, counted no further than a person wants to know."""
    return waiting.order_by().values("pk")[: COUNTED_UP_TO + 1].count()


def _after(waiting: QuerySet[Check], filters: Filter, place: Place) -> QuerySet[Check]:
    """Those that follow a place. The first condition alone is what an index can use."""
    column = filters.column
    beyond = (
        Q(**{f"{column}__lt": place.value})
        | Q(**{column: place.value}, queue_key__gt=place.queue_key)
        | Q(**{column: place.value}, queue_key=place.queue_key, public_id__gt=place.public_id)
    )
    return waiting.filter(Q(**{f"{column}__lte": place.value}) & beyond)


def _queue_row(check: Check) -> QueueRow:
    return QueueRow(
        check_id=check.public_id,
        claim=check.claim.text,
        document_set=check.peer.document_set.external_id,
        side=check.side,
        doubt=check.doubt,
        effect=check.effect,
        human_label=check.human_label,
        is_disputed=check.is_disputed,
        is_unscored=check.final_label is None,
    )
