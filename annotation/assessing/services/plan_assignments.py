"""Decide who judges which document sets, show it, and do it.

Four ways: chosen sets to one person by hand; some more sets to one person, those with fewest assessors first;
a plan, so many assessors for each set, spread evenly over people; the same with nobody named, as a queue that
people pull from.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from annotation.assessing.queries.assignments import assessors_in
from annotation.assessing.queries.waiting import people_left
from annotation.assessing.services.assignment_orders import (
    AssignmentOrder,
    AssignmentPlan,
    PersonLoad,
    Way,
    told,
)
from annotation.assessing.services.seat import Seat, SeatItem, items_of, lock_people, seat_all
from annotation.assessing.words import nothing_to_give
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.models import Assignment, Comparison, DocumentSet, Project, Sitting
from annotation.models.base import SEED_BITS
from evaluation.statistics import balanced_plan

MOST_PER_SET = 20
MOST_MORE = 1000


def plan_assignments(*, project: Project, order: AssignmentOrder, by: User | None) -> AssignmentPlan:
    """What the order comes to at this moment; nothing is written.

    A plan or queue tops up: who has a set already counts. Raises Invalid where the order makes no sense, with
    the `field` that is wrong.
    """
    require(by, project, Verb.ASSIGN)
    _check(order)
    return _AssignmentPlanner(project, order, _people(project, order)).plan()


@transaction.atomic
def carry_out(
    *, project: Project, order: AssignmentOrder, by: User | None, expected: str = ""
) -> list[Sitting]:
    """Do what the order comes to; the sittings, of a plan that is the same for the same seed and state.

    `expected` is the fingerprint of the plan that was shown: raises Conflict (code `changed`) where it would
    come out otherwise by now, and Invalid as `plan_assignments` and where nothing is left to give
    (code `nothing_to_give`).
    """
    require(by, project, Verb.ASSIGN)
    # Two orders for one project at once would both see the same sets as uncovered.
    Project.objects.select_for_update(of=("self",), no_key=True).only("pk").get(pk=project.pk)
    plan = plan_assignments(project=project, order=order, by=by)
    if expected and expected != plan.fingerprint:
        raise Conflict(
            "Sets, people or assignments have changed since the preview. Preview again.", code="changed"
        )
    if not plan.seats:
        raise Invalid(nothing_to_give(order, plan), field="document_sets", code="nothing_to_give")
    lock_people(seat.person_id for seat in plan.seats)
    sittings = seat_all(project=project, seats=plan.seats)
    log(
        project=project,
        actor=by,
        verb="queue sets" if order.way == Way.QUEUE else "assign",
        target=project,
        data=told(plan),
    )
    return sittings


def _check(order: AssignmentOrder) -> None:
    """Raises Invalid."""
    names_one = order.way in (Way.HAND, Way.MORE)
    faults = (
        (names_one and len(order.people) != 1, "people", "Choose an assessor of this project."),
        (order.way == Way.PLAN and not order.people, "people", "Choose at least one assessor."),
        (order.way == Way.QUEUE and bool(order.people), "people", "A queue has no named assessors."),
        (len(set(order.people)) < len(order.people), "people", "A person is listed twice."),
        (
            order.way == Way.HAND and not order.document_sets,
            "document_sets",
            "Choose at least one document set.",
        ),
        (
            order.way == Way.MORE and not 1 <= order.count <= MOST_MORE,
            "count",
            f"Assign at least 1 and at most {MOST_MORE} sets at once.",
        ),
        (
            not 1 <= order.per_set <= MOST_PER_SET,
            "per_set",
            f"A set needs at least 1 and at most {MOST_PER_SET} assessors.",
        ),
        (
            order.way == Way.PLAN and order.per_set > len(order.people),
            "per_set",
            f"{order.per_set} assessors for each set need at least as many people; {len(order.people)} are "
            "chosen.",
        ),
        (
            order.way == Way.QUEUE and order.by_summary,
            "by_summary",
            "A queue assigns whole sets, so it cannot assign by summary.",
        ),
    )
    for is_wrong, where, message in faults:
        if is_wrong:
            raise Invalid(message, field=where)


def _people(project: Project, order: AssignmentOrder) -> dict[str, int]:
    """The keys of the people named, in the order of their names. Raises Invalid."""
    known = set(assessors_in(project))
    stranger = next((name for name in order.people if name not in known), None)
    if stranger is not None:
        raise Invalid(f"{stranger} is not an assessor of {project.name}.", field="people")
    found = User.objects.filter(username__in=order.people).order_by("username")
    return dict(found.values_list("username", "pk"))


@dataclass(frozen=True, slots=True)
class _HeldSeat:
    """What one live sitting holds; `person_id` is None while it waits in the queue."""

    person_id: int | None
    is_closed: bool
    comparisons: frozenset[int]


class _Late(NamedTuple):
    """New copies in a queue that nobody could pull, and those that only people who wrote there could."""

    stranded: int = 0
    for_authors_alone: int = 0


PlannedUnit = tuple[int, int | None]
"""What gets assessors of its own: a document set, or one peer summary in it."""


class _AssignmentPlanner:
    """One order against the project as it stands."""

    def __init__(self, project: Project, order: AssignmentOrder, people: Mapping[str, int]) -> None:
        self.project, self.order, self.people = project, order, people
        comparisons = Comparison.objects.filter(peer__document_set__project=project)
        if order.document_sets:
            comparisons = comparisons.filter(peer__document_set__public_id__in=order.document_sets)
        items = items_of(comparisons)
        self.names = _names(project, items)
        self._refuse_unknown()
        # By public ids, which tell nothing and stay: the same seed finds the same frame again.
        self.items = {key: tuple(items[key]) for key in sorted(items, key=lambda key: self.names[key][0])}
        self.held = _held(items)

    def plan(self) -> AssignmentPlan:
        if self.order.way in (Way.HAND, Way.MORE):
            return self._for_one()
        return self._for_all()

    def _for_one(self) -> AssignmentPlan:
        (person,) = self.people.values()
        if self.order.way == Way.HAND:
            given = [key for key in self.items if self._may_have((key, None), person, self.items[key])]
            left_out = tuple(self.names[key][1] for key in self.items if key not in given)
            short = 0
        else:
            given, left_out = self._least_covered(person)[: self.order.count], ()
            short = self.order.count - len(given)
        chosen: dict[PlannedUnit, tuple[int | None, ...]] = {(key, None): (person,) for key in given}
        return self._made(chosen, self.items, short=short, left_out=left_out)

    def _least_covered(self, person: int) -> list[int]:
        """The sets that the person has nothing of, those with fewest assessors first, at random among equals."""
        mine = [key for key in self.items if all(row.person_id != person for row in self.held[key])]
        if self.order.avoid_own:
            mine = [key for key in mine if not _has_own(self.items[key], person)]
        random.Random(f"more:{self.order.seed}").shuffle(mine)
        return sorted(mine, key=lambda key: len(self.held[key]))

    def _for_all(self) -> AssignmentPlan:
        chosen = self.items
        units = dict(_units(chosen, by_summary=self.order.by_summary))
        needs = {unit: max(0, self.order.per_set - self._has(unit, items)) for unit, items in units.items()}
        if self.order.way == Way.QUEUE:
            plan: Mapping[PlannedUnit, tuple[int | None, ...]] = {
                unit: (None,) * need for unit, need in needs.items()
            }
        else:
            barred = {
                (unit, person)
                for unit, items in units.items()
                for person in self.people.values()
                if not self._may_have(unit, person, items)
            }
            plan = balanced_plan(needs, list(self.people.values()), seed=self.order.seed, barred=barred)
        return self._made(
            plan,
            chosen,
            short=sum(len(plan[unit]) < need for unit, need in needs.items()),
            enough=sum(need == 0 for need in needs.values()),
            late=self._late(plan, chosen),
        )

    def _late(
        self, plan: Mapping[PlannedUnit, Sequence[int | None]], chosen: Mapping[int, tuple[SeatItem, ...]]
    ) -> _Late:
        """How many new copies in the queue nobody could pull, and how many an author of the set alone could."""
        if self.order.way != Way.QUEUE:
            return _Late()
        left = people_left(self.project, {key: _authors(items) for key, items in chosen.items()})
        nobody = authors = 0
        for (key, _), copies in plan.items():
            waiting = sum(row.person_id is None for row in self.held[key])
            nobody += _more(left[key].stranded, waiting, len(copies))
            authors += _more(left[key].for_authors_alone, waiting, len(copies))
        return _Late(nobody, authors)

    def _has(self, unit: PlannedUnit, items: Sequence[SeatItem]) -> int:
        """How many have all of it already, or could pull it."""
        wanted = {item.comparison_id for item in items}
        return sum(wanted <= row.comparisons for row in self.held[unit[0]])

    def _may_have(self, unit: PlannedUnit, person: int, items: Sequence[SeatItem]) -> bool:
        """Whether the person may be given these items: not what they closed or have, nor their own work."""
        is_wide = self.order.way in (Way.PLAN, Way.QUEUE)
        if is_wide and self.order.avoid_own and _has_own(items, person):
            return False
        wanted = {item.comparison_id for item in items}
        for row in self.held[unit[0]]:
            if row.person_id != person:
                continue
            return not (row.is_closed or wanted <= row.comparisons)
        return True

    def _made(
        self,
        plan: Mapping[PlannedUnit, Sequence[int | None]],
        chosen: Mapping[int, tuple[SeatItem, ...]],
        *,
        short: int = 0,
        enough: int = 0,
        left_out: tuple[str, ...] = (),
        late: _Late | None = None,
    ) -> AssignmentPlan:
        seats = tuple(self._seats(plan, chosen))
        return AssignmentPlan(
            order=self.order,
            seats=seats,
            loads=tuple(self._loads(seats)),
            sets=len({seat.document_set_id for seat in seats}),
            short=short,
            enough=enough,
            left_out=left_out,
            fingerprint=_fingerprint(self.order, seats, sum(map(len, self.held.values()))),
            stranded=late.stranded if late else 0,
            for_authors_alone=late.for_authors_alone if late else 0,
        )

    def _seats(
        self, plan: Mapping[PlannedUnit, Sequence[int | None]], chosen: Mapping[int, tuple[SeatItem, ...]]
    ) -> Iterator[Seat]:
        chance = random.Random(f"seats:{self.order.seed}")
        together: dict[tuple[int | None, int, int], list[SeatItem]] = defaultdict(list)
        for (set_id, peer), people in plan.items():
            of_unit = [item for item in chosen[set_id] if peer is None or item.peer_id == peer]
            for place, person in enumerate(people):
                # In a queue every place at a set is a sitting of its own.
                together[person, set_id, place if person is None else 0] += of_unit
        for (person, set_id, _), items in together.items():
            yield Seat(set_id, person, tuple(items), seed=chance.getrandbits(SEED_BITS))

    def _loads(self, seats: Sequence[Seat]) -> Iterator[PersonLoad]:
        sets, summaries = Counter[int | None](), Counter[int | None]()
        for seat in seats:
            sets[seat.person_id] += 1
            summaries[seat.person_id] += len({item.peer_id for item in seat.items})
        for name, person in self.people.items():
            yield PersonLoad(name, sets[person], summaries[person])

    def _refuse_unknown(self) -> None:
        found = {public_id for public_id, _ in self.names.values()}
        if self.order.document_sets and set(self.order.document_sets) - found:
            raise Invalid(
                "One of these document sets is not in this project, or has nothing to compare.",
                field="document_sets",
            )


def _names(project: Project, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Public id and name of these document sets."""
    rows = DocumentSet.objects.filter(project=project).values_list("pk", "public_id", "external_id")
    wanted = set(keys)
    return {key: (public_id, name) for key, public_id, name in rows if key in wanted}


