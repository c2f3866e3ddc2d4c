"""Read files and pushed rows into typed rows, and note every problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotation.core.text_faults import printable
from annotation.imports.containers import Format, NamedFile, Record
from annotation.imports.guess import Guess, Look, look_at
from annotation.imports.layout import (
    AUTO,
    DEFAULT_SYSTEM,
    FLAT_FIELDS,
    FLAT_REQUIRED,
    GENERAL,
    NESTED_OPTIONAL,
    Layout,
    document_hash,
    indexed,
    pick,
    plain,
    root,
)
from annotation.imports.problems import Findings, unreadable
from annotation.imports.ratings import Given, rated_summary, rating_value, ratings_in, read_ratings
from annotation.imports.row import (
    PERCENTS,
    Claim,
    Dataset,
    Mark,
    Row,
    Summary,
    faults,
    judged_sentence,
    opened,
)
from annotation.imports.tools.duc import are_duc_files, read_duc_files
from annotation.imports.tools.flatten import ASKS_MARKS, KEPT, NO_VOTE

NAMES_TOLD = 5
ROWS_BETWEEN_STEPS = 500
LONGEST_LIKELY = 40
"""Characters of a name that may be a system's."""
_NESTED = {
    "document_id": "doc_id",
    "document": "source_text",
    "reference": "reference_text",
    "summary": "summary_text",
}
"""The other names of fields in nested lines."""
_KNOWN = {
    "": ("document_id", "document", "reference", "systems", "claims", *NESTED_OPTIONAL),
    "systems": ("system", "summary", "ratings", "claims"),
    "claims": ("claim_text", "weight", "unit", "reference_id", "verdicts", "raw_votes", "reasons"),
}
"""The fields that are read of a line, a system and a claim."""
_OF_SEVERAL = {"document", "documents", "articles", "contexts", "retrievedcontexts"}
"""Names of columns whose list is several documents."""
_NEVER_READ = {
    "percents": f"{PERCENTS}; they are not imported.",
    "judge_verdicts": "A judge's verdicts are not imported: let a judge run here.",
}
_OF_ALL = {"document_id", "system", "rater", "rating"}
"""Fields that are read only if the first rows have them."""


@dataclass(slots=True)
class Progress:
    """Numbers of rows read, of document sets written, and of document sets in all (0 until all rows are read).

    `step` is called every few hundred rows and sets; if it raises an exception, the import ends. `hold` is called at
    the end of the transaction; if it raises an exception, the import is rolled back.
    """

    rows_read: int = 0
    sets_written: int = 0
    sets: int = 0

    def step(self) -> None:
        """Do nothing; subclasses report the progress."""

    def hold(self) -> None:
        """Do nothing; subclasses may stop the import."""


@dataclass(slots=True)
class FileReading:
    """The contents and the problems of a file; rows with problems are not in the data set.

    `lacks_target` is True if neither the rows nor the layout have a target length.
    """

    format: Format
    dataset: Dataset = field(default_factory=Dataset)
    problems: Findings = field(default_factory=Findings)
    warnings: Findings = field(default_factory=Findings)
    lacks_target: bool = False


def read_files(
    files: Sequence[NamedFile], *, layout: Layout | None = None, progress: Progress | None = None
) -> FileReading:
    """Read one file of rows, or any number of SEE HTML and DUCView files.

    Raises the errors of `read_dataset`, and ImportRefused if there is no file, if no file has a known format, or if a
    layout of rows is given for SEE HTML or DUCView files.
    """
    if not files:
        raise unreadable("There is no file to import.")
    if not are_duc_files(files):
        return read_dataset(files[0].path, name=files[0].name, layout=layout, progress=progress)
    problems, warnings = Findings(), Findings()
    form, dataset = read_duc_files(files, problems, warnings)
    if layout and layout.is_of_rows:
        told = "Columns, a preset, a system and a target length apply to files of rows (CSV, JSON, JSONL, Parquet)."
        raise unreadable(
            f"{told} Leave them out: SEE HTML and DUCView files contain them.", file=files[0].name
        )
    return FileReading(form, dataset, problems, warnings)


