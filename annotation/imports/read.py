"""Read files and pushed rows into typed rows, and find every problem in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import ValidationError

from annotation.core.text_faults import printable
from annotation.imports.containers import Format, NamedFile, Record
from annotation.imports.guess import Look, look_at
from annotation.imports.layout import (
    AUTO,
    DEFAULT_SYSTEM,
    FLAT_FIELDS,
    FLAT_REQUIRED,
    NESTED_OPTIONAL,
    Layout,
    document_hash,
    pick,
    plain,
    root,
)
from annotation.imports.problems import LIKELY_PAIR, Findings, Remedy, unreadable
from annotation.imports.ratings import ratings_in, read_ratings
from annotation.imports.row import PERCENTS, Claim, Dataset, Mark, Peer, Row, Side, faults, judged_sentence
from annotation.imports.tools.duc import are_duc_files, read_duc_files
from annotation.imports.tools.flatten import KEPT
from evaluation.text import LengthUnit, count_length

NAMES_TOLD = 5
ROWS_BETWEEN_STEPS = 500
_NESTED = {
    "document_id": "doc_id",
    "document": "source_text",
    "reference": "reference_text",
    "summary": "summary_text",
}
"""The other names of fields in nested lines."""
_KNOWN = (
    frozenset({"document_id", "document", "reference", "systems", "claims", *NESTED_OPTIONAL}),
    frozenset({"system", "summary", "ratings", "claims"}),
    frozenset({"claim_text", "weight", "unit", "reference_id", "verdicts", "raw_votes", "reasons"}),
)
"""The fields that are read of a line, a system and a claim."""
_NEVER_READ = {
    "percents": f"{PERCENTS}; they are not imported.",
    "judge_verdicts": "A judge's verdicts are not imported: let a judge run here.",
}


@dataclass(slots=True)
class Progress:
    """The numbers of rows read, of document sets written, and of all document sets (0 until all rows are read).

    `step` is called every few hundred rows and sets; an exception from it ends the import. `hold` is called at the end
    of the transaction; an exception from it rolls the import back.
    """

    rows_read: int = 0
    sets_written: int = 0
    sets: int = 0

    def read_row(self) -> None:
        self.rows_read += 1
        if self.rows_read % ROWS_BETWEEN_STEPS == 0:
            self.step()

    def step(self) -> None:
        """Do nothing, unless a subclass reports progress."""

    def hold(self) -> None:
        """Do nothing, unless a subclass can stop the import."""


@dataclass(slots=True)
class FileReading:
    """The contents and the problems of a file; rows with problems are not in the data set.

    `lacks_target` is True if neither the rows nor the layout give a target length.
    """

    format: Format
    dataset: Dataset
    problems: Findings
    warnings: Findings
    lacks_target: bool = False

    @property
    def claims_side(self) -> Side | None:
        return self.dataset.claims_side


def read_files(
    files: Sequence[NamedFile],
    *,
    layout: Layout | None = None,
    length_unit: LengthUnit = "words",
    progress: Progress | None = None,
) -> FileReading:
    """Read one file of rows, or any number of SEE's and DUCView's.

    Raises as `read_dataset`; also ImportRefused if no file has a known format.
    """
    if not files:
        raise unreadable("There is no file to import.")
    if not are_duc_files(files):
        choices: dict[str, Any] = {"layout": layout, "length_unit": length_unit, "progress": progress}
        return read_dataset(files[0].path, name=files[0].name, **choices)
    problems, warnings = Findings(), Findings()
    form, dataset = read_duc_files(files, problems, warnings)
    if layout and layout.is_of_rows:
        raise unreadable(
            "Columns of other names, a system and a target length are for files of rows (CSV, JSON, JSONL, Parquet); "
            "these say such things themselves. Leave them out.",
            file=files[0].name,
        )
    return FileReading(form, dataset, problems, warnings)


def read_dataset(
    path: Path,
    *,
    name: str | None = None,
    layout: Layout | None = None,
    length_unit: LengthUnit = "words",
    progress: Progress | None = None,
) -> FileReading:
    """Read a whole file, and check every row by itself and against the rows before it.

    `name` is the name for people if `path` is a temporary file; lengths of references are counted in the `length_unit`.
    Raises ImportRefused if no row can be trusted: an empty file, another kind of file, a missing column, broken
    quoting.
    """
    file, layout = NamedFile(name or path.name, path), layout or Layout()
    look = look_at(file, layout.encoding)
    reader = _FileReader(file.name, layout, look, progress or Progress(), length_unit)
    return reader.read()


@dataclass(slots=True)
class RowReader:
    """Makes typed rows of records, and notes every problem with the file's own name of the field.

    `columns` has the columns of each flat field, `given` the values of fields without a column. `target` is the target
    length of rows without one. Pushed rows may lack their document, and may have references alone.
    """

    problems: Findings
    warnings: Findings
    columns: Mapping[str, tuple[str, ...]]
    given: Mapping[str, object] = field(default_factory=dict)
    target: int | None = None
    is_pushed: bool = False
    is_nested: bool = False
    unread: dict[str, None] = field(default_factory=dict)

    def flat(self, record: Record) -> Iterator[Row]:
        """The row of a flat record; one for each of several columns of summaries."""
        columns = self.columns.get("summary", ())
        for column in columns or (None,):
            system = column if len(columns) > 1 else None
            if system and self._value(record, "summary", column) is None:
                self.warnings.remark(f"There is no summary by {system!r}.", line=record.line)
            elif row := self._flat(record, column, system):
                yield row

    def _flat(self, record: Record, column: str | None, system: str | None) -> Row | None:
        values = {name: value for name in FLAT_FIELDS if (value := self._value(record, name)) is not ...}
        values.update(self.given)
        if "document_id" not in self.columns:
            values["document_id"] = "made of the texts below"
        peer = {name: values.pop(name) for name in ("system", "summary") if name in values}
        if column and (text := self._value(record, "summary", column)) is not ...:
            peer["summary"] = text
        peer |= {"system": system} if system else {}
        is_bare = self.is_pushed and not any(peer.get(name) is not None for name in ("system", "summary"))
        values["systems"] = [] if is_bare else [peer]
        if self.is_pushed and values.get("document") is None:
            values.pop("document", None)
        row = self._checked(record, values)
        if row is None:
            return None
        before = self.problems.count
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
        if self.problems.count > before:
            return None
        self._remark(row)
        return row

    def _value(self, record: Record, name: str, column: str | None = None) -> Any:
        """The value of a field: of several columns a list, of pieces of one text the text; `...` without a column."""
        columns = (column,) if column else self.columns.get(name, ())
        if not columns or name == "rating" or (name == "summary" and not column):
            return ...
        found = [pick(record.values, each) for each in columns]
        if len(columns) > 1:
            is_one = name == "document" and plain(root(columns[0])) != "documents"
            if name != "document":
                return found
            found = [each for each in found if each is not None]
            return self._joined(found) if is_one else found
        if found[0] is None and root(columns[0]) not in record.values and columns[0] not in record.values:
            return ...
        is_pieces = columns[0].endswith("[]") or (name == "summary" and "[]" in columns[0])
        if name == "metadata" and found[0] and not isinstance(found[0], dict) and columns[0] != name:
            is_json = isinstance(found[0], str) and found[0].lstrip().startswith("{")
            return found[0] if is_json else {columns[0]: found[0]}
        return self._joined(found[0]) if is_pieces else found[0]

    def _joined(self, value: Any) -> Any:
        is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
        return " ".join(value) if is_texts else value

    def _take_answers(self, record: Record, peer: Peer, rater: str) -> None:
        """People's answers of a flat record: ratings, marks and sentences that they judged."""
        columns = self.columns.get("rating", ())
        held = chain(*(ratings_in(column, pick(record.values, column), rater) for column in columns))
        peer.rated, left = read_ratings(chain(record.said.ratings, held))
        peer.marks = list(self._marks(record, peer.summary))
        for sentence, votes, reason in record.said.claims:
            try:
                peer.claims.append(judged_sentence(peer.system, sentence, votes, reason))
            except ValidationError as error:
                self._note(record, ("",), "; ".join(told for _, told in faults(error)))
        for remark in dict.fromkeys((*left, *record.said.remarks)):
            self.warnings.remark(remark, line=record.line)

    def _marks(self, record: Record, summary: str) -> Iterator[Mark]:
        """The marks in the summary. Marks of other texts are left out with a remark."""
        for mark in record.said.marks:
            words = mark.words or (mark.text or summary)[mark.start : mark.end]
            start = mark.start if summary[mark.start : mark.end] == words else summary.find(words)
            if not mark.end:
                yield mark
            elif (mark.text and mark.text != summary) or not words or start < 0:
                told = f"The mark “{printable(words)}” is not in the summary and left out."
                self.warnings.remark(told, line=record.line)
            else:
                yield mark._replace(start=start, end=start + len(words), words=words)

    def nested_row(self, record: Record) -> Row | None:
        """The row of a nested line. Fields that are not read are noted."""
        values = self._renamed(record.values, 0, "")
        for name, level in (("systems", 1), ("claims", 2)):
            values |= {name: self._inner(values[name], level, name)} if name in values else {}
        for peer in values.get("systems") or ():
            if isinstance(peer, dict) and "claims" in peer:
                peer["claims"] = self._inner(peer["claims"], 2, "systems[].claims")
        for name in ("claims", "systems"):
            values = {key: value for key, value in values.items() if key != name or value is not None}
        row = self._checked(record, values)
        if row is None:
            return None
        before = self.problems.count
        self._check_nested(record, row)
        for peer in row.systems:
            peer.rated, left = read_ratings(ratings_in("rating", peer.given, ""))
            for remark in left:
                self.warnings.remark(remark, line=record.line)
        if self.problems.count > before:
            return None
        self._remark(row)
        return row

    def _renamed(self, values: Mapping[str, Any], level: int, path: str) -> dict[str, Any]:
        own = {_NESTED.get(name, name): name for name in _KNOWN[level]}
        self.unread.update(dict.fromkeys(f"{path}{name}" for name in values if name not in own))
        return {own[name]: value for name, value in values.items() if name in own}

    def _inner(self, value: Any, level: int, path: str) -> Any:
        if not isinstance(value, list):
            return value
        return [self._renamed(one, level, f"{path}[].") if isinstance(one, dict) else one for one in value]

    def _check_nested(self, record: Record, row: Row) -> None:
        complain = partial(self._note, record)
        names = [peer.system for peer in row.systems]
        if not names:
            complain(("systems",), "must be a list of objects with at least one in it.")
        if not (row.documents or row.references):
            complain(("document",), "")
        for place, name in enumerate(names):
            if name in names[:place]:
                complain(("systems",), f"names {name!r} twice, the second time at place {place + 1}.")
        owners: list[tuple[tuple[str | int, ...], list[str], list[Claim]]]
        owners = [(("claims",), names, row.claims)]
        owners += [
            (("systems", at, "claims"), [each.system], each.claims) for at, each in enumerate(row.systems)
        ]
        for path, known, claims in owners:
            said: dict[tuple[str, str], str] = {}
            for place, claim in enumerate(claims):
                answered = {"raw_votes": claim.votes, "verdicts": claim.verdicts, "reasons": claim.reasons}
                for system in claim.systems - set(known):
                    kind = next((name for name, given in answered.items() if system in given), "verdicts")
                    where = (
                        "which has no summary in this line" if len(path) == 1 else "and is that of another"
                    )
                    complain((*path, place, kind), f"names the system {system!r}, {where}.")
                claim.systems &= set(known)
                for system, verdict in claim.verdicts.items():
                    if said.setdefault((claim.text, system), verdict) != verdict:
                        told = f"repeats an earlier claim with another verdict on {system!r}. Remove one."
                        complain((*path, place, "claim_text"), told)
        ids = {one.id for one in row.references}
        for place, claim in enumerate(row.claims):
            if claim.reference_id and claim.reference_id not in ids:
                there = (
                    f"The line has {_listed(sorted(ids))}."
                    if ids - {""}
                    else "No reference of the line has an id."
                )
                named = printable(claim.reference_id)
                complain(
                    ("claims", place, "reference_id"),
                    f"is {named!r}, which is no reference of the line. {there}",
                )
        if len(ids) > 1 and not all(claim.reference_id for claim in row.claims):
            complain(
                ("claims",),
                "are beside several references, and do not name theirs. Give each claim its `reference_id`: one of "
                "the line's, or the reference's place from 1.",
            )

    def column(self, place: Sequence[str | int]) -> str:
        """The file's name of a place in a row, such as `systems[2].summary_text` in a nested line."""
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
        """Add a problem of a place in a row; without a reason, the place is missing."""
        column = self.column(place)
        if reason:
            self.problems.add(record.line, column, reason)
            return
        there = ", ".join(map(str, list(record.values)[:20])) or "none"
        own = column.rpartition(".")[2] if self.is_nested else place[-1]
        told = f"If it has another name, say which field is `{own}`."
        reason = f"is missing. Fields that are there: {printable(there)}. {told}"
        self.problems.add(record.line, column, reason, remedy=Remedy.MAP)

    def _remark(self, row: Row) -> None:
        for remark in filter(None, (peer.remark(row.document_id) for peer in row.systems)):
            self.warnings.remark(remark, line=row.line)


