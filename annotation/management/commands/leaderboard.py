"""The systems of a project side by side, in the terminal or as JSON."""

from __future__ import annotations

import json
import textwrap
import unicodedata
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from annotation.management.commands.export_dataset import project_named
from annotation.queries.leaderboard import Average, Leaderboard, SystemRow, TargetTable, leaderboard

HEADINGS = (
    "rank",
    "system",
    "coverage",
    "interval",
    "judge",
    "human",
    "human share",
    "alignment",
    "brevity",
    "X a=1",
    "X a=2/3",
    "n",
    "unscored",
)
MEANS = (
    "coverage_judge",
    "coverage_human",
    "human_share",
    "alignment",
    "brevity",
    "composite_1",
    "composite_2_3",
)
NOTHING = "-"
_LEFT_ALIGNED = 1


class Command(BaseCommand):
    help = "Show a project's systems with their macro means and 95 % intervals, per target length."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument("--format", choices=("table", "json"), default="table")
        parser.add_argument("--digits", type=int, default=3, choices=range(1, 10), help="decimals")

    def handle(self, *_: Any, **options: Any) -> None:
        board = leaderboard(project_named(options["project"]))
        if options["format"] == "json":
            self.stdout.write(json.dumps(asdict(board), indent=2, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write("\n".join(table_lines(board, digits=options["digits"])))


def table_lines(board: Leaderboard, *, digits: int = 3) -> Iterator[str]:
    """The leaderboard as aligned lines, one block per target length."""
    if not board.tables:
        yield f"{board.project} has no scored summaries yet."
        return
    for table in board.tables:
        yield _title(table)
        yield from _aligned([HEADINGS, *(_cells(row, digits) for row in table.rows)])
        yield ""
    yield from textwrap.wrap(
        f"Macro means over document sets; X = a·coverage + (1 - a)·brevity. {board.confidence:.0%} bootstrap "
        f"intervals ({board.draws} draws, seed {board.seed}): {board.captions['coverage']}. "
        f"The column human: {board.captions['coverage_human']}.",
        width=100,
    )
    for warning in board.warnings:
        yield from textwrap.wrap(warning, width=100)
    yield f"Signature {board.signature}"


def _title(table: TargetTable) -> str:
    return "No target length" if table.target_words is None else f"Target length {table.target_words}"


def _cells(row: SystemRow, digits: int) -> tuple[str, ...]:
    coverage = row.scores["coverage"]
    return (
        NOTHING if row.rank is None else str(row.rank),
        row.system,
        _number(coverage.mean, digits),
        _interval(coverage, digits),
        *(_number(row.scores[name].mean, digits) for name in MEANS),
        str(row.n),
        str(row.claims_unscored),
    )


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None else f"{value:.{digits}f}"


def _interval(average: Average, digits: int) -> str:
    if average.low is None or average.high is None:
        return NOTHING
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
    """Columns that a terminal gives the text: wide characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
