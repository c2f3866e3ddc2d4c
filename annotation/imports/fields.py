"""The fields of a record under their own names: renamed, checked, and cleaned of nothing in silence."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.core.text_faults import printable, text_fault
from annotation.imports.files import NotJson, Record, load_json
from annotation.imports.layout import (
    CRITERIA,
    MAX_NAME_CHARACTERS,
    MAX_TARGET,
    indexed,
    opened,
    pick,
    plain,
    root,
)
from annotation.imports.problems import Problems, Remedy
from annotation.imports.rows import RATER, RatingData, ReferenceText
from annotation.judging.question_texts import questions_fault

MAX_METADATA_CHARACTERS = 20_000
MAX_CRITERION_CHARACTERS = 40

_WRITTEN_FOR_EMPTY = frozenset({
    "nan", "none", "null", "(null)", "n/a", "na", "<na>", "#n/a", "nat", "undefined", "\\n",
    "#value!", "#ref!", "#name?",
})  # fmt: skip
_TEXTS = {"document", "reference", "summary", "source_text", "reference_text", "summary_text"}
# Read by patterns and not by a parser: a cell may have a million characters.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
_WRITTEN_LIST = re.compile(rf"\[\s*(?:(?:{_QUOTED}|None|null|nan)[\s,]*+)*+\]", re.DOTALL)
_OBJECT_BEGINS = re.compile(rf"(?:\[\s*)?\{{\s*{_QUOTED}\s*:", re.DOTALL)
_FILE_NAME = re.compile(r"(https?://\S+|\S+\.(txt|md|html?|xml|json|pdf|docx?|story))", re.IGNORECASE)
_WHOLE = re.compile(r"[0-9]{1,20}(\.0+)?")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
_LONGEST_LANGUAGE = 12
_WHO = r"(?:expert|annotator|rater|worker|turker|crowd|human)s?"
_RATER_FIRST = re.compile(rf"({_WHO}[\s_.\-]*\d*)[\s_.\-]+(.+)", re.IGNORECASE)
_RATER_LAST = re.compile(rf"(.+?)[\s_.\-]+({_WHO}[\s_.\-]*\d*)", re.IGNORECASE)
RATER_NAMES = {
    "raterid",
    "rater",
    "annotatorid",
    "annotator",
    "workerid",
    "worker",
    "userid",
    "user",
    "name",
}
_WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?")


@dataclass(slots=True)
class Fields:
    """Reads the fields of one record; whatever is wrong is noted and makes the record bad.

    `prefix` says where inside of the line the record stands, such as "systems[2].". `given` holds values of fields
    that are not read from the record.
    """

    record: Record
    mapping: Mapping[str, str]
    problems: Problems
    prefix: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    is_good: bool = field(default=True, init=False)

    @property
    def line(self) -> int:
        return self.record.line

    def column(self, name: str) -> str:
        """The file's name of a field."""
        return self.mapping.get(name, name)

    def raw(self, name: str) -> object:
        return self.given[name] if name in self.given else pick(self.record.values, self.column(name))

    def complain(self, name: str, reason: str, *, remedy: Remedy | None = None, pair: str = "") -> None:
        self.is_good = False
        column = f"{self.prefix}{self.column(name)}" if name else ""
        self.problems.add(self.line, column, reason, remedy=remedy, pair=pair)

    def required_text(self, name: str) -> str:
        """A text that must be there; it may be blank. The texts of a list that a path with `[]` finds are joined."""
        value = self._joined(name)
        if value is None:
            self._complain_missing(name)
            return ""
        return self._text(name, value)

    def optional_text(self, name: str) -> str:
        """A text, or "" where there is none."""
        value = self.raw(name)
        return "" if value is None else self._text(name, value)

    def references(self, columns: Sequence[str] = ()) -> tuple[ReferenceText, ...]:
        """The references: one, or several of a list or of columns of their own, which are named by their places."""
        several = [pick(self.record.values, column) for column in columns]
        if not columns:
            value = self._joined("reference")
            several = list(value) if isinstance(value, list | tuple) else []
            if not several:
                text = "" if value is None or value == [] else self._text("reference", value)
                author, name = self.identifier("reference_author"), self.identifier("reference_id")
                if text.strip():
                    return (ReferenceText(text, name, author),)
                if (author or name) and self.is_good:
                    self.complain(
                        "reference",
                        "is empty although the row names a reference. Repeat the reference's text in each of its rows.",
                    )
                return ()
        author = self.identifier("reference_author")
        texts = ["" if each is None else self._text("reference", each) for each in several]
        is_one = len(texts) == 1
        return tuple(
            ReferenceText(text, self.identifier("reference_id") if is_one else str(place), author)
            for place, text in enumerate(texts, start=1)
            if text.strip()
        )

    def _joined(self, name: str) -> object:
        """A value; of a list whose path holds `[]` its texts, joined by spaces."""
        value = self.raw(name)
        column = self.column(name)
        if isinstance(value, list) and (column.endswith("[]") or (name == "summary" and "[]" in column)):
            return " ".join(self._text(name, text) for text in value)
        return value

    def identifier(self, name: str, *, required: bool = False) -> str:
        """A name without white space around it, at most 200 characters; whole numbers are names too."""
        value = self.raw(name)
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 600:
            value = str(value)
        if value is None or value == "":
            if required:
                self._complain_missing(name)
            return ""
        before = self.problems.count
        text = self._text(name, value).strip()
        if len(text) > MAX_NAME_CHARACTERS:
            self.complain(name, f"has {len(text):,} characters; a name may have {MAX_NAME_CHARACTERS}.")
            return ""
        if required and not text and self.problems.count == before:
            self._complain_missing(name)
        return text

    def documents(self, name: str, *, required: bool = True) -> tuple[str, ...]:
        """The source texts: one, or a list of several; none where they are not required and the record has no such
        field.
        """
        value = self._joined(name)
        if value is None:
            if required or root(self.column(name)) in self.record.values:
                self._complain_missing(name)
            return ()
        several = list(value) if isinstance(value, list | tuple) else [value]
        before = self.problems.count
        texts = tuple(self._text(name, text) for text in several)
        if self.problems.count == before and (not texts or not all(text.strip() for text in texts)):
            self.complain(name, "is empty. A summary needs the text that it summarises.")
        return texts

    def target(self) -> int | None:
        """The target length; None where there is none."""
        value = self.raw("target_words")
        if value is None or value == "":
            return None
        number = _whole(value)
        if number is None or not 1 <= number <= MAX_TARGET:
            self.complain(
                "target_words",
                f"is {_shown(value)}, not a whole number of at least 1. Leave it empty for no target.",
            )
            return None
        return number

    def language(self) -> str:
        """A language code such as "en" or "pt-BR"; "" where none is named."""
        value = self.optional_text("language").strip()
        if value and (len(value) > _LONGEST_LANGUAGE or not LANGUAGE.fullmatch(value)):
            self.complain("language", f"is {_shown(value)}, not a language code such as en or pt-BR.")
            return ""
        return value

    def metadata(self) -> dict[str, object]:
        """An object of the file's own, also one written as JSON; any other value under the name of its column."""
        value = self.raw("metadata")
        if isinstance(value, str) and value.lstrip().startswith("{"):
            try:
                value = load_json(value)
            except NotJson as error:
                self.complain("metadata", str(error))
                return {}
        if value is None or (isinstance(value, str) and not value.strip()):
            return {}
        if not isinstance(value, dict):
            value = {self.column("metadata"): value}
        reason = _json_fault(value)
        if reason:
            self.complain("metadata", reason)
            return {}
        return value

    def questions(self) -> tuple[str, ...]:
        """The closed questions: a list of texts, a list written as JSON, or one a line; none where there are none."""
        value = self.raw("questions")
        if isinstance(value, str):
            try:
                value = _questions_in(value)
            except NotJson as error:
                self.complain("questions", str(error))
                return ()
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            self.complain("questions", f"is {_shown(value)}, not a list of questions.")
            return ()
        wrong = next((text for text in value if not isinstance(text, str)), None)
        texts = tuple(text.strip() for text in value if isinstance(text, str))
        empty = next(filter(None, map(_empty_fault, texts)), "")
        reason = empty or (
            questions_fault(texts) if len(texts) == len(value) else f"holds {_shown(wrong)}, not a text."
        )
        if reason:
            self.complain("questions", reason)
            return ()
        return texts

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str):
            column = self.column(name)
            is_plain_list = isinstance(value, list) and "[]" not in column
            joined = f" Choose {column}[] to join its texts." if is_plain_list else ""
            self.complain(name, f"is {_shown(value)}, not a text.{joined}")
            return ""
        reason = text_fault(value) or _empty_fault(value, is_language=name == "language")
        if not reason and name in _TEXTS:
            # A source may be data or messages in JSON; what a system delivers is a text.
            reason = _shape_fault(value, may_be_object=name in ("document", "source_text"))
        if reason:
            self.complain(name, reason)
            return ""
        return value

    def _complain_missing(self, name: str) -> None:
        column = self.column(name)
        if column in self.record.values:
            self.complain(name, "has no value.")
            return
        there = ", ".join(str(key) for key in list(self.record.values)[:20]) or "none"
        self.complain(
            name,
            f"is missing. Fields that are there: {printable(there)}. If it has another name, say which field is "
            f"`{name}`.",
            remedy=Remedy.MAP,
        )


