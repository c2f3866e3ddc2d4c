"""Scores: the leaderboard, one system's summaries, and what the scores of one summary are made of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from django.http import HttpResponse
from django.shortcuts import render

from annotation.models import Project, System
from annotation.permissions import Verb
from annotation.queries.explanation import explain, scores_of_system, summary_of
from annotation.queries.leaderboard import Average, Leaderboard, TargetTable, leaderboard
from annotation.queries.published import published_means
from annotation.queries.quality import quality_tables
from annotation.records import score_rules, summary_records
from annotation.refusals import Invalid, NotFound
from annotation.web.charts import league
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import enter, found
from annotation.web.screen import screen
from evaluation import score

WITHOUT_TARGET = "none"
DUC_WEIGHT = 2 / 3
"""The weight of coverage in the composite that is always shown; an equal one of the project is not shown twice."""

VIEWS: dict[str, tuple[str, str]] = {
    "coverage": ("Blend", "Which system covers most?"),
    "coverage_human": ("People alone", "Which system covers most, by people alone?"),
    "coverage_judge": ("Judge alone", "Which system covers most, by the judge alone?"),
    "composite_2_3": ("Composite ⅔", "Which system covers most in the fewest words?"),
    "alignment": ("Alignment", "Which system stays with its source?"),
}
"""What the leaderboard can always be drawn for: the name of the view and the question it answers."""
MORE_VIEWS: dict[str, tuple[str, str]] = {
    "claim_coverage": ("Claim coverage", "Which system says most of the claims?"),
    "factual_alignment": ("Factual alignment", "Which system covers most and stays with its source?"),
    "question_coverage": ("Question coverage", "Which system answers most of the questions?"),
    "summarization": ("Summarization", "Which system is best where it is weakest?"),
    "completeness": ("Completeness", "Which system leaves out least of its source?"),
    "conciseness": ("Conciseness", "Which system wastes fewest words?"),
    "brevity": ("Brevity", "Which system is shortest for its target?"),
    "composite_custom": ("Own composite", "Which system is best by the project's own composite?"),
}
"""What it is drawn for where the project has such scores and somebody asks."""
DRAWN = {
    "coverage": "Coverage",
    "coverage_human": "Coverage by people",
    "coverage_judge": "Coverage by the judge",
}
"""Heads of the drawn column where the view is named otherwise."""
NAMES = {
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
    board = leaderboard(room.project)
    table = _table(board, request.GET.get("target", ""))
    quality = quality_tables(room.project, target_words=table.target_words) if table else []
    column = request.GET.get("by", "") or _first_with_values(table)
    if column not in VIEWS | MORE_VIEWS:
        raise Invalid(f"The leaderboard is not drawn by {column!r}.", field="by")
    words, question = (VIEWS | MORE_VIEWS)[column]
    context = {
        "room": room,
        "board": board,
        "table": table,
        "target": _target_word(table),
        "targets": [(_target_word(other), other.target_words) for other in board.tables],
        "league": league(table, column=column) if table else None,
        "views": [(name, words, name == column) for name, (words, _) in VIEWS.items()],
        "more_views": [(name, MORE_VIEWS[name][0], name == column) for name in _more(table, room.project)],
        "has_own_composite": _has_own_composite(room.project),
        "column": column,
        "drawn": DRAWN.get(column, words),
        "question": question,
        "caption": board.captions[column],
        "mixed": table.mixed.get(column, "") if table else "",
        "quality": quality[0] if quality else None,
        # Called by the whole page alone; the fragment does without.
        "published": partial(published_means, room.project),
        "summaries": table.summaries if table else 0,
        "unscored": sum(row.claims_unscored for row in table.rows) if table else 0,
    }
    return page_or_fragment(request, page="scores/page.html", fragment="scores/_league.html", context=context)


@screen("GET")
def system(request: Request, slug: str, system_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = found(System.objects.filter(project=room.project), system_id, "system")
    context = {
        "room": room,
        "system": row,
        "scores": scores_of_system(room.project, row),
        "means": list(_means(leaderboard(room.project), row)),
    }
    return render(request, "scores/system.html", context)


@screen("GET")
def summary(request: Request, slug: str, summary_id: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="scores")
    row = summary_of(room.project, summary_id)
    record = next(summary_records(room.project, [row.pk]))
    result = score(record.value, score_rules(room.project))
    made = explain(room.project, row, record.value, result, record.conciseness_terms)
    return render(request, "scores/summary.html", {"room": room, "made": made})


@dataclass(frozen=True, slots=True)
class Means:
    """All means that a system has at one target length, by the score in words."""

    target_words: int | None
    document_sets: int
    averages: dict[str, Average]
    mixed: tuple[str, ...]


def _means(board: Leaderboard, system: System) -> Iterator[Means]:
    for table in board.tables:
        for row in table.rows:
            if row.system_id != system.public_id:
                continue
            held = [name for name, average in row.scores.items() if average.mean is not None]
            yield Means(
                target_words=table.target_words,
                document_sets=row.document_sets,
                averages={NAMES.get(name, name.replace("_", " ")): row.scores[name] for name in held},
                mixed=tuple(words for name, words in table.mixed.items() if name in held),
            )


def _table(board: Leaderboard, target: str) -> TargetTable | None:
    """The table of the target that the address names, else the one with most summaries. Raises NotFound."""
    if not target:
        return max(board.tables, key=lambda table: table.summaries, default=None)
    named = next((table for table in board.tables if _target_word(table) == target), None)
    if named is None:
        raise NotFound(f"No summary has the target length {target!r}.")
    return named


def _first_with_values(table: TargetTable | None) -> str:
    """The first view that has anything to draw: projects of peer claims have alignment alone."""
    held = table.scores_held if table else []
    return next((name for name in VIEWS | MORE_VIEWS if name in held), next(iter(VIEWS)))


def _more(table: TargetTable | None, project: Project) -> list[str]:
    """The further views for which the table has values; an own composite only where it is one."""
    held = table.scores_held if table else []
    names = [name for name in MORE_VIEWS if name in held]
    return [name for name in names if name != "composite_custom" or _has_own_composite(project)]


def _has_own_composite(project: Project) -> bool:
    return not math.isclose(project.composite_weight, DUC_WEIGHT, abs_tol=1e-3)


def _target_word(table: TargetTable | None) -> str:
    if table is None:
        return ""
    return WITHOUT_TARGET if table.target_words is None else str(table.target_words)
