"""Problems and remarks of an import: the place, the reason and the remedy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from annotation.core.refusals import Invalid

PROBLEMS_SHOWN = 50
"""Problems and warnings kept word for word; the rest are only counted."""
EXAMPLES = 3
"""Lines that are named of one cause."""
LIKELY_PAIR = "summary=output"
"""A placeholder for the name of a column, if no likelier one is known."""

_SENTENCE_END = re.compile(r"\. [A-Z]")
_PARTICULARS = re.compile(r"""'[^']*'|"[^"]*"|“[^”]*”|[0-9][0-9,.]*""")
"""Of a sentence, what differs between rows with the same cause."""


class Remedy(StrEnum):
    """A remedy for a refusal or a remark. Page, command and API each describe it in their own words."""

    MAP = "map"
    PRESET = "preset"
    CLAIMS_SIDE = "claims_side"
    SKIP_INVALID = "skip_invalid"


COMMAND_WORDS = {
    Remedy.MAP: "Give other column names with --map FIELD=COLUMN, such as --map {pair}.",
    Remedy.PRESET: "To read the columns this way, use --preset auto, or type them: --map {pair}.",
    Remedy.CLAIMS_SIDE: "Use --claims-side reference or --claims-side peer.",
    Remedy.SKIP_INVALID: "Use --skip-invalid to skip and list invalid rows.",
}
"""The words of commands for remedies."""


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


def cause_of(sentence: str) -> str:
    """The part that sentences about different values have in common."""
    return _PARTICULARS.sub("…", sentence)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the line (of a Parquet file the row, from 1), the column, and why.

    `line` is None where the whole file is meant, `column` empty where the whole line is. `file` names the one among
    several. `pair` is the column that may help, as in "system=model". `times` counts the rows with this cause, and
    `lines` names the first of them, where there are more than three.
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
        """The first sentence of the reason: what is wrong."""
        return self._sentences[0]

    @property
    def advice(self) -> str:
        """The other sentences, which say what to do; empty where there are none."""
        return self._sentences[1]

    @property
    def _sentences(self) -> tuple[str, str]:
        end = _SENTENCE_END.search(self.reason)
        return (self.reason[: end.start() + 1], self.reason[end.end() - 1 :]) if end else (self.reason, "")

    @property
    def place(self) -> str:
        """The number of the line, or the first of them and how many more there are."""
        if self.lines:
            return f"{', '.join(map(str, self.lines))} and {self.times - len(self.lines):,} more"
        return "" if self.line is None else str(self.line)

    def describe(self, word: str = "line") -> str:
        line = f"{word}{'s' if self.lines else ''} {self.place}" if self.place else ""
        place = ", ".join(part for part in (self.file, line, self.column) if part)
        return f"{place}: {self.reason}" if place else self.reason


def pair_of(problems: Iterable[Problem]) -> str:
    """The column that may help against the first of these for which one may."""
    return next((problem.pair for problem in problems if problem.pair), LIKELY_PAIR)


@dataclass(slots=True)
class Problems:
    """Collects problems: all are counted, `bad_lines` counts their lines, and some are kept.

    More than three with one cause are kept as one, unless `tells_each_line`: then every problem is kept.
    """

    tells_each_line: bool = False
    count: int = 0
    bad_lines: int = 0
    _kept: list[Problem] = field(default_factory=list)
    _of_cause: dict[tuple[str, str, str], list[int]] = field(default_factory=dict)
    _last_place: tuple[str, int | None] = ("", None)

    @property
    def shown(self) -> list[Problem]:
        if self.tells_each_line:
            return self._kept
        merged = {places[0]: places for places in self._of_cause.values() if len(places) > EXAMPLES}
        hidden = {place for places in merged.values() for place in places[1:EXAMPLES]}
        found = [
            self._merged(merged[place]) if place in merged else problem
            for place, problem in enumerate(self._kept)
            if place not in hidden
        ]
        return found[:PROBLEMS_SHOWN]

    def _merged(self, places: Sequence[int]) -> Problem:
        """The problem of a cause: the places of its first ones, then how many there are."""
        examples = [self._kept[place] for place in places[:EXAMPLES]]
        lines = tuple(problem.line for problem in examples if problem.line is not None)
        return replace(examples[0], times=places[EXAMPLES], lines=lines)

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
        if (file, line) != self._last_place:
            self.bad_lines += 1
            self._last_place = (file, line)
        if not self.tells_each_line and line is not None:
            places = self._of_cause.setdefault((file, column, cause_of(reason)), [])
            if len(places) == EXAMPLES:
                places.append(EXAMPLES)
            if len(places) > EXAMPLES:
                places[EXAMPLES] += 1
                return
            if len(self._of_cause) > PROBLEMS_SHOWN:
                return
            places.append(len(self._kept))
        self._kept.append(Problem(line, column, reason, file, remedy, pair))

    def extend(self, others: Problems) -> None:
        """Take in what was found later."""
        for problem in others.shown:
            self.add(
                problem.line,
                problem.column,
                problem.reason,
                file=problem.file,
                remedy=problem.remedy,
                pair=problem.pair,
            )
        self.count += others.count - len(others.shown)


@dataclass(slots=True)
class Warnings:
    """Collects remarks that stop nothing: of each cause the first three are kept, and the others counted."""

    word: str = "line"
    remedies: set[Remedy] = field(default_factory=set)
    _kept: dict[str, list[str]] = field(default_factory=dict)
    _more: dict[str, int] = field(default_factory=dict)

    def add(
        self, remark: str, *, line: int | None = None, remedy: Remedy | None = None, is_first: bool = False
    ) -> None:
        """Keep a remark; one that `is_first` stands before all others."""
        if remedy is not None:
            self.remedies.add(remedy)
        cause = cause_of(remark) if line is not None else remark
        if line is not None:
            remark = f"{self.word.capitalize()} {line}: {remark}"
        if is_first:
            self._kept = {cause: [remark], **self._kept}
        elif len(kept := self._kept.setdefault(cause, [])) < EXAMPLES:
            kept.append(remark)
        else:
            self._more[cause] = self._more.get(cause, 0) + 1

    @property
    def shown(self) -> list[str]:
        found = []
        for cause, remarks in self._kept.items():
            found += remarks
            if more := self._more.get(cause):
                found.append(f"And {more:,} more like these.")
        return found


class ImportRefused(Invalid):
    """A file was not imported, not even in part.

    `problems` holds the first ones, `problem_count` how many there are. `word` is the word for a place in the file: a
    line, in a Parquet file a row. `remedies` are what may help; a door says how.
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
        told = [
            {
                name: value
                for name, value in asdict(problem).items()
                if name in {"file", "line", "column", "reason", "times", "lines"}
            }
            for problem in self.problems
        ]
        details = {
            "problem_count": self.problem_count,
            "remedies": [str(remedy) for remedy in self.remedies],
            "problems": told,
        }
        super().__init__(message, field="file", code=code, details=details)

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
