"""The pages and files of the leaderboard, and the page of one system's summaries."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields

from django.http import HttpResponse
from django.shortcuts import render

from annotation.analysis.leaderboard import leaderboards as boards
from annotation.analysis.leaderboard.bars import league
from annotation.analysis.leaderboard.leaderboard import RANKED, Average, Leaderboard, TargetTable
from annotation.analysis.leaderboard.leaderboards import target_word
from annotation.analysis.leaderboard.ranking import SystemPair
from annotation.analysis.leaderboard.system_scores import scores_of_system
from annotation.analysis.leaderboard.table import league_rows
from annotation.analysis.leaderboard.values import OTHER_VALUES, RANKABLE, SAMPLED_FOR, Basis
from annotation.analysis.make_analysis import StoredStatistics
from annotation.analysis.web import table_file
from annotation.core.lists import Viewer
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound, NotReady
from annotation.models import SCORE_SIDES, Project, System
from annotation.reviewing.queries.review_queue import SampleLeft, left_in
from annotation.sampling.queries.check_samples import check_samples
from annotation.scoring.own_scores import COMPOSITE
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter, found
from annotation.web.screen import screen

DUC_WEIGHT = 2 / 3
"""The weight of coverage in `composite_2_3`."""
HEADS = {name: name.replace("_", " ").capitalize() for name in RANKABLE} | {
    "composite_1": "Composite (a = 1)",
    "composite_2_3": "Composite (⅔ coverage, ⅓ brevity)",
    "composite_custom": "Composite (own a)",
    COMPOSITE: "Composite (own weights)",
}
"""The names of the scores on screen."""
QUESTIONS = {
    "coverage": "Which system covers most of the reference?",
    "alignment": "Which system is best supported by its sources?",
}
MAIN = ("coverage", "alignment")
"""The scores with a column by default."""
OTHER_COLUMNS = {
    "group": "Group",
    "checked": "Checked by people",
    "sets": "Document sets",
    "unscored": "Unscored claims",
}
"""Columns without a score that a person can add."""


@screen("GET")
def scores(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project, these_documents=_these_documents(request))
    table = shown.table
    context: dict[str, object] = {
        "room": room,
        "board": shown.board,
        "made": shown.made,
        "address": request.get_full_path(),
        "table": table,
        "question": QUESTIONS.get(shown.score, f"Which system is best by {head_of(shown.score).lower()}?"),
        "score": shown.score,
    }
    if shown.board and table:
        offered = _offered(table, room.project)
        chosen = _chosen_columns(request, offered)
        names = [name for name in MAIN if name in table.scores_held or name == shown.score]
        more = [*HEADS, *(name for name in table.scores_held if name not in HEADS)]
        names += [name for name in more if name not in names and (name in chosen or name == shown.score)]
        context |= {
            "target": target_word(table.target_words),
            "targets": [(target_word(each.target_words), each.target_words) for each in shown.board.tables],
            "league": league(table),
            "documents": max(row.document_sets for row in table.rows),
            "is_estimate": table.bases[shown.score].is_estimate,
            "heads": [Head(name, head_of(name), table.bases[name], name == shown.score) for name in names],
            "offered": [(name, words, name in chosen) for name, words in offered.items()],
            "chosen": chosen,
            "unchecked": _unchecked(request, room, table),
            "sample_says": (said := _sample_in_words(table)),
            "is_own": (is_own := shown.score not in RANKABLE),
            "wants_sample": (said and table.estimates[shown.score].wants_more)
            or (is_own and table.bases[shown.score].is_unchecked),
            "others": _other_values(table),
            "may_split": room.project.document_sets.exclude(group="", metadata={}).exists(),
            "unscored": sum(row.claims_unscored for row in table.rows),
        }
    return page_or_fragment(
        request,
        page="analysis/leaderboard/page.html",
        fragment="analysis/leaderboard/_league.html",
        context=context,
    )


@dataclass(frozen=True, slots=True)
class Head:
    """A column of a score: its heading `words` and the source of its values. `is_ranked` is True if it ranks the
    systems.
    """

    score: str
    words: str
    basis: Basis
    is_ranked: bool


def distinct_scores(table: TargetTable, project: Project) -> list[str]:
    """Return the scores with a mean, but not `composite_1`, nor `composite_custom` if its weight is about 2/3."""
    has_own = not math.isclose(project.composite_weight, DUC_WEIGHT, abs_tol=1e-3)
    same = ("composite_1",) if has_own else ("composite_1", "composite_custom")
    return [name for name in table.scores_held if name not in same]


def _offered(table: TargetTable, project: Project) -> dict[str, str]:
    held = [name for name in distinct_scores(table, project) if name not in MAIN]
    return {name: head_of(name) for name in held} | OTHER_COLUMNS


def head_of(score: str) -> str:
    """Return the name of a score or own criterion on screen."""
    return HEADS.get(score) or score.replace("_", " ").capitalize()


def _chosen_columns(request: Request, offered: dict[str, str]) -> list[str]:
    """A choice in the query string is saved in the session."""
    if "choose" in request.GET:
        request.session["leaderboard_columns"] = [
            name for name in request.GET.getlist("column") if name in offered
        ]
    return [name for name in request.session.get("leaderboard_columns", []) if name in offered]


def _these_documents(request: Request) -> bool:
    if "documents" in request.GET:
        request.session["leaderboard_of_these"] = request.GET["documents"] == "these"
    return bool(request.session.get("leaderboard_of_these", False))


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A ranked score that comes from an unchecked judge.

    `score` needs a random sample, which the person may take if `may_take`. `sample` is the newest random sample in its
    present state, with the number of its claims that the person can answer; None if there is none. `why_not` is the
    reason for a sample that checks nothing here, if known; otherwise "".
    """

    score: str
    sample: SampleLeft | None
    may_take: bool
    why_not: str


