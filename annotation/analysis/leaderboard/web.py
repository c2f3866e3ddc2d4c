"""The pages of the leaderboard, its differences, and one system's summaries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import NamedTuple

from django.http import HttpResponse
from django.shortcuts import render

from annotation.analysis.estimates.estimates import ALIGNMENT_ESTIMATE, ESTIMATE, SIDES
from annotation.analysis.leaderboard import leaderboards as boards
from annotation.analysis.leaderboard.bars import league
from annotation.analysis.leaderboard.differences import (
    Differences,
    MatrixCell,
    SystemPair,
    matrix,
    target_word,
)
from annotation.analysis.leaderboard.leaderboard import (
    OF_ALIGNMENT,
    OF_COVERAGE,
    RANKED,
    Average,
    Leaderboard,
    TargetTable,
    opening_score,
)
from annotation.analysis.leaderboard.quality import quality_tables
from annotation.analysis.leaderboard.sorting import RANK, SETS, SYSTEM, UNSCORED, UPWARDS, checked_sort
from annotation.analysis.leaderboard.system_scores import scores_of_system
from annotation.analysis.leaderboard.table import LEAGUE_COLUMNS, league_rows
from annotation.analysis.make_analysis import StoredStatistics
from annotation.analysis.web import table_file
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotFound
from annotation.models import SCORES, Project, System
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MATRIX_FROM, MATRIX_TO = 7, 40
"""A matrix is shown for this range of systems: fewer are easy to read as a list, more do not fit."""
SYSTEM_PAIRS_SHOWN = 500
"""The number of pairs on a page, smallest p first; the downloaded file has all pairs."""
DUC_WEIGHT = 2 / 3
"""The weight of coverage in the composite that is always shown. If the project's own weight is equal, its
composite is not shown again.
"""


class ScoreView(NamedTuple):
    """The texts of a score on the leaderboard: the label of its switch, its column head, and its question."""

    name: str
    head: str
    question: str


VIEWS = {
    "coverage": ScoreView("Blend", "Coverage", "Which system covers most?"),
    "coverage_human": ScoreView(
        "People alone", "Coverage by people", "Which system covers most according to people alone?"
    ),
    "coverage_judge": ScoreView(
        "Judge alone", "Coverage by the judge", "Which system covers most according to the judge alone?"
    ),
    ESTIMATE: ScoreView("Estimate", "Estimated coverage", "Which system would people say covers most?"),
    "alignment": ScoreView("Blend", "Alignment", "Which system is most faithful to its source?"),
    ALIGNMENT_ESTIMATE: ScoreView(
        "Estimate", "Estimated alignment", "Which system would people say is most faithful to its source?"
    ),
    "composite_2_3": ScoreView(
        "Composite ⅔", "Composite (⅔ coverage)", "Which system covers most in the fewest words?"
    ),
}
VIEWS |= {
    name: ScoreView(words, words, f"Which system is first by {words.lower()}?")
    for name in SCORES
    if name not in (*VIEWS, "human_share", "composite_1")
    and (words := "Own composite" if name == "composite_custom" else name.replace("_", " ").capitalize())
}
BASED_ON_COVERAGE = (
    *OF_COVERAGE,
    "claim_coverage",
    "factual_alignment",
    "composite_1",
    "composite_2_3",
    "composite_custom",
)
"""The scores that are shown with the share of people's answers."""


@screen("GET")
def scores(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project)
    column, table, sort = shown.column, shown.table, checked_sort(request.GET.get("sort", ""))
    estimate = table.estimate_beside(column) if table else None
    view = VIEWS[column]
    quality = quality_tables(room.project, target_words=table.target_words) if table else []
    context = {
        "room": room,
        "board": shown.board,
        "made": shown.made,
        "address": request.get_full_path(),
        "table": table,
        "target": target_word(table.target_words) if table else "",
        "targets": [(target_word(other.target_words), other.target_words) for other in shown.tables],
        "league": league(table, column=column, sort=sort, is_made=shown.made.is_current) if table else None,
        "kept": f"&sort={sort}" if sort else "",
        "say": table.headline(room.project.deciding_judge, is_made=shown.made.is_current) if table else "",
        "places": table.ranking.places if table and table.ranking else {},
        "views": [
            (label, [(name, VIEWS[name].name, name == column) for name in names])
            for label, names in _views(table, room.project).items()
        ],
        "is_estimate": column in SIDES,
        "estimate": estimate,
        "column": column,
        "charted": view.head,
        "question": view.question,
        "caption": table.caption_of(column) if table else "",
        "mixed": table.mixed if table and column == "summarization" else "",
        "estimated": estimate.sentence if estimate else "",
        "quality": quality[0] if quality else None,
        **(_columns(room, table, column, sort) if table else {}),
        "summaries": table.summaries if table else 0,
        "unscored": sum(row.claims_unscored for row in table.rows) if table else 0,
    }
    return page_or_fragment(
        request,
        page="analysis/leaderboard/page.html",
        fragment="analysis/leaderboard/_league.html",
        context=context,
    )


