"""From a file to what it says, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from annotation.core.text_faults import printable
from annotation.imports.dataset import Dataset, FlatRow, Side
from annotation.imports.duc.duc_files import are_duc_files, read_duc_files
from annotation.imports.fields import (
    FLAT_FIELDS,
    FLAT_REQUIRED,
    NESTED_FIELDS,
    NESTED_OPTIONAL,
    Fields,
    checked_mapping,
)
from annotation.imports.formats import Format, recognise
from annotation.imports.held_sets import HeldSets
from annotation.imports.nested import drop_ownerless, nested_row, side_of
from annotation.imports.packages import NamedFile
from annotation.imports.problems import Problems, Remedy, Warnings, unreadable
from annotation.imports.progress import Progress
from annotation.imports.streams import FileTable, Record, csv_table, json_records, parquet_table


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a file says and what is wrong with it; rows with problems are not in the data set."""

    format: Format
    dataset: Dataset
    claims_side: Side | None
    problems: Problems
    warnings: Warnings


def read_files(
    files: Sequence[NamedFile],
    *,
    mapping: Mapping[str, str] | None = None,
    claims_side: Side | None = None,
    progress: Progress | None = None,
) -> FileReading:
    """Read one file of rows, or any number of SEE's, NIST's and DUCView's, loose or in zips.

    Raises as `read_dataset`; ImportRefused, too, for a zip that cannot be trusted, and where no file is of
    a known format.
    """
    if not files:
        raise unreadable("There is no file to import.")
    if (len(files) == 1 and not _is_there(files[0])) or not are_duc_files(files):
        return read_dataset(
            files[0].path, name=files[0].name, mapping=mapping, claims_side=claims_side, progress=progress
        )
    if mapping or claims_side:
        raise unreadable(
            "Columns of other names, and a side for the claims, are for files of rows (CSV, JSONL, Parquet); "
            "these have columns and sides of their own. Leave both out.",
            file=files[0].name,
        )
    problems, warnings = Problems(), Warnings()
    form, dataset = read_duc_files(files, problems, warnings)
    return FileReading(
        format=form,
        dataset=dataset,
        claims_side="reference" if dataset.has_claims else None,
        problems=problems,
        warnings=warnings,
    )


def _is_there(file: NamedFile) -> bool:
    """Whether a file can be looked into; one that cannot is refused by who reads it as rows."""
    try:
        return file.path.is_file() and file.path.stat().st_size > 0
    except (OSError, ValueError):
        return False


def read_dataset(
    path: Path,
    *,
    name: str | None = None,
    mapping: Mapping[str, str] | None = None,
    claims_side: Side | None = None,
    progress: Progress | None = None,
) -> FileReading:
    """Read a whole file, row by row, and check every row by itself and against those before it.

    `name` is what the file is called, where `path` is a temporary one. Raises ImportRefused where
    no row can be trusted: an empty file, another kind of file, a missing column, broken quoting;
    Invalid for a mapping to a field that there is not.
    """
    name, mapping = name or path.name, checked_mapping(mapping)
    form = recognise(path, name=name)
    warnings = Warnings(word=form.place)
    return _Reader(path, name, mapping, form, warnings, progress or Progress()).read(claims_side)