def _unchecked(request: Request, room: Room, table: TargetTable) -> Unchecked | None:
    if not table.bases[table.ranking.score].is_unchecked or table.ranking.score not in table.scores_held:
        return None
    missing = [
        name for name in SAMPLED_FOR.get(table.ranking.score, ()) if not table.estimates[name].sample_id
    ]
    if not missing:
        return None
    viewer = Viewer(request.user, room.project, room.verbs)
    found = check_samples(room.project, side=SCORE_SIDES[missing[0]], of_watches=False)
    newest = next((each for each in found if each.sampled and not each.cancelled_at), None)
    known = table.estimates[missing[0]]
    is_known = newest is not None and known.sample is not None and known.sample.sample_id == newest.sample_id
    may_review = Verb.REVIEW in room.verbs and room.project.reveal != Project.Reveal.SHOWN
    return Unchecked(
        missing[0],
        left_in(newest, viewer) if newest else None,
        may_review and (newest is None or is_known) and Verb.ASSIGN in room.verbs,
        known.sentence if is_known else "",
    )


def _sample_in_words(table: TargetTable) -> str:
    estimate = table.estimates.get(table.ranking.score)
    return estimate.sentence if estimate and estimate.sample_id and not estimate.averages else ""


def _other_values(table: TargetTable) -> list[tuple[str, list[str], list[tuple[str, list[Average]]]]]:
    made = []
    for score, versions in OTHER_VALUES.items():
        held = [name for name in versions if any(row.scores[name].mean is not None for row in table.rows)]
        rows = [(row.system, [row.scores[name] for name in held]) for row in table.rows]
        if len(held) > 1:
            made.append((HEADS[score], [versions[name] for name in held], rows))
    return made


@screen("GET")
def league_file(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    asked = request.GET.get("by", "")
    board, _ = boards.board(room.project, score=asked) if asked else boards.opening_board(room.project)
    assert board is not None, "a board that is waited for exists"
    rows = list(league_rows(board))
    columns = list(rows[0]) if rows else []
    return table_file(request, rows, columns=columns, name=f"{slug}-leaderboard-{board.score}")


@screen("GET")
def pairs_file(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    shown = shown_table(request, room.project, these_documents=_these_documents(request))
    compared = shown.table.ranking.compared if shown.table else ()
    columns = [each.name for each in fields(SystemPair)]
    return table_file(
        request, list(map(asdict, compared)), columns=columns, name=f"{slug}-pairs-{shown.score}"
    )


@screen("GET")
def system(request: Request, slug: str, system_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = found(System.objects.filter(project=room.project), system_id, "system")
    board, _ = boards.board(room.project, wait=False)
    after, asked = request.GET.get("after", ""), request.GET.get("by", "")
    by = asked if asked in RANKABLE else "coverage"
    names = MAIN if by in MAIN else (by, *MAIN)
    table = board.foremost if board else None
    rows = table.rows if table else ()
    of_system = next((each for each in rows if each.system_id == row.public_id), None)
    context = {
        "room": room,
        "system": row,
        "table": table,
        "row": of_system,
        # A summary's value by an own criterion is an answer, so only the summary's page shows it.
        "own": of_system.scores.get(asked) if of_system and asked not in RANKABLE else None,
        "own_name": head_of(asked),
        "columns": [(name, HEADS[name]) for name in names],
        "by": by,
        "by_in_words": HEADS[by].lower(),
        "page": scores_of_system(room.project, row, by=by, after=after),
        "is_first": not after,
    }
    return render(request, "analysis/leaderboard/system.html", context)


@dataclass(frozen=True, slots=True)
class ShownTable:
    """The leaderboard by the requested score, None before its first computation, and the table to show."""

    board: Leaderboard | None
    made: StoredStatistics
    table: TargetTable | None
    score: str


def shown_table(
    request: Request, project: Project, *, score: str = "", these_documents: bool = False
) -> ShownTable:
    """Load the leaderboard by `score`, or else by the requested score, and find the requested target length in it.

    If it is not ready, `board` and `table` are None; a request for a file (`?format=`) raises NotReady. With
    `these_documents`, estimates are about exactly the project's document sets, otherwise about document sets like
    these. Raises Invalid for a score that cannot rank systems, and NotFound for an unknown target length.
    """
    asked = score or request.GET.get("by", "")
    try:
        board, made = (
            boards.board(project, score=asked, these_documents=these_documents)
            if asked
            else boards.opening_board(project, these_documents=these_documents)
        )
    except NotReady:
        if "format" in request.GET:
            raise
        board, made = boards.board(
            project, score=asked or RANKED, wait=False, these_documents=these_documents
        )
    table = _table(board, request.GET.get("target", "")) if board else None
    return ShownTable(board, made, table, board.score if board else asked or RANKED)


def _table(board: Leaderboard, target: str) -> TargetTable | None:
    if not target:
        return board.foremost
    named = next((table for table in board.tables if target_word(table.target_words) == target), None)
    if named is None:
        raise NotFound(f"No summary has the target length {target!r}.")
    return named
