from __future__ import annotations

import json
import textwrap
import unicodedata
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import Any

from django.core.management.base import BaseCommand

from annotation.analysis.estimates.estimates import ALIGNMENT_ESTIMATE, ESTIMATE, SIDES
from annotation.analysis.leaderboard.leaderboard import (
    CAPTIONS,
    RANKABLE,
    RANKED,
    Average,
    Leaderboard,
    SystemRow,
    TargetTable,
    leaderboard,
    opening_score,
)
from annotation.analysis.leaderboard.ranking import SIGNIFICANCE_LEVEL
from annotation.core.facts import plain
from annotation.management.named import project_named

MEANS = {
    "coverage": "coverage",
    "coverage_judge": "judge",
    "coverage_human": "human",
    "human_share": "human share",
    ESTIMATE: "estimate",
    "alignment": "alignment",
    ALIGNMENT_ESTIMATE: "alignment est.",
    "brevity": "brevity",
    "composite_1": "X a=1",
    "composite_2_3": "X a=2/3",
}
"""The columns besides the ranked score, with their heads."""
NO_VALUE = "-"
_LEFT_ALIGNED = 1
_GAPS = ", n of them for the ranked score, others in brackets"


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Show a project's systems with their macro means and 95 % intervals, per target length."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's slug")
        parser.add_argument(
            "--score",
            choices=RANKABLE,
            metavar="NAME",
            help="the score that ranks systems; by default the estimate if every system has one, else "
            f"{RANKED}; of {', '.join(RANKABLE)}",
        )
        parser.add_argument("--format", choices=("table", "json"), default="table")
        parser.add_argument("--digits", type=int, default=3, choices=range(1, 10), help="decimals")

    def handle(self, *_: Any, **options: Any) -> None:
        project = project_named(options["project"])
        board = leaderboard(project, score=options["score"] or RANKED)
        if options["score"] is None and (score := opening_score(board.foremost)) != board.score:
            board = leaderboard(project, score=score)
        if options["format"] == "json":
            self.stdout.write(json.dumps(plain(board), indent=2, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write("\n".join(table_lines(board, digits=options["digits"])))


def table_lines(board: Leaderboard, *, digits: int = 3) -> Iterator[str]:
    """The leaderboard as aligned lines, one block per target length."""
    if not board.tables:
        yield f"{board.project} has no scored summaries yet."
        return
    for table in board.tables:
        yield _title(table)
        yield from _aligned(
            [_headings(board.score, table), *(_cells(row, board.score, table, digits) for row in table.rows)]
        )
        yield ""
        for words in _sentences(table):
            yield from textwrap.wrap(words, width=100)
    # These are explained only if the table has brackets, or systems with sets without a value.
    has_gaps = any(row.n < row.document_sets for table in board.tables for row in table.rows)
    yield from textwrap.wrap(
        f"Macro means over document sets{_GAPS if has_gaps else ''}; X = a·coverage + (1 - a)·brevity. "
        f"{board.confidence:.0%} bootstrap intervals ({board.draws:,} bootstrap samples, seed {board.seed}): "
        f"{_covers(board)}. "
        f"The column human: {CAPTIONS['coverage_human']}.",
        width=100,
    )
    yield f"Signature {board.signature}"


def _covers(board: Leaderboard) -> str:
    """The population that the intervals of the ranked score cover, by target length if they differ."""
    captions = {_title(table): table.caption_of(board.score) for table in board.tables}
    if len(set(captions.values())) == 1:
        return next(iter(captions.values()))
    return "; ".join(f"{title.lower()}: {covers}" for title, covers in captions.items())


def _sentences(table: TargetTable) -> Iterator[str]:
    """The sentences below a table: its ranking and its estimates."""
    if table.ranking is not None:
        yield table.ranking.sentence
        if table.ranking.pairs:
            yield (
                f"{table.ranking.holding:,} of {table.ranking.pairs:,} pairs of systems differ at "
                f"{SIGNIFICANCE_LEVEL:.0%} after Holm's correction; systems that share a letter (group) are not "
                "significantly different."
            )
    if table.estimate is not None:
        yield f"Estimate: {table.estimate.sentence}"
        if table.estimate.has_estimates:
            yield f"Its interval: {table.estimate.caption}."
    if table.alignment_estimate is not None and table.alignment_estimate.has_estimates:
        yield f"Estimate of alignment: {table.alignment_estimate.sentence}"
    if table.mixed:
        yield table.mixed


def _title(table: TargetTable) -> str:
    return "No target length" if table.target_words is None else f"Target length {table.target_words}"


def _headings(score: str, table: TargetTable) -> tuple[str, ...]:
    ranked = MEANS.get(score, score.replace("_", " "))
    others = [MEANS[name] for name in _others(score, table)]
    return ("rank", "system", ranked, "interval", "group", *others, "n", "unscored")


def _others(score: str, table: TargetTable) -> list[str]:
    """The other columns; estimates only if there are any."""
    missing = {
        name for name in SIDES if (found := table.estimate_beside(name)) is None or not found.has_estimates
    }
    return [name for name in MEANS if name != score and name not in missing]


def _cells(row: SystemRow, score: str, table: TargetTable, digits: int) -> tuple[str, ...]:
    ranked = row.scores[score]
    place = table.ranking.places.get(row.system) if table.ranking else None
    return (
        NO_VALUE if row.rank is None else str(row.rank),
        row.system,
        _number(ranked.mean, digits),
        _interval(ranked, digits),
        NO_VALUE if place is None else place.letters,
        *(_beside(row.scores[name], ranked, digits) for name in _others(score, table)),
        f"{row.n} of {row.document_sets}" if row.n < row.document_sets else str(row.n),
        str(row.claims_unscored),
    )


def _beside(average: Average, ranked: Average, digits: int) -> str:
    """A mean, with its own number of document sets if it differs from the ranked score's."""
    number = _number(average.mean, digits)
    return number if average.mean is None or average.n == ranked.n else f"{number} ({average.n})"


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
    """The width of a text in a terminal: wide characters take two columns, combining ones none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
