"""What managers are told of work for assessors, in words."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.assessing.queries.assignments import GivenSitting
from annotation.assessing.services.assignment_orders import AssignmentOrder, AssignmentPlan, Way
from annotation.core.words import counted, listed
from annotation.models import Sitting


def plan_in_words(plan: AssignmentPlan) -> str:
    """What would be done, in a sentence."""
    order, what = plan.order, counted(plan.summaries, "summary", "summaries")
    if order.way in (Way.HAND, Way.MORE):
        return f"{counted(plan.sittings, 'document set')} for {order.people[0]}; {what}."
    if order.way == Way.QUEUE:
        who = f"{counted(plan.sittings, 'assignment')} in the queue"
    else:
        busy = sorted({load.sets for load in plan.loads})
        between = "or" if busy[-1] - busy[0] == 1 else "to"
        each = f"{busy[0]} each" if len(busy) == 1 else f"{busy[0]} {between} {busy[-1]} each"
        who = f"{counted(plan.sittings, 'assignment')} for {counted(len(plan.loads), 'person', 'people')}, {each}"
    unit = "summary" if order.by_summary else "set"
    is_whole = plan.seats and not plan.short and not plan.enough
    return f"{who}; {what}{f'; every {unit} by {order.per_set}' if is_whole else ''}."


def plan_notes(plan: AssignmentPlan) -> Iterator[str]:
    """What else whoever asked for a plan should know, in sentences."""
    order = plan.order
    unit, units = ("summary", "summaries") if order.by_summary else ("set", "sets")
    if plan.left_out:
        yield f"{order.people[0]} already has {listed(plan.left_out)}."
    if plan.enough:
        yield f"{counted(plan.enough, unit, units)} already {_have(plan.enough)} enough assessors."
    if plan.short and order.way == Way.MORE:
        yield f"That is {plan.short} fewer than you requested."
    elif plan.short:
        yield (
            f"{counted(plan.short, unit, units)} will have fewer than {order.per_set}, because the other "
            f"assessors already have {'it' if plan.short == 1 else 'them'} or wrote a summary there."
        )
    if plan.stranded:
        yield (
            f"{counted(plan.stranded, 'assignment')} will have no eligible assessor: every other assessor "
            "already has the set or a waiting copy of it. Add an assessor first, or request fewer per set."
        )
    if plan.for_authors_alone:
        yield (
            f"{counted(plan.for_authors_alone, 'assignment')} can only go to people who wrote a summary in the "
            "set; the queue assigns these last. Add an assessor to avoid this."
        )
    if order.by_summary:
        yield ("Assigning by summary can confound assessors and systems.")


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def nothing_to_give(order: AssignmentOrder, plan: AssignmentPlan) -> str:
    if order.way == Way.HAND:
        return f"{order.people[0]} already has {', '.join(plan.left_out[:3])}. Choose other sets."
    if order.way == Way.MORE:
        return f"There is no set left to assign to {order.people[0]}."
    if plan.enough:
        return "Every set already has enough assessors."
    return "There is nothing to assign to these people: no peer summary with a model summary is left."


def given_in_words(order: AssignmentOrder, sittings: int) -> str:
    """What was done, once it is."""
    if order.way in (Way.HAND, Way.MORE):
        return f"{order.people[0]} has {counted(sittings, 'document set')} to judge."
    return (
        f"{counted(sittings, 'assignment')} {'added to the queue' if order.way == Way.QUEUE else 'created'}."
    )


def recalled_in_words(sitting: GivenSitting) -> str:
    """Why it was taken away; empty where it was not."""
    if sitting.recalled_as == Sitting.Recalled.BY_HAND and sitting.went_on:
        return "Moved to the queue"
    return str(Sitting.Recalled(sitting.recalled_as).label) if sitting.recalled_as else ""
