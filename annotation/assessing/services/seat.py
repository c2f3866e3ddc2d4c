"""Lay work before assessors: the rows of sittings and assignments, for every verb that makes some."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.contrib.auth.models import User
from django.db.models import F, Max

from annotation.core import bulk_rows
from annotation.core.permissions import Verb, roles_in, verbs_of
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Assignment, Comparison, Sitting
from evaluation.statistics import Presented, drawn_repeats, presentation_order, repeat_count

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

SEATED_AT_ONCE = 2000


@dataclass(frozen=True, slots=True)
class SeatItem:
    """A comparison that somebody is to judge."""

    comparison_id: int
    peer_id: int
    target_words: int | None
    peer_author_id: int | None
    model_author_id: int | None

    def is_by(self, person_id: int | None) -> bool:
        """Whether that person wrote one of the two summaries."""
        return person_id is not None and person_id in (self.peer_author_id, self.model_author_id)


@dataclass(frozen=True, slots=True)
class Seat:
    """A document set before somebody, or in the queue for whoever pulls it."""

    document_set_id: int
    person_id: int | None
    items: tuple[SeatItem, ...]
    seed: int
    replaces_id: int | None = None


def seat_all(*, project: Project, seats: Sequence[Seat]) -> list[Sitting]:
    """The sittings of these seats, in their order, inside the caller's transaction.

    An open sitting that the person has on the set is added to; a new one stands behind the others of the
    person, several new ones at random. What is in a sitting stays; while nothing has been said in it, its order
    is made anew with what comes in. The number of queries does not grow with the seats.
    Raises Conflict (code `closed`) where a person has closed one of the sets.
    """
    lock_people(seat.person_id for seat in seats)
    held = _held(project, seats)
    closed = [sitting for sitting in held.values() if sitting.closed_at is not None]
    if closed:
        who, what = closed[0].assessor, closed[0].document_set
        raise Conflict(f"{who} has already closed {what.external_id}.", code="closed")
    new = _new_sittings(project, {n: seat for n, seat in enumerate(seats) if _key(seat) not in held})
    sittings = [held.get(_key(seat)) or new[n] for n, seat in enumerate(seats)]
    _fill(project, list(zip(seats, sittings, strict=True)))
    return sittings


def require_may_assess(person: User, project: Project) -> None:
    """Raises Invalid unless a role of the person lets them be given work in the project."""
    if Verb.ASSESS not in verbs_of(roles_in(person, project)):
        raise Invalid(f"{person.username} is not an assessor of {project.name}.", field="assessor")


def lock_people(person_ids: Iterable[int | None]) -> None:
    """Let nobody else give these people work until the caller's transaction ends.

    Their rows come before those of sittings, and in order, so that two acts never wait for each other.
    """
    wanted = sorted({person_id for person_id in person_ids if person_id is not None})
    list(User.objects.select_for_update(no_key=True).filter(pk__in=wanted).order_by("pk").only("pk"))


def left_and_saw(pairs: Collection[tuple[int | None, int]]) -> set[tuple[int, int]]:
    """Which of these people (by key) left which of these sets open before and could then see. One query or none."""
    people = {person for person, _ in pairs if person is not None}
    if not people:
        return set()
    left = Sitting.objects.filter(
        assessor__in=people, document_set__in={held for _, held in pairs}, may_have_seen=True
    )
    return set(left.order_by().values_list("assessor_id", "document_set_id").distinct())


def next_position(project: Project, person_id: int) -> int:
    """The place behind the person's last set in the project."""
    theirs = Sitting.objects.filter(document_set__project=project, assessor_id=person_id)
    return int(theirs.aggregate(last=Max("position"))["last"] or 0) + 1


def items_of(comparisons: QuerySet[Comparison]) -> dict[int, list[SeatItem]]:
    """These comparisons by the key of their document set, in order of their public ids. One query."""
    found: dict[int, list[SeatItem]] = defaultdict(list)
    rows = comparisons.order_by("public_id").values_list(
        "peer__document_set_id",
        "pk",
        "peer_id",
        "peer__target_words",
        "peer__system__person_id",
        "model__system__person_id",
    )
    for set_id, comparison_id, peer_id, target_words, peer_author_id, model_author_id in rows:
        found[set_id].append(SeatItem(comparison_id, peer_id, target_words, peer_author_id, model_author_id))
    return found


