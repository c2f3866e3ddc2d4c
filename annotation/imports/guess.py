"""Guess the columns of fields from names and the first rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from statistics import median

from annotation.core.text_faults import text_fault
from annotation.imports.containers import NamedFile, Table, open_table
from annotation.imports.layout import (
    ASIDE,
    CRITERIA,
    FLAT_FIELDS,
    FLAT_REQUIRED,
    GENERAL,
    LIKE_REFERENCES,
    PIECES,
    PRESETS,
    Layout,
    indexed,
    last,
    pick,
    plain,
    root,
    text_paths,
)
from annotation.imports.problems import unreadable
from annotation.imports.ratings import is_no_rating, rating_value, ratings_in
from annotation.imports.row import LANGUAGE, opened
from annotation.imports.tools.duc import is_of_duc
from annotation.imports.tools.flatten import laid_flat
from evaluation.text import has_word_breaks

WORDS_OF_A_TEXT = 4
ROWS_LOOKED_AT = 100
MOST_COLUMNS = 200
_BEGINNING = 200
_TEXTS = ("document", "summary", "reference")
_ORDER = (*_TEXTS, *(name for name in FLAT_FIELDS if name not in {*_TEXTS, "rating", "rater"}))
_OBJECTS = frozenset(name for field in _TEXTS for name in GENERAL[field])
_TEXT_NAMES = ("sentence", "content", "text")
_OF_JUDGES = {"DeepEval", "LangSmith", "Langfuse", "Promptfoo"}
"""Tools whose figures come from a judge and not from people."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed layout of a file.

    - `title`: the title of the known layout or tool; it may be empty
    - `guessed`: the columns that were not given, field=column
    - `doubts`: reasons to ask a person
    - `is_own`: True if the required fields have columns of the same names
    """

    layout: Layout
    title: str = ""
    guessed: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    is_own: bool = False


def look_at_files(files: Sequence[NamedFile], encoding: str = "") -> Table | None:
    """Open a file of rows, and read its first records; return None if one of the files is of DUC or TAC.

    Raises ImportRefused without files, for several files of rows, and for files that cannot be read.
    """
    if not files:
        raise unreadable("There is no file to import.")
    if any(map(is_of_duc, files)):
        return None
    if len(files) > 1:
        told = "holds no SEE HTML or DUCView file. Import CSV, JSON, JSONL and Parquet files one at a time."
        raise unreadable(told, file=f"{len(files):,} files")
    table = open_table(files[0].path, name=files[0].name, encoding=encoding)
    table.tool, records = laid_flat(table)
    table.first = tuple(islice(records, ROWS_LOOKED_AT))
    table.records = chain(table.first, records)
    paths = (path for record in table.first for path in text_paths(record.values))
    columns = dict.fromkeys(chain(() if table.tool else table.columns, paths))
    table.columns = tuple(islice(columns, MOST_COLUMNS))
    if fault := text_fault("".join(table.columns)):
        raise unreadable(f"the name of a column {fault}")
    return table


def guess(table: Table, given: Mapping[str, tuple[str, ...]] | None = None) -> Guess:
    """Guess the layout of a file. `given` has the columns of fields that are known already."""
    there = {each for column in table.columns for each in (column, plain(column), plain(root(column)))}
    shown = (one for one in PRESETS.values() if {*one["shown_by"].split()} <= there)
    # A column `system` may hold the system prompt.
    own = {*table.columns} - {"system", "rating"} if {*FLAT_REQUIRED} <= {*table.columns} else set()
    mapping = {name: (name,) for name in FLAT_FIELDS if name in own} | {**(given or {})}
    return _Guesser(table, next(shown, {}), mapping).guess()


@dataclass(slots=True)
class _Guesser:
    table: Table
    preset: Mapping[str, str]
    mapping: dict[str, tuple[str, ...]]
    notes: list[str] = field(default_factory=list)

    def guess(self) -> Guess:
        given = Layout(self.mapping).pairs()
        self._find_numbered("reference")
        self._find_numbered("document")
        self._find_ratings()
        for name in _ORDER:
            if name not in self.mapping:
                self._assign(name)
        is_judged = self.table.is_judged or "rating" in self.mapping
        texts = [each for each in self._texts() if not any(word in plain(each) for word in LIKE_REFERENCES)]
        # Without a document or reference, any text could be the document; with a system, only one is the summary.
        is_compared = is_judged or bool({"document", "reference"} & self.mapping.keys())
        is_clear = len(texts) == 1 or (texts and "system" not in self.mapping)
        if is_clear and is_compared and "summary" not in self.mapping:
            self.mapping["summary"] = tuple(texts)
            self.notes.append("The other columns of texts are taken as summaries, one system each.")
        if len(self.mapping.get("summary", ())) > 1:
            self.mapping.pop("system", None)
        is_alone = self.mapping.get("summary") == ("summary",) and self._is_alone()
        if is_alone and not (is_judged or self.preset.get("title")):
            self.notes.append("`summary` is taken as the summary to evaluate. In XSum it is the reference.")
        layout = Layout(self.mapping, is_whole=True)
        guessed = tuple(pair for pair in layout.pairs() if pair not in given)
        is_own = all(self.mapping.get(name) == (name,) for name in FLAT_REQUIRED)
        # Nothing is doubtful about a column with the name of its field.
        doubts = () if is_own else (*(self.notes if guessed else ()), *self._objections())
        return Guess(layout, self.preset.get("title") or self.table.tool, guessed, doubts, is_own)

    def _values(self, column: str) -> list[object]:
        found = (pick(record.values, column) for record in self.table.first)
        return [value for value in found if value is not None and value != ""]

    def _is_alone(self) -> bool:
        is_named = {"reference", "system"} & self.mapping.keys()
        return plain(self.mapping["summary"][0]) == "summary" and not is_named

    def _find_ratings(self) -> None:
        ratings = tuple(each for each in self._unused() if each == "rating" or self._holds_ratings(each))
        is_of_judge = {self.preset.get("title"), self.table.tool} & _OF_JUDGES
        if ratings and "rating" not in self.mapping and not is_of_judge:
            self.mapping["rating"] = ratings
        if "rating" in self.mapping and "rater" not in self.mapping:
            self._assign("rater")

    def _holds_ratings(self, column: str) -> bool:
        """Values up to 1 of which one has a decimal point, such as 1.0, come from a metric."""
        cells = (record.values.get(column) for record in self.table.first)
        given = [each for cell in cells for each in ratings_in(column, cell, "") if not is_no_rating(each[2])]
        numbers = [rating_value(value) for *_, value in given]
        if not numbers or not all(plain(criterion) in CRITERIA for criterion, *_ in given):
            return False
        has_points = any("." in str(value).replace(",", ".") for *_, value in given)
        is_of_metric = has_points and max(filter(None, numbers), default=0) <= 1
        return not is_of_metric and all(number is not None and number.is_integer() for number in numbers)

    def _find_numbered(self, name: str) -> None:
        named = ((indexed(column), column) for column in self.table.columns)
        names = {*GENERAL[name]} - {"summary"}
        found = sorted(
            (int(parts[1]), column)
            for parts, column in named
            if parts and plain(parts[0]) in names and (name == "document" or self._is_text(column))
        )
        if len(found) > 1 and name not in self.mapping:
            self.mapping[name] = tuple(column for _, column in found)

    def _objections(self) -> Iterator[str]:
        documents, summaries = self.mapping.get("document", ()), self.mapping.get("summary", ())
        least = min(summaries, key=self._typical_length, default="")
        shown = (*documents, least)[0]
        # Without a document column, a text much longer than the shortest summary may be the document.
        length = sum(map(self._typical_length, documents)) or self._typical_length(least)
        for column in summaries:
            if self._typical_length(column) > length * (1 if documents else 2):
                yield f"The texts in `{shown}` are shorter than those in `{column}`."
        read, free, unused = {*chain(*self.mapping.values())}, self._texts(), self._unused()
        known = {*GENERAL["summary"], *GENERAL["reference"]}
        for column in filter(self._is_text, self.table.columns) if summaries else ():
            is_hidden = last(column) == "summary" and column not in read
            is_other = plain(root(column)) in known and root(column) not in {*map(root, read)}
            is_like = self._is_alone() or any(word in plain(column) for word in (*LIKE_REFERENCES, "summar"))
            if is_hidden or is_other or (is_like and column in free):
                yield f"`{column}` is not read, and it may hold the summaries or references."
            elif column in unused and self._typical_length(column) > 2 * length:
                yield f"`{column}` is not read and holds much longer texts than `{shown}`."

    def _typical_length(self, column: str) -> float:
        return median([len(str(value)) for value in self._values(column)] or [0])

    def _assign(self, name: str) -> None:
        fitting = (column for column in self._named(name) if self._fits(name, column))
        chosen = next(fitting, "")
        if column := self._text_in(name, chosen) if chosen and name in _TEXTS else chosen:
            self.mapping[name] = (column,)

    def _tops(self) -> Iterable[str]:
        return dict.fromkeys(root(each) if self._is_inside(each) else each for each in self.table.columns)

    def _unused(self) -> list[str]:
        used = {root(column) for columns in self.mapping.values() for column in columns}
        return [column for column in self._tops() if root(column) not in used]

    def _texts(self) -> list[str]:
        named = ((plain(column).rstrip("0123456789"), column) for column in self._unused())
        return [column for name, column in named if not name.endswith(ASIDE) and self._is_text(column)]

    def _named(self, name: str) -> list[str]:
        there = [(plain(column), column) for column in self._tops()]
        # Only a system or a language may lie inside a column.
        if name in {"system", "language"}:
            there += [(name_of(column), column) for name_of in (plain, last) for column in self.table.columns]
        names = self.preset[name].split() if name in self.preset else GENERAL[name]
        return [column for wanted in (*names, plain(name)) for own, column in there if own == wanted]

    def _fits(self, name: str, column: str) -> bool:
        if any(column in columns for columns in self.mapping.values()):
            return False
        values = self._values(column)
        if name in _TEXTS:
            return not values or not all(map(_is_tag, map(str, values)))
        if name == "document_id":
            return self._is_of_documents(column) or column == name
        if name == "language":
            return column == name or all(LANGUAGE.fullmatch(str(value).strip()) for value in values)
        return name != "system" or all(map(_is_name, values))

    def _is_inside(self, column: str) -> bool:
        is_header = any(column in record.values for record in self.table.first)
        return column != root(column) and (not is_header or plain(root(column)) in _OBJECTS)

    def _is_of_documents(self, column: str) -> bool:
        """Adds a note if it returns False."""
        [document] = (*self.mapping.get("document", ()), *self.mapping.get("reference", ()), "")[:1]
        rows = [record.values for record in self.table.first] if document else []
        # Ignore rows without this text.
        pairs = {(str(pick(row, column)), str(text)) for row in rows if (text := pick(row, document))}
        if len(pairs) == len({one for one, _ in pairs}) == len({text for _, text in pairs}):
            return True
        self.notes.append(f"`{column}` does not name the documents: the same text stands under several.")
        return False

    def _text_in(self, name: str, column: str) -> str:
        """Return the column or a path into it; "" if several texts in it may be the field."""
        inside = [path for path in self.table.columns if path != column and root(path) == column]
        if not inside or isinstance(next(map(opened, self._values(column)), None), str):
            return column
        if inside == [f"{column}[]"]:
            return inside[0] if name != "reference" and plain(column).endswith(PIECES) else column
        is_list = any("[]" in path for path in inside)
        if name == "summary" and is_list and any(last(path) in GENERAL["system"] for path in inside):
            return ""
        known = [[path for path in inside if last(path) == own] for own in (*GENERAL[name], *_TEXT_NAMES)]
        likely = next(filter(None, known), inside)
        if len(likely) == 1:
            return likely[0]
        return column if column in {"document", "reference", "references"} else ""

    def _is_text(self, column: str) -> bool:
        texts = [value.strip()[:_BEGINNING] for value in self._values(column) if isinstance(value, str)]
        # Count a word per two characters in scripts without spaces.
        words = sorted(len(text.split() if has_word_breaks(text) else text[::2]) for text in texts if text)
        return bool(words) and words[len(words) // 2] >= WORDS_OF_A_TEXT


def _is_name(value: object) -> bool:
    is_prompt = isinstance(value, str) and len(value.split()) > 5 and value.rstrip()[-1:] in ".:!?}"
    return isinstance(value, str | int) and not is_prompt


def _is_tag(value: str) -> bool:
    return has_word_breaks(value) and len(value.split()) == 1 and value.rstrip()[-1] not in ".!?…"
