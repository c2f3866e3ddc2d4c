"""Problems of a file and remarks on it: the place, the reason and the remedy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from annotation.core.refusals import Invalid

SHOWN = 50
KEPT = 10_000
EXAMPLES = 3
"""Findings that are shown and kept; lines that are named of one cause."""
LIKELY_PAIR = "summary=output"

_SENTENCE_END = re.compile(r"\. [A-Z]")
_PARTICULARS = re.compile(r"""'[^']*'|"[^"]*"|“[^”]*”|[0-9][0-9,.]*""")
"""The parts in which sentences with the same cause differ."""


class Remedy(StrEnum):
    """A remedy, which page, command and API each describe in their own words."""

    MAP = "map"
    PRESET = "preset"
    SKIP_INVALID = "skip_invalid"


COMMAND_WORDS = {
    Remedy.MAP: "Give other column names with --map FIELD=COLUMN, such as --map {pair}.",
    Remedy.PRESET: "To read the columns this way, use --preset auto, or type them: --map {pair}.",
    Remedy.SKIP_INVALID: "Use --skip-invalid to skip and list invalid rows.",
}


def ways_out(
    remedies: Collection[Remedy], words: Mapping[Remedy, str], *, pair: str = LIKELY_PAIR
) -> list[str]:
    """A door's words for these remedies. `pair` may hold several, one a line."""
    pairs = pair.splitlines()
    typed, listed = " --map ".join(map(shlex.quote, pairs)), ", ".join(f'"{each}"' for each in pairs)
    return [
        said.replace("{pair}", typed).replace("{pairs}", listed)
        for remedy, said in words.items()
        if remedy in remedies
    ]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the line (of Parquet and pushes the row, from 1), the column, and the reason.

    `line` is None for the whole file, `column` is empty for the whole line. `pair` is an assignment of a column that
    may fix it, as in "system=model". `times` is the number of lines with this cause, and `lines` has the first three of
    more.
    """

    line: int | None
    column: str
    reason: str
    file: str = ""
    remedy: Remedy | None = None
    pair: str = ""
    times: int = 1
    lines: tuple[int, ...] = ()

    @property
    def what(self) -> str:
        """The first sentence of the reason."""
        end = _SENTENCE_END.search(self.reason)
        return self.reason[: end.start() + 1] if end else self.reason

    @property
    def advice(self) -> str:
        """The other sentences, which say what to do."""
        return self.reason[len(self.what) :].lstrip()

    @property
    def place(self) -> str:
        """The number of the line, or the first ones and how many more there are."""
        if self.lines:
            return f"{', '.join(map(str, self.lines))} and {self.times - len(self.lines):,} more"
        return "" if self.line is None else str(self.line)

    @property
    def cause(self) -> tuple[str, str, str]:
        """The part that problems with other values have in common."""
        return self.file, self.column, _PARTICULARS.sub("…", self.reason)

    def describe(self, word: str = "line") -> str:
        line = f"{word}{'s' if self.lines else ''} {self.place}" if self.place else ""
        place = ", ".join(part for part in (self.file, line, self.column) if part)
        return f"{place}: {self.reason}" if place else self.reason


def pair_of(problems: Iterable[Problem]) -> str:
    return next((problem.pair for problem in problems if problem.pair), LIKELY_PAIR)


@dataclass(slots=True)
class Findings:
    """Problems or remarks of a file: all are counted, the first 10,000 kept."""

    word: str = "line"
    count: int = 0
    bad_lines: int = 0
    kept: list[Problem] = field(default_factory=list)
    _lines: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    _last: tuple[str, int | None] = ("", None)

    def add(self, line: int | None, column: str, reason: str, **others: Any) -> None:
        """Add a problem; `others` are further fields of Problem."""
        found = Problem(line, column, reason, **others)
        self.count += 1
        if (found.file, line) != self._last:
            self.bad_lines += 1
            self._last = (found.file, line)
        if line is not None:
            # The last number counts all.
            lines = self._lines.setdefault(found.cause, [0])
            lines[-1] += 1
            if len(lines) <= EXAMPLES:
                lines.insert(-1, line)
        if len(self.kept) < KEPT:
            self.kept.append(found)

    def remark(self, reason: str, *, line: int | None = None, remedy: Remedy | None = None) -> None:
        self.add(line, "", reason, remedy=remedy)

    @property
    def shown(self) -> list[Problem]:
        """Each, but more than three of one cause as one."""
        found: dict[object, Problem] = {}
        for place, problem in enumerate(self.kept):
            *lines, times = self._lines[problem.cause] if problem.line is not None else [1]
            if times <= EXAMPLES:
                found[place] = problem
            elif problem.cause not in found:
                found[problem.cause] = replace(problem, times=times, lines=tuple(lines))
        return list(found.values())[:SHOWN]

    @property
    def texts(self) -> list[str]:
        """Remarks as sentences, each once."""
        told = dict.fromkeys((each.describe(self.word), bool(each.place)) for each in self.shown)
        return [text[:1].upper() + text[1:] if is_placed else text for text, is_placed in told]

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        named = {problem.remedy for problem in self.kept}
        return tuple(remedy for remedy in Remedy if remedy in named)


class ImportRefused(Invalid):
    """A file was not imported, not even in part; `problems` are the first, `problem_count` says how many there are."""

    default_code = "import_refused"

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[Problem] = (),
        problem_count: int = 0,
        word: str = "line",
        remedies: Sequence[Remedy] = (),
    ) -> None:
        self.problems = tuple(problems)
        named = {*remedies, *(problem.remedy for problem in self.problems)}
        self.remedies = tuple(remedy for remedy in Remedy if remedy in named)
        self.problem_count = max(problem_count, len(self.problems))
        self.word = word
        shown = [name for name in Problem.__slots__ if name not in ("remedy", "pair")]
        details = {
            "problem_count": self.problem_count,
            "remedies": list(map(str, self.remedies)),
            "problems": [{name: getattr(problem, name) for name in shown} for problem in self.problems],
        }
        super().__init__(message, field="file", details=details)

    def ways_out(self, words: Mapping[Remedy, str]) -> list[str]:
        return ways_out(self.remedies, words, pair=pair_of(self.problems))


def unreadable(reason: str, *, line: int | None = None, column: str = "", **others: Any) -> ImportRefused:
    """The refusal of a file of which no row can be trusted; `others` are further fields of Problem."""
    problem = Problem(line, column, reason, **others)
    return ImportRefused(problem.describe(), problems=[problem])
