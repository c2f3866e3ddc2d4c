"""Scores: the leaderboard, the differences behind it, and one system's summaries."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import partial

from django.http import HttpResponse
from django.shortcuts import render

from annotation.analysis.estimates.estimates import ALIGNMENT_ESTIMATE, ESTIMATE, SIDES
from annotation.analysis.estimates.words import estimate_in_words
from annotation.analysis.intervals import WITHOUT_SPREAD, has_interval
from annotation.analysis.leaderboard import leaderboards as boards
from annotation.analysis.leaderboard.bands import BANDS
from annotation.analysis.leaderboard.bars import league
from annotation.analysis.leaderboard.blanks import blanks_of
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
    RANKABLE,
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
from annotation.analysis.leaderboard.words import (
    caption_of,
    changed_in_words,
    headline,
    mixed_in_words,
)
from annotation.analysis.make_analysis import StoredStatistics
from annotation.analysis.web import table_file
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotFound
from annotation.models import SCORES, Project, System
from annotation.scoring.published import published_means
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

MATRIX_FROM, MATRIX_TO = 7, 40
"""So many systems are compared in a matrix too: fewer are read from the list, more do not fit."""
SYSTEM_PAIRS_SHOWN = 500
"""Of more pairs of systems a page shows the surest differences; the file has all."""
DUC_WEIGHT = 2 / 3
"""The weight of coverage in the composite that is always shown; an equal one of the project is not shown twice."""

SCORE_VIEWS: dict[str, tuple[str, str]] = {
    "coverage": ("Blend", "Which system covers most?"),
    "coverage_human": ("People alone", "Which system covers most according to people alone?"),
    "coverage_judge": ("Judge alone", "Which system covers most according to the judge alone?"),
    ESTIMATE: ("Estimate", "Which system would people say covers most?"),
    "composite_2_3": ("Composite ⅔", "Which system covers most in the fewest words?"),
    "alignment": ("Alignment", "Which system is most faithful to its source?"),
}
"""What the leaderboard can always be drawn for: the name of the view and the question it answers."""
MORE_SCORE_VIEWS: dict[str, tuple[str, str]] = {
    ALIGNMENT_ESTIMATE: (
        "Alignment, estimated",
        "Which system would people say is most faithful to its source?",
    ),
    "claim_coverage": ("Claim coverage", "Which system expresses the most claims?"),
    "factual_alignment": ("Factual alignment", "Which system covers most and stays faithful to its source?"),
    "question_coverage": ("Question coverage", "Which system answers the most questions?"),
    "summarization": ("Summarization", "Which system has the best weakest score?"),
    "topic_preservation": ("Topic preservation", "Which system covers the most topics?"),
    "completeness": ("Completeness", "Which system omits least of its source?"),
    "redundancy": ("Redundancy", "Which system repeats itself least?"),
    "conciseness": ("Conciseness", "Which system is most to the point?"),
    "coherence": ("Coherence", "Which system is most coherent?"),
    "brevity": ("Brevity", "Which system is shortest relative to its target?"),
    "composite_custom": ("Own composite", "Which system is best by the project's own composite?"),
}
MORE_SCORE_VIEWS |= {
    name: (name.replace("_", " ").capitalize(), f"Which system is first by {name.replace('_', ' ')}?")
    for name in SCORES
    if name not in (*SCORE_VIEWS, *MORE_SCORE_VIEWS, "human_share", "composite_1")
}
"""What it is drawn for where the project has such scores and somebody asks."""
DRAWN_HEADS = {
    "coverage": "Coverage",
    "coverage_human": "Coverage by people",
    "coverage_judge": "Coverage by the judge",
    ESTIMATE: "Estimated coverage",
    ALIGNMENT_ESTIMATE: "Estimated alignment",
}
"""Heads of the drawn column where the view is named otherwise."""
ESTIMATED = "Estimate of people's answers to all checks, from a random sample"
BASED_ON_COVERAGE = (
    *OF_COVERAGE,
    "claim_coverage",
    "factual_alignment",
    "composite_1",
    "composite_2_3",
    "composite_custom",
)
"""The views in which whose coverage it is stands beside it."""
SCORE_NAMES = {
    ESTIMATE: "coverage, estimated",
    ALIGNMENT_ESTIMATE: "alignment, estimated",
    "coverage_judge": "coverage by the judge",
    "coverage_human": "coverage by people",
    "human_share": "share decided by people",
    "composite_1": "composite, a = 1",
    "composite_2_3": "composite, a = ⅔",
    "composite_custom": "composite of the project",
}
"""Scores whose names in the code are no words."""


@screen("GET")
def scores(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project)
    column, table, sort = shown.column, shown.table, checked_sort(request.GET.get("sort", ""))
    estimate = table.estimate_beside(column) if table else None
    words, question = (SCORE_VIEWS | MORE_SCORE_VIEWS)[column]
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
        "say": headline(table, room.project.deciding_judge, is_made=shown.made.is_current) if table else "",
        "places": table.ranking.places if table and table.ranking else {},
        "views": [
            (label, [(name, _view_name(name), name == column) for name in names])
            for label, names in _views(table, room.project).items()
        ],
        # Views between which one sees what people changed.
        "is_of_coverage": column in OF_COVERAGE,
        "is_of_alignment": column in OF_ALIGNMENT,
        "is_estimate": column in SIDES,
        "estimate": estimate,
        "column": column,
        "drawn": DRAWN_HEADS.get(column, words),
        "question": question,
        "bands": BANDS.get(column),
        "in_bands": BANDS[column].counted(row.scores[column].mean for row in table.rows)
        if table and column in BANDS
        else [],
        "caption": caption_of(column, table) if table else "",
        "mixed": mixed_in_words(table).get(column, "") if table else "",
        "changed": changed_in_words(table.changed) if table and table.changed else "",
        "estimated": estimate_in_words(estimate) if estimate else "",
        "quality": quality[0] if quality else None,
        # Called by the whole page alone; the fragment does without.
        "published": partial(published_means, room.project),
        **(_columns(room, table, column, sort, is_made=shown.made.is_current) if table else {}),
        **(_intervals_told(table, column, is_made=shown.made.is_current) if table else {}),
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
    """The head of a column: its words, the order that a click on it asks for, and that of now for `aria-sort`."""

    by: str
    words: str
    told: str
    sort: str
    aria_sort: str
    is_number: bool

    @property
    def query(self) -> str:
        """What of the address asks for the order; nothing for that of ranks."""
        return f"&sort={self.sort}" if self.sort else ""


def _columns(room: Room, table: TargetTable, column: str, sort: str, *, is_made: bool) -> dict[str, object]:
    """The heads of the columns that hold anything, and what is said of those that hold nothing.

    Why there is no estimate is known once a worker has looked for one.
    """
    made = _heads(room.project, table, column, sort)
    fixed = [made.pop(by) for by in (RANK, SYSTEM)]
    blanks = list(
        blanks_of(room.project, table, [by for by in made if by in RANKABLE and (is_made or by not in SIDES)])
    )
    told = [
        (", ".join(made[by].words for by in blank.scores), blank.reason, blank.reason.verb in room.verbs)
        for blank in blanks
    ]
    drawn = made.pop(column)
    empty = {by for blank in blanks for by in blank.scores}
    return {
        "rank_head": fixed[0],
        "system_head": fixed[1],
        "drawn_head": drawn,
        "heads": {by: head for by, head in made.items() if by not in empty},
        "blanks": told,
    }


def _heads(project: Project, table: TargetTable, column: str, sort: str) -> dict[str, Head]:
    """The heads of all columns by what they sort by."""
    own = f"{project.composite_weight:.2f}"
    words = {
        RANK: ("Rank", ""),
        SYSTEM: ("System", ""),
        "coverage": ("Coverage", ""),
        "human_share": ("By people", "Share of coverage that people decided"),
        ESTIMATE: ("Coverage, estimated", ESTIMATED),
        "brevity": ("Brevity", "Share of the target length left unused"),
        "composite_2_3": ("Composite (⅔ coverage)", "a·coverage + (1 − a)·brevity with a = ⅔"),
        "composite_custom": (f"Composite ({own})", f"The project's own composite: a = {own}"),
        "alignment": ("Alignment", "Share of the summary's claims that the source supports"),
        ALIGNMENT_ESTIMATE: ("Alignment, estimated", ESTIMATED),
        SETS: ("Sets", "Document sets behind the mean"),
        UNSCORED: ("Unscored", "Claims without a usable answer"),
    }
    # One value of each: the one that is chosen, else the one that is shown everywhere.
    for score, values in (("coverage", OF_COVERAGE), ("alignment", OF_ALIGNMENT)):
        kept = column if column in values else table.shown_as(score)
        words = {by: said for by, said in words.items() if by not in values or by == kept}
    if column not in BASED_ON_COVERAGE:
        words.pop("human_share", None)
    if not _has_own_composite(project):
        del words["composite_custom"]
    drawn = DRAWN_HEADS.get(column, (SCORE_VIEWS | MORE_SCORE_VIEWS)[column][0])
    words[column] = (drawn, words.get(column, ("", ""))[1])
    return {
        by: Head(by, said, told, _turned(by, sort), _aria(by, sort), by not in (SYSTEM, "human_share"))
        for by, (said, told) in words.items()
    }


def _turned(by: str, sort: str) -> str:
    """What a click on a column asks for: its own first order, or the other one where that is the order of now."""
    first, other = (by, f"-{by}") if by in UPWARDS else (f"-{by}", by)
    asked = other if (sort or RANK) == first else first
    return "" if asked == RANK else asked


def _aria(by: str, sort: str) -> str:
    shown = sort or RANK
    if shown.removeprefix("-") != by:
        return ""
    return "descending" if shown.startswith("-") else "ascending"


def _intervals_told(table: TargetTable, column: str, *, is_made: bool) -> dict[str, object]:
    """What is to be said of intervals and ranges of ranks: nothing of what none has on this page."""
    averages = [row.scores[column] for row in table.rows if row.scores[column].mean is not None]
    places = table.ranking.places.values() if table.ranking else ()
    is_alike = is_made and any(average.low is None and has_interval(average.n) for average in averages)
    return {
        "has_intervals": any(average.low is not None for average in averages),
        "has_ranges": any(place.low is not None for place in places),
        "without_spread": WITHOUT_SPREAD if is_alike else "",
    }


@screen("GET")
def league_file(request: Request, slug: str) -> HttpResponse:
    """Every system, target length and score of the leaderboard, as one table, in the order of the page."""
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
    """All pairs of systems by one score at one target length."""
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
    words = (SCORE_VIEWS | MORE_SCORE_VIEWS)[shown.column][0]
    context = {
        "room": room,
        "found": found,
        "pairs": found.pairs[:SYSTEM_PAIRS_SHOWN] if found else (),
        "matrix": _matrix(found),
        "made": made,
        "address": request.get_full_path(),
        "column": shown.column,
        "is_estimate": shown.column in SIDES,
        "drawn": DRAWN_HEADS.get(shown.column, words),
        "target": target_word(shown.table.target_words) if shown.table else "",
    }
    return page_or_fragment(
        request,
        page="analysis/leaderboard/differences.html",
        fragment="analysis/leaderboard/_differences.html",
        context=context,
    )


def _matrix(found: Differences | None) -> list[tuple[str, list[MatrixCell | None]]]:
    """The pairs of more systems than a list can be surveyed of, while their matrix still fits on a screen."""
    made = matrix(found) if found else []
    return made if MATRIX_FROM <= len(made) <= MATRIX_TO else []


@screen("GET")
def system(request: Request, slug: str, system_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = found(System.objects.filter(project=room.project), system_id, "system")
    board, made = boards.board(room.project)
    after, asked = request.GET.get("after", ""), request.GET.get("by", "")
    # An estimate is of all summaries together.
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
    return SCORE_NAMES.get(score, score.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Means:
    """All means that a system has at one target length, by the score's name."""

    target_words: int | None
    document_sets: int
    averages: dict[str, Average]
    mixed: tuple[str, ...]
    covers: dict[str, str]

    @property
    def lines(self) -> list[tuple[str, str, Average]]:
        """Each score's name, its name in words, and its mean."""
        return [(name, _name_of(name), average) for name, average in self.averages.items()]

    @property
    def captions(self) -> list[str]:
        """What the intervals cover, once for all scores of which it is the same; what most have comes last."""
        named: dict[str, list[str]] = defaultdict(list)
        for name, words, average in self.lines:
            if average.low is not None:
                named[self.covers[name]].append(words)
        *few, most = sorted(named.items(), key=lambda each: len(each[1])) or [("", [])]
        if not most[1]:
            return []
        whose = "all other scores" if few else "all scores"
        told = [f"95 % interval of {', '.join(words)}: {covers}." for covers, words in few]
        return [*told, f"95 % interval of {whose}: {most[0]}."]


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
                mixed=tuple(words for name, words in mixed_in_words(table).items() if name in held),
                covers={name: caption_of(name, table) for name in held},
            )