def items_in(sitting: Sitting) -> tuple[SeatItem, ...]:
    """What a sitting holds, hidden repeats left out."""
    rows = sitting.assignments.filter(repeat_of__isnull=True).order_by("comparison__public_id")
    return tuple(
        SeatItem(*columns)
        for columns in rows.values_list(
            "comparison_id",
            "comparison__peer_id",
            "comparison__peer__target_words",
            "comparison__peer__system__person_id",
            "comparison__model__system__person_id",
        )
    )


def flag_own_work(assignments: QuerySet[Assignment]) -> None:
    """Say of these assignments whether their assessor wrote the peer or the model summary. Two or three queries.

    In a sitting that waits for somebody nothing is anybody's own.
    """
    rows = list(
        assignments.annotate(
            assessor=F("sitting__assessor_id"),
            peer_author=F("comparison__peer__system__person_id"),
            model_author=F("comparison__model__system__person_id"),
        ).only("sitting", "is_own_peer", "is_own_model")
    )
    changed = []
    for row in rows:
        own = (
            row.assessor is not None and row.peer_author == row.assessor,
            row.assessor is not None and row.model_author == row.assessor,
        )
        if own != (row.is_own_peer, row.is_own_model):
            row.is_own_peer, row.is_own_model = own
            changed.append(row)
    Assignment.objects.bulk_update(changed, ["is_own_peer", "is_own_model"], batch_size=SEATED_AT_ONCE)


def _key(seat: Seat) -> tuple[int | None, int]:
    return seat.person_id, seat.document_set_id


def _held(project: Project, seats: Collection[Seat]) -> dict[tuple[int | None, int], Sitting]:
    """What these people have of these sets already, locked. What waits in the queue is never added to."""
    people = {seat.person_id for seat in seats if seat.person_id is not None}
    if not people:
        return {}
    theirs = (
        Sitting.objects.select_for_update(of=("self",))
        .filter(document_set__project=project, assessor_id__in=people, recalled_at__isnull=True)
        .select_related("assessor", "document_set")
        .order_by("pk")
    )
    wanted = {_key(seat) for seat in seats}
    found = {(sitting.assessor_id, sitting.document_set_id): sitting for sitting in theirs}
    return {key: sitting for key, sitting in found.items() if key in wanted}


def _new_sittings(project: Project, seats: Mapping[int, Seat]) -> dict[int, Sitting]:
    people = {seat.person_id for seat in seats.values() if seat.person_id is not None}
    last = dict(
        Sitting.objects.filter(document_set__project=project, assessor_id__in=people)
        .values_list("assessor_id")
        .annotate(Max("position"))
        .order_by()
    )
    seen = left_and_saw([_key(seat) for seat in seats.values()])
    new: dict[int, Sitting] = {}
    # In the order of their seeds, which is none: a person meets the sets of one plan at random.
    for number, seat in sorted(seats.items(), key=lambda pair: (pair[1].seed, pair[1].document_set_id)):
        if seat.person_id is not None:
            last[seat.person_id] = last.get(seat.person_id, 0) + 1
        new[number] = Sitting(
            assessor_id=seat.person_id,
            document_set_id=seat.document_set_id,
            seed=seat.seed,
            position=last[seat.person_id] if seat.person_id is not None else 0,
            replaces_id=seat.replaces_id,
            may_have_seen=_key(seat) in seen,
        )
    Sitting.objects.bulk_create(new.values(), batch_size=SEATED_AT_ONCE)
    return new


class _New(NamedTuple):
    """An assignment to write, by the columns in which one differs from another."""

    sitting_id: int
    comparison_id: int
    position: int
    is_own_peer: bool
    is_own_model: bool
    repeat_of_id: int | None = None


SeatPlace = tuple[int | None, int | None]
"""A sitting and a comparison in it."""


@dataclass(slots=True)
class _SeatLayout:
    """Rows to write so that the seats hold their items; repeats by their place and position."""

    first: list[_New]
    again: list[tuple[SeatPlace, int]]
    moved: list[Assignment]


