"""Guess the columns of fields from names and the first rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from statistics import median
from typing import Any

from annotation.imports.containers import NamedFile, Table, open_table
from annotation.imports.layout import (
    ASIDE,
    AUTO,
    CRITERIA,
    FLAT_FIELDS,
    FLAT_REQUIRED,
    GENERAL,
    PRESETS,
    WIDE,
    Layout,
    Preset,
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
from annotation.imports.tools.duc import format_of
from annotation.imports.tools.flatten import laid_flat
from evaluation.text import has_word_breaks

WORDS_OF_A_TEXT = 4
ROWS_LOOKED_AT = 100
MOST_COLUMNS = 200
_BEGINNING = 200
_TEXTS = ("document", "summary", "reference")
_ORDER = (*_TEXTS, *(name for name in FLAT_FIELDS if name not in {*_TEXTS, "rating", "rater"}))
_OBJECTS = frozenset(name for field in _TEXTS for name in GENERAL[field])
_SURELY_REFERENCES = ("referen", "référen", "gold", "editor")
_OF_REFERENCES = (*_SURELY_REFERENCES, "human", "summary")
"""Words in the names of references, the surest first."""
_WRAPPERS = frozenset({"item", "sample", "fields", "data", "row", "record", "example"})
"""Columns in which tools nest the columns of a row."""
_TEXT_NAMES = ("sentence", "content", "text")
_PIECES = ("text", "sentences", "sents", "lines", "turns", "utterances", "paragraphs")
"""Ends of names of columns whose list is a single text."""
_OF_JUDGES = {"DeepEval", "LangSmith", "Langfuse", "Promptfoo"}
"""Tools whose figures come from a judge and not from people."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A guessed layout of a file.

    - `title`: the title of the known layout or tool; it may be empty
    - `notes`: choices that a person should check
    - `objections`: reasons not to use the layout
    - `is_own`: True if the required fields have columns of the same names
    - `has_texts`: True if it has summaries, and documents, references or people's answers
    """

    layout: Layout
    title: str = ""
    notes: tuple[str, ...] = ()
    objections: tuple[str, ...] = ()
    is_own: bool = False
    has_texts: bool = True

    @property
    def is_sure(self) -> bool:
        """True if the layout can be used without asking a person."""
        return self.is_own or (self.has_texts and not self.notes and not self.objections)


def look_at(file: NamedFile, encoding: str = "") -> Table:
    """Open a file of rows, and read its first records. Raises ImportRefused for a file that cannot be read."""
    table = open_table(file.path, name=file.name, encoding=encoding)
    table.tool, records = laid_flat(table)
    table.first = tuple(islice(records, ROWS_LOOKED_AT))
    table.records = chain(table.first, records)
    columns = dict.fromkeys(() if table.tool else table.columns)
    for record in table.first:
        columns.update(dict.fromkeys(text_paths(record.values)))
    table.columns = tuple(islice(columns, MOST_COLUMNS))
    return table


def look_at_files(files: Sequence[NamedFile], encoding: str = "") -> Table | None:
    """Open a file of rows; return None if one of the files is of DUC or TAC.

    Raises ImportRefused without files, for several files of rows, and for files that cannot be read.
    """
    if not files:
        raise unreadable("There is no file to import.")
    if any(map(format_of, files)):
        return None
    if len(files) > 1:
        told = (
            "holds no SEE HTML or DUCView file. CSV, JSONL and Parquet files are imported one at a time, by"
        )
        raise unreadable(f"{told} themselves.", file=f"{len(files):,} files")
    return look_at(files[0], encoding)


def guess(table: Table, *, preset: str = AUTO, given: Mapping[str, tuple[str, ...]] | None = None) -> Guess:
    """Guess the layout of a file. `given` has the columns of fields that are known already."""
    mapping = {name: columns for name, columns in (given or {}).items() if name in FLAT_FIELDS}
    is_own = preset == AUTO and {*FLAT_REQUIRED} <= {*table.columns}
    # A table may name a path, such as `inputs.article`; then `inputs` may count as a column, too.
    spelled = [root(column) for column in table.columns if plain(root(column)) in _OBJECTS and not is_own]
    columns = tuple(dict.fromkeys((*table.columns, *spelled)))
    there = {plain(column) for column in columns}
    if preset == AUTO and not is_own:
        shown = (name for name, one in PRESETS.items() if one.shown_by and one.shown_by <= there)
        preset = next(shown, AUTO)
    guesser = _Guesser(table, columns, PRESETS[preset], mapping, table.is_judged)
    return guesser.own() if is_own else guesser.guess()


@dataclass(slots=True)
class _Guesser:
    table: Table
    columns: Sequence[str]
    preset: Preset
    mapping: dict[str, tuple[str, ...]]
    is_judged: bool
    notes: list[str] = field(default_factory=list)

    def own(self) -> Guess:
        own = {name: (name,) for name in FLAT_FIELDS if name in self.columns and name != "rating"}
        self.mapping = own | self.mapping
        # Some tools write the system prompt into a column `system`, which then names no systems.
        if self.mapping["system"] == ("system",) and not self._names_systems("system"):
            del self.mapping["system"]
            self._assign("system")
            self.mapping.setdefault("system", ("system",))
        if "references" in self.columns:
            self.mapping.setdefault("reference", ("references",))
        self._find_numbered("reference")
        self._find_ratings()
        if "rating" in self.columns and "rating" not in self.mapping.get("rating", ()):
            self.mapping["rating"] = (*self.mapping.get("rating", ()), "rating")
        return Guess(Layout(self.mapping, is_whole=True), is_own=True)

    def guess(self) -> Guess:
        self._find_numbered("reference")
        self._find_numbered("document")
        self._find_ratings()
        for name in _ORDER:
            if name not in self.mapping:
                self._assign(name)
        # Without a document or reference, any text could be the document.
        is_compared = self.is_judged or bool({"document", "reference"} & self.mapping.keys())
        systems = self._systems() if is_compared else []
        if "reference" not in self.mapping and (references := self._likely_references(systems)):
            self.mapping["reference"] = tuple(references)
            self.notes += [f"`{each}` is read as the reference, because of its name." for each in references]
            systems = [column for column in systems if column not in references]
        if systems:
            self.mapping["summary"] = tuple(systems)
            told = f"`{systems[0]}` is read as the summary: no other column holds texts."
            if len(systems) > 1:
                self.mapping.pop("system", None)
                told = f"{_listed(systems)} are read as the summaries of one system each."
            self.notes.append(told)
        # If a single column is read as the summary and no column names systems, the column's name names the system.
        system = systems[0] if len(systems) == 1 and "system" not in self.mapping else ""
        is_alone = not ({"reference", "system"} & self.mapping.keys() or self.is_judged or self.preset.title)
        if self.mapping.get("summary") == ("summary",) and is_alone:
            told = "`summary` is read as the summary to evaluate. In XSum it is the reference: change it if it is here."
            self.notes.append(told)
        return Guess(
            Layout(self.mapping, system=system, is_whole=True),
            self.preset.title or self.table.tool,
            tuple(self.notes),
            tuple(self._objections()),
            has_texts="summary" in self.mapping
            and (self.is_judged or bool({"document", "reference"} & self.mapping.keys())),
        )

    def _one(self, name: str) -> str:
        return next(iter(self.mapping.get(name, ())), "")

    def _used(self) -> set[str]:
        return {root(column) for columns in self.mapping.values() for column in columns}

    def _values(self, column: str) -> list[object]:
        found = (pick(record.values, column) for record in self.table.first)
        return [value for value in found if value is not None and value != ""]

    def _find_ratings(self) -> None:
        if {self.preset.title, self.table.tool} & _OF_JUDGES or "rating" in self.mapping:
            return
        used = self._used()
        ratings = tuple(each for each in self._tops() if each not in used and self._holds_ratings(each))
        if ratings:
            self.is_judged = True
            self.mapping["rating"] = ratings
            if "rater" not in self.mapping:
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
        named = [(indexed(column), column) for column in self.columns]
        found = sorted(
            (int(parts[1]), column)
            for parts, column in named
            if parts and plain(parts[0]) in GENERAL[name] and (name == "document" or self._is_text(column))
        )
        if len(found) > 1 and name not in self.mapping:
            self.mapping[name] = tuple(column for _, column in found)

    def _objections(self) -> Iterator[str]:
        if not self.table.first:
            yield "No row of the file can be read."
        summaries, summary = self.mapping.get("summary", ()), self._one("summary")
        document = self._one("document") or min(summaries, key=self._typical_length, default="")
        if not document or len(self.mapping.get("document", ())) > 1:
            return
        # Without a document column, a text much longer than the shortest summary may be the document.
        most = self._typical_length(document) * (1 if "document" in self.mapping else 2)
        for column in summaries:
            if self._typical_length(column) > most:
                yield f"The texts in `{document}` are shorter than those in `{column}`."
        for column in (each for each in self._tops() if each not in self._used()):
            if self._is_text(column) and self._typical_length(column) > 2 * self._typical_length(document):
                yield f"`{column}` is not read and holds much longer texts than `{document}`."
        mapped = {*chain(*self.mapping.values())}
        for column in self.columns if summary and last(summary) != "summary" else ():
            if column not in mapped and last(column) == "summary" and self._is_text(column):
                yield f"`{column}` is not read, and `{summary}` is read as the summary."

    def _typical_length(self, column: str) -> float:
        return median([len(str(value)) for value in self._values(column)] or [0])

    def _assign(self, name: str) -> None:
        names = self.preset.names.get(name, GENERAL[name])
        fitting = [column for wanted in names for column in self._named(wanted) if self._fits(name, column)]
        if name == "reference" and not fitting and name not in self.preset.names:
            # In XSum, `summary` is the reference: use it if no other column fits and it is not taken yet.
            named = (each for each in self._named("summary") if each not in self._used())
            fitting = [each for each in named if self._fits(name, each)]
        chosen = next(iter(fitting), "")
        if column := self._text_in(name, chosen) if chosen and name in _TEXTS else chosen:
            self.mapping[name] = (column,)
        # Add a note on other columns that may be the field.
        rivals = [column for column in fitting[1:] if root(column) != root(chosen) and column in self._tops()]
        rivals = [each for each in rivals if plain(each) not in GENERAL["document"]]
        rivals = [each for each in rivals if name == "reference" or plain(each) != "summary"]
        if rivals and name in {"summary", "reference"}:
            self.notes.append(f"`{chosen}` is read as the {name}; {_listed(rivals)} could be it, too.")

    def _likely_references(self, systems: Sequence[str]) -> list[str]:
        if self.preset is PRESETS[WIDE] or not (systems or "summary" in self.mapping):
            return []
        texts = systems or [each for each in self._rest() if not plain(each).endswith(tuple(ASIDE))]
        words = _SURELY_REFERENCES if systems else _OF_REFERENCES
        likely = [column for word in words for column in texts if word in plain(column)]
        return list(dict.fromkeys(likely)) if systems else likely[:1]

    def _tops(self) -> list[str]:
        return [column for column in self.columns if not self._is_inside(column)]

    def _named(self, wanted: str) -> list[str]:
        fitting = [column for column in self._tops() if _known_as(column) == wanted]
        inside = (column for column in self.columns if self._is_inside(column))
        return fitting + [column for column in inside if last(column) == wanted]

    def _fits(self, name: str, column: str) -> bool:
        # Without a wrapper, only a system or a language may lie inside a column.
        is_wrapped = plain(root(column)) in _WRAPPERS
        is_hidden = self._is_inside(column) and not is_wrapped and name not in {"system", "language"}
        if is_hidden or any(column in columns for columns in self.mapping.values()):
            return False
        values = self._values(column)
        if name in _TEXTS:
            return not (values and all(map(_is_tag, values)))
        if name == "document_id":
            return self._is_of_documents(column)
        if name == "system":
            return self._names_systems(column)
        return name not in _FITTING or all(map(_FITTING[name], values))

    def _names_systems(self, column: str) -> bool:
        values = self._values(column)
        texts = [value for value in values if isinstance(value, str)]
        are_prompts = all(len(text.split()) > 5 and text.rstrip()[-1:] in ".:!?}" for text in texts)
        return all(isinstance(value, str | int) for value in values) and not (texts and are_prompts)

    def _is_inside(self, column: str) -> bool:
        is_header = any(column in record.values for record in self.table.first)
        if is_header and column.endswith("[]"):
            return False
        return column != root(column) and (not is_header or plain(root(column)) in _OBJECTS)

    def _is_of_documents(self, column: str) -> bool:
        """Adds a note if it returns False."""
        document = self._one("document") or self._one("reference")
        rows = [record.values for record in self.table.first] if document else []
        # Ignore rows without this text.
        pairs = {(str(pick(row, column)), str(text)) for row in rows if (text := pick(row, document))}
        if len(pairs) == len({one for one, _ in pairs}) == len({text for _, text in pairs}):
            return True
        self.notes.append(f"`{column}` does not name the documents: the same text stands under several.")
        return False

    def _text_in(self, name: str, column: str) -> str:
        """Return the column or a path into it; "" if several texts in it may be the summary."""
        value = next(iter(map(opened, self._values(column))), None)
        if name != "reference" and isinstance(value, list) and f"{column}[]" in self.columns:
            return f"{column}[]" if plain(column).endswith(_PIECES) else column
        inside = [path for path in self.columns if path != column and root(path) == root(column)]
        is_list = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
        if not inside or not (value is None or isinstance(value, dict) or is_list):
            return column
        if name == "summary" and is_list and any(last(path) in GENERAL["system"] for path in inside):
            return ""
        known = [*GENERAL[name], *_TEXT_NAMES]
        named = [path for wanted in known for path in inside if last(path) == wanted]
        chosen = named[0] if named else max(inside, key=self._typical_length)
        alike = [path for path in inside if path != chosen and (not named or last(path) == last(chosen))]
        if any(map(self._is_text, alike)):
            # An object of texts by system has no single summary; people name a path for each.
            if name == "summary":
                return ""
            self.notes.append(f"`{chosen}` is read as the {name}, the longest text in `{column}`.")
        return chosen

    def _systems(self) -> list[str]:
        """May move the column `summary` to the reference."""
        summary, rest = self._one("summary"), self._rest()
        is_alone = not {"reference", "system"} & self.mapping.keys()
        if plain(summary) == "summary" and is_alone and len(rest) > 1:
            self.mapping["reference"] = self.mapping.pop("summary")
            return rest
        return [] if summary else rest

    def _rest(self) -> list[str]:
        tops = (column for column in self._tops() if column not in self._used() and not _is_aside(column))
        return [column for column in tops if self._is_text(column)]

    def _is_text(self, column: str) -> bool:
        values = [value.strip() for value in self._values(column) if isinstance(value, str) and value.strip()]
        started = [value[:_BEGINNING] for value in values]
        # Count a word per two characters in scripts without spaces.
        words = sorted(len(text.split() if has_word_breaks(text) else text[::2]) for text in started)
        return bool(words) and words[len(words) // 2] >= WORDS_OF_A_TEXT


_FITTING: Mapping[str, Callable[[Any], object]] = {
    "target_words": lambda value: str(value).strip().isdigit(),
    "rater": lambda value: isinstance(value, str | int),
    "language": lambda value: isinstance(value, str) and LANGUAGE.fullmatch(value.strip()),
    "metadata": lambda value: isinstance(opened(value), dict),
}
"""By field, whether a value fits it."""


def _known_as(column: str) -> str:
    return last(column) if column != root(column) and plain(root(column)) in _WRAPPERS else plain(column)


def _is_aside(column: str) -> bool:
    name = plain(column).rstrip("0123456789")
    return name in ASIDE or name.endswith(("rating", "score"))


def _listed(names: Sequence[str]) -> str:
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def _is_tag(value: object) -> bool:
    if isinstance(value, bool | int | float):
        return True
    is_word = isinstance(value, str) and has_word_breaks(value) and len(value.split()) == 1
    return is_word and not str(value).rstrip().endswith((".", "!", "?", "…"))