@dataclass(frozen=True, slots=True)
class ShownTable:
    """The leaderboard that the address names, and the table of it that is on screen; None where there are no scores."""

    board: Leaderboard
    made: StoredStatistics
    table: TargetTable | None
    column: str

    @property
    def tables(self) -> tuple[TargetTable, ...]:
        return self.board.tables


def shown_table(request: Request, project: Project) -> ShownTable:
    """Raises Invalid for a score that is not drawn, NotFound for a target length that no summary has."""
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
    """The score that the address names; empty where it names none. Raises Invalid for one that is not drawn."""
    asked = request.GET.get("by", "")
    if asked and asked not in SCORE_VIEWS | MORE_SCORE_VIEWS:
        raise Invalid(f"The leaderboard cannot be sorted by {asked!r}.", field="by")
    return asked


def _table(board: Leaderboard, target: str) -> TargetTable | None:
    """The table of the target that the address names, else the foremost. Raises NotFound."""
    if not target:
        return board.foremost
    named = next((table for table in board.tables if target_word(table.target_words) == target), None)
    if named is None:
        raise NotFound(f"No summary has the target length {target!r}.")
    return named


def _view_name(score: str) -> str:
    """The words on its switch; those of alignment stand under its label, as those of coverage do."""
    of_alignment = {"alignment": SCORE_VIEWS["coverage"][0], ALIGNMENT_ESTIMATE: SCORE_VIEWS[ESTIMATE][0]}
    return of_alignment.get(score) or (SCORE_VIEWS | MORE_SCORE_VIEWS)[score][0]


def _views(table: TargetTable | None, project: Project) -> dict[str, list[str]]:
    """What can be drawn, by the label of its switch: coverage, the estimate first where it is what the page opens on,
    alignment, and what else the table has values for; an own composite only where it is one.
    """
    first = [ESTIMATE] if table is not None and table.is_estimated else []
    is_estimated = table is not None and table.alignment_estimate and table.alignment_estimate.has_estimates
    held = table.scores_held if table else []
    named = {"composite_custom"} if not _has_own_composite(project) else set()
    others = ["composite_2_3", *(name for name in MORE_SCORE_VIEWS if name in held)]
    return {
        "Coverage": list(dict.fromkeys([*first, *(name for name in SCORE_VIEWS if name in OF_COVERAGE)])),
        "Alignment": ["alignment", *([ALIGNMENT_ESTIMATE] if is_estimated else [])],
        "Other scores": [name for name in others if name not in named],
    }


def _has_own_composite(project: Project) -> bool:
    return not math.isclose(project.composite_weight, DUC_WEIGHT, abs_tol=1e-3)
