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
    FLAT_REQUIRED,
    GENERAL,
    NESTED_OPTIONAL,
    Layout,
    document_hash,
    indexed,
    last,
    pick,
    plain,
    root,
)
from annotation.imports.problems import Findings, unreadable
from annotation.imports.ratings import ratings_in, read_ratings
from annotation.imports.row import (
    PERCENTS,
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

NAMES_TOLD = 5
ROWS_BETWEEN_STEPS = 500
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
"""The fields of a nested line, a system and a claim."""
_OF_SEVERAL = {"document", "documents", "articles", "contexts", "retrievedcontexts"}
"""Names of columns whose list is several documents."""
_NEVER_READ = {
    "percents": f"{PERCENTS}; they are not imported.",
    "judge_verdicts": "A judge's verdicts are not imported: let a judge run here.",
}
_LAYOUTS = (
    "If none does, write one row per summary, with columns `document_id`, `document`, `reference`, `system` and "
    "`summary`, or the nested layout, with `doc_id`, `source_text`, `reference_text` and `systems`, a list of objects "
    "with `system` and `summary_text`."
)
_LAST = re.compile(r"[\W_]*([0-9]+|(?<=[\W_a-z])[A-Z]|(?<=[\W_])[a-z])$")
"""The letter or number at the end of a name such as `system_a`, `model 2` or `modelB`."""
_OF_ALL = {"document_id", "system", "rater", "rating"}
"""In JSON, fields that are read only if one of the first rows has them."""


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
        reading = FileReading(table.format, problems=table.problems)
        return _FileReader(files[0].name, layout, table, progress or Progress(), reading).read()
    if layout.is_of_rows:
        told = "names its own systems and target lengths; choices of columns apply to files of rows."
        raise unreadable(told, file=files[0].name)
    problems, warnings = Findings(), Findings()
    return FileReading(*read_duc_files(files, problems, warnings), problems, warnings)


def read_dataset(path: Path, **choices: Any) -> FileReading:
    """Read a single file with `read_files`."""
    return read_files([NamedFile(path.name, path)], **choices)


@dataclass(slots=True)
class RowReader:
    """Turns records into typed rows, and reports problems with the names that the file uses.

    `columns` has the columns of each field of flat rows; `systems` has the system of each column of summaries if there
    are several. `given` has values of fields without a column, and `target` is the target length of flat rows that have
    none. Pushed rows may have a reference without a summary. `unread` collects the names of fields that are not read.
    """

    problems: Findings
    warnings: Findings
    columns: Mapping[str, tuple[str, ...]]
    given: Mapping[str, object] = field(default_factory=dict)
    target: int | None = None
    is_pushed: bool = False
    is_nested: bool = False
    unread: dict[str, None] = field(default_factory=dict)
    systems: Mapping[str, str] = field(default_factory=dict)

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
        found = {name: self._value(record, name, column) for name in self.columns if name != "rating"}
        values: dict[str, Any] = dict(self.given)
        values |= {name: value for name, value in found.items() if value is not None}
        summary = {name: values.pop(name) for name in ("system", "summary") if name in values}
        if self.systems:
            summary["system"] = self.systems[column]
            if "summary" not in summary:
                self.warnings.remark(f"There is no summary by {summary['system']!r}.", line=record.line)
                return None
        is_bare = self.is_pushed and not summary
        row = self._checked(record, {**values, "systems": [] if is_bare else [summary]})
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
            self._take_answers(record, one, row.rater)
        return row

    def _value(self, record: Record, name: str, column: str) -> Any:
        columns = (column,) if name == "summary" else self.columns[name]
        found = [pick(record.values, each) for each in columns]
        if len(columns) > 1:
            found = [each for each in found if name == "reference" or each not in (None, "")]
            return found if name == "reference" or _are_several(columns) else _joined(found)
        [column], [value] = columns, found
        is_object = isinstance(value, dict) or (isinstance(value, str) and value.lstrip()[:1] == "{")
        if name == "metadata" and column != name and not is_object:
            return {column: value} if value else None
        # If summaries are lists of sentences, so is the document.
        lists = {"summary": (column,), "document": self.columns.get("summary", ())}.get(name, ())
        is_sentences = any("[]" in each for each in lists) and plain(root(column)) not in _OF_SEVERAL
        return _joined(value) if column.endswith("[]") or is_sentences else value

    def _take_answers(self, record: Record, summary: Summary, rater: str) -> None:
        columns = self.columns.get("rating", ())
        of_columns = (each for name in columns for each in ratings_in(name, pick(record.values, name), rater))
        summary.given, left = read_ratings((*record.said.ratings, *of_columns))
        if summary.given and self.systems:
            told = f"rates a row that holds {len(self.systems)} summaries. Write one row per summary, with columns"
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
        own = {_NESTED.get(name, name): name for name in _KNOWN[level]}
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
        if not self.is_nested:
            name = next(part for part in reversed(place) if isinstance(part, str))
            return next(iter(self.columns.get(name, (name,))), name)
        parts = [
            f"[{each + 1}]" if isinstance(each, int) else f".{_NESTED.get(each, each)}" for each in place
        ]
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
        """Add a problem; an empty reason means that the field is missing or has no value."""
        column, pair = self.column(place), ""
        if not reason and column in record.values:
            reason = "has no value."
        elif not reason:
            there = printable(", ".join(map(str, list(record.values)[:20])) or "none")
            own = column.rpartition(".")[2] if self.is_nested else place[-1]
            pair = "" if self.is_nested else f"{own}=COLUMN"
            told = f"If it has another name, say which field is `{own}`."
            reason = f"is missing. Fields that are there: {there}. {told}"
        self.problems.add(record.line, column, reason, pair=pair)


def _places(words: str, text: str) -> list[tuple[int, int]]:
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [found.span(1) for found in re.finditer(f"(?=({pattern}))", text)] if pattern else []


def _are_several(columns: Sequence[str]) -> bool:
    is_numbered = all(indexed(column) and column == root(column) for column in columns)
    return is_numbered or plain(root(columns[0])) in _OF_SEVERAL


def _joined(value: Any) -> Any:
    is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return " ".join(value) if is_texts else value


def _systems_of(columns: Sequence[str], keys: Iterable[str]) -> dict[str, str]:
    """Shared parts are dropped: `outputs.alder.text` and `outputs.birch.text` become `alder` and `birch`."""
    if len(columns) < 2:
        return {}
    names = list(columns)
    if len({root(name) for name in names}) == 1 and {*names}.isdisjoint(keys):
        names = [name.removeprefix(f"{root(name)}.") for name in names]
        if all("." in name for name in names) and len({name.rpartition(".")[2] for name in names}) == 1:
            names = [name.rpartition(".")[0] for name in names]
    first = re.match(r"[^\W_]+[\s_-]", names[0])
    if first and plain(first[0]) in GENERAL["summary"] and all(name.startswith(first[0]) for name in names):
        names = [name.removeprefix(first[0]) for name in names]
    return dict(zip(columns, names if len({*names}) == len(columns) else columns, strict=True))


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
                yield place, f"names the system {system!r}, which has no summary in this line."
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
        first = table.first[0].values if table.first else {}
        is_nested = table.may_nest and "systems" in first
        reader = RowReader(problems, self.reading.warnings, {}, is_nested=is_nested)
        if not is_nested:
            reader = self._settle() if table.first or not table.may_nest else reader
        elif "summary" in first:
            told = "holds both `systems` (nested) and `summary` (flat). A line is one document with a list of systems"
            raise unreadable(f"{told}, or one summary.", line=table.first[0].line)
        elif self.layout.is_of_rows:
            raise unreadable(f"{self.name} is nested. Leave out columns, preset, system and target.")
        else:
            self.reading.format = Format.NESTED_JSONL
        read = {*chain(*reader.columns.values())}
        read |= {*map(root, read), *(KEPT if table.tool else ())}
        # An empty field of a tool's record does not count as unread.
        empty: tuple[object, ...] = ("", None, []) if table.tool else ()
        for record in table.records:
            self.progress.rows_read += 1
            if self.progress.rows_read % ROWS_BETWEEN_STEPS == 0:
                self.progress.step()
            if table.may_nest and ("systems" in record.values) is not is_nested:
                here, there = ("flat", "nested") if is_nested else ("nested", "flat")
                told = f"is {here}, but the first one is {there}. Split the file into one of each."
                problems.add(record.line, "", told)
                continue
            if not is_nested:
                # Ignore the index column of pandas, which has no name.
                unread = (name for name in record.values if name and name not in read)
                reader.unread.update((name, None) for name in unread if record.values[name] not in empty)
            for row in reader.rows(record):
                for name, reason in dataset.add(row, is_nested=is_nested):
                    pair = "system=COLUMN" if not name and "system" in reader.given else ""
                    problems.add(record.line, reader.column((name,)), reason, pair=pair)
        if not dataset.sets and not problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        if is_nested:
            dataset.settle_claims()
        self._tell_contents(bool(reader.unread), is_nested=is_nested)
        self._tell_unread(reader.unread)
        return self.reading

    def _settle(self) -> RowReader:
        asked, table = self.layout, self.table
        for name, column in ((name, column) for name, some in asked.mapping.items() for column in some):
            if not self._has(column):
                told = f"the column {column!r} is given for {name}, and there is no such column. Columns that are"
                raise unreadable(f"{told} there: {self._there()}.", column=column, pair=f"{name}=COLUMN")
        found = guess(table, preset=asked.preset or AUTO, given=asked.mapping)
        self._refuse_named_systems(found.layout.of("summary"))
        if not asked.is_whole:
            has_all = all(any(map(self._has, asked.of(name))) for name in FLAT_REQUIRED)
            is_doubted = bool(table.first and found.objections) and (bool(asked.preset) or has_all)
            if is_doubted and not {"document", "summary"} <= asked.mapping.keys():
                self._refuse_doubt([], found)
            if asked.preset or found.is_own or (found.is_sure and not has_all):
                self._take(found)
        layout = self.layout
        there = {name: tuple(filter(self._has, layout.of(name))) for name in FLAT_FIELDS}
        missing = [name for name in FLAT_REQUIRED if not there[name] and not self._may_lack(name, found)]
        if missing:
            self._refuse_doubt(missing, found)
        # In JSON, a field may first appear in a later row.
        late = {*FLAT_FIELDS} - _OF_ALL if table.format.is_json and not layout.is_whole else ()
        all_of = {name: there[name] or (layout.of(name) if name in late else ()) for name in FLAT_FIELDS}
        used = {name: columns for name, columns in all_of.items() if columns}
        self._refuse_ambiguous(used, asked.mapping)
        self._tell_made(used)
        given: dict[str, object] = {} if "document_id" in used else {"document_id": "made of the texts below"}
        if "system" not in used:
            given["system"] = layout.system or DEFAULT_SYSTEM
        self.reading.lacks_target = layout.target is None and not there["target_words"]
        systems, warnings = _systems_of(used.get("summary", ()), self._keys()), self.reading.warnings
        return RowReader(self.reading.problems, warnings, used, given, layout.target, systems=systems)

    def _take(self, found: Guess) -> None:
        asked, pairs = self.layout, found.layout.pairs()
        system = asked.system or found.layout.system
        self.layout = replace(asked, mapping=found.layout.mapping, system=system, is_whole=not found.is_own)
        if not found.is_own or any(not pair.startswith("rating=") for pair in pairs):
            columns = ((name, column) for name in FLAT_FIELDS for column in self.layout.of(name))
            read = [f"{name}={printable(column)}" for name, column in columns if self._has(column)]
            title = f" as {found.title}" if found.title else ""
            self._remark(f"Columns are read{title}: {', '.join(read)}.")
        for note in found.notes:
            self._remark(note)

    def _refuse_doubt(self, missing: Sequence[str], found: Guess) -> NoReturn:
        pairs, layout, told = found.layout.pairs(), self.layout, []
        wanted = [next(iter(layout.mapping.get(name, (name,)))) for name in missing]
        if missing:
            told = [f"there is no column {_listed(wanted)}. Columns that are there: {self._there()}."]
        known = {name for name in missing if name in found.layout.mapping}
        is_like = not missing or (bool(known) and not layout.is_whole)
        if is_like:
            title = f" {found.title}:" if found.title else ""
            told += [f"They look like{title} {printable(' '.join(pairs))}.", *found.notes, *found.objections]
        if missing:
            told.append(f"If one has another name, say which column is {' and '.join(_quoted(missing))}.")
        else:
            told.append("Say which column is which.")
        if "summary" in {*missing} - known:
            told.append(_LAYOUTS)
        for name in ("document", "summary"):
            pairs += [f"{name}={column}" for column in found.layout.of(name)]
            pairs += [f"{name}=COLUMN"] if name in {*missing} - known else []
        raise unreadable(
            " ".join(told),
            line=1 if missing and self.table.format is Format.CSV else None,
            column=wanted[0] if missing else "",
            pair="\n".join(dict.fromkeys(pairs) if is_like else (f"{name}=COLUMN" for name in missing)),
        )

    def _refuse_named_systems(self, summaries: Sequence[str]) -> None:
        for column in self.table.columns if len(summaries) > 1 else ():
            name = _LAST.sub("", column)
            named = {str(record.values.get(column) or "") for record in self.table.first}
            are_names = len(named) > 1 and all(len(each.split()) < 4 for each in named)
            if are_names and name != column and plain(name) in GENERAL["system"]:
                told = f"names another system in another row, and a row holds {len(summaries)} summaries. Write one row"
                raise unreadable(f"{told} per summary, with columns `system` and `summary`.", column=column)

    def _refuse_ambiguous(self, used: Mapping[str, tuple[str, ...]], asked: Mapping[str, object]) -> None:
        if {"reference", "references"} <= {*self.table.columns} and "reference" not in asked:
            told = "there are both `reference` and `references`. Say which of the two is `reference`."
            raise unreadable(told, pair="reference=references")
        for column in used.get("summary", ()):
            if {column, root(column)} & {*used.get("document", ())}:
                told = f"the column {column!r} is read as both the document and the summary. Name a path for each."
                raise unreadable(told, column=column, pair="document=COLUMN")
        read = {*chain(*used.values())}
        read |= {*map(root, read)}
        for column in self.table.columns:
            if last(column).rstrip("s") == "claim" and not {column, root(column)} & read:
                told = "is not read: only the nested layout, one line a document, holds claims. Remove the column."
                raise unreadable(f"`{printable(column)}` {told}", column=column)

    def _has(self, column: str) -> bool:
        # Ignore the index column of pandas, which has no name.
        return bool(column) and (column in self.table.columns or root(column) in self.table.columns)

    def _keys(self) -> set[str]:
        # Paths into objects are listed among the columns, too.
        return {name for record in self.table.first for name in record.values} or {*self.table.columns}

    def _there(self) -> str:
        keys = self._keys()
        return ", ".join(printable(each) for each in self.table.columns if each in keys)

    def _may_lack(self, name: str, found: Guess) -> bool:
        layout = self.layout
        if name == "system" and (layout.system or len(layout.of("summary")) > 1):
            return True
        others = (*layout.of("reference"), *layout.of("rating"))
        is_judged = self.table.is_judged or any(map(self._has, others))
        if name == "summary" or name in layout.mapping or (name == "document" and not is_judged):
            return False
        # If a column may be the field, propose the column and do not accept the file without it.
        return layout.is_whole or name not in found.layout.mapping

    def _tell_made(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        if "document_id" not in columns:
            of = next((name for name in ("document", "reference") if name in columns), "summary")
            self._remark(f"`document_id` is made from a hash of the {of}: equal texts are one set.")
        if len(texts := columns.get("document", ())) > 1:
            told = "several documents of a set" if _are_several(texts) else "pieces of one document"
            self._remark(f"These columns are {told}: {_listed(texts)}.")
        if rated := columns.get("rating"):
            whose = f", the raters from `{printable(columns['rater'][0])}`" if "rater" in columns else ""
            self._remark(f"People's ratings are read from {_listed(rated)}{whose}.")
        if len(summaries := columns.get("summary", ())) > 1:
            told = f"Each of these columns is one system: {_listed(summaries)}."
            self._remark(f"{told} Ratings of them need one row per summary.")
        elif "system" not in columns:
            named = printable(self.layout.system or DEFAULT_SYSTEM)
            self._remark(f"No column names a system: every summary is by “{named}”.")
            told = f"No column names the system, so both are by “{named}”. Name the column, or remove one."
            self.reading.dataset.key_advice = told

    def _tell_contents(self, has_unread: bool, *, is_nested: bool) -> None:
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
        if bare == len(sets) and not is_nested and without < len(sets):
            told = "No row has a `reference`, so summaries are compared with their documents."
            self._remark(f"{told} If another column holds it, say which column is `reference`.")
        elif 0 < bare < len(sets):
            told = there.format(len(sets), "reference")
            self._remark(f"{bare:,} {told} their summaries are compared with documents; means mix both.")
        if repeated := [f"{line} repeats {earlier}" for line, earlier in dataset.repeated.items()]:
            which = "Duplicate rows"
            which = "Rows that differ at most in columns that are not read" if has_unread else which
            told = " If these hold ratings, map `rating` and `rater`, or name columns `criterion`, `score` and `rater`."
            lines = f"{self.table.format.place} {_some(repeated, '; ')}.{told if has_unread else ''}"
            self._remark(f"{which} are read once: {lines}")
        names = ({name for name, _ in one.summaries} for one in sets.values())
        times = Counter(chain.from_iterable(map(sorted, names)))
        lacking = [f"{printable(n)} ({len(sets) - some:,})" for n, some in times.items() if some < len(sets)]
        if lacking:
            told = f"Some systems lack summaries of some of the {len(sets):,} document sets"
            self._remark(f"{told}: {_some(lacking, ', ')}.")

    def _tell_unread(self, unread: Iterable[str]) -> None:
        for remark in self.table.remarks:
            self._remark(remark)
        unexplained = []
        for name in unread:
            own = name.rpartition(".")[2]
            if reason := _NEVER_READ.get("percents" if "percent" in last(name) else own):
                self._remark(f"Not read: `{printable(own)}`. {reason}")
            else:
                unexplained.append(name)
        if unexplained:
            self._remark(f"Not read: {_some(_quoted(unexplained), ', ', 20)}.")


def _quoted(columns: Iterable[str]) -> list[str]:
    return [f"`{printable(column)}`" for column in columns]


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(_quoted(columns))


def _some(names: Sequence[str], between: str, most: int = NAMES_TOLD) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"