@dataclass(frozen=True, slots=True)
class Head:
    """A column head: its text, the order after a click, and the present order for `aria-sort`."""

    by: str
    words: str
    sort: str
    aria_sort: str

    @property
    def is_number(self) -> bool:
        return self.by not in (SYSTEM, "human_share")

    @property
    def query(self) -> str:
        """The part of the query string that asks for this order, "" for the order by rank."""
        return f"&sort={self.sort}" if self.sort else ""


def _columns(room: Room, table: TargetTable, column: str, sort: str) -> dict[str, object]:
    """The heads of columns with values: one of coverage and one of alignment."""
    coverage = column if column in OF_COVERAGE else table.shown_as("coverage")
    alignment = column if column in OF_ALIGNMENT else table.shown_as("alignment")
    names = [
        coverage,
        *(["human_share"] if column in BASED_ON_COVERAGE else []),
        "brevity",
        "composite_2_3",
        *(["composite_custom"] if _has_own_composite(room.project) else []),
        alignment,
    ]
    held = {name for row in table.rows for name, average in row.scores.items() if average.mean is not None}
    others = [*(name for name in names if name in held and name != column), SETS, UNSCORED]
    words = {name: view.head for name, view in VIEWS.items()} | {
        RANK: "Rank",
        SYSTEM: "System",
        "human_share": "By people",
        "composite_custom": f"Composite ({room.project.composite_weight:.2f})",
        SETS: "Sets",
        UNSCORED: "Unscored",
    }
    rank, system, charted, *heads = (
        Head(by, words[by], _turned(by, sort), _aria(by, sort)) for by in (RANK, SYSTEM, column, *others)
    )
    return {
        "rank_head": rank,
        "system_head": system,
        "charted_head": charted,
        "heads": {head.by: head for head in heads},
    }


def _turned(by: str, sort: str) -> str:
    """The order after a click: the column's first order, or the reverse if that is the present one."""
    first, other = (by, f"-{by}") if by in UPWARDS else (f"-{by}", by)
    asked = other if (sort or RANK) == first else first
    return "" if asked == RANK else asked


def _aria(by: str, sort: str) -> str:
    shown = sort or RANK
    if shown.removeprefix("-") != by:
        return ""
    return "descending" if shown.startswith("-") else "ascending"


@screen("GET")
def league_file(request: Request, slug: str) -> HttpResponse:
    """Download the leaderboard as one table, in the order of the page."""
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    asked = _asked(request)
    if asked:
        board, _ = boards.board(room.project, score=asked, wait=True)
    else:
        board, _ = boards.opening_board(room.project, wait=True)
    rows = list(league_rows(board, sort=checked_sort(request.GET.get("sort", ""))))
    return table_file(request, rows, columns=LEAGUE_COLUMNS, name=f"{slug}-leaderboard-{board.score}")


@screen("GET")
def differences(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project)
    found, made = None, shown.made
    if shown.table is not None:
        found, made = boards.differences(
            room.project,
            score=shown.column,
            target_words=shown.table.target_words,
            wait="format" in request.GET,
        )
    if found is not None and "format" in request.GET:
        rows = [asdict(pair) for pair in found.pairs]
        columns = [each.name for each in fields(SystemPair)]
        return table_file(request, rows, columns=columns, name=f"{slug}-differences-{shown.column}")
    context = {
        "room": room,
        "found": found,
        "pairs": found.pairs[:SYSTEM_PAIRS_SHOWN] if found else (),
        "matrix": _matrix(found),
        "made": made,
        "address": request.get_full_path(),
        "column": shown.column,
        "is_estimate": shown.column in SIDES,
        "charted": VIEWS[shown.column].head,
        "target": target_word(shown.table.target_words) if shown.table else "",
    }
    return page_or_fragment(
        request,
        page="analysis/leaderboard/differences.html",
        fragment="analysis/leaderboard/_differences.html",
        context=context,
    )


