"""What a manager asks for when sets are handed out, what it would come to, and how that is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from annotation.models import Draw
from annotation.services.seat import Seat


class Way(StrEnum):
    HAND = "hand"
    MORE = "more"
    PLAN = "plan"
    QUEUE = "queue"


@dataclass(frozen=True, slots=True)
class Order:
    """What a manager asks for.

    `people` are usernames: one for `hand` and `more`, at least `per_set` for a plan, none for a queue.
    `document_sets` are public ids: those to give by hand, or the frame that a plan or queue draws from, empty
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
    method: Draw.Method = Draw.Method.EVERYTHING
    item: Draw.Item = Draw.Item.DOCUMENT_SET
    share: float = 1.0
    avoid_own: bool = True
    by_summary: bool = False


@dataclass(frozen=True, slots=True)
class PersonLoad:
    """What a plan gives one person: sittings, and the peer summaries in them."""

    person: str
    sets: int
    summaries: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done.

    `short` counts the sets (summaries where each has its own assessors) that would get fewer assessors than
    asked, since nobody else may have them; `enough` those that have as many already. `left_out` names sets
    chosen by hand that the person has already. `drawn` of `frame` items were drawn, where something was.
    `unjudged` of `at_stake` are what a random draw chose and nobody gets, since the people asked may not have
    it (summaries where each has its own assessors); `is_own_in_the_way` says that some of them wrote there.
    `stranded` of a queue's new sittings nobody is left to pull; `for_authors_alone` only people who wrote there.
    `fingerprint` stands for all of it: the same plan has the same one.
    """

    order: Order
    seats: tuple[Seat, ...] = field(repr=False)
    loads: tuple[PersonLoad, ...]
    sets: int
    short: int
    enough: int
    left_out: tuple[str, ...]
    drawn: int
    frame: tuple[str, ...] = field(repr=False)
    fingerprint: str
    unjudged: int = 0
    at_stake: int = 0
    is_own_in_the_way: bool = False
    stranded: int = 0
    for_authors_alone: int = 0

    @property
    def sittings(self) -> int:
        return len(self.seats)

    @property
    def summaries(self) -> int:
        """Peer summaries to judge, each counted for everybody who judges it."""
        return sum(len({item.peer_id for item in seat.items}) for seat in self.seats)

    @property
    def in_words(self) -> str:
        """What would be done, in a sentence."""
        order, what = self.order, _many(self.summaries, "summary", "summaries")
        if order.way in (Way.HAND, Way.MORE):
            return f"{_many(self.sittings, 'document set')} for {order.people[0]}; {what}."
        if order.way == Way.QUEUE:
            who = f"{_many(self.sittings, 'sitting')} in the queue"
        else:
            busy = sorted({load.sets for load in self.loads})
            between = "or" if busy[-1] - busy[0] == 1 else "to"
            each = f"{busy[0]} each" if len(busy) == 1 else f"{busy[0]} {between} {busy[-1]} each"
            who = (
                f"{_many(self.sittings, 'sitting')} for {_many(len(self.loads), 'person', 'people')}, {each}"
            )
        unit = "summary" if order.by_summary else "set"
        is_whole = self.seats and not self.short and not self.enough
        if self.unjudged:
            return f"{who}; {what}; {_left(self)}."
        return f"{who}; {what}{f'; every {unit} by {order.per_set}' if is_whole else ''}."

    @property
    def notes(self) -> tuple[str, ...]:
        """What else whoever asked should know, in sentences."""
        return tuple(_notes(self))


def _notes(plan: Plan) -> Iterator[str]:
    order = plan.order
    unit, units = ("summary", "summaries") if order.by_summary else ("set", "sets")
    if order.method != Draw.Method.EVERYTHING:
        item = "document set" if order.item == Draw.Item.DOCUMENT_SET else "summary"
        items = "document sets" if order.item == Draw.Item.DOCUMENT_SET else "summaries"
        yield (
            f"{plan.drawn} of {_many(len(plan.frame), item, items)} drawn at random; what was drawn, and with "
            "which chance, is kept for ever."
        )
    if plan.unjudged:
        them = "it" if plan.unjudged == 1 else "them"
        yield (
            f"{_left(plan)}, because the people asked have {them} already"
            f"{', or wrote a summary there' if plan.is_own_in_the_way else ''}: the recorded chances will not "
            "hold for an unbiased estimate."
        )
    if plan.left_out:
        yield f"{order.people[0]} has {_listed(plan.left_out)} already."
    if plan.enough:
        yield f"{_many(plan.enough, unit, units)} {_have(plan.enough)} as many assessors already."
    if plan.short and order.way == Way.MORE:
        yield f"There are {plan.short} fewer than you asked for."
    elif plan.short and not (plan.unjudged and order.per_set == 1):
        yield (
            f"{_many(plan.short, unit, units)} would have fewer than {order.per_set}: the others have "
            f"{'it' if plan.short == 1 else 'them'} already, or wrote a summary there."
        )
    if plan.stranded:
        yield (
            f"{_many(plan.stranded, 'sitting')} would wait for nobody: everybody else who may assess has the set "
            "already, or a copy of it waits for them. Add an assessor first, or ask for fewer for each set."
        )
    if plan.for_authors_alone:
        yield (
            f"For {_many(plan.for_authors_alone, 'sitting')} only people who wrote a summary in the set are left: the "
            "queue hands it to them last. Add an assessor if that must not be."
        )
    if order.by_summary:
        yield (
            "Each summary gets assessors of its own, so the leaderboard will say that assessors and systems "
            "may be confounded."
        )


def _left(plan: Plan) -> str:
    verb = "gets" if plan.unjudged == 1 else "get"
    return f"{plan.unjudged:,} of the {plan.at_stake:,} drawn {verb} no assessor"


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(names[:3])
    return f"{first} and {len(names) - 3} more" if len(names) > 3 else first


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def nothing_to_give(order: Order, plan: Plan) -> str:
    if order.way == Way.HAND:
        return f"{order.people[0]} has {', '.join(plan.left_out[:3])} already. Choose other sets."
    if order.way == Way.MORE:
        return f"There is no set left that {order.people[0]} could be given."
    if plan.enough:
        return "Every set has as many assessors as you ask for."
    return "There is no peer summary held against a model summary that anybody here could be given."


def told(plan: Plan) -> dict[str, object]:
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
            "method": order.method,
            "share": order.share,
            "by_summary": order.by_summary,
            "avoid_own": order.avoid_own,
            "drawn": plan.drawn,
            "frame": len(plan.frame),
            "unjudged": plan.unjudged,
        }
    return told
