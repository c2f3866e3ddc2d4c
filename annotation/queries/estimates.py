"""What people would say of everything, from the latest random draw that they answered and the judge's answers.

What reviewers volunteered enters only where chance draws it too: who chooses what to answer answers what looks wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Q

from annotation.models import Check, Draw
from annotation.queries.averages import CONFIDENCE, Average
from annotation.queries.check_draws import drawable
from annotation.queries.drawn_items import Framed, framed_items
from annotation.queries.draws import Counts, counts_of
from annotation.queries.intervals import has_interval, no_interval_in_words
from evaluation import FEW_DOCUMENTS, TOO_FEW_DOCUMENTS, DrawEstimate, estimate_systems_from_draw

if TYPE_CHECKING:
    from annotation.models import Project

ESTIMATE = "coverage_estimate"
"""The name of the estimate among the scores."""
LOOKED_AT = 25
ITEMS = {
    Draw.Item.CHECK: "checks",
    Draw.Item.COMPARISON: "summaries",
    Draw.Item.DOCUMENT_SET: "document sets",
}
CAPTION = (
    "what people would say of all claims, for the population that the document sets stand for; the judge's errors are "
    "in it"
)
CAPTION_OF_PEOPLE = (
    "what people would say of all claims, for the population that the document sets stand for, from their drawn "
    "answers alone"
)
NO_DRAW = (
    "There is no estimate: nothing has been drawn at random for people yet. What reviewers choose to answer is "
    "no random sample: it enters only where chance draws it too."
)
ALL_ANSWERED = "There is no estimate and none is needed: people answered every check."


class State(StrEnum):
    """How far an estimate may be trusted, and what stands in its place."""

    NONE = "none"
    OPEN = "open"
    PEOPLE = "people"
    FEW = "few"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Progress:
    """`answered` of the `drawn` items of a draw; `withdrawn` were taken away unanswered."""

    draw_id: str
    item: str
    method: str
    drawn: int
    answered: int
    withdrawn: int
    created_at: datetime

    @property
    def is_complete(self) -> bool:
        return 0 < self.answered == self.drawn and not self.withdrawn

    @property
    def items(self) -> str:
        return ITEMS[Draw.Item(self.item)]


@dataclass(frozen=True, slots=True)
class Estimated:
    """One system's estimate as it is shown, and what people's drawn answers alone give.

    `tuning` is the slope on the judge's answers, 0 where it counts for nothing, and `labels_saved` how many more
    answers people alone would need for the same width; None where people alone are shown.
    """

    shown: Average
    people: Average
    tuning: float
    labels_saved: float | None

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Estimated:
        return cls(
            **stored | {"shown": Average.read(stored["shown"]), "people": Average.read(stored["people"])}
        )


@dataclass(frozen=True, slots=True)
class EstimateTable:
    """The estimates at one target length, and in words where they come from and what they may be trusted for."""

    state: str
    sentence: str
    caption: str = CAPTION
    draw_id: str = ""
    documents: int = 0
    answered_documents: int = 0
    systems: dict[str, Estimated] | None = None

    @classmethod
    def read(cls, stored: dict[str, Any]) -> EstimateTable:
        systems = stored["systems"]
        if systems is not None:
            systems = {name: Estimated.read(of_system) for name, of_system in systems.items()}
        return cls(**stored | {"systems": systems})

    @property
    def has_estimates(self) -> bool:
        return bool(self.systems)

    def average(self, system: str) -> Average:
        """What is shown of the system; without a value where there is nothing to show."""
        found = (self.systems or {}).get(system)
        return found.shown if found is not None else Average(None, None, None, n=0, left_out=0)


@dataclass(frozen=True, slots=True)
class Estimates:
    """The estimates of a project by target length; `otherwise` is what is said where there are none."""

    tables: dict[int | None, EstimateTable]
    otherwise: EstimateTable

    def at(self, target_words: int | None) -> EstimateTable:
        return self.tables.get(target_words, self.otherwise)


def estimates(project: Project) -> Estimates:
    """The estimates from the latest draw of which everything is answered; in words why there are none."""
    draws = draws_of_coverage(project)
    complete = next((draw for draw in draws if draw.is_complete), None)
    newer = _open_words(draws, complete)
    if complete is None:
        state = State.OPEN if newer else State.NONE
        sentence = newer or (ALL_ANSWERED if is_all_answered(project) else NO_DRAW)
        return Estimates({}, EstimateTable(state=state, sentence=sentence))
    framed = framed_items(project, Draw.objects.get(project=project, public_id=complete.draw_id))
    tables = {target: estimate_table(complete, framed, target, newer=newer) for target in framed.items}
    nothing = f"The draw of {_day(complete)} holds nothing at this target length, so there is no estimate."
    return Estimates(tables, EstimateTable(state=State.NONE, sentence=nothing))


def is_all_answered(project: Project) -> bool:
    """Whether people have answered every check that can be drawn, of which there is one at least."""
    asked = drawable(project, Check.Side.REFERENCE)
    return asked.exists() and not asked.filter(human_label__isnull=True).exists()


def draws_of_coverage(project: Project) -> list[Progress]:
    """The latest random choices that tell of coverage, the newest first, with how far they are answered."""
    rows = list(
        Draw.objects.filter(project=project)
        .exclude(item=Draw.Item.CHECK, drawn_checks__isnull=True)
        .distinct()
        .order_by("-pk")
        .defer("frame")[:LOOKED_AT]
    )
    keys = [row.pk for row in rows]
    of_checks, of_assignments = _of_checks(keys), counts_of(keys)
    found = []
    for row in rows:
        drawn, answered, withdrawn = (
            (*of_checks[row.pk], 0) if row.item == Draw.Item.CHECK else of_assignments.get(row.pk, Counts())
        )
        if drawn or withdrawn:
            found.append(
                Progress(
                    draw_id=row.public_id,
                    item=row.item,
                    method=row.method,
                    drawn=drawn,
                    answered=answered,
                    withdrawn=withdrawn,
                    created_at=row.created_at,
                )
            )
    return found


def _of_checks(keys: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Of each draw of checks, how many on the reference side were drawn and how many of them are answered."""
    of_coverage = Q(drawn_checks__check_row__side=Check.Side.REFERENCE)
    rows = Draw.objects.filter(pk__in=keys, item=Draw.Item.CHECK).order_by()
    counted = rows.values("pk").annotate(
        drawn=Count("drawn_checks", filter=of_coverage),
        answered=Count("drawn_checks", filter=of_coverage & Q(drawn_checks__verdict__isnull=False)),
    )
    return {row["pk"]: (row["drawn"], row["answered"]) for row in counted}


