"""Read files and pushed rows into typed rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotation.core.text_faults import printable
from annotation.imports.containers import Format, NamedFile, Record, Table
from annotation.imports.guess import Guess, guess, look_at_files
from annotation.imports.layout import (
    DEFAULT_SYSTEM,
    FLAT_OPTIONAL,
    GENERAL,
    NESTED,
    PIECES,
    Layout,
    document_hash,
    indexed,
    pick,
    plain,
    root,
)
from annotation.imports.problems import Findings, unreadable
from annotation.imports.ratings import ratings_in, read_ratings
from annotation.imports.row import (
    Claim,
    Dataset,
    Mark,
    Row,
    Summary,
    faults,
    judged_sentence,
    opened,
)
from annotation.imports.tools.duc import read_duc_files
from annotation.imports.tools.flatten import ASKS_MARKS, KEPT, NO_VOTE

Place = tuple[str | int, ...]
"""The names and positions that lead to a value in a row."""
ROWS_BETWEEN_STEPS = 500
_NESTED = {own: name for held in NESTED.values() for own, name in held.items()}
"""The names of fields in nested lines."""
_ONE_EACH = (
    "write one row per summary, with columns `document_id`, `document`, `reference`, `system` and `summary`"
)
_LAYOUTS = (
    f"If there is none, {_ONE_EACH}, or the nested layout, with `doc_id`, `source_text`, `reference_text` and "
    "`systems`, a list of objects with `system` and `summary_text`."
)


@dataclass(slots=True)
class Progress:
    """Numbers of rows read, of document sets written, and of document sets in all (0 until all rows are read).

    `step` is called during the import, and `hold` at the end of the transaction. An exception from them ends the
    import.
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
    """The contents and the problems of files; rows with problems are not in the data set.

    `lacks_target` is True for flat rows without a column of target lengths if the layout has no target length, either.
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

    Raises ImportRefused if the files cannot be read, and for a layout of rows with other files.
    """
    layout = layout or Layout()
    table = look_at_files(files, layout.encoding)
    if (table is None or table.is_nested) and (layout.mapping or layout.system or layout.target):
        told = "names its own systems and target lengths; choices of columns apply to files of rows."
        raise unreadable(told, file=files[0].name)
    if table:
        reading = FileReading(table.format, problems=table.problems, warnings=table.warnings)
        return _FileReader(files[0].name, layout, table, progress or Progress(), reading).read()
    reading = FileReading(Format.DUC)
    reading.dataset = read_duc_files(files, reading.problems, reading.warnings)
    return reading


def read_dataset(path: Path, **choices: Any) -> FileReading:
    """Read a single file with `read_files`."""
    return read_files([NamedFile(path.name, path)], **choices)


