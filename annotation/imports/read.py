"""Read files and pushed rows into typed rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from annotation.core.text_faults import printable
from annotation.imports.containers import Format, NamedFile, Record, Table
from annotation.imports.guess import Guess, guess, look_at_files
from annotation.imports.layout import (
    AUTO,
    DEFAULT_SYSTEM,
    FLAT_FIELDS,
    FLAT_OPTIONAL,
    FLAT_REQUIRED,
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
)
from annotation.imports.tools.duc import read_duc_files
from annotation.imports.tools.flatten import ASKS_MARKS, KEPT, NO_VOTE

Place = tuple[str | int, ...]
"""The names and positions that lead to a value in a row."""
ROWS_BETWEEN_STEPS = 500
_NESTED = {own: name for held in NESTED.values() for own, name in held.items()}
"""The names of fields in nested lines."""
_LAYOUTS = (
    "If none does, write one row per summary, with columns `document_id`, `document`, `reference`, `system` and "
    "`summary`, or the nested layout, with `doc_id`, `source_text`, `reference_text` and `systems`, a list of objects "
    "with `system` and `summary_text`."
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

    Raises ImportRefused if the files cannot be read, and for a layout of rows with SEE HTML or DUCView files.
    """
    layout = layout or Layout()
    if table := look_at_files(files, layout.encoding):
        reading = FileReading(table.format, problems=table.problems, warnings=table.warnings)
        return _FileReader(files[0].name, layout, table, progress or Progress(), reading).read()
    if layout.is_of_rows:
        told = "names its own systems and target lengths; choices of columns apply to files of rows."
        raise unreadable(told, file=files[0].name)
    reading = FileReading(Format.DUC)
    reading.dataset = read_duc_files(files, reading.problems, reading.warnings)
    return reading


def read_dataset(path: Path, **choices: Any) -> FileReading:
    """Read a single file with `read_files`."""
    return read_files([NamedFile(path.name, path)], **choices)