def read_dataset(
    path: Path, *, name: str | None = None, layout: Layout | None = None, progress: Progress | None = None
) -> FileReading:
    """Read a file of rows; check every row and compare it with earlier rows.

    `name` is the original name if `path` is a temporary file. Raises ImportRefused if the file cannot be read at all:
    it is empty, has another format, lacks a column, or has broken quoting.
    """
    file, layout = NamedFile(name or path.name, path), layout or Layout()
    look = look_at(file, layout.encoding)
    reading = FileReading(look.format, problems=look.table.problems)
    return _FileReader(file.name, layout, look, progress or Progress(), reading).read()


@dataclass(slots=True)
class RowReader:
    """Turns records into typed rows, and reports problems with the names that the file uses.

    `columns` has the columns of each field of flat rows. `given` has the values of fields without a column, and
    `target` is the target length of rows that have none. Pushed rows may lack a document, and may have a reference
    without a summary. `unread` collects the names of fields that are not read.
    """

    problems: Findings
    warnings: Findings
    columns: Mapping[str, tuple[str, ...]]
    given: Mapping[str, object] = field(default_factory=dict)
    target: int | None = None
    is_pushed: bool = False
    is_nested: bool = False
    unread: dict[str, None] = field(default_factory=dict)

    def rows(self, record: Record) -> Iterator[Row]:
        """Yield the valid rows of a record.

        A flat record with several columns of summaries has one row for each.
        """
        for column in self.columns.get("summary") or (None,):
            before = self.problems.count
            row = self._nested(record) if self.is_nested else self._flat(record, column)
            if row is None or self.problems.count > before:
                continue
            for remark in filter(None, (summary.remark(row.document_id) for summary in row.systems)):
                self.warnings.remark(remark, line=row.line)
            yield row

    def _flat(self, record: Record, column: str | None) -> Row | None:
        found = {name: value for name in FLAT_FIELDS if (value := self._value(record, name)) is not ...}
        made = {} if "document_id" in self.columns else {"document_id": "made of the texts below"}
        values: dict[str, Any] = {**found, **self.given, **made}
        summary = {name: values.pop(name) for name in ("system", "summary") if name in values}
        if column and (text := self._value(record, "summary", column)) is not ...:
            summary["summary"] = text
        if column and len(self.columns["summary"]) > 1:
            summary["system"] = self._system(record, column)
            if summary.get("summary") is None:
                self.warnings.remark(f"There is no summary by {summary['system']!r}.", line=record.line)
                return None
        is_bare = self.is_pushed and summary.get("system") is None and summary.get("summary") is None
        values["systems"] = [] if is_bare else [summary]
        if self.is_pushed and values.get("document") is None:
            values.pop("document", None)
        row = self._checked(record, values)
        if row is None:
            return None
        if not (row.documents or row.references or self.is_pushed) and "document" in self.columns:
            self._note(record, ("document",), "")
        if not row.references and (row.reference_author or row.reference_ids[0]):
            told = "is empty although the row names a reference. Repeat the reference's text in each of its rows."
            self._note(record, ("reference",), told)
        elif is_bare and not row.references:
            told = "is empty. A row holds a system with its summary, a reference, or both."
            self._note(record, ("reference",), told)
        if "document_id" not in self.columns:
            texts = row.documents or [one.text for one in row.references] or [row.systems[0].summary]
            row.document_id = document_hash(texts)
        row.target = row.target or self.target
        row.names_reference = bool(row.reference_ids[0]) and len(row.references) == 1 == len(row.texts)
        for one in row.systems:
            self._take_answers(record, one, row.rater, column)
        return row

    def _system(self, record: Record, column: str) -> str:
        """The name of the system of a column of summaries; of a path, its part inside the column if that is unique."""
        columns = self.columns["summary"]
        names = [one if one in record.values else one.removeprefix(f"{root(one)}.") for one in columns]
        ends = {name.rpartition(".")[2] for name in names}
        if len(ends) == 1 and all("." in name and name not in record.values for name in names):
            names = [name.rpartition(".")[0] for name in names]
        return names[columns.index(column)] if len({*names}) == len(names) else column

    def _value(self, record: Record, name: str, column: str | None = None) -> Any:
        """The value of a field.

        The values of several columns are a list, but pieces of one text are joined into a text. It is `...` if the
        field has no column, or if the record lacks the column.
        """
        columns = (column,) if column else self.columns.get(name, ())
        if not columns or name == "rating" or (name == "summary" and not column):
            return ...
        found = [pick(record.values, each) for each in columns]
        if len(columns) > 1:
            if name != "document":
                return found
            found = [each for each in found if each not in (None, "")]
            return found if _are_several(columns) else _joined(found)
        [column], [value] = columns, found
        if value is None and not {root(column), column} & record.values.keys():
            return ...
        is_json = isinstance(value, dict) or (isinstance(value, str) and value.lstrip().startswith("{"))
        if name == "metadata" and value and column != name and not is_json:
            return {column: value}
        is_sentences = name == "summary" and "[]" in column
        # If summaries are lists of sentences, so is the document.
        is_sentences |= name == "document" and any("[]" in each for each in self.columns.get("summary", ()))
        is_sentences &= plain(root(column)) not in _OF_SEVERAL
        return _joined(value) if column.endswith("[]") or is_sentences else value

    def _take_answers(self, record: Record, summary: Summary, rater: str, column: str | None) -> None:
        given: list[Given] = []
        for name, who, value in record.said.ratings:
            criterion, one = self._rated(record, name, value, column)
            given.append((criterion, who, one))
        for name in self.columns.get("rating", ()):
            given += ratings_in(*self._rated(record, name, pick(record.values, name), column), rater)
        summary.given, left = read_ratings(given)
        summary.marks = list(self._marks(record, summary.summary))
        for sentence, votes, reason in record.said.claims:
            try:
                summary.claims.append(judged_sentence(summary.system, sentence, votes, reason))
            except ValidationError as error:
                self._note(record, ("",), "; ".join(told for _, told in faults(error)))
        for remark in dict.fromkeys((*left, *record.said.remarks)):
            self.warnings.remark(remark, line=record.line)

    def _rated(self, record: Record, name: str, value: object, column: str | None) -> tuple[str, object]:
        """The criterion and the value of a rating for one summary of a row; the value is None if it rates another.

        Raises ImportRefused if the row has several summaries and the rating names none of them.
        """
        columns = self.columns.get("summary", ())
        if column is None or len(columns) < 2:
            return name, value
        systems = [self._system(record, each) for each in columns]
        if isinstance(held := opened(value), dict) and not held.keys().isdisjoint(systems):
            return name, held.get(systems[columns.index(column)])
        criterion, of = rated_summary(name, columns)
        of = about if (about := record.said.about.get(name)) in columns else of
        if not of and any(rating_value(each) is not None for *_, each in ratings_in(name, value, "")):
            told = f"is a rating and names none of the row's {len(columns)} summaries. Write one row per summary, with"
            told = f"{told} columns `system` and `summary`, or name the summary: {name}_{column}."
            raise unreadable(told, line=record.line, column=name)
        return criterion, value if of in ("", column) else None

    def _marks(self, record: Record, summary: str) -> Iterator[Mark]:
        """Yield marks in the summary, at their true offsets; for marks in other texts add a remark."""
        for mark in record.said.marks:
            words = mark.words or (mark.text or summary)[mark.start : mark.end]
            places = [] if mark.text not in ("", summary) else _places(words, summary)
            if not mark.reason:
                yield mark
            elif places:
                start, end = min(places, key=lambda place: abs(place[0] - mark.start))
                yield mark._replace(start=start, end=end, words=words)
            else:
                named = f"“{printable(words)}”" if words else f"from {mark.start} to {mark.end}"
                told = f"The mark {named} is left out, because the summary does not contain it. {NO_VOTE}"
                self.warnings.remark(told, line=record.line)
                yield Mark(mark.rater, is_left_out=True)

    def _nested(self, record: Record) -> Row | None:
        row = self._checked(record, self._known(record.values))
        if row is None:
            return None
        for place, reason in _nested_faults(row):
            self._note(record, place, reason)
        for summary in row.systems:
            summary.given, left = read_ratings(ratings_in("rating", summary.given, ""))
            for remark in left:
                self.warnings.remark(remark, line=record.line)
        return row

    def _known(self, values: Mapping[str, Any], level: str = "", path: str = "") -> dict[str, Any]:
        """Return the fields of a nested line, a system or a claim that are read, by their own names."""
        own = {_NESTED.get(name, name): name for name in _KNOWN[level]}
        self.unread.update(dict.fromkeys(f"{path}{name}" for name in values if name not in own))
        found = {own[name]: value for name, value in values.items() if name in own}
        for name in [name for name in ("systems", "claims") if isinstance(found.get(name), list)]:
            inside = f"{path}{name}[]."
            found[name] = [
                self._known(one, name, inside) if isinstance(one, dict) else one for one in found[name]
            ]
        return found

    def column(self, place: Sequence[str | int]) -> str:
        """Return the file's name for a place in a row, such as `systems[2].summary_text`."""
        if not self.is_nested:
            name = next(part for part in reversed(place) if isinstance(part, str))
            return next(iter(self.columns.get(name, (name,))), name)
        parts = (
            f"[{part + 1}]" if isinstance(part, int) else f".{_NESTED.get(part, part)}" for part in place
        )
        return "".join(parts).removeprefix(".")

    def _checked(self, record: Record, values: Mapping[str, Any]) -> Row | None:
        try:
            row = Row.model_validate(values)
        except ValidationError as error:
            for place, reason in faults(error):
                self._note(record, place, reason)
            return None
        row.line = record.line
        return row

    def _note(self, record: Record, place: Sequence[str | int], reason: str) -> None:
        """Add a problem; an empty reason means that the field is missing."""
        column, pair = self.column(place), ""
        if not reason:
            there = printable(", ".join(map(str, list(record.values)[:20])) or "none")
            own = column.rpartition(".")[2] if self.is_nested else place[-1]
            pair = "" if self.is_nested else f"{own}=COLUMN"
            told = f"If it has another name, say which field is `{own}`."
            reason = f"is missing. Fields that are there: {there}. {told}"
        self.problems.add(record.line, column, reason, pair=pair)


