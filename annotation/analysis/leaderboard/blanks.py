"""Why scores of a table are blank, in words, and where that is put right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from annotation.analysis.estimates.estimates import SIDES
from annotation.analysis.intervals import has_interval
from annotation.core.permissions import Verb
from evaluation.statistics import FEWEST_FOR_INTERVAL

if TYPE_CHECKING:
    from annotation.analysis.leaderboard.leaderboard import TargetTable
    from annotation.models import Project


class Reason(NamedTuple):
    """Why something is not there, and what brings it: words, the name of the page, who may do it, and where on it."""

    why: str
    act: str
    url_name: str
    verb: Verb
    place: str = ""


RESTING_ON_ANSWERS = frozenset(
    {
        "coverage",
        "coverage_judge",
        "claim_coverage",
        "alignment",
        "factual_alignment",
        "question_coverage",
        "summarization",
        "composite_1",
        "composite_2_3",
        "composite_custom",
    }
)
"""Scores that are blank where too few claims or questions are scored."""


@dataclass(frozen=True, slots=True)
class Blank:
    """The scores that no system has for one reason; without scores it is said of the whole table."""

    scores: tuple[str, ...]
    reason: Reason


NO_TARGET = Reason(
    "the summaries have no target length",
    "Set a default target length",
    "project-settings",
    Verb.CHANGE_PROJECT,
    "#id_target_length",
)
NO_WORD_BREAKS = Reason(
    "words cannot be counted in a script without spaces",
    "Count characters",
    "project-settings",
    Verb.CHANGE_PROJECT,
)
NO_JUDGE = Reason("no judge has been chosen", "Choose a judge", "judges", Verb.CHANGE_PROJECT)
NO_RUN = Reason("no judge run has answered the claims", "Start a run", "runs", Verb.RUN)
MOSTLY_UNSCORED = Reason(
    "too few of the claims or questions have a usable answer",
    "View the judge's runs",
    "runs",
    Verb.VIEW_RUNS,
)
NO_ALIGNMENT = Reason(
    "no run has checked the summaries against their sources", "Start a run", "runs", Verb.RUN
)
NO_PEOPLE = Reason(
    "people have not judged any summary completely", "Assign document sets", "assignments", Verb.ASSIGN
)
NO_SAMPLE = Reason("no random sample has been answered", "Take a random sample", "check-draws", Verb.ASSIGN)
NO_REFERENCE = Reason(
    "Without references, coverage is measured against the documents.",
    "Import references",
    "import",
    Verb.IMPORT,
)


def blanks_of(project: Project, table: TargetTable, scores: Iterable[str]) -> Iterator[Blank]:
    """What is blank among these scores of a table, by reason; then what the whole table lacks."""
    held = {name for row in table.rows for name, average in row.scores.items() if average.mean is not None}
    missing: dict[Reason, list[str]] = {}
    for name in scores:
        if name not in held and (reason := _reason(project, table, name, held)):
            missing.setdefault(reason, []).append(name)
    for reason, names in missing.items():
        yield Blank(tuple(names), reason)
    if "coverage" in held and _flagged(table, "no_model_summary") == table.summaries:
        yield Blank((), NO_REFERENCE)
    sets = max((row.n for row in table.rows), default=0)
    if sets and not has_interval(sets):
        held_sets = "is 1" if sets == 1 else f"are {sets}"
        why = f"There are no intervals: they need {FEWEST_FOR_INTERVAL} document sets, and there {held_sets}."
        yield Blank((), Reason(why, "Import more document sets", "import", Verb.IMPORT))


def _reason(project: Project, table: TargetTable, name: str, held: set[str]) -> Reason | None:
    match name:
        case "brevity" | "composite_2_3" | "composite_custom" if "brevity" not in held:
            if table.target_words is None and project.target_length is None:
                return NO_TARGET
            return NO_WORD_BREAKS if _flagged(table, "no_word_breaks") else None
        case _ if name in RESTING_ON_ANSWERS and _flagged(table, "mostly_unscored"):
            return MOSTLY_UNSCORED
        case "alignment":
            return NO_ALIGNMENT
        case "coverage_human":
            return NO_PEOPLE
        case _ if name in SIDES:
            return NO_SAMPLE
        case _:
            return NO_JUDGE if project.deciding_judge_id is None else NO_RUN


def _flagged(table: TargetTable, flag: str) -> int:
    return sum(row.flags.get(flag, 0) for row in table.rows)