def rating_value(value: object) -> float | None:
    """The number of a rating: a number from 0 to 100, or yes and no as 1 and 0; None for anything else."""
    if isinstance(value, bool | int | float) and 0 <= value <= 100:
        return float(value)
    text = str(value).strip().casefold() if isinstance(value, str) else ""
    if text in _WORDS:
        return _WORDS[text]
    return float(text) if _NUMBER.fullmatch(text) and float(text) <= 100 else None


def is_no_rating(value: object) -> bool:
    """True if nobody rated: an empty cell, or what tables hold in its place."""
    return value is None or (
        isinstance(value, str) and value.strip().casefold() in {"", "-", *_WRITTEN_FOR_EMPTY}
    )


def criterion_and_rater(column: str) -> tuple[str, str]:
    """The criterion and the rater of a column of ratings: `fluency_2`, `expert 1 coherence`, `relevance`.

    The rater is empty where the name tells none.
    """
    if (found := _RATER_FIRST.fullmatch(column)) and plain(found[2]) in CRITERIA:
        return found[2], found[1]
    if (found := _RATER_LAST.fullmatch(column)) and plain(found[1]) in CRITERIA:
        return found[1], found[2]
    numbered = indexed(column)
    if numbered and plain(numbered[0].rpartition(".")[2]) in CRITERIA:
        return numbered[0].rpartition(".")[2], RATER.format(numbered[1])
    return column.rpartition(".")[2], ""