@dataclass(slots=True)
class _Reader:
    path: Path
    name: str
    mapping: Mapping[str, str]
    format: Format
    warnings: Warnings
    progress: Progress
    dataset: Dataset = field(default_factory=lambda: Dataset(sets=HeldSets()))
    problems: Problems = field(default_factory=Problems)
    unread: dict[str, None] = field(default_factory=dict)
    mapped: set[str] = field(default_factory=set)
    side: Side | None = None
    """What the claims that were read show."""

    def read(self, claims_side: Side | None) -> FileReading:
        if self.format is Format.JSONL:
            self._read_json()
        else:
            self._read_table()
        side = self.side if self.side is None or claims_side is None else claims_side
        if claims_side == "peer":
            drop_ownerless(self.dataset, self.problems)
        self._remark(claims_side)
        if not self.dataset.sets and not self.problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each peer summary.")
        return FileReading(
            format=self.format,
            dataset=self.dataset,
            claims_side=side,
            problems=self.problems,
            warnings=self.warnings,
        )

    def _column(self, field: str) -> str:
        return self.mapping.get(field, field)

    def _check_fields(self, known: Collection[str], shape: str) -> None:
        for name in self.mapping:
            if name not in known:
                raise unreadable(
                    f"A column is given for the field {name}, which a {shape} file does not have. Its fields are "
                    f"{', '.join(known)}.",
                    remedy=Remedy.MAP,
                )

    def _read_table(self) -> None:
        self._check_fields(FLAT_FIELDS, "flat")
        table = self._table()
        self._check_columns(table)
        if table.remark:
            self.warnings.add(table.remark)
        if self._column("reference") not in table.columns:
            self.warnings.add(
                "There is no column `reference`, so nothing is compared with a reference. If it has another "
                "name, say which column is `reference`.",
                remedy=Remedy.MAP,
            )
        for record in table.records:
            self.progress.read_row()
            self._take_flat(record)

    def _table(self) -> FileTable:
        if self.format is Format.PARQUET:
            wanted = [self._column(field) for field in FLAT_FIELDS]
            return parquet_table(self.path, self.problems, name=self.name, wanted=wanted)
        wanted = [self._column(field) for field in FLAT_REQUIRED]
        return csv_table(self.path, self.problems, wanted=wanted)

    def _check_columns(self, table: FileTable) -> None:
        there = ", ".join(printable(column) for column in table.columns)
        missing = [field for field in FLAT_REQUIRED if self._column(field) not in table.columns]
        if missing:
            fields = ", ".join(f"`{self._column(field)}`" for field in missing)
            wanted = " and ".join(f"`{field}`" for field in missing)
            raise unreadable(
                f"there is no column {fields}. Columns that are there: {there}. If one has another name, "
                f"say which column is {wanted}.",
                line=None if self.format is Format.PARQUET else 1,
                column=self._column(missing[0]),
                remedy=Remedy.MAP,
            )
        for name, column in self.mapping.items():
            if column not in table.columns:
                raise unreadable(
                    f"the column {column!r} is given for {name}, and there is no such column. Columns that "
                    f"are there: {there}.",
                    column=column,
                    remedy=Remedy.MAP,
                )
        self._note_unread(table.columns)

    def _read_json(self) -> None:
        records = json_records(self.path, self.problems)
        first = next(records, None)
        if first is None:
            return
        is_nested = self._is_nested(first)
        if is_nested:
            self.format = Format.NESTED_JSONL
            self._check_fields((*NESTED_FIELDS, *NESTED_OPTIONAL), "nested")
        else:
            self._check_fields(FLAT_FIELDS, "flat")
        for record in chain([first], records):
            self.progress.read_row()
            self.mapped.update(column for column in self.mapping.values() if column in record.values)
            if (self._column("systems") in record.values) is not is_nested:
                self.problems.add(record.line, "", _other_shape(first.line, is_nested=is_nested))
            elif is_nested:
                self._take_nested(record)
            else:
                self._note_unread(record.values)
                self._take_flat(record)
        self._check_mapping()

    def _is_nested(self, first: Record) -> bool:
        """Nested lines hold a list of systems, flat ones a system and its summary; nothing is both."""
        is_nested = self._column("systems") in first.values
        if is_nested and self._column("summary") in first.values:
            raise unreadable(
                f"holds both `{self._column('systems')}` (nested) and `{self._column('summary')}` (flat). "
                "A line is one document with a list of systems, or one summary.",
                line=first.line,
            )
        return is_nested

    def _note_unread(self, names: Iterable[str]) -> None:
        read = {self._column(field) for field in FLAT_FIELDS}
        self.unread.update(dict.fromkeys(name for name in names if name not in read))

    def _check_mapping(self) -> None:
        for name, column in self.mapping.items():
            if column not in self.mapped and name not in _INNER:
                self.problems.add(
                    None,
                    column,
                    f"it is given for {name}, and no line has a field of that name.",
                    remedy=Remedy.MAP,
                )

    def _take_flat(self, record: Record) -> None:
        fields = Fields(record, self.mapping, self.problems)
        row = _flat_row(fields, self.warnings)
        for name, reason in self.dataset.add(row) if row else ():
            fields.complain(name, reason)

    def _take_nested(self, record: Record) -> None:
        fields = Fields(record, self.mapping, self.problems)
        row = nested_row(fields, self.warnings, self.unread)
        if row is None:
            return
        conflicts = self.dataset.add_nested(row)
        for name, reason in conflicts:
            fields.complain(name, reason)
        if not conflicts and self.side != "reference":
            self.side = side_of(row) or self.side

    def _remark(self, claims_side: Side | None) -> None:
        if self.unread:
            names = ", ".join(f"`{printable(name)}`" for name in list(self.unread)[:20])
            more = f" and {len(self.unread) - 20} more" if len(self.unread) > 20 else ""
            self.warnings.add(f"Not read: {names}{more}.")
        if claims_side is not None and self.side is None:
            self.warnings.add(
                f"There are no claims in {self.name}, so the side given for them decides nothing."
            )


def _flat_row(fields: Fields, warnings: Warnings) -> FlatRow | None:
    """The row, or None where something in it is wrong; every such thing is then noted in `fields`.

    A summary that is there and blank is a summary: it is imported with a warning. A blank
    reference is none.
    """
    reference = fields.optional_text("reference")
    row = FlatRow(
        line=fields.line,
        document_id=fields.identifier("document_id", required=True),
        documents=fields.documents("document"),
        system=fields.identifier("system", required=True),
        target=fields.target(),
        summary=fields.required_text("summary"),
        reference=reference if reference.strip() else None,
        reference_id=fields.identifier("reference_id"),
        reference_author=fields.identifier("reference_author"),
        group=fields.identifier("group"),
        language=fields.language(),
        metadata=fields.metadata(),
        questions=fields.questions(),
    )
    if not fields.is_good:
        return None
    if row.reference is None and (row.reference_id or row.reference_author):
        fields.complain(
            "reference",
            "is empty although the row names a reference. Repeat the reference's text in each of its rows.",
        )
        return None
    if row.remark:
        warnings.add(row.remark, line=row.line)
    return row


_INNER = frozenset({"system", "summary_text", "claim_text", "weight", "verdicts"})
"""Fields that stand inside of a nested line, where a line's own names do not show them."""


def _other_shape(first_line: int, *, is_nested: bool) -> str:
    here, there = ("flat", "nested") if is_nested else ("nested", "flat")
    return f"is {here}, but line {first_line} is {there}. A file is one or the other: split it."
