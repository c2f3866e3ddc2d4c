"""What the columns of a file probably hold, told from their names and first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from string import digits

from annotation.imports.fields import FLAT_FIELDS, FLAT_REQUIRED, LANGUAGE
from annotation.imports.layouts.layout import Layout
from annotation.imports.layouts.paths import opened, pick, root
from annotation.imports.layouts.presets import AUTO, GENERAL, PRESETS, WIDE, Preset, plain
from evaluation.text import has_word_breaks

WORDS_OF_A_TEXT = 4
_BEGINNING = 200
ADDED = "import_"
"""What the columns begin with that a file of rejected rows has besides."""

_ORDER = (
    "document",
    "summary",
    "reference",
    *(name for name in FLAT_FIELDS if name not in {"document", "summary", "reference"}),
)
_TEXTS = ("document", "summary", "reference")
_OBJECTS = frozenset(name for field in _TEXTS for name in GENERAL[field])
_ASIDE = frozenset({
    "title", "headline", "description", "url", "date", "author", "category", "keywords", "question", "instruction",
    "instructions", "comment", "comments", "note", "notes", "reason", "reasoning", "graderreason", "rationale",
    "explanation", "feedback",
})  # fmt: skip
"""What is said beside texts and is never by a system, however long."""

_OF_REFERENCES = ("reference", "gold", "human", "editor", "summary")
"""What the name of a column may hold that has the references, the surest first."""

_WRAPPERS = frozenset({"item", "sample", "fields", "data", "row", "record", "example"})
"""Columns that are none themselves: tools keep a row's own columns in them."""

_SAID = {"document": "the document", "summary": "the summary", "reference": "the reference"}


@dataclass(frozen=True, slots=True)
class Guess:
    """A whole layout: `title` is what it is known as, `is_own` where it is ours.

    `notes` say what it rests on besides names, `objections` what contradicts it: a layout with
    objections is shown, never read.
    """

    layout: Layout
    title: str = ""
    notes: tuple[str, ...] = ()
    objections: tuple[str, ...] = ()
    is_own: bool = False

    @property
    def is_sure(self) -> bool:
        """The layout may be used without being named: it has documents and summaries, and no objections."""
        return self.is_own or (self.has_texts and not self.notes and not self.objections)

    @property
    def has_texts(self) -> bool:
        """The layout has documents and summaries."""
        found = self.layout.mapping
        return "document" in found and ("summary" in found or bool(self.layout.systems))

    def pairs(self) -> list[str]:
        """The layout as people type it: FIELD=COLUMN, where the names differ, and each column of several summaries."""
        named = [f"{name}={column}" for name, column in self.layout.mapping.items() if name != column]
        return [*named, *(f"summary={column}" for column in self.layout.systems)]


def guess(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, object]],
    *,
    preset: str = AUTO,
    given: Mapping[str, str] | None = None,
) -> Guess:
    """The likeliest layout of a file with these columns (paths among them), of which these are the first rows.

    Fields for which nothing fits have no column; those whose column is `given` have that one.
    """
    if preset == AUTO and set(FLAT_REQUIRED) <= set(columns):
        mapping = {name: name for name in FLAT_FIELDS if name in columns}
        return Guess(Layout(mapping=mapping, is_whole=True), is_own=True)
    # Some tables spell an object out, as `inputs.article`: then `inputs` is a column like any other.
    spelled = {root(column): None for column in columns if plain(root(column)) in _OBJECTS}
    columns = [*columns, *(name for name in spelled if name not in columns)]
    there = {plain(column) for column in columns}
    if preset == AUTO:
        preset = next((name for name, one in PRESETS.items() if one.shown_by and one.shown_by <= there), AUTO)
    mapping = {name: column for name, column in (given or {}).items() if name in _ORDER}
    return _Guesser(columns, rows, PRESETS[preset], is_wide=preset == WIDE, mapping=mapping).guess()