def ratings_in(column: str, value: object, rater: str) -> Iterator[tuple[str, str, object]]:
    """Criterion, rater and value of each rating that a column holds; `rater` is that of the row.

    A value is one rating, a list of several raters' (values, or objects with a value for each criterion), or an object
    by rater or by criterion.
    """
    criterion, named = criterion_and_rater(column)
    value = opened(value)
    if isinstance(value, list):
        who = f"{named or re.sub('(?i)[^a-z]*(annotation|rating|score)s?', '', column) or 'rater'} {{}}"
        for place, one in enumerate(value, start=1):
            if not isinstance(one, dict):
                yield criterion, who.format(place) if named else RATER.format(place), one
                continue
            told = next((str(held) for name, held in one.items() if plain(name) in RATER_NAMES), None)
            named_here = {name: held for name, held in one.items() if plain(name) in CRITERIA}
            yield from ((name, told or who.format(place), held) for name, held in named_here.items())
            if "criterion" in one:
                yield str(one["criterion"]), str(one.get("rater") or ""), one.get("value")
            elif "value" in one:
                yield criterion, told or RATER.format(place), one["value"]
    elif isinstance(value, dict):
        for name, held in value.items():
            if isinstance(held, list):
                yield from ratings_in(name, held, rater)
            elif isinstance(held, dict):
                yield from ((name, str(who), one) for who, one in held.items())
            elif plain(name) in CRITERIA:
                yield name, rater, held
            else:
                yield criterion, str(name), held
    else:
        yield criterion, named or rater, value


def read_ratings(given: Iterator[tuple[str, str, object]]) -> tuple[list[RatingData], list[str]]:
    """The ratings, and what was left out because it is none."""
    found: list[RatingData] = []
    left: list[str] = []
    for criterion, rater, value in given:
        number = rating_value(value)
        if number is not None:
            name = re.sub(r"[^\w-]+", "_", criterion.strip()).strip("_")[:MAX_CRITERION_CHARACTERS]
            found.append(RatingData(name or "rating", rater.strip()[:MAX_NAME_CHARACTERS], number))
        elif not is_no_rating(value):
            left.append(
                f"`{printable(criterion)}` is {_shown(value)} and left out: a rating is a number up to 100, yes or no."
            )
    return found, left


def _shape_fault(text: str, *, may_be_object: bool) -> str:
    """Why a text would be scored for what it is not: a list or an object as Python or JSON write it, a file's name."""
    text = text.strip()
    if _FILE_NAME.fullmatch(text):
        return f"is {_shown(text)}, the name of a file and not its text. Put the text there."
    is_object = not may_be_object and text.endswith(("}", "]")) and _OBJECT_BEGINS.match(text)
    if not is_object and not _WRITTEN_LIST.fullmatch(text):
        return ""
    return (
        "is a list or an object written as one text, whose brackets and quotes would be scored. Save the table as "
        "JSONL, as pandas does by to_json(path, orient='records', lines=True), or write one text there."
    )


def _empty_fault(text: str, *, is_language: bool = False) -> str:
    written = text.strip().casefold()
    # "na" is Nauru; "nan" is also Min Nan, which is named nan-Hant or zh-min-nan where it is meant.
    if written not in _WRITTEN_FOR_EMPTY or (is_language and written == "na"):
        return ""
    return (
        f"is {_shown(text.strip())}, which tables hold in place of an empty cell. Write the text or another name, "
        "empty the cell (a row may lack a reference or a group, and a summary may be empty), or remove the row."
    )


def _questions_in(cell: str) -> object:
    """The value of a cell: a list as JSON where it begins like one, else one question a line."""
    if cell.lstrip().startswith(("[", "{")):
        return load_json(cell)
    return [line for line in cell.splitlines() if line.strip()]


def _json_fault(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except RecursionError:
        return "is nested too deeply."
    except (TypeError, ValueError) as error:
        return f"holds what is not JSON: {error}."
    if len(text) > MAX_METADATA_CHARACTERS:
        return f"is longer than {MAX_METADATA_CHARACTERS:,} characters."
    return text_fault(text.replace("\\u0000", "\x00"))


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value == int(value) else None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return None


def _shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return "a number of very many digits"
    return (
        printable(repr(value)) if isinstance(value, str | int | float | bool) else f"a {type(value).__name__}"
    )