@dataclass(slots=True)
class RowReader:
    """Turns records into typed rows, and reports problems with the names that the file uses.

    `columns` has the columns of each field of flat rows. `given` has values of fields without a column, and `target` is
    the target length of flat rows that have none. If a record has several `summaries`, each has a reader, and the name
    of its column is the system. Pushed rows may have a reference without a summary. `unread` collects the names of
    fields that are not read.
    """

    problems: Findings
    warnings: Findings
    columns: Mapping[str, tuple[str, ...]]
    given: Mapping[str, object] = field(default_factory=dict)
    target: int | None = None
    summaries: int = 1
    is_pushed: bool = False
    is_nested: bool = False
    unread: dict[str, None] = field(default_factory=dict)

    def row(self, record: Record) -> Row | None:
        """Return the row of a record; None for a row with problems, and for a missing one of several summaries."""
        before = self.problems.count
        row = self._nested(record) if self.is_nested else self._flat(record)
        if row is None:
            return None
        ids = [*filter(None, row.reference_ids)]
        if not row.references and (row.reference_author or ids or not row.systems):
            told = "is empty, and the row needs it. Repeat the reference's text in each of its rows."
            self._note(record, ("reference",), told)
        elif ids and len(row.reference_ids) != len(row.texts):
            told = f"names {len(row.reference_ids)} references, and there are {len(row.texts)}. Name each of them."
            self._note(record, ("reference_id",), told)
        if self.problems.count > before:
            return None
        for remark in filter(None, (summary.remark(row.document_id) for summary in row.systems)):
            self.warnings.remark(remark, line=row.line)
        return row

    def _flat(self, record: Record) -> Row | None:
        found = ((name, self._value(record, name)) for name in self.columns if name != "rating")
        values = {**self.given, **{name: value for name, value in found if value is not None}}
        summary = {name: values.pop(name) for name in ("system", "summary") if name in values}
        if self.summaries > 1:
            if "summary" not in summary:
                return None
            [summary["system"]] = self.columns["summary"]
        systems = [] if self.is_pushed and not summary else [summary]
        row = self._checked(record, {**values, "systems": systems})
        if row is None:
            return None
        if not (row.documents or row.references or self.is_pushed) and "document" in self.columns:
            self._note(record, ("document",), "")
        if "document_id" not in self.columns:
            texts = row.documents or [one.text for one in row.references] or [row.systems[0].summary]
            row.document_id = document_hash(texts)
        row.target = row.target or self.target
        for one in row.systems:
            self._take_answers(record, one, row.rater)
        return row

    def _value(self, record: Record, name: str) -> Any:
        columns = self.columns[name]
        found: list[Any] = [pick(record.values, each) for each in columns]
        if len(columns) > 1:
            # Columns such as `article_text.0` are pieces of one text.
            pieces = (root(one) for one in columns if root(one) != one and name == "document")
            is_text = sum(plain(one).endswith(PIECES) for one in pieces) == len(columns)
            value: Any = [each for each in found if name == "reference" or each not in (None, "")]
        else:
            [column], [value] = columns, found
            if name == "metadata" and column != name and not isinstance(opened(value), dict):
                return {column: value} if value else None
            is_text = column.endswith("[]") or (name == "summary" and "[]" in column)
        if is_text and isinstance(value, list) and all(isinstance(each, str) for each in value):
            return " ".join(value)
        return value

    def _take_answers(self, record: Record, summary: Summary, rater: str) -> None:
        columns = self.columns.get("rating", ())
        of_columns = (each for name in columns for each in ratings_in(name, pick(record.values, name), rater))
        summary.given, left = read_ratings((*record.said.ratings, *of_columns))
        if summary.given and self.summaries > 1:
            told = f"rates a row that holds {self.summaries} summaries: {_ONE_EACH}."
            raise unreadable(told, line=record.line, column=summary.given[0][0])
        summary.marks = list(self._marks(record, summary.summary))
        for sentence, votes, reason in record.said.claims:
            try:
                summary.claims.append(judged_sentence(summary.system, sentence, votes, reason))
            except ValidationError as error:
                self._note(record, ("",), "; ".join(told for _, told in faults(error)))
        for remark in dict.fromkeys((*left, *record.said.remarks)):
            self.warnings.remark(remark, line=record.line)

    def _marks(self, record: Record, summary: str) -> Iterator[Mark]:
        for mark in record.said.marks:
            words = mark.words or (mark.text or summary)[mark.start : mark.end]
            is_here = words and mark.text in ("", summary)
            places = [found.span() for found in re.finditer(re.escape(words), summary)] if is_here else []
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

    def _known(self, values: Mapping[str, Any], level: str = "line", path: str = "") -> dict[str, Any]:
        own = {name: one for one, name in NESTED[level].items()}
        self.unread.update(dict.fromkeys(f"{path}{name}" for name in values if name not in own))
        found = {own[name]: one for name, one in values.items() if name in own and one is not None}
        for name in ("systems", "claims"):
            if isinstance(given := found.get(name), list):
                inside = f"{path}{name}[]."
                known = (self._known(one, name, inside) if isinstance(one, dict) else one for one in given)
                found[name] = list(known)
        return found

    def column(self, place: Sequence[str | int]) -> str:
        """Return the file's name for a place in a row, such as `systems[2].summary_text`."""
        if self.is_nested:
            parts = (f"[{one + 1}]" if isinstance(one, int) else f".{_NESTED.get(one, one)}" for one in place)
            return "".join(parts).removeprefix(".")
        name = next(part for part in place if isinstance(part, str) and part != "systems")
        return (*self.columns.get(name, ()), name)[0]

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
        """Add a problem; an empty reason means that the field is missing or has no value."""
        column, pair = self.column(place), ""
        if not reason and column in record.values:
            reason = "has no value."
        elif not reason:
            pair = "" if self.is_nested else f"{place[-1]}=COLUMN"
            there = printable(", ".join(map(str, list(record.values)[:20])) or "none")
            reason = f"is missing. Fields that are there: {there}."
        self.problems.add(record.line, column, reason, pair=pair)


