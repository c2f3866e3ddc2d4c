from __future__ import annotations

import json
import textwrap
import unicodedata
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.analysis.leaderboard.leaderboard import (
    RANKABLE,
    RANKED,
    Average,
    Leaderboard,
    SystemRow,
    TargetTable,
    leaderboard,
    opening_score,
)
from annotation.core.facts import plain
from annotation.core.refusals import Invalid
from annotation.management.named import project_named

NO_VALUE = "-"
_LEFT_ALIGNED = 1


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Show a project's systems with their macro means and 95 % intervals, per target length."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument(
            "--score",
            metavar="NAME",
            help=f"the score that ranks systems; by default {RANKED}, or the first other score with values; an own "
            f"criterion or one of {', '.join(RANKABLE)}",
        )
        parser.add_argument("--format", choices=("table", "json"), default="table")
        parser.add_argument("--digits", type=int, default=3, choices=range(1, 10), help="decimals")

    def handle(self, *_: Any, **options: Any) -> None:
        project = project_named(options["project"])
        try:
            board = leaderboard(project, score=options["score"] or RANKED)
        except Invalid as refusal:
            raise CommandError(refusal.message) from refusal
        if options["score"] is None and (score := opening_score(board.foremost)) != board.score:
            board = leaderboard(project, score=score)
        if options["format"] == "json":
            self.stdout.write(json.dumps(plain(board), indent=2, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write("\n".join(table_lines(board, digits=options["digits"])))


def table_lines(board: Leaderboard, *, digits: int = 3) -> Iterator[str]:
    """Yield the leaderboard as lines of text, with a block per target length."""
    if not board.tables:
        yield f"{board.project} has no scored summaries yet."
        return
    for table in board.tables:
        yield _title(table)
        scores = [
            name for name in dict.fromkeys((board.score, RANKED, "alignment")) if _is_shown(table, name)
        ]
        yield from _aligned([_headings(scores), *(_cells(row, scores, digits) for row in table.rows)])
        yield ""
        for words in _sentences(table):
            yield from textwrap.wrap(words, width=100)
    yield from textwrap.wrap(
        f"Means over document sets with their {board.confidence:.0%} intervals; those that are not estimates come "
        f"from {board.draws:,} bootstrap samples, seed {board.seed}.",
        width=100,
    )
    yield f"Signature {board.signature}"


def _is_shown(table: TargetTable, score: str) -> bool:
    return score == table.ranking.score or score in table.scores_held


def _sentences(table: TargetTable) -> Iterator[str]:
    ranked = table.ranking.score
    yield table.headline
    yield table.rests_on.replace("Scores", ranked.replace("_", " ").capitalize(), 1)
    for score in ("coverage", "alignment"):
        if score != ranked and score in table.scores_held:
            yield f"{score.capitalize()}: {table.bases[score].name}."
    if ranked in table.estimates:
        yield table.estimates[ranked].sentence
    if pairs := len(table.ranking.compared):
        yield f"{table.ranking.holding:,} of {pairs:,} pairs of systems differ when all pairs are tested."
    if table.mixed:
        yield table.mixed


def _title(table: TargetTable) -> str:
    return "No target length" if table.target_words is None else f"Target length {table.target_words}"


def _headings(scores: Sequence[str]) -> tuple[str, ...]:
    named = (head for name in scores for head in (name.replace("_", " "), "interval"))
    return ("rank", "system", *named, "length", "checked by people")


def _cells(row: SystemRow, scores: Sequence[str], digits: int) -> tuple[str, ...]:
    averages = [row.scores[name] for name in scores]
    checked = row.scores["human_share"].mean
    return (
        NO_VALUE if row.rank is None else str(row.rank),
        row.system,
        *(cell for each in averages for cell in (_number(each.mean, digits), _interval(each, digits))),
        f"{row.length:.0f}",
        NO_VALUE if checked is None else f"{checked:.0%}",
    )


def _number(value: float | None, digits: int) -> str:
    return NO_VALUE if value is None else f"{value:.{digits}f}"


def _interval(average: Average, digits: int) -> str:
    if average.low is None or average.high is None:
        return NO_VALUE
    return f"[{average.low:.{digits}f}, {average.high:.{digits}f}]"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(_width(cell) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell + _pad(cell, width) if place == _LEFT_ALIGNED else _pad(cell, width) + cell
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _pad(cell: str, width: int) -> str:
    return " " * (width - _width(cell))


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