def _held(keys: Iterable[int]) -> dict[int, list[_HeldSeat]]:
    """The live sittings on these sets."""
    wanted = set(keys)
    assignments = Assignment.objects.filter(
        sitting__document_set__in=wanted, sitting__recalled_at__isnull=True, repeat_of__isnull=True
    )
    comparisons: dict[int, set[int]] = defaultdict(set)
    for sitting, comparison in assignments.order_by().values_list("sitting_id", "comparison_id"):
        comparisons[sitting].add(comparison)
    held: dict[int, list[_HeldSeat]] = {key: [] for key in wanted}
    rows = Sitting.objects.filter(document_set__in=wanted, recalled_at__isnull=True).order_by("pk")
    for key, set_id, person, closed_at in rows.values_list(
        "pk", "document_set_id", "assessor_id", "closed_at"
    ):
        held[set_id].append(_HeldSeat(person, closed_at is not None, frozenset(comparisons[key])))
    return held


def _units(
    chosen: Mapping[int, tuple[SeatItem, ...]], *, by_summary: bool
) -> Iterator[tuple[PlannedUnit, tuple[SeatItem, ...]]]:
    for key, items in chosen.items():
        if not by_summary:
            yield (key, None), items
            continue
        for peer in dict.fromkeys(item.peer_id for item in items):
            yield (key, peer), tuple(item for item in items if item.peer_id == peer)


def _has_own(items: Iterable[SeatItem], person: int) -> bool:
    return any(item.is_by(person) for item in items)


def _authors(items: Iterable[SeatItem]) -> set[int]:
    """The members who wrote one of the summaries."""
    both = {person for item in items for person in (item.peer_author_id, item.model_author_id)}
    return {person for person in both if person is not None}


def _more(count: Callable[[int], int], waiting: int, copies: int) -> int:
    """By how much a count of waiting copies grows with new ones."""
    return count(waiting + copies) - count(waiting)


def _fingerprint(order: AssignmentOrder, seats: Sequence[Seat], held: int) -> str:
    """The same where the same people would get the same items, and nothing was given since."""
    seen = [
        order.way,
        held,
        [
            [seat.document_set_id, seat.person_id, seat.seed, [item.comparison_id for item in seat.items]]
            for seat in seats
        ],
    ]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:32]