@dataclass(slots=True)
class RowReader:
    """Turns records into typed rows, and reports problems with the names that the file uses.

    `columns` has the columns of each field of flat rows; several columns of summaries are one system each. `given` has
    values of fields without a column, and `target` is the target length of flat rows that have none. Pushed rows may
    have a reference without a summary. `unread` collects the names of fields that are not read.
    """

    problems: Findings
    warnings: Findings
    columns: Mapping[str, tuple[str, ...]]
    given: Mapping[str, object] = field(default_factory=dict)
    target: int | None = None
    is_pushed: bool = False
    is_nested: bool = False
    unread: dict[str, None] = field(default_factory=dict)

    @property
    def _is_wide(self) -> bool:
        return len(self.columns.get("summary", ())) > 1

    def rows(self, record: Record) -> Iterator[Row]:
        """Yield the valid rows of a record: at most one, or one for each column of summaries."""
        for column in self.columns.get("summary") or ("",):
            before = self.problems.count
            row = self._nested(record) if self.is_nested else self._flat(record, column)
            if row is None or self.problems.count > before:
                continue
            for remark in filter(None, (summary.remark(row.document_id) for summary in row.systems)):
                self.warnings.remark(remark, line=row.line)
            yield row

    def _flat(self, record: Record, column: str) -> Row | None:
        found = ((name, self._value(record, name, column)) for name in self.columns if name != "rating")
        values = {**self.given, **{name: value for name, value in found if value is not None}}
        summary = {name: values.pop(name) for name in ("system", "summary") if name in values}
        if self._is_wide:
            summary["system"] = column
            if "summary" not in summary:
                self.warnings.remark(f"There is no summary by {summary['system']!r}.", line=record.line)
                return None
        is_bare = self.is_pushed and not summary
        row = self._checked(record, {**values, "systems": [] if is_bare else [summary]})
        if row is None:
            return None
        if not (row.documents or row.references or self.is_pushed) and "document" in self.columns:
            self._note(record, ("document",), "")
        if not row.references and (row.reference_author or row.reference_ids[0] or is_bare):
            told = "is empty, and the row needs it. Repeat the reference's text in each of its rows."
            self._note(record, ("reference",), told)
        if "document_id" not in self.columns:
            texts = row.documents or [one.text for one in row.references] or [row.systems[0].summary]
            row.document_id = document_hash(texts)
        row.target = row.target or self.target
        row.names_reference = bool(row.reference_ids[0]) and len(row.references) == 1 == len(row.texts)
        for one in row.systems:
            self._take_answers(record, one, row.rater)
        return row

    def _value(self, record: Record, name: str, column: str) -> Any:
        columns = (column,) if name == "summary" else self.columns[name]
        found: list[Any] = [pick(record.values, each) for each in columns]
        if len(columns) > 1:
            # Columns such as `article_text.0` are pieces of one text.
            pieces = (root(each) for each in columns if root(each) != each and name == "document")
            is_text = sum(plain(each).endswith(PIECES) for each in pieces) == len(columns)
            value: Any = [each for each in found if name == "reference" or each not in (None, "")]
        else:
            [column], [value] = columns, found
            is_object = isinstance(value, dict) or (isinstance(value, str) and value.lstrip()[:1] == "{")
            if name == "metadata" and column != name and not is_object:
                return {column: value} if value else None
            is_text = column.endswith("[]") or (name == "summary" and "[]" in column)
        if is_text and isinstance(value, list) and all(isinstance(each, str) for each in value):
            return " ".join(value)
        return value

    def _take_answers(self, record: Record, summary: Summary, rater: str) -> None:
        columns = self.columns.get("rating", ())
        of_columns = (each for name in columns for each in ratings_in(name, pick(record.values, name), rater))
        summary.given, left = read_ratings((*record.said.ratings, *of_columns))
        if summary.given and self._is_wide:
            count = len(self.columns["summary"])
            told = f"rates a row that holds {count} summaries. Write one row per summary, with columns"
            told = f"{told} `system` and `summary`."
            raise unreadable(told, line=record.line, column=summary.given[0].criterion)
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
        name = next(part for part in reversed(place) if isinstance(part, str))
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
            own = column.rpartition(".")[2] if self.is_nested else place[-1]
            pair = "" if self.is_nested else f"{own}=COLUMN"
            there = printable(", ".join(map(str, list(record.values)[:20])) or "none")
            told = f"If it has another name, say which field is `{own}`."
            reason = f"is missing. Fields that are there: {there}. {told}"
        self.problems.add(record.line, column, reason, pair=pair)