def covariates(framed: Framed) -> dict[str, tuple[float, ...]] | None:
    """What foretells answers beside the judge: texts of many claims are covered less."""
    if not framed.claims:
        return None
    return {document: (math.log(claims),) for document, claims in framed.claims.items()}


def estimate_table(
    draw: Progress, framed: Framed, target_words: int | None, *, newer: str = ""
) -> EstimateTable:
    """The estimates at one target length from a draw that is answered; `newer` is said of a newer draw."""
    found = estimate_systems_from_draw(
        framed.items[target_words], covariates=covariates(framed), confidence=CONFIDENCE
    )
    answered = min(result.answered_documents for result in found.values())
    state = _state(framed, found, answered)
    from_people = state == State.PEOPLE
    systems = {name: _estimated(result, from_people=from_people) for name, result in found.items()}
    words = [_drawn_words(draw), _state_words(state, framed, answered), _saved_words(systems)]
    if framed.came_after:
        words.append(f"{framed.came_after:,} checks came after the draw, which says nothing of them.")
    return EstimateTable(
        state=state,
        sentence=" ".join(filter(None, [*words, newer])),
        caption=CAPTION_OF_PEOPLE if from_people else CAPTION,
        draw_id=draw.draw_id,
        documents=max(result.documents for result in found.values()),
        answered_documents=answered,
        systems=systems,
    )