@dataclass(slots=True)
class _Guesser:
    columns: Sequence[str]
    rows: Sequence[Mapping[str, object]]
    preset: Preset
    is_wide: bool
    mapping: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def guess(self) -> Guess:
        for name in _ORDER:
            if name not in self.mapping:
                self._assign(name)
        systems = self._systems()
        if systems and "document" not in self.mapping:
            longest = max(systems, key=self._length)
            systems.remove(longest)
            self.mapping["document"] = longest
            self.notes.append(f"`{longest}` is read as the document: its texts are the longest.")
        if len(systems) > 1:
            self.mapping.pop("system", None)
            self.notes.append(f"{_listed(systems)} are read as the summaries of one system each.")
        elif systems:
            self.mapping["summary"] = systems[0]
            self.notes.append(f"`{systems[0]}` is read as the summary: no other column holds texts.")
        else:
            self._assign_likely_reference()
        # One column with a name of its own is the one system of that name.
        system = systems[0] if len(systems) == 1 and "system" not in self.mapping else ""
        if self.mapping.get("summary") == "summary" and self._is_alone():
            self.notes.append(
                "`summary` is read as the summary to evaluate. In XSum it is the reference: change it if it is here."
            )
        layout = Layout(
            mapping=self.mapping,
            systems=tuple(systems) if len(systems) > 1 else (),
            system=system,
            is_whole=True,
        )
        return Guess(layout, self.preset.title, tuple(self.notes), tuple(self._objections(systems)))

    def _objections(self, systems: Sequence[str]) -> Iterator[str]:
        if not self.rows:
            yield "No row of the file can be read."
        document = self.mapping.get("document")
        if document is None:
            return
        length = self._typical_length(document)
        for column in systems or [self.mapping.get("summary", "")]:
            if column and self._typical_length(column) > length:
                yield f"The texts in `{document}` are shorter than those in `{column}`."
        used = {root(column) for column in (*self.mapping.values(), *systems)}
        for column in self._tops():
            if column not in used and self._is_text(column) and self._typical_length(column) > 2 * length:
                yield f"`{column}` is not read and holds much longer texts than `{document}`."
        summary = self.mapping.get("summary")
        if summary and _last(summary) != "summary":
            for column in self.columns:
                is_left = column not in self.mapping.values() and _last(column) == "summary"
                if is_left and self._is_text(column):
                    yield f"`{column}` is not read, and `{summary}` is read as the summary."

    def _typical_length(self, column: str) -> float:
        lengths = [len(str(value)) for row in self.rows if (value := pick(row, column))]
        return median(lengths) if lengths else 0

    def _is_alone(self) -> bool:
        return not {"reference", "system"} & self.mapping.keys() and not self.preset.title

    def _assign(self, name: str) -> None:
        names = self.preset.names.get(name, GENERAL[name])
        fitting = [column for wanted in names for column in self._named(wanted) if self._fits(name, column)]
        if name == "reference" and not fitting and name not in self.preset.names:
            # XSum's name for it, where another column holds the summaries.
            taken = {root(column) for column in self.mapping.values()}
            fitting = [
                column
                for column in self._named("summary")
                if column not in taken and self._fits(name, column)
            ]
        if not fitting:
            return
        chosen = fitting[0]
        # A name that is at home with two fields is no rival: `text` may be left over.
        rivals = [column for column in fitting[1:] if root(column) != root(chosen) and column in self._tops()]
        if name in {"summary", "reference"}:
            rivals = [column for column in rivals if plain(column) not in GENERAL["document"]]
            rivals = [column for column in rivals if name == "reference" or plain(column) != "summary"]
            if rivals:
                others = f"{_listed(rivals)} could be it, too"
                self.notes.append(f"`{chosen}` is read as {_SAID[name]}; {others}.")
        self.mapping[name] = self._text_in(name, chosen) if name in _TEXTS else chosen

    def _assign_likely_reference(self) -> None:
        """Beside the summary under test another text that is named like a summary is the reference, if none is yet."""
        if self.is_wide or "reference" in self.mapping or "summary" not in self.mapping:
            return
        texts = [column for column in self._rest() if not plain(column).endswith(tuple(_ASIDE))]
        likely = [column for word in _OF_REFERENCES for column in texts if word in plain(column)]
        if likely:
            self.mapping["reference"] = likely[0]
            self.notes.append(f"`{likely[0]}` is read as the reference, because of its name.")

    def _tops(self) -> list[str]:
        return [column for column in self.columns if not self._is_inside(column)]

    def _named(self, wanted: str) -> list[str]:
        """Columns of a name, those that stand inside of others last."""
        fitting = [column for column in self._tops() if plain(column) == wanted]
        inside = (column for column in self.columns if self._is_inside(column))
        return fitting + [column for column in inside if _last(column) == wanted]

    def _fits(self, name: str, column: str) -> bool:
        is_inside = self._is_inside(column)
        # What stands inside of another column may say who wrote it, never what it is; unless that one only wraps a row.
        is_wrapped = plain(root(column)) in _WRAPPERS
        if column in self.mapping.values() or (
            is_inside and not is_wrapped and name not in {"system", "language"}
        ):
            return False
        values = [value for row in self.rows if (value := pick(row, column)) is not None and value != ""]
        if name in _TEXTS and values and all(map(_is_tag, values)):
            return False
        match name:
            case "target_words":
                return all(str(value).strip().isdigit() for value in values)
            case "system":
                return all(isinstance(value, str | int) for value in values)
            case "language":
                return all(isinstance(value, str) and LANGUAGE.fullmatch(value.strip()) for value in values)
            case "metadata":
                return all(isinstance(opened(value), dict) for value in values)
            case "document_id":
                return self._is_of_documents(column)
        return True

    def _is_inside(self, column: str) -> bool:
        is_header = any(column in row for row in self.rows)
        return column != root(column) and (not is_header or plain(root(column)) in _OBJECTS)

    def _is_of_documents(self, column: str) -> bool:
        """Whether each document has one id, and each id one document, as far as the rows show."""
        document = self.mapping.get("document")
        if document is None:
            return True
        # A row without a document is a bad one, and says nothing of the others.
        pairs = {(str(pick(row, column)), str(text)) for row in self.rows if (text := pick(row, document))}
        ids, texts = {one for one, _ in pairs}, {text for _, text in pairs}
        if len(pairs) == len(ids) == len(texts):
            return True
        self.notes.append(f"`{column}` does not name the documents: the same document stands under several.")
        return False

    def _text_in(self, name: str, column: str) -> str:
        """The column; where it holds objects, the text inside of them that is likeliest meant."""
        value = next((found for row in self.rows if (found := opened(pick(row, column))) is not None), None)
        inside = [path for path in self.columns if path != column and root(path) == root(column)]
        is_list = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
        if not inside or not (value is None or isinstance(value, dict) or is_list):
            return column
        known = [*GENERAL[name], "sentence", "content", "text"]
        named = [path for wanted in known for path in inside if _last(path) == wanted]
        chosen = named[0] if named else max(inside, key=self._length)
        others = [path for path in inside if path != chosen and self._is_text(path)]
        if others and not named:
            self.notes.append(f"`{chosen}` is read as {_SAID[name]}, the longest text in `{column}`.")
        return chosen

    def _systems(self) -> list[str]:
        """Columns that are no field and hold texts, where none is known to hold the summaries."""
        summary = self.mapping.get("summary")
        if summary and not (
            self.is_wide or (plain(summary) == "summary" and "reference" not in self.mapping)
        ):
            return []
        rest = self._rest()
        if summary and len(rest) > 1 and "system" not in self.mapping:
            self.mapping["reference"] = self.mapping.pop("summary")
            return rest
        return [] if summary else rest

    def _rest(self) -> list[str]:
        """Columns of texts that are no field and are not said beside texts."""
        used = {root(column) for column in self.mapping.values()}
        return [
            column
            for column in self._tops()
            if column not in used
            and self._is_text(column)
            and not column.startswith(ADDED)
            and plain(column).rstrip(digits) not in _ASIDE
        ]

    def _is_text(self, column: str) -> bool:
        values = [value for row in self.rows if isinstance(value := pick(row, column), str) and value.strip()]
        started = [value.strip()[:_BEGINNING] for value in values]
        # In a script without spaces two signs make about a word.
        words = sorted(len(text.split() if has_word_breaks(text) else text[::2]) for text in started)
        return bool(words) and words[len(words) // 2] >= WORDS_OF_A_TEXT

    def _length(self, column: str) -> int:
        return sum(len(value) for row in self.rows if isinstance(value := pick(row, column), str))


def _last(path: str) -> str:
    return plain(path.rpartition(".")[2])


def _listed(names: Sequence[str]) -> str:
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}" if first else last


def _is_tag(value: object) -> bool:
    """Whether a value is a number or a single word that ends no sentence: a label, a score, the name of a corpus."""
    if isinstance(value, bool | int | float):
        return True
    is_word = isinstance(value, str) and has_word_breaks(value) and len(value.split()) == 1
    return is_word and not str(value).rstrip().endswith((".", "!", "?", "…"))