@dataclass(slots=True)
class _FileReader:
    name: str
    layout: Layout
    look: Look
    progress: Progress
    length_unit: LengthUnit
    dataset: Dataset = field(default_factory=Dataset)
    warnings: Findings = field(default_factory=Findings)
    lacks_target: bool = False
    system_pair: str = ""
    """The assignment to propose if no column is read as the system."""

    @property
    def problems(self) -> Findings:
        return self.look.table.problems

    def read(self) -> FileReading:
        form = self.look.format
        self.problems.word = self.warnings.word = form.place
        first = self.look.records[0] if self.look.records else None
        is_nested = first is not None and self.look.may_nest and "systems" in first.values
        reader = RowReader(self.problems, self.warnings, {}, is_nested=is_nested)
        if first and is_nested:
            form = Format.NESTED_JSONL
            self._require_nested(first)
        elif first or not self.look.may_nest:
            reader = self._settle()
        for record in self.look.all_records:
            self.progress.read_row()
            if self.look.may_nest and ("systems" in record.values) is not is_nested:
                here, there = ("flat", "nested") if is_nested else ("nested", "flat")
                told = f"is {here}, but the first one is {there}. A file is one or the other: split it."
                self.problems.add(record.line, "", told)
            else:
                if not is_nested:
                    self._note_unread(reader, record)
                self._add(reader, record)
        if not self.dataset.sets and not self.problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        self._settle_dataset(is_nested=is_nested)
        self._remark(reader.unread, is_nested=is_nested)
        return FileReading(form, self.dataset, self.problems, self.warnings, self.lacks_target)

    def _add(self, reader: RowReader, record: Record) -> None:
        rows = [reader.nested_row(record)] if reader.is_nested else reader.flat(record)
        for row in filter(None, rows):
            for name, reason in self.dataset.add(row, is_nested=reader.is_nested):
                # Only rows of one key are a complaint of no field.
                pair = "" if name else self.system_pair
                remedy = Remedy.MAP if pair else None
                self.problems.add(record.line, reader.column((name,)), reason, remedy=remedy, pair=pair)

    def _note_unread(self, reader: RowReader, record: Record) -> None:
        read = {name for columns in reader.columns.values() for name in columns}
        read |= set(map(root, read))
        # pandas writes its index under no name; tools leave fields empty.
        filled = (
            name for name, value in record.values.items() if not self.look.tool or value not in ("", None, [])
        )
        read |= KEPT if self.look.tool else set()
        reader.unread.update(dict.fromkeys(name for name in filled if name and name not in read))

    def _require_nested(self, first: Record) -> None:
        if "summary" in first.values:
            raise unreadable(
                "holds both `systems` (nested) and `summary` (flat). A line is one document with a list of systems, or "
                "one summary.",
                line=first.line,
            )
        if self.layout.is_of_rows:
            raise unreadable(
                f"{self.name} is nested: its lines name all themselves. Leave columns, preset, system and target out."
            )

    def _settle(self) -> RowReader:
        """Complete the layout: the column of every field, or a fixed value for fields without a column.

        Raises ImportRefused for a missing column.
        """
        asked, look = self.layout, self.look
        guess = look.guess(preset=asked.preset or AUTO, given=asked.mapping)
        is_missing = not all(any(map(self._has, asked.of(name))) for name in FLAT_REQUIRED)
        if asked.preset or (is_missing and not asked.is_whole and guess.is_sure):
            if look.records and guess.objections and not {"document", "summary"} <= asked.mapping.keys():
                pairs = guess.layout.pairs()
                raise unreadable(
                    f"its columns read like {printable(' '.join(pairs))}. {' '.join(guess.objections)} "
                    "Say which column is which.",
                    remedy=Remedy.MAP,
                    pair="\n".join(pairs) or LIKELY_PAIR,
                )
            system = asked.system or guess.layout.system
            self.layout = replace(asked, mapping=guess.layout.mapping, system=system, is_whole=True)
            self._tell_columns(guess.title)
            for note in guess.notes:
                self.warnings.remark(note)
        elif guess.is_own and not asked.is_whole:
            beside = {
                name: columns
                for name, columns in guess.layout.mapping.items()
                if columns != (name,) or name in ("rater", "rating")
            }
            self.layout = replace(asked, mapping={**beside, **asked.mapping})
            if beside.keys() - {"rating"}:
                self._tell_columns("")
        for name, columns in asked.mapping.items():
            for column in columns:
                self._require_column(name, column)
        there = {name: tuple(filter(self._has, self.layout.of(name))) for name in FLAT_FIELDS}
        self._refuse_missing(
            [name for name in FLAT_REQUIRED if not there[name] and not self._is_made_up(name)]
        )
        late = look.format.is_json and not self.layout.is_whole
        # Fields in JSON may be there in later rows only.
        found = {
            name: there[name] or (self.layout.of(name) if late and name not in _OF_ALL else ())
            for name in FLAT_FIELDS
        }
        used = {name: some for name, some in found.items() if some}
        self._tell_made(used)
        self._refuse_claims(used)
        given: dict[str, Any] = {}
        if "system" not in used:
            given["system"] = self.layout.system or DEFAULT_SYSTEM
        target = self.layout.target if isinstance(self.layout.target, int) else None
        self.lacks_target = self.layout.target is None and not there["target_words"]
        return RowReader(self.problems, self.warnings, used, given, target)

    def _require_column(self, name: str, column: str) -> None:
        if not self._has(column):
            raise unreadable(
                f"the column {column!r} is given for {name}, and there is no such column. Columns that are there: "
                f"{self._there()}.",
                column=column,
                remedy=Remedy.MAP,
            )

    def _refuse_claims(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        """Refuse claims in columns that are not read, which would otherwise be lost without a word."""
        read = {column for some in columns.values() for column in some}
        read |= set(map(root, read))
        for column in self.look.columns:
            if plain(column.rpartition(".")[2]) == "claims" and not {column, root(column)} & read:
                raise unreadable(
                    f"`{printable(column)}` is not read: a file with one row for each summary holds no claims. Give "
                    "them in the nested layout, one line a document, or remove the column.",
                    column=column,
                )

    def _has(self, column: str) -> bool:
        # pandas writes its index under a head without a name.
        return bool(column) and (column in self.look.columns or root(column) in self.look.columns)

    def _there(self) -> str:
        # Only names in JSON may be paths into an object.
        is_json = self.look.format.is_json
        return ", ".join(printable(each) for each in self.look.columns if not is_json or each == root(each))

    def _tell_columns(self, title: str) -> None:
        layout = self.layout
        read = [
            f"{name}={printable(column)}"
            for name in FLAT_FIELDS
            for column in layout.of(name)
            if self._has(column)
        ]
        self.warnings.remark(f"Columns are read{f' as {title}' if title else ''}: {', '.join(read)}.")

    def _refuse_missing(self, missing: Sequence[str]) -> None:
        """Raise ImportRefused if a field has neither a column nor a fixed value, or if another column looks like it."""
        if not missing:
            return
        proposal, layout = self.look.guess(), self.layout
        pairs = proposal.layout.pairs()
        proposed = {pair.partition("=")[0] for pair in pairs}
        is_like = not layout.is_whole and not proposed.isdisjoint(missing) and proposal.has_texts
        if self.look.format.is_json and not is_like and not layout.is_whole:
            # Each row then says what it has instead.
            return
        wanted = [next(iter(layout.mapping.get(name, (name,)))) for name in missing]
        like, told = " ".join(pairs), " and ".join(f"`{name}`" for name in missing)
        why = "".join(f" {reason}" for reason in (*proposal.notes, *proposal.objections)) if is_like else ""
        title = f" {proposal.title}:" if proposal.title else ""
        way_out = (
            f"Say which column is {told}; where none is, add it to the file."
            if layout.is_whole
            else f"If one has another name, say which column is {told}."
        )
        raise unreadable(
            f"there is no column {', '.join(f'`{name}`' for name in wanted)}. Columns that are there: "
            f"{self._there()}.{f' They read like{title} {printable(like)}.' if is_like else ''}{why} {way_out}",
            line=1 if self.look.format is Format.CSV else None,
            column=wanted[0],
            remedy=Remedy.MAP if proposal.objections or not is_like else Remedy.PRESET,
            pair="\n".join(pairs) if is_like else f"{missing[0]}=COLUMN",
        )

    def _is_made_up(self, name: str) -> bool:
        """True if a field without a column gets a fixed value or may be missing."""
        layout = self.layout
        if name == "system" and (layout.system or len(layout.of("summary")) > 1):
            return True
        if name == "summary" or name in layout.mapping:
            return False
        others = (*layout.of("reference"), *layout.of("rating"))
        if name == "document" and not (any(map(self._has, others)) or self.look.is_judged):
            return False
        # A column that looks like it is not passed over in silence.
        return layout.is_whole or name not in self.look.guess(given=layout.mapping).layout.mapping

    def _tell_made(self, columns: Mapping[str, tuple[str, ...]]) -> None:
        if "document_id" not in columns:
            self.warnings.remark(
                "`document_id` is made from a hash of the document: rows with the same document are one document set."
            )
        if rated := columns.get("rating"):
            whose = f", the raters from `{printable(columns['rater'][0])}`" if "rater" in columns else ""
            self.warnings.remark(f"People's ratings are read from {_listed(rated)}{whose}.")
        if len(summaries := columns.get("summary", ())) > 1:
            self.warnings.remark(f"Each of these columns is one system: {_listed(summaries)}.")
        elif "system" not in columns:
            named = printable(self.layout.system or DEFAULT_SYSTEM)
            self.warnings.remark(f"No column names a system: every summary is by “{named}”.")
            self.system_pair = "system=COLUMN"
            self.dataset.key_advice = (
                f"No column is read as the system, so both are by “{named}”. Say which column is `system`, or remove "
                "one of the two."
            )

    def _settle_dataset(self, *, is_nested: bool) -> None:
        if is_nested:
            self.dataset.settle_claims()
        if marked := self.dataset.take_marks():
            self.warnings.remark(
                f"Units of summaries in which somebody marked an error: {marked:,}. They count as unsupported, the "
                "other units of annotated summaries as supported."
            )
        if self.layout.target == "reference":
            references = [one for each in self.dataset.sets.values() for one in each.references.values()]
            lengths = [
                count_length(text.text, self.length_unit) for one in references for text in one.texts.values()
            ]
            if not lengths and not self.problems.count:
                raise unreadable(
                    "The target length cannot follow the references, because there are none. Give a number, or none."
                )
            # One target for all, for scores are never averaged across several.
            target = max(1, round(median(lengths or [1])))
            self.dataset.retarget(target)
            self.warnings.remark(
                f"The target length is {target:,} {self.length_unit}, the median of the references."
            )

    def _remark(self, unread: Mapping[str, None], *, is_nested: bool) -> None:
        sets = self.dataset.sets.values()
        without = sum(not one.documents for one in sets)
        if without:
            self.warnings.remark(
                f"{without:,} of {len(sets):,} document sets have no document here. Without one in the project their "
                "alignment is blank."
            )
        bare = sum(not one.references for one in sets)
        if bare == len(sets) and not is_nested and without < len(sets):
            self.warnings.remark(
                "No row has a `reference`, so summaries are compared with their documents. If another column holds "
                "it, say which column is `reference`.",
                remedy=Remedy.MAP,
            )
        elif 0 < bare < len(sets):
            self.warnings.remark(
                f"{bare:,} of {len(sets):,} document sets have no reference here. Without one in the project their "
                "summaries are compared with the documents, and means mix both."
            )
        if repeated := self.dataset.repeated:
            lines = [f"{line} repeats {earlier}" for line, earlier in repeated.items()]
            self.warnings.remark(
                f"Duplicate rows are read once: {self.look.format.place} {_some(lines, '; ')}."
            )
        self._tell_missing()
        for remark in self.look.table.remarks:
            self.warnings.remark(remark)
        names = [name for name in unread if name.rpartition(".")[2] not in _NEVER_READ]
        for name, told in _NEVER_READ.items():
            if any(each.rpartition(".")[2] == name for each in unread):
                self.warnings.remark(f"Not read: `{name}`. {told}")
        if names:
            self.warnings.remark(f"Not read: {_some([f'`{printable(name)}`' for name in names], ', ', 20)}.")

    def _tell_missing(self) -> None:
        """Remark on systems that lack summaries of some sets: their means are not over the same things."""
        sets, found = self.dataset.sets, self.dataset.sets_of
        lacking = [name for name, times in found.items() if times < len(sets)]
        for system in lacking[:NAMES_TOLD]:
            names = [name for name, one in sets.items() if not any(who == system for who, _ in one.peers)]
            self.warnings.remark(
                f"{printable(system)} has no summary in {len(names):,} of {len(sets):,} document sets "
                f"({_some(list(map(printable, names)), ', ')})."
            )
        if len(lacking) > NAMES_TOLD:
            more = f"{len(lacking) - NAMES_TOLD:,} more systems lack summaries of some document sets."
            self.warnings.remark(more)


_OF_ALL = {"document_id", "system", "rater", "rating"}
"""Fields that are read only if the first rows have them."""


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f"`{printable(column)}`" for column in columns)


def _some(names: Sequence[str], between: str, most: int = NAMES_TOLD) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"
