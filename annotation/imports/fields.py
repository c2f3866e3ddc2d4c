"""The fields of a record under their own names: renamed, checked, and cleaned of nothing in silence."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.core.text_faults import printable, text_fault
from annotation.imports.layouts.paths import pick
from annotation.imports.problems import Problems, Remedy
from annotation.imports.streams import NotJson, Record, load_json
from annotation.judging.question_texts import questions_fault

MAX_NAME_CHARACTERS = 200
MAX_TARGET = 2_147_483_647
MAX_METADATA_CHARACTERS = 20_000
MAX_METADATA_DEPTH = 20

FLAT_REQUIRED = ("document_id", "document", "system", "summary")
FLAT_OPTIONAL = (
    "reference",
    "reference_id",
    "reference_author",
    "target_words",
    "group",
    "language",
    "metadata",
    "questions",
)
FLAT_FIELDS = (*FLAT_REQUIRED, *FLAT_OPTIONAL)
NESTED_FIELDS = (
    "doc_id",
    "source_text",
    "reference_text",
    "systems",
    "system",
    "summary_text",
    "claims",
    "claim_text",
    "weight",
    "verdicts",
    "raw_votes",
)
NESTED_OPTIONAL = ("group", "language", "metadata", "questions")

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
        """What the file calls a field."""
        return self.mapping.get(name, name)

    def raw(self, name: str) -> object:
        return self.given[name] if name in self.given else pick(self.record.values, self.column(name))

    def complain(self, name: str, reason: str, *, remedy: Remedy | None = None, pair: str = "") -> None:
        self.is_good = False
        column = f"{self.prefix}{self.column(name)}" if name else ""
        self.problems.add(self.line, column, reason, remedy=remedy, pair=pair)

    def required_text(self, name: str) -> str:
        """A text that must be there; it may be blank."""
        value = self.raw(name)
        if value is None:
            self._complain_missing(name)
            return ""
        return self._text(name, value)

    def summary(self) -> str:
        """The summary; sentences that a path such as `sentences[].text` finds are joined by spaces."""
        value = self.raw("summary")
        if "[]" in self.column("summary") and isinstance(value, list):
            return " ".join(self._text("summary", sentence) for sentence in value)
        return self.required_text("summary")

    def references(self) -> list[object]:
        """The values that may be references: several where the file has a list of them."""
        value = self._whole_value("reference")
        return list(value) if isinstance(value, list | tuple) and value else [value]

    def _whole_value(self, name: str) -> object:
        """A value; of a list whose path ends in `[]` its texts, joined by spaces."""
        value = self.raw(name)
        if self.column(name).endswith("[]") and isinstance(value, list):
            return " ".join(self._text(name, text) for text in value)
        return value

    def optional_text(self, name: str) -> str:
        """A text, or "" where there is none."""
        value = self.raw(name)
        return "" if value is None else self._text(name, value)

    def identifier(self, name: str, *, required: bool = False) -> str:
        """A name without white space around it, at most 200 characters; whole numbers are names too."""
        value = self.raw(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
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

    def documents(self, name: str) -> tuple[str, ...]:
        """The source texts: one, or a list of several."""
        value = self._whole_value(name)
        if value is None:
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
    reason = _value_fault(value, depth=1)
    if not reason and _json_length(value) > MAX_METADATA_CHARACTERS:
        return f"is longer than {MAX_METADATA_CHARACTERS:,} characters."
    return reason


def _value_fault(value: object, *, depth: int) -> str:
    if depth > MAX_METADATA_DEPTH:
        return f"is nested more than {MAX_METADATA_DEPTH} deep."
    if isinstance(value, str):
        return text_fault(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "holds a number that is not finite."
    if isinstance(value, dict):
        parts: Sequence[object] = [*value.keys(), *value.values()]
    elif isinstance(value, list):
        parts = value
    elif value is None or isinstance(value, bool | int | float):
        return ""
    else:
        return f"holds {_shown(value)}, which is not JSON."
    return next((reason for part in parts if (reason := _value_fault(part, depth=depth + 1))), "")


def _json_length(value: object) -> int:
    if isinstance(value, dict):
        return 2 + sum(_json_length(key) + _json_length(part) + 4 for key, part in value.items())
    if isinstance(value, list):
        return 2 + sum(_json_length(part) + 2 for part in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() // 3 + 1
    return len(str(value)) + 2


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
