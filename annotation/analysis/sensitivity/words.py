"""What other choices would make of the order of the systems, in words, and no more than the numbers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.analysis.sensitivity.sensitivity import SystemOrder, Turning
from annotation.analysis.stored import read
from annotation.core.words import listed
from evaluation.statistics import Crossing, Lead

NAMED_TURNS = 4
"""With more changes of the leader than this, only the one in force is named."""
COMPOSITE = "The composite is a × coverage + (1 − a) × brevity."
ONE_SYSTEM = "There is only one system, so there is nothing to compare."


def told(sensitivity: Mapping[str, Any]) -> dict[str, Any]:
    """The stored sensitivity with its sentences and the names of its orders."""
    return {**sensitivity, "targets": [_told_target(sensitivity, table) for table in sensitivity["targets"]]}


def _told_target(sensitivity: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    deciding, present = sensitivity["judge"], table["present"]
    ahead, systems = present["ahead"], len(present["means"])
    judges = [{**order, "name": _judge_in_words(order, deciding)} for order in table["judges"]]
    length, blend = (table[key] and read(Turning, table[key]) for key in ("length", "blend"))
    return {
        **table,
        "present": {**present, "name": "now"},
        "length": _told_turning(table["length"]),
        "blend": _told_turning(table["blend"]),
        "judges": judges,
        "sentences": {
            "length": length_in_words(length, has_target=table["target_words"] is not None),
            "blend": blend_in_words(blend, is_human_first=sensitivity["is_human_first"]),
            "judges": judges_in_words(
                [read(SystemOrder, order) for order in judges],
                ahead,
                judge=deciding if table["has_judged"] else "",
                systems=systems,
                others=sensitivity["other_judges"],
                is_all_by_people=table["is_all_by_people"],
            ),
            "people": people_in_words(
                [read(SystemOrder, order) for order in table["people"]], ahead, systems=systems
            ),
        },
    }


def _told_turning(turning: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if turning is None:
        return None
    named = zip(turning["orders"], turning["weights"], strict=True)
    return {
        **turning,
        "own_name": weight_in_words(turning["own"]),
        "orders": [{**order, "name": weight_in_words(weight)} for order, weight in named],
    }


def _judge_in_words(order: Mapping[str, Any], deciding: str) -> str:
    return alone_in_words(order["name"]) if order["is_alone"] else in_place_in_words(order["name"], deciding)


def length_in_words(found: Turning | None, *, has_target: bool) -> str:
    """Who leads at which weight of coverage against brevity."""
    if found is None:
        if not has_target:
            return "Without a target length there is no brevity, so the composite is coverage alone."
        return "No summary has both coverage and brevity, so there is no composite."
    said = _both(found, "a")
    if len(found.at_zero) > 1:
        said = f"{COMPOSITE} {said}"
    if found.left_out:
        said += f" {_summaries(found.left_out)} without brevity left out."
    return said


def blend_in_words(found: Turning | None, *, is_human_first: bool) -> str:
    """Who leads at which weight of people in units that assessors and the judge both judged."""
    if found is None:
        return (
            "The weight of people in the blend changes nothing, because no unit has assessors' percents "
            "that differ from its answered claims."
        )
    rule = (
        "This project puts people first (w = 1)."
        if is_human_first
        else f"This project's weight of people is w = {weight_in_words(found.own)}."
    )
    return f"{rule} {_both(found, 'w')}"


def alone_in_words(judge: str) -> str:
    """The name of the order by a judge without people; without a name, that without people."""
    return f"{judge} alone, without people" if judge else "the judge alone, without people"


def in_place_in_words(judge: str, deciding: str) -> str:
    """The name of the order with another judge in place of the deciding one, which may be nobody."""
    place = f"{deciding}'s place" if deciding else "the deciding judge's place"
    return f"{judge} in {place}, keeping people's answers"


def judges_in_words(
    orders: Sequence[SystemOrder],
    ahead: Sequence[str],
    *,
    judge: str,
    systems: int,
    others: int = 0,
    is_all_by_people: bool = False,
) -> str:
    """Whether another judge, or the deciding one without people, would put another system first.

    `judge` is the name of the deciding one, empty where it has answered nothing here; `systems` counts those in the
    order by coverage, `others` the other judges that have answered everything.
    """
    if systems == 1:
        return ONE_SYSTEM
    settled = "People decided everything, so another judge changes nothing." if is_all_by_people else ""
    if settled and not orders:
        return settled
    if not orders and not judge:
        return "No judge's answers affect these scores, so there is no other ranking to show."
    if not orders:
        return (
            f"There is no other ranking to show: people have not changed any of {judge}'s answers, and no "
            "other judge has answered every check."
        )
    told = [
        f"With {order.name}, {_ahead_in_words(order, ahead)} ({_tau(order)}{_moved(order)})."
        for order in orders
    ]
    return " ".join([settled, *told] if settled and others else told)


def people_in_words(orders: Sequence[SystemOrder], ahead: Sequence[str], *, systems: int) -> str:
    """Whether the first of so many systems hangs on any one person."""
    if not orders:
        return "No person's answers affect these scores, so nobody can be left out."
    if systems == 1:
        return ONE_SYSTEM
    turned = [order for order in orders if set(order.ahead) != set(ahead)]
    lowest = min((order.tau for order in orders if order.tau is not None), default=None)
    least = (
        "" if lowest is None else f" The lowest Kendall's tau with the ranking by coverage is {lowest:.2f}."
    )
    if turned:
        told = " ".join(f"Without {order.name}, {_ahead_in_words(order, ahead)}." for order in turned)
        return f"{told}{least}"
    leaders = f"{listed(ahead)} would still {_be_first(ahead)}"
    if len(orders) == 1:
        return f"Only one person's answers count. Without {orders[0].name}, {leaders}.{least}"
    return f"Without any one of the {len(orders)} people, {leaders}.{least}"


def _both(found: Turning, letter: str) -> str:
    if len(found.at_zero) == 1:
        return f"Only {listed(list(found.at_zero))} has a mean, so there is nothing to compare."
    return f"{_leads_in_words(found.leads, found.own, letter)} {_turns_in_words(found, letter)}".rstrip()


def _leads_in_words(leads: Sequence[Lead], own: float, letter: str) -> str:
    if not leads:
        return ""
    if len(leads) == 1:
        return f"{_leads(leads[0].systems)} at every {letter} from 0 to 1."
    if len(leads) > NAMED_TURNS:
        (now, *_) = [lead for lead in leads if lead.low <= own <= lead.high]
        return (
            f"The leader changes {len(leads) - 1} times as {letter} goes from 0 to 1. At the current "
            f"{letter} = {weight_in_words(own)}, {_leads(now.systems)}, from {weight_in_words(now.low)} to "
            f"{weight_in_words(now.high)}."
        )
    first, *middle, last = leads
    stretches = [f"{_leads(first.systems)} up to {letter} = {weight_in_words(first.high)}"]
    stretches += [f"then {listed(lead.systems)} up to {weight_in_words(lead.high)}" for lead in middle]
    return f"{', '.join([*stretches, f'then {listed(last.systems)}'])}."


def _turns_in_words(found: Turning, letter: str) -> str:
    if not found.pairs:
        return ""
    if not found.crossings:
        return "No systems change places." if found.pairs > 1 else ""
    pairs = "1 pair" if found.pairs == 1 else f"{found.pairs:,} pairs"
    nearest = min(found.crossings, key=lambda turn: abs(turn.weight - found.own))
    count = len(found.crossings)
    return (
        f"{count:,} of {pairs} of systems change{'s' if count == 1 else ''} places; closest to the current "
        f"{letter} = {weight_in_words(found.own)}, {_crossing(nearest, letter)}."
    )


def _crossing(turn: Crossing, letter: str) -> str:
    return f"{turn.after} overtakes {turn.before} at {letter} = {weight_in_words(turn.weight)}"


def _leads(systems: Sequence[str]) -> str:
    return f"{listed(systems)} {'leads' if len(systems) == 1 else 'are tied for first'}"


def _be_first(systems: Sequence[str]) -> str:
    return "lead" if len(systems) == 1 else "be tied for first"


def _ahead_in_words(order: SystemOrder, ahead: Sequence[str]) -> str:
    if not order.ahead:
        return "no system would have a mean"
    if set(order.ahead) == set(ahead):
        return f"{listed(order.ahead)} would still {_be_first(order.ahead)}"
    return f"{listed(order.ahead)} would {_be_first(order.ahead)} instead of {listed(ahead)}"


def _tau(order: SystemOrder) -> str:
    return "no ranking to compare" if order.tau is None else f"tau {order.tau:.2f}"


def _moved(order: SystemOrder) -> str:
    count = len(order.moved)
    return f", {count} of {len(order.ranks)} systems change rank" if count else ", no system changes rank"


def weight_in_words(weight: float) -> str:
    """Three digits after the point at most; what lies between 0 and 1 is never told as an end."""
    if 0 < weight < 1:
        weight = min(max(round(weight, 3), 0.001), 0.999)
    return f"{weight:.3f}".rstrip("0").rstrip(".")


def _summaries(count: int) -> str:
    return "1 summary" if count == 1 else f"{count:,} summaries"