def _nested_faults(row: Row) -> Iterator[tuple[Place, str]]:
    names = Counter(summary.system for summary in row.systems)
    ids = [one.id for one in row.references]
    if not names:
        yield ("systems",), "must be a list of objects with at least one in it."
    if not (row.documents or row.references or any(one.claims or one.given for one in row.systems)):
        yield ("document",), ""
    yield from ((("systems",), f"names {name!r} twice.") for name, times in names.items() if times > 1)
    yield from _claim_faults(("claims",), row.claims, {*names})
    for number, summary in enumerate(row.systems):
        yield from _claim_faults(("systems", number, "claims"), summary.claims, {summary.system})
    for number, claim in enumerate(row.claims):
        if (claim.reference_id or len(ids) > 1) and claim.reference_id not in filter(None, ids):
            there = _some(_quoted(filter(None, ids))) or "none with an id"
            told = f"is {printable(claim.reference_id)!r}, which is no reference of the line. It has {there}."
            yield ("claims", number, "reference_id"), told


def _claim_faults(path: Place, claims: Sequence[Claim], systems: set[str]) -> Iterator[tuple[Place, str]]:
    said: dict[tuple[str, str], str] = {}
    for number, claim in enumerate(claims):
        for system in sorted(claim.systems - systems):
            yield (*path, number), f"names the system {system!r}, which has no summary in this line."
        claim.systems &= systems
        for system, verdict in claim.verdicts.items():
            if said.setdefault((claim.text, system), verdict) != verdict:
                told = f"repeats an earlier claim with another verdict on {system!r}. Remove one."
                yield (*path, number, "claim_text"), told