def _matrix(found: Differences | None) -> list[tuple[str, list[MatrixCell | None]]]:
    """The matrix of differences, if there are too many systems for a list and few enough for a screen."""
    made = matrix(found) if found else []
    return made if MATRIX_FROM <= len(made) <= MATRIX_TO else []


@screen("GET")
def system(request: Request, slug: str, system_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = found(System.objects.filter(project=room.project), system_id, "system")
    board, made = boards.board(room.project)
    after, asked = request.GET.get("after", ""), request.GET.get("by", "")
    # Estimates have no values for single summaries.
    by = asked if asked in SCORES else "alignment" if asked in OF_ALIGNMENT else "coverage"
    context = {
        "room": room,
        "system": row,
        "by": by,
        "by_in_words": _name_of(by),
        "page": scores_of_system(room.project, row, by=by, after=after),
        "is_first": not after,
        "means": list(_means(board, row)) if not after else [],
        "is_current": made.is_current,
    }
    return render(request, "analysis/leaderboard/system.html", context)


def _name_of(score: str) -> str:
    return VIEWS[score].head.lower() if score in VIEWS else score.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Means:
    """All means of a system at one target length, by score."""

    target_words: int | None
    document_sets: int
    averages: dict[str, Average]
    mixed: str

    @property
    def lines(self) -> list[tuple[str, str, Average]]:
        """The name, displayed name and mean of each score."""
        return [(name, _name_of(name), average) for name, average in self.averages.items()]


def _means(board: Leaderboard, system: System) -> Iterator[Means]:
    for table in board.tables:
        for row in table.rows:
            if row.system_id != system.public_id:
                continue
            held = [name for name, average in row.scores.items() if average.mean is not None]
            yield Means(
                target_words=table.target_words,
                document_sets=row.document_sets,
                averages={name: row.scores[name] for name in held},
                mixed=table.mixed if "summarization" in held else "",
            )


@dataclass(frozen=True, slots=True)
class ShownTable:
    """The requested leaderboard and its shown table; None without scores."""

    board: Leaderboard
    made: StoredStatistics
    table: TargetTable | None
    column: str

    @property
    def tables(self) -> tuple[TargetTable, ...]:
        return self.board.tables


def shown_table(request: Request, project: Project) -> ShownTable:
    """Read the requested table.

    Raises Invalid for a score that cannot be shown, NotFound for an unknown target length.
    """
    target = request.GET.get("target", "")
    asked = _asked(request)
    board, made = boards.board(project, score=asked or RANKED)
    table = _table(board, target)
    column = asked or opening_score(table)
    if column != (asked or RANKED):
        board, made = boards.board(project, score=column, other=board)
        table = _table(board, target)
    return ShownTable(board=board, made=made, table=table, column=column)


def _asked(request: Request) -> str:
    asked = request.GET.get("by", "")
    if asked and asked not in VIEWS:
        raise Invalid(f"The leaderboard cannot be sorted by {asked!r}.", field="by")
    return asked


def _table(board: Leaderboard, target: str) -> TargetTable | None:
    if not target:
        return board.foremost
    named = next((table for table in board.tables if target_word(table.target_words) == target), None)
    if named is None:
        raise NotFound(f"No summary has the target length {target!r}.")
    return named


def _views(table: TargetTable | None, project: Project) -> dict[str, list[str]]:
    """The scores that can be shown, by the label of their switch.

    These are coverage (the estimate first if the page opens with it), alignment, and other scores with
    values; the project's own composite only if its weight differs from DUC's.
    """
    first = [ESTIMATE] if table is not None and table.is_estimated else []
    is_estimated = table is not None and table.alignment_estimate and table.alignment_estimate.has_estimates
    held = table.scores_held if table else []
    others = [
        name
        for name in VIEWS
        if name not in (*OF_COVERAGE, *OF_ALIGNMENT)
        and (name == "composite_2_3" or name in held)
        and (name != "composite_custom" or _has_own_composite(project))
    ]
    return {
        "Coverage": list(dict.fromkeys([*first, *OF_COVERAGE])),
        "Alignment": ["alignment", *([ALIGNMENT_ESTIMATE] if is_estimated else [])],
        "Other scores": others,
    }


def _has_own_composite(project: Project) -> bool:
    return not math.isclose(project.composite_weight, DUC_WEIGHT, abs_tol=1e-3)