def _fill(project: Project, seated: Sequence[tuple[Seat, Sitting]]) -> None:
    there = _assignments_in(sitting for _, sitting in seated)
    layout = _SeatLayout([], [], [])
    for seat, sitting in seated:
        _lay_out(layout, seat, sitting, there.get(sitting.pk, []), project.repeat_share)
    _insert(layout.first)
    firsts = _firsts({sitting for (sitting, _), _ in layout.again if sitting is not None})
    _insert([_repeat(firsts[place], position) for place, position in layout.again])
    Assignment.objects.bulk_update(layout.moved, ["position"], batch_size=SEATED_AT_ONCE)


def _insert(rows: Sequence[_New]) -> None:
    """Write new assignments.

    By hand, since a plan writes thousands while, on SQLite, nobody else may write: `bulk_create` takes five times as
    long, nearly all of it to build the statement.
    """
    if rows:
        bulk_rows.insert(Assignment, _New._fields, rows)


def _firsts(sittings: Collection[int]) -> dict[SeatPlace, Assignment]:
    """What is shown for the first time in these sittings, by its place."""
    rows = Assignment.objects.filter(sitting__in=sittings, repeat_of__isnull=True) if sittings else ()
    return {(row.sitting_id, row.comparison_id): row for row in rows}


def _assignments_in(sittings: Iterable[Sitting]) -> dict[int, list[Assignment]]:
    there: dict[int, list[Assignment]] = defaultdict(list)
    rows = Assignment.objects.filter(sitting__in=list(sittings)).select_related("comparison__peer")
    rows = rows.defer("comparison__peer__text", "comparison__peer__metadata")
    for row in rows.order_by("position", "pk"):
        assert row.sitting_id is not None, "they were found by their sitting"
        there[row.sitting_id].append(row)
    return there


def _lay_out(
    layout: _SeatLayout, seat: Seat, sitting: Sitting, there: Sequence[Assignment], repeat_share: float
) -> None:
    """Add to the layout what the seat lacks, in the order in which it will be judged."""
    rows = {(row.comparison_id, row.repeat_of_id is not None): row for row in there}
    items = {item.comparison_id: item for item in seat.items}
    new = [item for item in seat.items if (item.comparison_id, False) not in rows]
    if not new:
        return
    old = [_presented(row) for row in there if row.repeat_of_id is None]
    fresh = [Presented(item.comparison_id, item.peer_id, item.target_words) for item in new]
    is_begun = sitting.worked_at is not None or any(row.state != Assignment.State.OPEN for row in there)
    twice = {_presented(row).peer for row in there if row.repeat_of_id is not None}
    peers = {row.peer for row in (*old, *fresh)}
    may_come_twice = ({row.peer for row in fresh} if is_begun else peers) - twice
    more = max(0, repeat_count(len(peers), repeat_share) - len(twice))
    repeated = drawn_repeats(may_come_twice, count=more, seed=sitting.seed) | (set() if is_begun else twice)
    order = presentation_order(fresh if is_begun else [*old, *fresh], seed=sitting.seed, repeated=repeated)
    start = max((row.position for row in there), default=0) if is_begun else 0
    for position, showing in enumerate(order, start=start + 1):
        row = rows.get(showing)
        if row is not None:
            row.position = position
            layout.moved.append(row)
        elif not showing.is_repeat:
            layout.first.append(_row(sitting, items[showing.comparison], position))
        else:
            layout.again.append(((sitting.pk, showing.comparison), position))


def _presented(row: Assignment) -> Presented:
    assert row.comparison is not None, "sittings hold comparisons only"
    return Presented(row.comparison.pk, row.comparison.peer_id, row.comparison.peer.target_words)


def _row(sitting: Sitting, item: SeatItem, position: int) -> _New:
    person_id = sitting.assessor_id
    return _New(
        sitting_id=sitting.pk,
        comparison_id=item.comparison_id,
        position=position,
        is_own_peer=person_id is not None and item.peer_author_id == person_id,
        is_own_model=person_id is not None and item.model_author_id == person_id,
    )


def _repeat(first: Assignment, position: int) -> _New:
    """It measures the assessor."""
    assert first.sitting_id is not None, "it was found by its sitting"
    assert first.comparison_id is not None, "sittings hold comparisons only"
    return _New(
        sitting_id=first.sitting_id,
        comparison_id=first.comparison_id,
        position=position,
        repeat_of_id=first.pk,
        is_own_peer=first.is_own_peer,
        is_own_model=first.is_own_model,
    )
