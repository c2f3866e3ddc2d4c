"""Joining and splitting units of a summary that has no answers.

Each change locks the assignments with the summary, the summaries of its set, and its units, in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Q

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import Assignment, Claim, Comparison, Reading, Summary, Unit
from annotation.models.base import new_public_id
from annotation.scoring.rescore import rescore_now
from annotation.texts.queries.unit_texts import (
    current_units,
    is_being_judged,
    is_between_characters,
    judged_summaries,
    refuse_own_open_set,
    token_of,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

UNITS_OUT_OF_THE_WAY = 1_000_000
"""A temporary offset of positions, so that no two units share one while they move."""


@transaction.atomic
def join_units(*, summary: Summary, by: User | None, unit_id: str, seen: str | None = None) -> None:
    """Join a unit with the next one.

    The joined unit has the larger of the two weights. `seen` is the token of the segmentation on the caller's screen.
    Raises Conflict if the segmentation has changed since (`newer_cut`), the summary is judged (`judged`) or a judge
    works on the set (`running`). Raises NotFound for an unknown unit, Invalid for the last unit, and NotAllowed
    (`blind`) if the person has the set open as an assessor.
    """
    units = _begin(summary, by, seen, {"act": "join", "unit": unit_id})
    place = _place(units, unit_id)
    if place + 1 == len(units):
        raise Invalid("This is the last unit, so there is no next unit to join.", field="unit")
    unit, following = units[place], units[place + 1]
    before = [_logged(unit), _logged(following)]
    Claim.all_claims.filter(unit=following).update(unit=unit)
    following.delete()
    _save_cut(unit, end=following.end, weight=max(unit.weight, following.weight))
    _shift(units[place + 2 :], -1)
    _settle(summary, by, "join units", before, [_logged(unit)])


@transaction.atomic
def split_unit(*, summary: Summary, by: User | None, unit_id: str, at: int, seen: str | None = None) -> None:
    """Split a unit at an offset of the summary's text, in characters (code points).

    White space at the split belongs to neither part; both parts have the unit's weight. Raises Invalid for an offset at
    which the unit cannot be split, and the other errors of `join_units`.
    """
    units = _begin(summary, by, seen, {"act": "split", "unit": unit_id, "at": at})
    unit = units[_place(units, unit_id)]
    end, start = _borders(summary.text, unit, at)
    before = [_logged(unit)]
    _shift(units[unit.position :], 1)
    second = Unit.objects.create(
        summary=summary, position=unit.position + 1, start=start, end=unit.end, weight=unit.weight
    )
    _save_cut(unit, end=end, weight=unit.weight)
    _part_claims(summary.text, unit, second)
    _settle(summary, by, "split unit", before, [_logged(unit), _logged(second)])


def lock_against_answers(summary: Summary) -> None:
    """Lock the assignments that read this summary, and all summaries of its set, until the transaction ends."""
    held = Reading.objects.filter(Q(comparison__summary=summary) | Q(comparison__reference=summary))
    assignments = Assignment.objects.select_for_update(of=("self",))
    list(assignments.filter(pk__in=held.values("assignment_id")).order_by("pk"))
    # Lock all summaries of the set in order, because only later code finds out which summaries are rescored.
    summaries = Summary.objects.filter(document_set=summary.document_set_id)
    list(summaries.select_for_update(of=("self",)).order_by("pk").only("pk"))


def rename_readings(summaries: Iterable[int]) -> None:
    """Give the readings of these summaries new ids."""
    readings = list(Reading.objects.filter(comparison__summary__in=summaries))
    for reading in readings:
        reading.public_id = new_public_id()
    Reading.objects.bulk_update(readings, ["public_id"])


def _begin(summary: Summary, by: User | None, seen: str | None, yours: Mapping[str, object]) -> list[Unit]:
    require(by, summary.document_set.project, Verb.CHANGE_UNITS)
    refuse_own_open_set(by, summary)
    lock_against_answers(summary)
    # Lock the rows by key and then read them, so that a change that has waited sees the result of the change before
    # it.
    list(Unit.objects.select_for_update(no_key=True).filter(summary=summary).order_by("pk").only("pk"))
    units = current_units(summary)
    if seen is not None and seen != token_of(units):
        raise _newer_cut(summary, units, yours)
    if judged_summaries([summary.pk]):
        raise Conflict(
            "This summary has been judged, so its units stay as they are. To cut it differently, import it into a "
            "new project.",
            code="judged",
        )
    if is_being_judged(summary):
        raise Conflict(
            "A judge is running on this document set. Wait until the run ends, or cancel it.",
            code="running",
        )
    rename_readings([summary.pk])
    return units


def _place(units: Sequence[Unit], unit_id: str) -> int:
    for place, unit in enumerate(units):
        if unit.public_id == unit_id:
            return place
    raise NotFound("This unit is not, or no longer, in the summary. Reload the page.")


def _newer_cut(summary: Summary, units: Sequence[Unit], yours: Mapping[str, object]) -> Conflict:
    return Conflict(
        "Someone changed the units of this summary after you opened it, so your change was not saved. Check "
        "the current units, then repeat it if needed.",
        code="newer_cut",
        details={
            "yours": yours,
            "theirs": {
                "cut": token_of(units),
                "units": [
                    {
                        "id": unit.public_id,
                        "number": unit.position,
                        "start": unit.start,
                        "end": unit.end,
                        "text": summary.text[unit.start : unit.end],
                    }
                    for unit in units
                ],
            },
        },
    )


def _borders(text: str, unit: Unit, at: int) -> tuple[int, int]:
    if not unit.start < at < unit.end:
        raise Invalid(
            f"Unit {unit.position} reaches from {unit.start} to {unit.end}: a place between these splits it.",
            field="at",
        )
    if not is_between_characters(text, at):
        raise Invalid(f"Place {at} lies within a character, such as a letter and its accent.", field="at")
    left, right = text[unit.start : at], text[at : unit.end]
    if not left.strip() or not right.strip():
        raise Invalid("Both parts need words, but one side of this place has none.", field="at")
    return unit.start + len(left.rstrip()), unit.end - len(right.lstrip())


def _save_cut(unit: Unit, *, end: int, weight: float) -> None:
    """Save a unit under a new id."""
    unit.public_id, unit.end, unit.weight = new_public_id(), end, weight
    unit.save(update_fields=["public_id", "end", "weight"])


def _shift(units: Sequence[Unit], by: int) -> None:
    moving = Unit.objects.filter(pk__in=[unit.pk for unit in units])
    moving.update(position=F("position") + UNITS_OUT_OF_THE_WAY)
    moving.update(position=F("position") - UNITS_OUT_OF_THE_WAY + by)


def _part_claims(text: str, first: Unit, second: Unit) -> None:
    moved = [
        claim.pk
        for claim in Claim.all_claims.filter(unit=first)
        if _likeness(text, claim, second) > _likeness(text, claim, first)
    ]
    Claim.all_claims.filter(pk__in=moved).update(unit=second)


def _likeness(text: str, claim: Claim, unit: Unit) -> int:
    if claim.start is not None and claim.end is not None:
        return max(0, min(claim.end, unit.end) - max(claim.start, unit.start))
    return len(_words(text[unit.start : unit.end]) & _words(claim.text))


def _words(text: str) -> set[str]:
    return set("".join(each if each.isalnum() else " " for each in text.casefold()).split())


def _logged(unit: Unit) -> dict[str, object]:
    return {"unit": unit.public_id, "number": unit.position, "start": unit.start, "end": unit.end}


def _settle(
    summary: Summary,
    by: User | None,
    verb: str,
    before: Sequence[Mapping[str, object]],
    after: Sequence[Mapping[str, object]],
) -> None:
    project = summary.document_set.project
    compared = Comparison.objects.filter(reference=summary).order_by("summary_id")
    summaries = list(compared.values_list("summary_id", flat=True))
    if summaries:
        rescore_now(project=project, summary_ids=summaries)
    log(project=project, actor=by, verb=verb, target=summary, data={"before": before, "after": after})