def _state(framed: Framed, found: Mapping[str, DrawEstimate], answered: int) -> State:
    if answered < TOO_FEW_DOCUMENTS or not framed.has_judge:
        return State.PEOPLE
    if all(result.tuning == 0 for result in found.values()):
        return State.PEOPLE
    return State.FEW if answered < FEW_DOCUMENTS else State.FINE


def _estimated(result: DrawEstimate, *, from_people: bool) -> Estimated:
    people = _average(
        result, mean=result.classical_estimate, low=result.classical_low, high=result.classical_high
    )
    if from_people:
        return Estimated(shown=people, people=people, tuning=0.0, labels_saved=None)
    shown = _average(result, mean=result.estimate, low=result.low, high=result.high)
    return Estimated(shown=shown, people=people, tuning=result.tuning, labels_saved=result.labels_saved)


def _average(result: DrawEstimate, *, mean: float | None, low: float | None, high: float | None) -> Average:
    """Cut to [0, 1], where coverage lies: nothing that could be true is lost."""
    if not has_interval(result.answered_documents, low, high):
        low = high = None
    return Average(mean=_within(mean), low=_within(low), high=_within(high), n=result.documents, left_out=0)


def _within(value: float | None) -> float | None:
    return None if value is None else min(max(value, 0.0), 1.0)


def _drawn_words(draw: Progress) -> str:
    if draw.item == Draw.Item.CHECK:
        return f"From the draw of {_day(draw)}: {draw.drawn:,} checks, answered before the judge's answer was shown."
    return f"From the draw of {_day(draw)}: {draw.drawn:,} blind judgments of {draw.items}."


def _state_words(state: State, framed: Framed, answered: int) -> str:
    if not framed.has_judge:
        return "The judge recorded no probability for any of it, so people's drawn answers stand alone."
    if answered < TOO_FEW_DOCUMENTS:
        return (
            f"Not every system has answers in {TOO_FEW_DOCUMENTS} document sets (fewest: {answered}): too few to lean "
            f"on the judge, so people's drawn answers stand alone{_without_interval(answered)}."
        )
    fewest = f"Every system has answers in {answered} document sets or more"
    if state == State.PEOPLE:
        return f"{fewest}. The judge would make no interval narrower, so people's drawn answers stand alone."
    if state == State.FEW:
        return f"{fewest}; below {FEW_DOCUMENTS} an interval may miss more often than it says."
    return f"{fewest}."


def _without_interval(answered: int) -> str:
    return f", {why}" if (why := no_interval_in_words(answered)) else ""


def _saved_words(systems: Mapping[str, Estimated]) -> str:
    """How much the judge is worth, as answers of people; nothing where people stand alone."""
    saved = [each.labels_saved for each in systems.values() if each.labels_saved is not None]
    if not saved:
        return ""
    mean = math.fsum(saved) / len(saved)
    if mean < 1:
        return "The judge saves no answers here."
    return f"The judge's answers are worth {mean:,.0f} more of people's for each system, on average."


def _open_words(draws: Sequence[Progress], complete: Progress | None) -> str:
    """What is said of the newest draw where it is not answered yet; empty where it is."""
    newest = draws[0] if draws else None
    if newest is None or newest is complete:
        return ""
    if newest.withdrawn:
        told = (
            f"Of the draw of {_day(newest)}, {newest.withdrawn:,} judgments were taken away unanswered, so its chances "
            f"no longer hold and it gives no estimate."
        )
    else:
        told = (
            f"Of the draw of {_day(newest)}, {newest.answered:,} of {newest.drawn:,} are answered; until all are "
            f"there is no estimate from it."
        )
    return told


def _day(draw: Progress) -> str:
    return f"{draw.created_at:%Y-%m-%d}"