def _places(words: str, text: str) -> list[tuple[int, int]]:
    """Offsets of all occurrences of words in a text; runs of white space may differ."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [found.span(1) for found in re.finditer(f"(?=({pattern}))", text)] if pattern else []


def _are_several(columns: Sequence[str]) -> bool:
    """True for columns of several documents, such as `documents.0` or `article_1`, and not of pieces of one."""
    is_numbered = all(indexed(column) and column == root(column) for column in columns)
    return is_numbered or plain(root(columns[0])) in _OF_SEVERAL


def _joined(value: Any) -> Any:
    is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return " ".join(value) if is_texts else value


def _nested_faults(row: Row) -> Iterator[tuple[Sequence[str | int], str]]:
    names = Counter(summary.system for summary in row.systems)
    if not names:
        yield ("systems",), "must be a list of objects with at least one in it."
    if not (row.documents or row.references):
        yield ("document",), ""
    yield from ((("systems",), f"names {name!r} twice.") for name, times in names.items() if times > 1)
    owners: list[tuple[tuple[str | int, ...], set[str], list[Claim]]]
    owners = [(("systems", at, "claims"), {one.system}, one.claims) for at, one in enumerate(row.systems)]
    ids = {one.id for one in row.references}
    for path, known, claims in [(("claims",), set(names), row.claims), *owners]:
        said: dict[tuple[str, str], str] = {}
        for number, claim in enumerate(claims):
            place = (*path, number)
            for system in sorted(claim.systems - known):
                told = "which is another system or has no summary in this line."
                yield place, f"names the system {system!r}, {told}"
            claim.systems &= known
            for system, verdict in claim.verdicts.items():
                if said.setdefault((claim.text, system), verdict) != verdict:
                    told = f"repeats an earlier claim with another verdict on {system!r}. Remove one."
                    yield (*place, "claim_text"), told
            if len(path) == 1 and claim.reference_id and claim.reference_id not in ids:
                there = _listed(sorted(ids - {""})) or "no reference with an id"
                told = f"is {printable(claim.reference_id)!r}, which is no reference of the line. It has {there}."
                yield (*place, "reference_id"), told
    if len(ids) > 1 and not all(claim.reference_id for claim in row.claims):
        told = "do not name their reference, and the line has several. Give each claim a `reference_id`: one of the"
        yield ("claims",), f"{told} line's, or the position of the reference from 1."


@dataclass(slots=True)
class _FileReader:
    """Reads a file of rows.

    `system_pair` is the assignment to propose if two rows have the same document set, system and target length.
    """

    name: str
    layout: Layout
    look: Look
    progress: Progress
    reading: FileReading
    system_pair: str = ""

    @property
    def problems(self) -> Findings:
        return self.reading.problems

    def _remark(self, reason: str) -> None:
        self.reading.warnings.remark(reason)

    def read(self) -> FileReading:
        look, dataset, problems = self.look, self.reading.dataset, self.problems
        problems.word = self.reading.warnings.word = look.format.place
        first = look.records[0] if look.records else None
        is_nested = first is not None and look.may_nest and "systems" in first.values
        reader = RowReader(problems, self.reading.warnings, {}, is_nested=is_nested)
        if first and is_nested:
            self.reading.format = Format.NESTED_JSONL
            self._require_nested(first)
        elif first or not look.may_nest:
            reader = self._settle()
        for record in look.all_records:
            self.progress.rows_read += 1
            if self.progress.rows_read % ROWS_BETWEEN_STEPS == 0:
                self.progress.step()
            if look.may_nest and ("systems" in record.values) is not is_nested:
                here, there = ("flat", "nested") if is_nested else ("nested", "flat")
                told = (
                    f"is {here}, but the first one is {there}. Split the file into a flat and a nested one."
                )
                problems.add(record.line, "", told)
                continue
            if not is_nested:
                self._note_unread(reader, record)
            for row in reader.rows(record):
                for name, reason in dataset.add(row, is_nested=is_nested):
                    pair = "" if name else self.system_pair
                    problems.add(record.line, reader.column((name,)), reason, pair=pair)
        if not dataset.sets and not problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        if is_nested:
            dataset.settle_claims()
        self._tell_contents(reader.unread, is_nested=is_nested)
        self._tell_unread(reader.unread)
        return self.reading

    def _note_unread(self, reader: RowReader, record: Record) -> None:
        read = set(chain(*reader.columns.values()))
        read |= {*map(root, read), *(KEPT if self.look.tool else ())}
        # Ignore columns without a name, which pandas writes for its index, and empty fields, which tools write.
        empty: tuple[object, ...] = ("", None, []) if self.look.tool else ()
        unread = (
            name for name, value in record.values.items() if name and name not in read and value not in empty
        )
        reader.unread.update(dict.fromkeys(unread))

    def _require_nested(self, first: Record) -> None:
        if "summary" in first.values:
            told = "holds both `systems` (nested) and `summary` (flat). A line is one document with a list of systems"
            raise unreadable(f"{told}, or one summary.", line=first.line)
        if self.layout.is_of_rows:
            told = "is nested and needs no layout. Leave out columns, preset, system and target."
            raise unreadable(f"{self.name} {told}")

    def _settle(self) -> RowReader:
        """Find the column of every field, or a fixed value for fields without a column.

        Raises ImportRefused for a missing column, for both `reference` and `references`, and for a column of claims.
        """
        asked, look = self.layout, self.look
        guess = look.guess(preset=asked.preset or AUTO, given=asked.mapping)
        has_all = all(any(map(self._has, asked.of(name))) for name in FLAT_REQUIRED)
        is_doubtful = has_all and bool(guess.objections)
        is_used = guess.is_own or is_doubtful or (guess.is_sure and not has_all)
        if asked.preset or (is_used and not asked.is_whole):
            self._take(guess)
        for name, column in ((name, column) for name, some in asked.mapping.items() for column in some):
            if not self._has(column):
                told = f"the column {column!r} is given for {name}, and there is no such column. Columns that are"
                raise unreadable(f"{told} there: {self._there()}.", column=column, pair=f"{name}=COLUMN")
        layout = self.layout
        there = {name: tuple(filter(self._has, layout.of(name))) for name in FLAT_FIELDS}
        self._refuse_missing([name for name in FLAT_REQUIRED if not there[name] and not self._may_lack(name)])
        # In JSON, a field may first appear in a later row.
        late = {*FLAT_FIELDS} - _OF_ALL if look.format.is_json and not layout.is_whole else ()
        all_of = {name: there[name] or (layout.of(name) if name in late else ()) for name in FLAT_FIELDS}
        used = {name: columns for name, columns in all_of.items() if columns}
        if {"reference", "references"} <= {*look.columns} and "reference" not in asked.mapping:
            told = "there are both `reference` and `references`. Say which of the two is `reference`."
            raise unreadable(told, pair="reference=references")
        for column in used.get("summary", ()):
            if {column, root(column)} & {*used.get("document", ())}:
                told = f"the column {column!r} is read as both the document and the summary. Give the document a path"
                told = f"{told} of its own, such as document=messages[1].content."
                raise unreadable(told, column=column, pair="document=COLUMN")
        self._tell_made(used)
        self._refuse_claims(used)
        given = {} if "system" in used else {"system": layout.system or DEFAULT_SYSTEM}
        self.reading.lacks_target = layout.target is None and not there["target_words"]
        return RowReader(self.problems, self.reading.warnings, used, given, layout.target)

    def _take(self, guess: Guess) -> None:
        asked, pairs = self.layout, guess.layout.pairs()
        if self.look.records and guess.objections and not {"document", "summary"} <= asked.mapping.keys():
            told = f"its columns look like {printable(' '.join(pairs))}. {' '.join(guess.objections)}"
            texts = {name: guess.layout.of(name) for name in ("document", "summary")}
            own = (f"{name}={column}" for name, columns in texts.items() for column in columns)
            pair = "\n".join(dict.fromkeys((*pairs, *own))) or "summary=COLUMN"
            raise unreadable(f"{told} Say which column is which.", pair=pair)
        system = asked.system or guess.layout.system
        self.layout = replace(asked, mapping=guess.layout.mapping, system=system, is_whole=not guess.is_own)
        if not guess.is_own or any(not pair.startswith("rating=") for pair in pairs):
            columns = ((name, column) for name in FLAT_FIELDS for column in self.layout.of(name))
            read = [f"{name}={printable(column)}" for name, column in columns if self._has(column)]
            title = f" as {guess.title}" if guess.title else ""
            self._remark(f"Columns are read{title}: {', '.join(read)}.")
        for note in guess.notes:
            self._remark(note)

    def _refuse_claims(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse a file with claims in a column that is not read, because they would be lost silently."""
        read = set(chain(*columns.values()))
        read |= set(map(root, read))
        for column in self.look.columns:
            if plain(column.rpartition(".")[2]).rstrip("s") == "claim" and not {column, root(column)} & read:
                told = f"`{printable(column)}` is not read: a file with one row for each summary holds no claims. Give"
                way_out = "them in the nested layout, one line a document, or remove the column."
                raise unreadable(f"{told} {way_out}", column=column)

    def _has(self, column: str) -> bool:
        # Ignore the index column of pandas, which has no name.
        return bool(column) and (column in self.look.columns or root(column) in self.look.columns)

    def _there(self) -> str:
        # In JSON files, paths into objects are listed among the columns.
        is_json = self.look.format.is_json
        return ", ".join(printable(each) for each in self.look.columns if not is_json or each == root(each))

    def _refuse_missing(self, missing: Sequence[str]) -> None:
        """Raise ImportRefused for fields that have neither a column nor a fixed value."""
        if not missing:
            return
        guess, layout = self.look.guess(), self.layout
        if not guess.has_texts and (told := self._other_layout()):
            raise unreadable(told)
        pairs = guess.layout.pairs()
        is_like = not layout.is_whole and guess.has_texts
        is_like = is_like and not guess.layout.mapping.keys().isdisjoint(missing)
        if self.look.format.is_json and not is_like and not layout.is_whole:
            # The problems of the rows will list the missing fields.
            return
        wanted = [next(iter(layout.mapping.get(name, (name,)))) for name in missing]
        title = f" {guess.title}:" if guess.title else ""
        like = [f"They look like{title} {printable(' '.join(pairs))}.", *guess.notes, *guess.objections]
        told = " and ".join(f"`{name}`" for name in missing)
        way_out = f"If one has another name, say which column is {told}."
        if layout.is_whole:
            way_out = f"Say which column is {told}; if there is none, add it to the file."
        sentences = [f"Columns that are there: {self._there()}.", *(like if is_like else ()), way_out]
        raise unreadable(
            f"there is no column {_listed(wanted)}. {' '.join(sentences)}",
            line=1 if self.look.format is Format.CSV else None,
            column=wanted[0],
            pair="\n".join(pairs) if is_like else f"{missing[0]}=COLUMN",
        )

    def _other_layout(self) -> str:
        """Describe the layout to write for a file whose summaries no column can name; empty for other files."""
        told = "Write one row per summary, with columns `document_id`, `document`, `reference`, `system` and `summary`"
        nested = "or the nested layout, with `doc_id`, `source_text`, `reference_text` and `systems`, a list of objects"
        names = [frozenset(GENERAL[name]) for name in ("document", "reference", "summary")]
        for column in self.look.columns:
            held = [pick(record.values, column) for record in self.look.records]
            kinds = {plain(str(value)) for value in held}
            if sum(map(bool, map(kinds.intersection, names))) > 1 and kinds <= frozenset().union(*names):
                return f"each row holds one text, of the kind that `{printable(column)}` names. {told}."
            lists = [value[0] for value in held if isinstance(value, list) and value]
            if any(isinstance(first, dict) and "role" not in first for first in lists):
                told = f"no column holds summaries, and `{printable(column)}` is a list of objects. {told},"
                return f"{told} {nested} with `system` and `summary_text`."
        return ""

    def _may_lack(self, name: str) -> bool:
        """True if a field without a column has a fixed value or is optional."""
        layout = self.layout
        if name == "system" and (layout.system or len(layout.of("summary")) > 1):
            return True
        if name == "summary" or name in layout.mapping:
            return False
        others = (*layout.of("reference"), *layout.of("rating"))
        if name == "document" and not (any(map(self._has, others)) or self.look.is_judged):
            return False
        # If a column may be the field, propose the column and do not accept the row without it.
        return layout.is_whole or name not in self.look.guess(given=layout.mapping).layout.mapping

    def _tell_made(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        if "document_id" not in columns:
            told = "`document_id` is made from a hash of the document: rows with the same document are one"
            self._remark(f"{told} document set.")
        if len(texts := columns.get("document", ())) > 1:
            told = "several documents of a set" if _are_several(texts) else "pieces of one document"
            self._remark(f"These columns are {told}: {_listed(texts)}.")
        if rated := columns.get("rating"):
            whose = f", the raters from `{printable(columns['rater'][0])}`" if "rater" in columns else ""
            self._remark(f"People's ratings are read from {_listed(rated)}{whose}.")
        if len(summaries := columns.get("summary", ())) > 1:
            self._remark(f"Each of these columns is one system: {_listed(summaries)}.")
        elif "system" not in columns:
            named = printable(self.layout.system or DEFAULT_SYSTEM)
            self._remark(f"No column names a system: every summary is by “{named}”.")
            likely = self._likely_system(columns)
            self.system_pair = f"system={likely or 'COLUMN'}"
            like = f", such as `{printable(likely)}`" if likely else ""
            told = f"No column is read as the system, so both are by “{named}”. Say which column is `system`{like},"
            self.reading.dataset.key_advice = f"{told} or remove one of the two."

    def _likely_system(self, columns: Mapping[str, tuple[str, ...]]) -> str:
        """A column that is not read and holds names that repeat, but not within a document; empty without one."""
        owner = next((columns[name][0] for name in ("document_id", "document") if name in columns), "")
        for column in self.look.columns:
            pairs = [(str(pick(one.values, owner)), pick(one.values, column)) for one in self.look.records]
            names = [str(name) for _, name in pairs if isinstance(name, str | int)]
            is_key = len(pairs) == len(names) == len({(of, str(name)) for of, name in pairs})
            is_short = max(map(len, names), default=0) <= LONGEST_LIKELY
            is_read = column in chain(*columns.values())
            if is_key and is_short and not is_read and 1 < len(set(names)) < len(names):
                return column
        return ""

    def _tell_contents(self, unread: Iterable[str], *, is_nested: bool) -> None:
        dataset, sets = self.reading.dataset, self.reading.dataset.sets
        if marked := dataset.take_marks(are_asked=self.look.tool in ASKS_MARKS):
            told = (
                f"Units of summaries in which somebody marked an error: {marked:,}. They count as unsupported"
            )
            self._remark(f"{told}, the other units of annotated summaries as supported.")
        without = sum(not one.documents for one in sets.values())
        bare = sum(not one.references for one in sets.values())
        if without:
            told = f"{without:,} of {len(sets):,} document sets have no document here. Without one in the project"
            self._remark(f"{told} their alignment is blank.")
        if bare == len(sets) and not is_nested and without < len(sets):
            told = (
                "No row has a `reference`, so summaries are compared with their documents. If another column"
            )
            self._remark(f"{told} holds it, say which column is `reference`.")
        elif 0 < bare < len(sets):
            told = (
                f"{bare:,} of {len(sets):,} document sets have no reference here. Without one in the project"
            )
            self._remark(f"{told} their summaries are compared with the documents, and means mix both.")
        if repeated := [f"{line} repeats {earlier}" for line, earlier in dataset.repeated.items()]:
            which = "Rows that differ at most in columns that are not read" if unread else "Duplicate rows"
            told = " If these hold ratings, one a row, name the columns `criterion`, `score` and `annotator`."
            lines = f"{self.look.format.place} {_some(repeated, '; ')}.{told if unread else ''}"
            self._remark(f"{which} are read once: {lines}")
        of = {name: {system for system, _ in one.summaries} for name, one in sets.items()}
        times = Counter(chain(*of.values()))
        lacking = [system for system in times if times[system] < len(of)]
        for system in lacking[:NAMES_TOLD]:
            names = [printable(name) for name, systems in of.items() if system not in systems]
            told = f"has no summary in {len(names):,} of {len(of):,} document sets ({_some(names, ', ')})."
            self._remark(f"{printable(system)} {told}")
        if len(lacking) > NAMES_TOLD:
            self._remark(f"{len(lacking) - NAMES_TOLD:,} more systems lack summaries of some document sets.")

    def _tell_unread(self, unread: Iterable[str]) -> None:
        for remark in self.look.table.remarks:
            self._remark(remark)
        ends = {name: name.rpartition(".")[2] for name in unread}
        never = {
            end: _NEVER_READ.get("percents" if "percent" in plain(end) else end) for end in ends.values()
        }
        for end, told in never.items():
            if told:
                self._remark(f"Not read: `{printable(end)}`. {told}")
        if names := [f"`{printable(name)}`" for name, end in ends.items() if not never[end]]:
            self._remark(f"Not read: {_some(names, ', ', 20)}.")


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f"`{printable(column)}`" for column in columns)


def _some(names: Sequence[str], between: str, most: int = NAMES_TOLD) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"
