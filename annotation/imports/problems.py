"""What is wrong with a file, where, and what to do about it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from annotation.core.refusals import Invalid

PROBLEMS_SHOWN = 50
"""Problems and warnings kept word for word; the rest are only counted."""

_SENTENCE_END = re.compile(r"\. [A-Z]")


class Remedy(StrEnum):
    """What may help against a refusal or a remark. How it is done is said by each door in its own words."""

    MAP = "map"
    PRESET = "preset"
    CLAIMS_SIDE = "claims_side"
    SKIP_INVALID = "skip_invalid"


LIKELY_PAIR = "summary=output"
"""What stands for a column of another name where nothing likelier is known."""

COMMAND_WORDS = {
    Remedy.MAP: "Give other column names with --map FIELD=COLUMN, such as --map {pair}.",
    Remedy.PRESET: "To read the columns this way, use --preset auto, or type them: --map {pair}.",
    Remedy.CLAIMS_SIDE: "Use --claims-side reference or --claims-side peer.",
    Remedy.SKIP_INVALID: "Use --skip-invalid to skip and list invalid rows.",
}
"""What commands say of remedies."""


def ways_out(
    remedies: Collection[Remedy], words: Mapping[Remedy, str], *, pair: str = LIKELY_PAIR
) -> list[str]:
    """A door's words for these remedies, each once, in the order in which the door names them.

    `pair` may hold several, one a line: a shell gets --map for each, JSON a list.
    """
    pairs = pair.splitlines()
    typed, listed = " --map ".join(map(shlex.quote, pairs)), ", ".join(f'"{each}"' for each in pairs)
    return [
        said.replace("{pair}", typed).replace("{pairs}", listed)
        for remedy, said in words.items()
        if remedy in remedies
    ]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the line (of a Parquet file the row, from 1), the column, and why.

    `line` is None where the whole file is meant, `column` empty where the whole line is. `file` names
    the one among several. `pair` is the column that may help, as in "system=model".
    """

    line: int | None
    column: str
    reason: str
    file: str = ""
    remedy: Remedy | None = None
    pair: str = ""

    @property
    def what(self) -> str:
        """What is wrong: the first sentence of the reason."""
        return self._sentences[0]

    @property
    def advice(self) -> str:
        """What to do about it: the other sentences; empty where there are none."""
        return self._sentences[1]

    @property
    def _sentences(self) -> tuple[str, str]:
        end = _SENTENCE_END.search(self.reason)
        return (self.reason[: end.start() + 1], self.reason[end.end() - 1 :]) if end else (self.reason, "")

    def describe(self, word: str = "line") -> str:
        line = f"{word} {self.line}" if self.line is not None else ""
        place = ", ".join(part for part in (self.file, line, self.column) if part)
        return f"{place}: {self.reason}" if place else self.reason


def pair_of(problems: Iterable[Problem]) -> str:
    """The column that may help against the first of these for which one may."""
    return next((problem.pair for problem in problems if problem.pair), LIKELY_PAIR)


@dataclass(slots=True)
class Problems:
    """Collects problems: all are counted, the first `most` are kept; `bad_lines` counts their lines.

    With `tells_each_line`, the first problem of a line is kept too, however many the lines before it have.
    """

    most: int = PROBLEMS_SHOWN
    tells_each_line: bool = False
    count: int = 0
    bad_lines: int = 0
    shown: list[Problem] = field(default_factory=list)
    _last_place: tuple[str, int | None] = ("", None)

    def add(
        self,
        line: int | None,
        column: str,
        reason: str,
        *,
        file: str = "",
        remedy: Remedy | None = None,
        pair: str = "",
    ) -> None:
        self.count += 1
        is_first_of_line = (file, line) != self._last_place
        if is_first_of_line:
            self.bad_lines += 1
            self._last_place = (file, line)
        if len(self.shown) < self.most or (self.tells_each_line and is_first_of_line):
            self.shown.append(Problem(line, column, reason, file, remedy, pair))

    def extend(self, others: Problems) -> None:
        """Take in what was found later."""
        self.count += others.count
        self.bad_lines += others.bad_lines
        self.shown += others.shown[: max(0, self.most - len(self.shown))]


@dataclass(slots=True)
class Warnings:
    """Collects remarks that stop nothing: all are counted, the first ones are kept."""

    word: str = "line"
    count: int = 0
    shown: list[str] = field(default_factory=list)
    remedies: set[Remedy] = field(default_factory=set)

    def add(
        self, remark: str, *, line: int | None = None, remedy: Remedy | None = None, is_first: bool = False
    ) -> None:
        """Keep a remark; one that `is_first` stands before all others and is always kept."""
        self.count += 1
        if remedy is not None:
            self.remedies.add(remedy)
        if line is not None:
            remark = f"{self.word.capitalize()} {line}: {remark}"
        if is_first:
            self.shown.insert(0, remark)
        elif len(self.shown) < PROBLEMS_SHOWN:
            self.shown.append(remark)

    def lines(self) -> tuple[str, ...]:
        left = self.count - len(self.shown)
        return (*self.shown, f"And {left} more warnings.") if left else tuple(self.shown)


class ImportRefused(Invalid):
    """A file was not imported, not even in part.

    `problems` holds the first ones, `problem_count` how many there are. `word` is what a place in
    the file is called: a line, in a Parquet file a row. `remedies` are what may help; a door says how.
    """

    default_code = "import_refused"

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[Problem] = (),
        problem_count: int = 0,
        word: str = "line",
        code: str | None = None,
        remedies: Sequence[Remedy] = (),
    ) -> None:
        self.problems = tuple(problems)
        named = {*remedies, *(problem.remedy for problem in self.problems)}
        self.remedies = tuple(remedy for remedy in Remedy if remedy in named)
        self.problem_count = max(problem_count, len(self.problems))
        self.word = word
        super().__init__(
            message,
            field="file",
            code=code,
            details={
                "problem_count": self.problem_count,
                "remedies": [str(remedy) for remedy in self.remedies],
                "problems": [
                    {
                        "file": problem.file,
                        "line": problem.line,
                        "column": problem.column,
                        "reason": problem.reason,
                    }
                    for problem in self.problems
                ],
            },
        )

    @property
    def pair(self) -> str:
        """The column that may help, as in "system=model"."""
        return pair_of(self.problems)

    def with_words(self, words: Sequence[str]) -> ImportRefused:
        """The same refusal with more words at its end."""
        return ImportRefused(
            " ".join((self.message, *words)),
            problems=self.problems,
            problem_count=self.problem_count,
            word=self.word,
            code=self.code,
            remedies=self.remedies,
        )


def unreadable(
    reason: str,
    *,
    line: int | None = None,
    column: str = "",
    file: str = "",
    remedy: Remedy | None = None,
    pair: str = "",
) -> ImportRefused:
    """The refusal of a file of which no row can be trusted."""
    problem = Problem(line, column, reason, file, remedy, pair)
    return ImportRefused(problem.describe(), problems=[problem])
