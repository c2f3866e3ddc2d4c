"""Problems and remarks of an import."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from annotation.core.refusals import Invalid

SHOWN = 50
KEPT = 10_000
EXAMPLES = 3
"""Limits: findings that are shown and kept, and lines that are named for one cause."""

_PARTICULARS = re.compile(r"""'[^']*'|"[^"]*"|“[^”]*”|[0-9][0-9,.]*""")
"""Parts in which sentences with one cause differ: quoted values and numbers."""


COMMAND_WORDS = "Name the columns, for example: --map {typed}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a file.

    - `line`: the place in the file, counted from 1; None if the problem has no place
    - `column`: may be empty
    - `pair`: column assignments that may help, such as "system=model", one per line
    - `times`: the number of problems that this one stands for
    - `lines`: the first three lines if it stands for several problems; otherwise empty
    """

    line: int | None
    column: str
    reason: str
    file: str = ""
    pair: str = ""
    times: int = 1
    lines: tuple[int, ...] = ()

    @property
    def place(self) -> str:
        """The line as text, or the first three lines and the number of others; "" if the problem has no line."""
        if self.lines:
            return f"{', '.join(map(str, self.lines))} and {self.times - len(self.lines):,} more"
        return "" if self.line is None else str(self.line)

    @property
    def cause(self) -> tuple[object, ...]:
        """Equal for problems with the same cause. A problem without a line is a cause of its own."""
        return self.file, self.column, self.line is None and self, _PARTICULARS.sub("…", self.reason)

    def describe(self, word: str = "line") -> str:
        """Describe the problem in a sentence; `word` names the kind of place."""
        line = f"{word}{'s' if self.lines else ''} {self.place}" if self.place else ""
        place = ", ".join(part for part in (self.file, line, self.column) if part)
        return f"{place}: {self.reason}" if place else self.reason


def way_out(problems: Iterable[Problem], words: str) -> list[str]:
    """Return a sentence with the column assignments of the first problem that proposes some; otherwise an empty list.

    `words` is the sentence of a page, command or API, with {typed} or {listed} in place of the assignments.
    """
    pairs = next((problem.pair.splitlines() for problem in problems if problem.pair), [])
    typed, listed = " --map ".join(map(shlex.quote, pairs)), ", ".join(f'"{each}"' for each in pairs)
    return [words.format(typed=typed, listed=listed)] if pairs else []


@dataclass(slots=True)
class Findings:
    """Problems, or remarks, of a file. All are counted, but only the first 10,000 are kept.

    `bad_lines` counts the lines with problems, if the problems are added line by line.
    """

    word: str = "line"
    count: int = 0
    bad_lines: int = 0
    kept: list[Problem] = field(default_factory=list)
    _last: tuple[str, int | None] = ("", None)

    def add(self, line: int | str | None, column: str, reason: str, **others: Any) -> None:
        """Add a problem; `line` may be the name of a file, and `others` are further fields of `Problem`."""
        if isinstance(line, str):
            line, others = None, {"file": line, **others}
        found = Problem(line, column, reason, **others)
        self.count += 1
        self.bad_lines += (found.file, line) != self._last
        self._last = (found.file, line)
        if len(self.kept) < KEPT:
            self.kept.append(found)

    def remark(self, reason: str, *, line: int | str | None = None) -> None:
        """Add a remark."""
        self.add(line, "", reason)

    @property
    def shown(self) -> list[Problem]:
        """Up to 50 problems; more than three of those that are kept with the same cause are one."""
        causes: dict[object, list[Problem]] = {}
        for problem in self.kept:
            causes.setdefault(problem.cause, []).append(problem)
        found: list[Problem] = []
        for problem in self.kept:
            alike = causes[problem.cause]
            if len(alike) <= EXAMPLES:
                found.append(problem)
            elif problem is alike[0]:
                lines = tuple(each.line for each in alike[:EXAMPLES] if each.line)
                found.append(replace(problem, times=len(alike), lines=lines))
        return found[:SHOWN]

    @property
    def texts(self) -> list[str]:
        """Up to 50 remarks as sentences, without repetitions."""
        told = dict.fromkeys((each.describe(self.word), bool(each.place)) for each in self.shown)
        return [text[:1].upper() + text[1:] if is_placed else text for text, is_placed in told]


class ImportRefused(Invalid):
    """The import was refused and nothing was changed.

    `problems` lists the first problems, and `problem_count` counts all problems. Messages call a place in the file by
    `word`, such as "line" or "row".
    """

    default_code = "import_refused"

    def __init__(
        self, message: str, *, problems: Sequence[Problem] = (), problem_count: int = 0, word: str = "line"
    ) -> None:
        self.problems = tuple(problems)
        self.problem_count = max(problem_count, len(self.problems))
        self.word = word
        details = {"problem_count": self.problem_count, "problems": list(map(asdict, self.problems))}
        super().__init__(message, field="file", details=details)


def unreadable(reason: str, *, line: int | None = None, column: str = "", **others: Any) -> ImportRefused:
    """Build a refusal with one problem; `others` are further fields of `Problem`."""
    problem = Problem(line, column, reason, **others)
    return ImportRefused(problem.describe(), problems=[problem])