def _nested_faults(row: Row) -> Iterator[tuple[Place, str]]:
    names = Counter(summary.system for summary in row.systems)
    ids = {one.id for one in row.references}
    if not names:
        yield ("systems",), "must be a list of objects with at least one in it."
    if not (row.documents or row.references):
        yield ("document",), ""
    yield from ((("systems",), f"names {name!r} twice.") for name, times in names.items() if times > 1)
    yield from _claim_faults(("claims",), row.claims, {*names})
    for number, summary in enumerate(row.systems):
        yield from _claim_faults(("systems", number, "claims"), summary.claims, {summary.system})
    for number, claim in enumerate(row.claims):
        if claim.reference_id and claim.reference_id not in ids:
            there = _listed(sorted(ids - {""})) or "no reference with an id"
            told = f"is {printable(claim.reference_id)!r}, which is no reference of the line. It has {there}."
            yield ("claims", number, "reference_id"), told
    if len(ids) > 1 and not all(claim.reference_id for claim in row.claims):
        told = "do not name their reference, and the line has several. Give each claim a `reference_id`: one of the"
        yield ("claims",), f"{told} line's, or the position of the reference from 1."


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
        is_nested = table.is_nested
        reader = RowReader(problems, self.reading.warnings, {}, is_nested=is_nested)
        if not is_nested:
            reader = self._settle() if table.columns else reader
        elif self.layout.is_of_rows:
            raise unreadable(f"{self.name} is nested. Leave out columns, preset, system and target.")
        else:
            self.reading.format = Format.NESTED_JSONL
        read = {*chain(*reader.columns.values())}
        read |= {*map(root, read), *(KEPT if table.tool else ())}
        for record in table.records:
            self.progress.rows_read += 1
            if self.progress.rows_read % ROWS_BETWEEN_STEPS == 0:
                self.progress.step()
            if not is_nested:
                # Ignore the index column of pandas, which has no name.
                unread = (name for name in record.values if name and name not in read)
                reader.unread.update((name, None) for name in unread)
            for row in reader.rows(record):
                for name, reason in dataset.add(row, is_nested=is_nested):
                    pair = "system=COLUMN" if not name and "system" in reader.given else ""
                    problems.add(record.line, reader.column((name,)), reason, pair=pair)
        if not dataset.sets and not problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        if is_nested:
            dataset.settle_claims()
        self._tell_contents(is_nested=is_nested)
        if names := _quoted(reader.unread):
            self._remark(f"Not read: {_some(names, ', ', 20)}.")
        return self.reading

    def _settle(self) -> RowReader:
        asked, table = self.layout, self.table
        for name, column in ((name, column) for name, some in asked.mapping.items() for column in some):
            if not self._has(column):
                told = f"the column {column!r} is given for {name}, and there is no such column. Columns that are"
                raise unreadable(f"{told} there: {self._there()}.", column=column, pair=f"{name}=COLUMN")
        found = guess(table, preset=asked.preset or AUTO, given=asked.mapping)
        self._refuse_named_systems(found.layout.of("summary"))
        are_texts_named = {"document", "summary"} <= asked.mapping.keys()
        is_doubted = bool(found.objections) and not (asked.is_whole or are_texts_named)
        if not asked.is_whole and not is_doubted and (asked.preset or found.is_sure):
            self._take(found)
        layout = self.layout
        there = {name: tuple(filter(self._has, layout.of(name))) for name in FLAT_FIELDS}
        is_judged = self.table.is_judged or bool(there["reference"] or there["rating"])
        # If a column may be a field, propose the column and do not accept the file without it.
        needed = {"summary"} if asked.is_whole else {"summary", *found.layout.mapping}
        needed |= set() if is_judged else {"document"}
        needed -= {"system"} if layout.system or len(there["summary"]) > 1 else set()
        missing = [name for name in FLAT_REQUIRED if name in needed and not there[name]]
        if missing or is_doubted:
            self._refuse_doubt(missing, found)
        used = {name: columns for name, columns in there.items() if columns}
        if {"reference", "references"} <= {*table.columns} and "reference" not in asked.mapping:
            told = "there are both `reference` and `references`. Say which of the two is `reference`."
            raise unreadable(told, pair="reference=references")
        self._tell_made(used)
        given: dict[str, object] = {} if "document_id" in used else {"document_id": "made of the texts below"}
        if "system" not in used:
            given["system"] = layout.system or DEFAULT_SYSTEM
        self.reading.lacks_target = layout.target is None and "target_words" not in used
        # An optional field may first appear in a later row.
        late = () if asked.is_whole else {*FLAT_OPTIONAL} - {*table.columns, "rating", "rater"}
        columns = {name: (name,) for name in late} | used
        return RowReader(self.reading.problems, self.reading.warnings, columns, given, layout.target)

    def _take(self, found: Guess) -> None:
        mapping = found.layout.mapping
        self.layout = replace(self.layout, mapping=mapping, is_whole=True)
        if not found.is_own or "rating" in mapping:
            read = [f"{name}={printable(each)}" for name in FLAT_FIELDS for each in mapping.get(name, ())]
            title = f" as {found.title}" if found.title else ""
            self._remark(f"Columns are read{title}: {', '.join(read)}.")
        for note in found.notes:
            self._remark(note)

    def _refuse_doubt(self, missing: Sequence[str], found: Guess) -> NoReturn:
        pairs, title, told = found.layout.pairs(), f" {found.title}:" if found.title else "", []
        if missing:
            told.append(f"there is no column {_listed(missing)}. Columns that are there: {self._there()}.")
        if pairs:
            told.append(f"They look like{title} {printable(' '.join(pairs))}.")
        told += [*found.notes, *found.objections]
        named = f"If one has another name, say which column is {' and '.join(_quoted(missing))}."
        told.append(named if missing else "Say which column is which.")
        if "summary" in missing and "summary" not in found.layout.mapping:
            told.append(_LAYOUTS)
        for name in ("document", "summary"):
            unknown = ("COLUMN",) if name in missing else ()
            pairs += [f"{name}={column}" for column in found.layout.mapping.get(name, unknown)]
        raise unreadable(
            " ".join(told),
            line=1 if missing and self.table.format is Format.CSV else None,
            column=missing[0] if missing else "",
            pair="\n".join(dict.fromkeys(pairs)),
        )

    def _refuse_named_systems(self, summaries: Sequence[str]) -> None:
        others = (column for column in self.table.columns if column not in summaries)
        for column in others if len(summaries) > 1 else ():
            # A name such as `system_a`, `model 2` or `modelB`.
            if plain((indexed(column) or (column[:-1],))[0]) in GENERAL["system"]:
                told = f"names a system, and a row holds {len(summaries)} summaries, each of one system. Write one row"
                raise unreadable(f"{told} per summary, with columns `system` and `summary`.", column=column)

    def _has(self, column: str) -> bool:
        # Ignore the index column of pandas, which has no name.
        return bool(column) and (column in self.table.columns or root(column) in self.table.columns)

    def _there(self) -> str:
        return ", ".join(map(printable, self.table.columns))

    def _tell_made(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        if "document_id" not in columns:
            of = next((name for name in ("document", "reference") if name in columns), "summary")
            self._remark(f"`document_id` is made from a hash of the {of}: equal texts are one set.")
        if "system" not in columns and len(columns.get("summary", ())) < 2:
            named = printable(self.layout.system or DEFAULT_SYSTEM)
            self._remark(f"No column names a system: every summary is by “{named}”.")
            told = f"No column names the system, so both are by “{named}”. Name the column, or remove one."
            self.reading.dataset.key_advice = told

    def _tell_contents(self, *, is_nested: bool) -> None:
        dataset, sets = self.reading.dataset, self.reading.dataset.sets
        if marked := dataset.take_marks(are_asked=self.table.tool in ASKS_MARKS):
            told = "They count as unsupported, the other units of annotated summaries as supported."
            self._remark(f"Units in which somebody marked an error: {marked:,}. {told}")
        without = sum(not one.documents for one in sets.values())
        bare = sum(not one.references for one in sets.values())
        there = "of {:,} document sets have no {} here. Without one in the project"
        if without:
            told = there.format(len(sets), "document")
            self._remark(f"{without:,} {told} their alignment is blank.")
        if bare and without < len(sets) and not (is_nested and bare == len(sets)):
            told = there.format(len(sets), "reference")
            told = f"{bare:,} {told} their summaries are compared with documents."
            self._remark(f"{told} If another column holds references, say which column is `reference`.")
        if repeated := [f"{line} repeats {earlier}" for line, earlier in dataset.repeated.items()]:
            told = "If these hold ratings, map `rating` and `rater`, or name columns `criterion`, `score` and `rater`."
            lines = f"{self.table.format.place} {_some(repeated, '; ')}."
            self._remark(f"Duplicate rows are read once: {lines} {told}")
        names = ({name for name, _ in one.summaries} for one in sets.values())
        times = Counter(chain.from_iterable(map(sorted, names)))
        lacking = [f"{printable(n)} ({len(sets) - some:,})" for n, some in times.items() if some < len(sets)]
        if lacking:
            told = f"Some systems lack summaries of some of the {len(sets):,} document sets"
            self._remark(f"{told}: {_some(lacking, ', ')}.")


def _quoted(columns: Iterable[str]) -> list[str]:
    return [f"`{printable(column)}`" for column in columns]


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(_quoted(columns))


def _some(names: Sequence[str], between: str, most: int = 5) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"
