"""What a manager asks for when sets are handed out, and what it would come to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from annotation.assessing.services.seat import Seat


class Way(StrEnum):
    HAND = "hand"
    MORE = "more"
    PLAN = "plan"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True)
class AssignmentOrder:
    """What a manager asks for.

    `people` are usernames: one for `hand` and `more`, at least `per_set` for a plan, none for a queue.
    `document_sets` are public ids: those to give by hand, or those of a plan or queue, empty
    for all. `avoid_own` keeps people from sets that hold a summary of their own. `by_summary` gives every
    summary assessors of its own instead of every set; then differences between assessors and differences
    between systems can no longer be told apart within a set.
    """

    way: Way
    seed: int
    people: tuple[str, ...] = ()
    document_sets: tuple[str, ...] = ()
    count: int = 1
    per_set: int = 1
    avoid_own: bool = True
    by_summary: bool = False


@dataclass(frozen=True, slots=True)
class PersonLoad:
    """What a plan gives one person: sittings, and the peer summaries in them."""

    person: str
    sets: int
    summaries: int


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """What would be done.

    `short` counts the sets (summaries where each has its own assessors) that would get fewer assessors than
    asked, since nobody else may have them; `enough` those that have as many already. `left_out` names sets
    chosen by hand that the person has already.
    `stranded` of a queue's new sittings nobody is left to pull; `for_authors_alone` only people who wrote there.
    `fingerprint` stands for all of it: the same plan has the same one.
    """

    order: AssignmentOrder
    seats: tuple[Seat, ...] = field(repr=False)
    loads: tuple[PersonLoad, ...]
    sets: int
    short: int
    enough: int
    left_out: tuple[str, ...]
    fingerprint: str
    stranded: int = 0
    for_authors_alone: int = 0

    @property
    def sittings(self) -> int:
        return len(self.seats)

    @property
    def summaries(self) -> int:
        """Peer summaries to judge, each counted for everybody who judges it."""
        return sum(len({item.peer_id for item in seat.items}) for seat in self.seats)


def told(plan: AssignmentPlan) -> dict[str, object]:
    order = plan.order
    told: dict[str, object] = {
        "way": order.way,
        "sittings": plan.sittings,
        "summaries": plan.summaries,
        "seed": order.seed,
        "people": [load.person for load in plan.loads if load.sets],
    }
    if order.way in (Way.PLAN, Way.QUEUE):
        told |= {
            "per_set": order.per_set,
            "by_summary": order.by_summary,
            "avoid_own": order.avoid_own,
        }
    return told