@dataclass(slots=True)
class _FileReader:
    name: str
    layout: Layout
    table: Table
    progress: Progress
    reading: FileReading

    def _remark(self, told: str) -> None:
        self.reading.warnings.remark(told)

    def read(self) -> FileReading:
        table, dataset, problems = self.table, self.reading.dataset, self.reading.problems
        problems.word = self.reading.warnings.word = table.format.place
        readers, is_nested = self._readers(), table.is_nested
        if is_nested:
            self.reading.format = Format.NESTED_JSONL
        read = {column for reader in readers for columns in reader.columns.values() for column in columns}
        read |= {*map(root, read), *(KEPT if table.tool else ())}
        for record in table.records:
            self.progress.rows_read += 1
            if self.progress.rows_read % ROWS_BETWEEN_STEPS == 0:
                self.progress.step()
            if not is_nested:
                # Ignore the index column of pandas, which has no name.
                readers[0].unread.update((name, None) for name in record.values if name and name not in read)
            for reader in readers:
                row = reader.row(record)
                for name, reason in dataset.add(row, is_nested=is_nested) if row else ():
                    pair = "system=COLUMN" if not name and "system" in reader.given else ""
                    problems.add(record.line, reader.column((name,)), reason, pair=pair)
        if not dataset.sets and not problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        if is_nested:
            dataset.settle_claims()
        self._tell_contents()
        if names := _quoted(readers[0].unread):
            self._remark(f"Not read: {_some(names, 20)}.")
        return self.reading

    def _readers(self) -> list[RowReader]:
        asked, table = self.layout, self.table
        problems, warnings = self.reading.problems, self.reading.warnings
        if table.is_nested or not table.columns:
            return [RowReader(problems, warnings, {}, is_nested=table.is_nested)]
        for name, column in ((name, column) for name, some in asked.mapping.items() for column in some):
            if not {column, root(column)} & {*table.columns}:
                told = f"the column {column!r} is given for {name}, and there is no such column."
                raise unreadable(f"{told} {self._there()}", column=column, pair=f"{name}=COLUMN")
        if {"reference", "references"} <= {*table.columns} and "reference" not in asked.mapping:
            told = "there are both `reference` and `references`. Say which of the two is `reference`."
            raise unreadable(told, pair="reference=references")
        found = Guess(asked) if asked.is_whole else guess(table, asked.mapping)
        columns, given = dict(found.layout.mapping), dict[str, str]()
        self._refuse_doubt(found)
        if found.guessed or found.title:
            title = f" as {found.title}" if found.title else ""
            guessed = ", ".join(found.guessed) or "as they are named"
            self._remark(printable(f"Columns are read{title}: {guessed}."))
        if "document_id" not in columns:
            given["document_id"] = "made of the texts below"
            of = next(name for name in ("document", "reference", "summary") if name in columns)
            self._remark(f"`document_id` is made from a hash of the {of}: equal texts are one set.")
        summaries = columns["summary"]
        if "system" not in columns and len(summaries) == 1:
            given["system"] = asked.system or DEFAULT_SYSTEM
            self._remark(f"No column names a system: every summary is by “{printable(given['system'])}”.")
        self.reading.lacks_target = asked.target is None and "target_words" not in columns
        # An optional field may first appear in a later row.
        late = () if asked.is_whole else {*FLAT_OPTIONAL} - {*table.columns, "rating", "rater"}
        columns = {name: (name,) for name in late} | columns
        each = (columns | {"summary": (one,)} for one in summaries)
        return [RowReader(problems, warnings, one, given, asked.target, len(summaries)) for one in each]

    def _refuse_doubt(self, found: Guess) -> None:
        table, mapping = self.table, found.layout.mapping
        summaries = mapping.get("summary", ())
        for column in table.columns if len(summaries) > 1 else ():
            # A name such as `system_a`, `model 2` or `modelB`.
            is_named = plain((indexed(column) or (column[:-1],))[0]) in GENERAL["system"]
            if is_named and column not in summaries:
                reason = f"names a system, and a row holds {len(summaries)} summaries, each of one system: {_ONE_EACH}."
                raise unreadable(reason, column=column)
        is_judged = table.is_judged or bool({"reference", "rating"} & mapping.keys())
        needed = ("summary",) if is_judged else ("document", "summary")
        missing = [name for name in needed if name not in mapping]
        are_named = {"document", "summary"} <= self.layout.mapping.keys()
        if not missing and (are_named or not found.doubts):
            return
        told = [f"there is no column {_some(_quoted(missing))}."] if missing else []
        told += (self._there(), *found.doubts, "Say which column is which, or remove what you do not need.")
        told += [_LAYOUTS] if "summary" in missing else []
        columns = {"document": ("COLUMN",), "summary": ("COLUMN",), **mapping}
        texts = [f"{name}={column}" for name in ("document", "summary") for column in columns[name]]
        raise unreadable(" ".join(told), pair="\n".join(dict.fromkeys([*found.layout.pairs(), *texts])))

    def _there(self) -> str:
        return f"Columns that are there: {', '.join(map(printable, self.table.columns))}."

    def _tell_contents(self) -> None:
        dataset, sets = self.reading.dataset, self.reading.dataset.sets
        if marked := dataset.take_marks(are_asked=self.table.tool in ASKS_MARKS):
            told = "They count as unsupported, the other units of annotated summaries as supported."
            self._remark(f"Units in which somebody marked an error: {marked:,}. {told}")
        there = "{:,} of {:,} document sets have no {} here. Without one in the project their {}."
        if without := sum(not one.documents for one in sets.values()):
            self._remark(there.format(without, len(sets), "document", "alignment is blank"))
        bare = sum(not one.references for one in sets.values())
        if bare and without < len(sets):
            self._remark(there.format(bare, len(sets), "reference", "summaries are compared with documents"))
        if dataset.repeated:
            told = "If these hold ratings, map `rating` and `rater`, or name columns `criterion`, `score` and `rater`."
            lines = f"{self.table.format.place} {_some(dataset.repeated)}."
            self._remark(f"Duplicate rows are read once: {lines} {told}")
        names = ({name for name, _ in one.summaries} for one in sets.values())
        times = Counter(chain.from_iterable(map(sorted, names)))
        lacking = [f"{printable(n)} ({len(sets) - some:,})" for n, some in times.items() if some < len(sets)]
        if lacking:
            told = f"Some systems lack summaries of some of the {len(sets):,} document sets"
            self._remark(f"{told}: {_some(lacking)}.")


def _quoted(columns: Iterable[str]) -> list[str]:
    return [f"`{printable(column)}`" for column in columns]


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
