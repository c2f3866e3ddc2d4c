"""A manager reviews how a summary is cut: joins two units, splits one, undoes that, gives units their weights.

Units are cut while nobody has judged them, and while no judge is at work on their document set. A unit that is
joined or split is retired: its row stays with whatever was ever said of it, and new units take its place. What
points to units follows: claims go with their words, evidence that names units of a peer summary by their
numbers goes on naming the same words. Weights say how much a unit counts and leave what was judged as it is,
so they can be given at any time.

An act locks the sittings that hold the summary, the summaries of its set, and its units, in this
order, as saving and closing do. Whoever has such a sitting open in a form loads that page anew.
"""

from __future__ import annotations

import math
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import (
    Assignment,
    Claim,
    Comparison,
    QuestionAnswer,
    Sitting,
    Summary,
    Unit,
    UnitChange,
    Verdict,
)
from annotation.models.assignment import UNITS_CHANGED
from annotation.scoring.rescore import rescore_now
from annotation.texts.queries.unit_locks import evidence_in, judged_texts
from annotation.texts.queries.unit_texts import (
    current_units,
    has_weights,
    is_being_judged,
    is_between_characters,
    keep_apart,
    last_change,
    token_of,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

HEAVIEST = 1000.0
UNITS_OUT_OF_THE_WAY = 1_000_000
"""Added to positions while they move, so that no two units ever share one."""

Numbered = TypeVar("Numbered", Verdict, QuestionAnswer)


@transaction.atomic
def join_units(*, summary: Summary, by: User | None, unit_id: str, seen: str | None = None) -> UnitChange:
    """Join a unit with the one after it; the new one reaches from the first's start to the second's end.

    It has their weight, the larger one where they differ. `seen` is the token of the cut that `by` had on
    screen: where it is another one by now, Conflict (code `newer_cut`) carries both, and nothing is changed.
    Raises Conflict also where the units are judged (`judged`) or a judge is at work on the set (`running`),
    NotFound where there is no such unit, Invalid where it is the last one, NotAllowed (`blind`) to whoever
    has the set open to judge.
    """
    yours = {"act": "join", "unit": unit_id}
    units = _begin(summary, by, seen, yours)
    place = _place(units, unit_id)
    if place + 1 == len(units):
        raise Invalid("This is the last unit, so there is no next unit to join.", field="unit")
    left, right = units[place], units[place + 1]
    joined = Unit(start=left.start, end=right.end, weight=max(left.weight, right.weight))
    return _change(summary, by, UnitChange.Kind.JOIN, units, [left, right], [joined])


@transaction.atomic
def split_unit(
    *, summary: Summary, by: User | None, unit_id: str, at: int, seen: str | None = None
) -> UnitChange:
    """Split a unit in two at an offset of the summary's text, in characters (code points).

    White space around the place belongs to neither; both have the unit's weight. `seen` and what is raised are
    as in `join_units`; Invalid where there are no words on one side, or the place lies within a character.
    """
    yours = {"act": "split", "unit": unit_id, "at": at}
    units = _begin(summary, by, seen, yours)
    unit = units[_place(units, unit_id)]
    halves = _halves(summary.text, unit, at)
    return _change(summary, by, UnitChange.Kind.SPLIT, units, [unit], halves)


@transaction.atomic
def undo_unit_change(*, summary: Summary, by: User | None, seen: str | None = None) -> UnitChange:
    """Take the last join or split that stands back; doing it again takes the one before it back, and so on.

    The units, and what followed them, are as they were before. `seen` and what is raised are as in `join_units`;
    Conflict (code `nothing_to_undo`) where no change stands.
    """
    units = _begin(summary, by, seen, {"act": "undo"})
    change = last_change(summary)
    if change is None:
        raise Conflict("The units are unchanged, so there is nothing to undo.", code="nothing_to_undo")
    made = [unit for unit in units if unit.made_by_id == change.pk]
    assert made, "changes are undone from the last one on, so what this one made is there"
    gone = list(Unit.all_units.filter(retired_by=change).exclude(made_by=change).order_by("start"))
    change.undone_at = timezone.now()
    change.save(update_fields=["undone_at"])
    Unit.all_units.filter(pk__in=[unit.pk for unit in made]).update(retired_by=change)
    _shift(units[made[-1].position :], len(gone) - len(made))
    for position, unit in enumerate(gone, start=made[0].position):
        unit.retired_by, unit.position = None, position
        unit.save(update_fields=["retired_by", "position"])
    _bring_back(summary, change, made, gone)
    _settle(summary, by, "undo unit change", change, made, gone)
    return change


@transaction.atomic
def weigh_unit(
    *, summary: Summary, by: User | None, unit_id: str, weight: float, seen: float | None = None
) -> Unit:
    """Say how much a unit of a model summary counts; the scores follow. The same weight again changes nothing.

    Above 0 and up to 1000. `seen` is the weight that `by` had on screen: where it is another one by now, Conflict
    (code `newer_weight`) carries both. Raises Invalid where weights of units do not count: in peer summaries,
    and where claims stand in for the units; NotFound and NotAllowed as `join_units`.
    """
    project = _enter(summary, by)
    if not has_weights(summary):
        raise Invalid(
            "Weights apply only to model summaries, unless claims replace the units.",
            field="unit",
        )
    if not (math.isfinite(weight) and 0 < weight <= HEAVIEST):
        raise Invalid(f"The weight must be above 0 and at most {HEAVIEST:g}.", field="weight")
    _hold_summaries(summary)
    units = _hold_units(summary)
    unit = units[_place(units, unit_id)]
    if seen is not None and unit.weight not in (seen, weight):
        raise Conflict(
            f"Someone gave unit {unit.position} the weight {unit.weight:g} after you opened this page; you "
            f"entered {weight:g}. Check theirs, then enter yours again.",
            code="newer_weight",
            details={"yours": {"weight": weight}, "theirs": {"weight": unit.weight}},
        )
    if weight == unit.weight:
        return unit
    before, unit.weight = unit.weight, weight
    unit.save(update_fields=["weight"])
    _rescore(summary)
    log(
        project=project,
        actor=by,
        verb="weigh unit",
        target=summary,
        data={"unit": unit.public_id, "number": unit.position, "weight": weight, "before": before},
    )
    return unit


def hold(summary: Summary) -> list[Sitting]:
    """Let nobody save, close, review or cut at the same time; the sittings that hold the summary, locked."""
    held = Assignment.objects.filter(Q(comparison__peer=summary) | Q(comparison__model=summary))
    sittings = Sitting.objects.select_for_update(of=("self",)).select_related("assessor")
    locked = list(sittings.filter(pk__in=held.values("sitting_id")).order_by("pk"))
    _hold_summaries(summary)
    return locked


def load_forms_anew(sittings: Iterable[Sitting]) -> None:
    """Take the pen from the open forms of these sittings: what they show is no longer there."""
    for sitting in sittings:
        if sitting.is_open and sitting.pen:
            sitting.pen, sitting.pen_seq = f"{UNITS_CHANGED}{secrets.token_hex(12)}", 0
            sitting.save(update_fields=["pen", "pen_seq"])


def _enter(summary: Summary, by: User | None) -> Project:
    project = summary.document_set.project
    require(by, project, Verb.CHANGE_UNITS)
    keep_apart(by, summary)
    return project


def _begin(summary: Summary, by: User | None, seen: str | None, yours: Mapping[str, object]) -> list[Unit]:
    """The units as they stand, locked, once it is sure that they may be cut."""
    _enter(summary, by)
    sittings = hold(summary)
    units = _hold_units(summary)
    if seen is not None and seen != token_of(units):
        raise _newer_cut(summary, units, yours)
    if judged_texts([summary.pk]):
        raise Conflict(
            "The units of this summary have been judged, so they are locked. The owner can unlock them.",
            code="judged",
        )
    if is_being_judged(summary):
        raise Conflict(
            "A judge is running on this document set. Wait until the run ends, or cancel it.",
            code="running",
        )
    load_forms_anew(sittings)
    return units


def _hold_summaries(summary: Summary) -> None:
    """All of the document set, in order: which of them are rescored is known only later."""
    held = Summary.objects.filter(document_set=summary.document_set_id)
    list(held.select_for_update(of=("self",)).order_by("pk").only("pk"))


def _hold_units(summary: Summary) -> list[Unit]:
    # Locked by key, then read: an act that waited must see what the one before it left behind.
    list(Unit.objects.select_for_update(no_key=True).filter(summary=summary).order_by("pk").only("pk"))
    return current_units(summary)


def _place(units: Sequence[Unit], unit_id: str) -> int:
    for place, unit in enumerate(units):
        if unit.public_id == unit_id:
            return place
    raise NotFound("This unit is not, or no longer, in the summary. Reload the page.")


def _newer_cut(summary: Summary, units: Sequence[Unit], yours: Mapping[str, object]) -> Conflict:
    change = UnitChange.objects.filter(summary=summary).select_related("by").order_by("pk").last()
    # Who undid a change is in the log alone.
    who = change.by.username if change and change.by and not change.undone_at else "Someone"
    return Conflict(
        f"{who} changed the units of this summary after you opened it, so your change was not saved. Check "
        "the current units, then repeat it if needed.",
        code="newer_cut",
        details={
            "yours": {**yours, **_meant(summary, yours)},
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


def _meant(summary: Summary, yours: Mapping[str, object]) -> dict[str, str]:
    """The words of the unit that the act was about, which may be gone by now."""
    unit = Unit.all_units.filter(summary=summary, public_id=str(yours.get("unit", ""))).first()
    return {"text": summary.text[unit.start : unit.end]} if unit else {}


def _halves(text: str, unit: Unit, at: int) -> list[Unit]:
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
    end = unit.start + len(left.rstrip())
    start = unit.end - len(right.lstrip())
    return [
        Unit(start=unit.start, end=end, weight=unit.weight),
        Unit(start=start, end=unit.end, weight=unit.weight),
    ]


def _change(
    summary: Summary,
    by: User | None,
    kind: UnitChange.Kind,
    units: Sequence[Unit],
    gone: Sequence[Unit],
    made: Sequence[Unit],
) -> UnitChange:
    change = UnitChange.objects.create(summary=summary, kind=kind, by=by)
    first = gone[0].position
    Unit.objects.filter(pk__in=[unit.pk for unit in gone]).update(retired_by=change)
    _shift(units[gone[-1].position :], len(made) - len(gone))
    for position, unit in enumerate(made, start=first):
        unit.summary, unit.position, unit.made_by = summary, position, change
    Unit.objects.bulk_create(made)
    change.before = {
        "claims": _move_claims(summary.text, gone, made),
        **_renumber(summary, first, len(gone), len(made)),
    }
    change.save(update_fields=["before"])
    _settle(
        summary, by, f"{kind} unit" if kind == UnitChange.Kind.SPLIT else f"{kind} units", change, gone, made
    )
    return change


def _shift(units: Sequence[Unit], by: int) -> None:
    """Give these units positions that lie so much higher or lower."""
    moving = Unit.objects.filter(pk__in=[unit.pk for unit in units])
    if units and by:
        moving.update(position=F("position") + UNITS_OUT_OF_THE_WAY)
        moving.update(position=F("position") - UNITS_OUT_OF_THE_WAY + by)


def _settle(
    summary: Summary,
    by: User | None,
    verb: str,
    change: UnitChange,
    gone: Sequence[Unit],
    made: Sequence[Unit],
) -> None:
    """Bring the scores up to date and write the act down."""
    _rescore(summary)
    log(
        project=summary.document_set.project,
        actor=by,
        verb=verb,
        target=summary,
        data={
            "change": change.public_id,
            "kind": change.kind,
            "before": [_told(unit) for unit in gone],
            "after": [_told(unit) for unit in made],
        },
    )


def _told(unit: Unit) -> dict[str, object]:
    return {"unit": unit.public_id, "number": unit.position, "start": unit.start, "end": unit.end}


def _rescore(summary: Summary) -> None:
    compared = Comparison.objects.filter(model=summary).order_by("peer_id")
    peers = list(compared.values_list("peer_id", flat=True))
    if peers:
        rescore_now(project=summary.document_set.project, summary_ids=peers)


@dataclass(frozen=True, slots=True)
class _CutPlace:
    """A unit to which claims may go."""

    key: int
    start: int
    end: int
    words: frozenset[str]

    def likeness(self, claim: Claim) -> int:
        """How much of a claim is in the unit: characters by its offsets, else the words that both have."""
        if claim.start is not None and claim.end is not None:
            return max(0, min(claim.end, self.end) - max(claim.start, self.start))
        return len(self.words & _words(claim.text))


def _move_claims(text: str, gone: Sequence[Unit], made: Sequence[Unit]) -> dict[str, int]:
    """Link the claims of units that are gone to those in their place; by key, the units that they had.

    A claim goes to the unit that holds most of its offsets, one without offsets to the unit that shares most
    words with it; the first of them where several do alike. Claims of older versions, and older wordings, go along.
    """
    targets = [_CutPlace(unit.pk, unit.start, unit.end, _words(text[unit.start : unit.end])) for unit in made]
    claims = list(Claim.all_claims.filter(unit__in=[unit.pk for unit in gone]).order_by("pk"))
    _link({claim.pk: max(targets, key=lambda each: each.likeness(claim)).key for claim in claims})
    return {str(claim.pk): claim.unit_id for claim in claims if claim.unit_id is not None}


def _link(units: Mapping[int, int]) -> None:
    """Give claims their units, by key."""
    by_unit: dict[int, list[int]] = defaultdict(list)
    for claim, unit in units.items():
        by_unit[unit].append(claim)
    for unit, claims in by_unit.items():
        Claim.all_claims.filter(pk__in=claims).update(unit=unit)


def _words(text: str) -> frozenset[str]:
    letters = "".join(each if each.isalnum() else " " for each in text.casefold())
    return frozenset(letters.split())


def _renumber(summary: Summary, first: int, gone: int, made: int) -> dict[str, dict[str, list[int]]]:
    """Let evidence name the same words by their new numbers; by key, what cannot be told from these any more.

    `gone` units from number `first` on became `made`. Evidence that named one of them names all that came of it.
    """
    verdicts, answers = evidence_in(summary)
    return {
        "verdicts": _rewrite(Verdict, verdicts, first, gone, made, {}),
        "answers": _rewrite(QuestionAnswer, answers, first, gone, made, {}),
    }


def _rewrite(
    kind: type[Numbered],
    rows: Iterable[Numbered],
    first: int,
    gone: int,
    made: int,
    known: Mapping[str, list[int]],
) -> dict[str, list[int]]:
    """The evidence as it was of those rows that named one of the units; `known` is what others become."""
    before: dict[str, list[int]] = {}
    changed: list[Numbered] = []
    for row in rows:
        numbers = known.get(str(row.pk)) or _renumbered(row.evidence, first, gone, made)
        if any(first <= number < first + gone for number in row.evidence):
            before[str(row.pk)] = row.evidence
        if numbers != row.evidence:
            row.evidence = numbers
            changed.append(row)
    # An upsert by key: an update by CASE, one branch a row, costs ten times as much.
    manager: Any = kind.objects
    manager.bulk_create(changed, update_conflicts=True, unique_fields=["pk"], update_fields=["evidence"])
    return before


def _renumbered(numbers: Iterable[int], first: int, gone: int, made: int) -> list[int]:
    new = (
        {number}
        if number < first
        else set(range(first, first + made))
        if number < first + gone
        else {number + made - gone}
        for number in numbers
    )
    return sorted(reduce(or_, new, set[int]()))


def _bring_back(summary: Summary, change: UnitChange, made: Sequence[Unit], gone: Sequence[Unit]) -> None:
    """Link claims, and number evidence, as before the change; what came since goes by the rules of any change."""
    # Judged by the units that stand again, those that came since are moved like others; then the known ones.
    known = {int(claim): unit for claim, unit in change.before.get("claims", {}).items()}
    claims = set(Claim.all_claims.filter(unit__in=[unit.pk for unit in made]).values_list("pk", flat=True))
    _move_claims(summary.text, made, gone)
    _link({claim: unit for claim, unit in known.items() if claim in claims})
    verdicts, answers = evidence_in(summary)
    first = gone[0].position
    sizes = (first, len(made), len(gone))
    _rewrite(Verdict, verdicts, *sizes, change.before.get("verdicts", {}))
    _rewrite(QuestionAnswer, answers, *sizes, change.before.get("answers", {}))
