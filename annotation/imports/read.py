"""From a file to what it says, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import median

from annotation.core.text_faults import printable
from annotation.imports.dataset import Dataset, FlatRow, Side
from annotation.imports.duc.convert import are_duc_files, read_duc_files
from annotation.imports.fields import (
    FLAT_FIELDS,
    FLAT_REQUIRED,
    NESTED_FIELDS,
    NESTED_OPTIONAL,
    Fields,
)
from annotation.imports.formats import Format, NamedFile
from annotation.imports.layouts.guess import Guess
from annotation.imports.layouts.layout import DEFAULT_SYSTEM, Layout, document_hash
from annotation.imports.layouts.look import Look, look_at, table_of
from annotation.imports.layouts.paths import pick, root
from annotation.imports.layouts.presets import AUTO, plain
from annotation.imports.nested import CLAIMS, drop_ownerless, nested_row, side_of
from annotation.imports.problems import LIKELY_PAIR, Problems, Remedy, Warnings, unreadable
from annotation.imports.progress import Progress
from annotation.imports.streams import Record
from evaluation.text import LengthUnit, count_length

NAMES_TOLD = 5
"""As many examples as a remark gives."""


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a file says and what is wrong with it; rows with problems are not in the data set."""

    format: Format
    dataset: Dataset
    claims_side: Side | None
    problems: Problems
    warnings: Warnings
    lacks_target: bool = False
    """Whether neither the rows nor a choice give a target length."""


def read_files(
    files: Sequence[NamedFile],
    *,
    layout: Layout | None = None,
    claims_side: Side | None = None,
    length_unit: LengthUnit = "words",
    progress: Progress | None = None,
) -> FileReading:
    """Read one file of rows, or any number of SEE's and DUCView's.

    Raises as `read_dataset`; ImportRefused, too, where no file is of a known format.
    """
    if not files:
        raise unreadable("There is no file to import.")
    if not are_duc_files(files):
        return read_dataset(
            files[0].path,
            name=files[0].name,
            layout=layout,
            claims_side=claims_side,
            length_unit=length_unit,
            progress=progress,
        )
    found, warnings = Problems(), Warnings()
    form, dataset = read_duc_files(files, found, warnings)
    if layout or claims_side:
        raise unreadable(
            "Columns of other names, a system, a target length and a side for the claims are for files of rows (CSV, "
            "JSON, JSONL, Parquet); these say such things themselves. Leave them out.",
            file=files[0].name,
        )
    return FileReading(
        format=form,
        dataset=dataset,
        claims_side="reference" if dataset.has_claims else None,
        problems=found,
        warnings=warnings,
    )


def read_dataset(
    path: Path,
    *,
    name: str | None = None,
    layout: Layout | None = None,
    claims_side: Side | None = None,
    length_unit: LengthUnit = "words",
    progress: Progress | None = None,
    problems: Problems | None = None,
) -> FileReading:
    """Read a whole file, row by row, and check every row by itself and against those before it.

    `name` is what the file is called, where `path` is a temporary one; lengths of references are counted in the
    `length_unit`. Raises ImportRefused where no row can be trusted: an empty file, another kind of file, a missing
    column, broken quoting.
    """
    name = name or path.name
    look = look_at(path, name=name)
    return _Reader(
        path,
        name,
        layout or Layout(),
        look,
        look.format,
        Warnings(word=look.format.place),
        progress or Progress(),
        length_unit,
        problems=problems or Problems(),
    ).read(claims_side)


@dataclass(slots=True)
class _Reader:
    path: Path
    name: str
    layout: Layout
    look: Look
    format: Format
    warnings: Warnings
    progress: Progress
    length_unit: LengthUnit
    dataset: Dataset = field(default_factory=Dataset)
    problems: Problems = field(default_factory=Problems)
    unread: dict[str, None] = field(default_factory=dict)
    mapped: set[str] = field(default_factory=set)
    read_columns: frozenset[str] = frozenset()
    variants: Sequence[tuple[Mapping[str, str], Mapping[str, object]]] = ()
    """For each summary of a row: the columns of its fields, and values of fields that have none."""

    target: int | None = None
    """Of rows that name none."""

    side: Side | None = None
    """What the claims that were read show."""

    has_reference: bool = False
    lacks_target: bool = False
    system_pair: str = ""
    """What may name the systems, where no column is read as that."""

    def read(self, claims_side: Side | None) -> FileReading:
        if self.format in {Format.JSONL, Format.JSON_LIST}:
            self._read_json()
        else:
            self._read_table()
        side = self.side if self.side is None or claims_side is None else claims_side
        if claims_side == "peer":
            drop_ownerless(self.dataset, self.problems)
        self._remark(claims_side)
        if not self.dataset.sets and not self.problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        return FileReading(
            format=self.format,
            dataset=self.dataset,
            claims_side=side,
            problems=self.problems,
            warnings=self.warnings,
            lacks_target=self.lacks_target,
        )

    def _column(self, field: str) -> str:
        return self.layout.mapping.get(field, field)

    def _check_fields(self, known: Collection[str], shape: str) -> None:
        for name in self.layout.mapping:
            if name not in known:
                raise unreadable(
                    f"A column is given for the field {name}, which a {shape} file does not have. Its fields are "
                    f"{', '.join(known)}.",
                    remedy=Remedy.MAP,
                )

    def _read_table(self) -> None:
        self._settle()
        wanted = {*self.read_columns, *map(root, self.read_columns)}
        table = table_of(self.path, self.name, self.format, self.problems, wanted=wanted)
        self._note_unread(table.columns)
        if table.remark:
            self.warnings.add(table.remark)
        for record in table.records:
            self.progress.read_row()
            self._take_flat(record)

    def _settle(self) -> None:
        """Make the layout whole: the column of every field that the file has, and what stands for the others.

        Raises ImportRefused where a column is missing.
        """
        self._check_fields(FLAT_FIELDS, "flat")
        if self.layout.preset or self._is_recognised():
            self._follow_preset()
        columns = self.layout.columns()
        absent = [name for name, column in columns.items() if not self._has(column)]
        for name in absent:
            if name in self.layout.mapping and not self._is_json:
                raise self._no_such_column(name, columns[name])
        self._refuse_missing([name for name in FLAT_REQUIRED if name not in columns or name in absent])
        self.layout = self.layout.without(
            name for name in absent if name not in self.layout.mapping and not self._stays(name)
        )
        self._tell_made()
        self._fill_in()
        self._refuse_claims()

    def _refuse_claims(self) -> None:
        """Claims that are not read must not pass for a file without any."""
        read = {*self.read_columns, *map(root, self.read_columns)}
        for column in self.look.columns:
            if plain(column.rpartition(".")[2]) == CLAIMS and not {column, root(column)} & read:
                raise unreadable(
                    f"`{printable(column)}` is not read: a file with one row for each summary holds no claims. Give "
                    "them in the nested layout, one line a document, or remove the column.",
                    column=column,
                )

    @property
    def _is_json(self) -> bool:
        return self.format in {Format.JSONL, Format.JSON_LIST}

    def _stays(self, name: str) -> bool:
        """Whether a field is looked for in every row although the first ones do not have it."""
        return self._is_json and name not in {"document_id", "system"}

    def _has(self, column: str) -> bool:
        # pandas writes its index under a head without a name.
        return bool(column) and (column in self.look.columns or root(column) in self.look.columns)

    def _no_such_column(self, name: str, column: str) -> Exception:
        return unreadable(
            f"the column {column!r} is given for {name}, and there is no such column. Columns that "
            f"are there: {self._there()}.",
            column=column,
            remedy=Remedy.MAP,
        )

    def _there(self) -> str:
        # Only names in JSON may be paths into an object.
        there = (column for column in self.look.columns if not self._is_json or column == root(column))
        return ", ".join(map(printable, there))

    def _is_recognised(self) -> bool:
        columns = self.layout.columns()
        is_told = self.layout.is_whole or bool(self.layout.systems)
        missing = [name for name in FLAT_REQUIRED if not self._has(columns.get(name, ""))]
        return not is_told and bool(missing) and self.look.guess(given=self.layout.mapping).is_sure

    def _follow_preset(self) -> None:
        given = {*self.layout.mapping.values(), *self.layout.systems}
        found = self.look.guess(preset=self.layout.preset or AUTO, given=self.layout.mapping)
        if (
            self.look.records
            and found.objections
            and not {"document", "summary"} <= self.layout.mapping.keys()
        ):
            raise self._uncertain(found)
        guessed = {name: column for name, column in found.layout.mapping.items() if column not in given}
        systems = self.layout.systems
        if not systems and "summary" not in self.layout.mapping:
            systems = tuple(column for column in found.layout.systems if column not in given)
        self.layout = replace(
            self.layout,
            mapping={**guessed, **self.layout.mapping},
            systems=systems,
            system=self.layout.system or found.layout.system,
            is_whole=True,
        )
        read = ", ".join(f"{name}={printable(column)}" for name, column in self.layout.columns().items())
        self.warnings.add(f"Columns are read{f' as {found.title}' if found.title else ''}: {read}.")
        for note in found.notes:
            self.warnings.add(note)

    def _uncertain(self, found: Guess) -> Exception:
        return unreadable(
            f"its columns read like {printable(' '.join(found.pairs()))}. {' '.join(found.objections)} "
            "Say which column is which.",
            remedy=Remedy.MAP,
            pair="\n".join(found.pairs()) or LIKELY_PAIR,
        )

    def _refuse_missing(self, missing: Collection[str]) -> None:
        """Raises ImportRefused where a field has no column and nothing can stand for it, or a column looks like it."""
        told = [name for name in FLAT_REQUIRED if name in missing and not self._is_made_up(name)]
        if not told:
            return
        proposal = self.look.guess()
        pairs = proposal.pairs()
        proposed = {pair.partition("=")[0] for pair in pairs}
        is_like = not self.layout.is_whole and not proposed.isdisjoint(told) and proposal.has_texts
        if self._is_json and not is_like and not self.layout.is_whole:
            # Each row then says what it has instead.
            return
        fields = ", ".join(f"`{self._column(name)}`" for name in told)
        wanted = " and ".join(f"`{name}`" for name in told)
        like = " ".join(pairs)
        why = "".join(f" {reason}" for reason in (*proposal.notes, *proposal.objections)) if is_like else ""
        title = f" {proposal.title}:" if proposal.title else ""
        way_out = (
            f"Say which column is {wanted}; where none is, add it to the file."
            if self.layout.is_whole
            else f"If one has another name, say which column is {wanted}."
        )
        raise unreadable(
            f"there is no column {fields}. Columns that are there: {self._there()}."
            f"{f' They read like{title} {printable(like)}.' if is_like else ''}{why} {way_out}",
            line=1 if self.format is Format.CSV else None,
            column=self._column(told[0]),
            remedy=Remedy.MAP if proposal.objections or not is_like else Remedy.PRESET,
            pair="\n".join(pairs) if is_like else f"{told[0]}=COLUMN",
        )

    def _is_made_up(self, name: str) -> bool:
        """Whether something stands for a field without a column."""
        if name == "summary" and self.layout.systems:
            return True
        if name == "system" and (self.layout.systems or self.layout.system):
            return True
        if name not in {"document_id", "system"} or name in self.layout.mapping:
            return False
        # A column that looks like it is not passed over in silence.
        return self.layout.is_whole or name not in self.look.guess().layout.mapping

    def _tell_made(self) -> None:
        columns = self.layout.columns()
        if "document_id" not in columns:
            self.warnings.add(
                "`document_id` is made from a hash of the document: rows with the same document are one document set."
            )
        if self.layout.systems:
            named = ", ".join(f"`{printable(column)}`" for column in self.layout.systems)
            self.warnings.add(f"Each of these columns is one system: {named}.")
        elif "system" not in columns:
            named = printable(self.layout.system or DEFAULT_SYSTEM)
            self.warnings.add(f"No column names a system: every summary is by “{named}”.")
            self._offer_systems(named)
        target = self.layout.target
        self.target = self._reference_target() if target == "reference" else target
        self.lacks_target = self.target is None and not self._has(columns.get("target_words", ""))

    def _offer_systems(self, named: str) -> None:
        """Say which columns may name the systems, where rows of one document turn out to have several summaries."""
        likely = self._likely_systems()
        self.system_pair = f"system={likely[0] if likely else 'COLUMN'}"
        which = f" It may be {' or '.join(f'`{printable(column)}`' for column in likely)}." if likely else ""
        self.dataset.key_advice = (
            f"No column is read as the system, so both are by “{named}”.{which} Say which column is `system`, "
            "or remove one of the two."
        )

    def _likely_systems(self) -> list[str]:
        """Columns that tell the rows of each document apart and are not read, those of the fewest values first."""
        columns = self.layout.columns()
        key = [
            column for name in ("document_id", "document", "reference_id") if (column := columns.get(name))
        ]
        rows = [record.values for record in self.look.records]
        counts: dict[str, int] = {}
        for column in self.look.columns:
            if column in {*columns.values(), ""}:
                continue
            cells = [row.get(column) for row in rows]
            keys = {
                (*(str(pick(row, name)) for name in key), str(cell))
                for row, cell in zip(rows, cells, strict=True)
            }
            if all(isinstance(cell, str | int) and cell != "" for cell in cells) and len(keys) == len(rows):
                counts[column] = len(set(cells))
        return sorted(counts, key=lambda column: counts[column])[:NAMES_TOLD]

    def _reference_target(self) -> int | None:
        """The median length of the references: one target, for scores are never averaged across several.

        None where no row can be read, which the reading tells of.
        """
        lengths: list[int] = []
        has_rows = False
        columns = self.layout.columns()
        given = {} if "reference" in columns else {"reference": None}
        for record in table_of(
            self.path, self.name, self.format, Problems(), wanted=self.look.columns
        ).records:
            has_rows = True
            texts = Fields(record, columns, Problems(), given=given).references()
            lengths += [
                count_length(text, self.length_unit)
                for text in texts
                if isinstance(text, str) and text.strip()
            ]
        if not has_rows:
            return None
        if not lengths:
            raise unreadable(
                "The target length cannot follow the references, because there are none. Give a number, or none."
            )
        target = max(1, round(median(lengths)))
        self.warnings.add(
            f"The target length is {target:,} {self.length_unit}, the median of the references."
        )
        return target

    def _fill_in(self) -> None:
        columns = self.layout.columns()
        self.read_columns = frozenset({*columns.values(), *self.layout.systems})
        given: dict[str, object] = {name: None for name in FLAT_FIELDS if name not in columns}
        if self.layout.systems:
            self.variants = [
                ({**columns, "summary": column}, _besides(given, "summary") | {"system": column})
                for column in self.layout.systems
            ]
        else:
            if "system" not in columns:
                given["system"] = self.layout.system or DEFAULT_SYSTEM
            self.variants = [(columns, given)]

    def _read_json(self) -> None:
        records = table_of(self.path, self.name, self.format, self.problems).records
        asked, first = self.layout.mapping, next(records, None)
        if first is None:
            return
        is_nested = self._is_nested(first)
        if is_nested:
            self.format = Format.NESTED_JSONL
            self._check_fields((*NESTED_FIELDS, *NESTED_OPTIONAL), "nested")
            if self.layout.preset or self.layout.systems or self.layout.target or self.layout.system:
                raise unreadable(
                    f"{self.name} is nested: its lines name systems themselves. Leave preset, system and target "
                    "length out."
                )
        else:
            self._settle()
        for record in chain([first], records):
            self.progress.read_row()
            self.mapped.update(column for column in asked.values() if column in record.values)
            if (self._column("systems") in record.values) is not is_nested:
                self.problems.add(record.line, "", _other_shape(first.line, is_nested=is_nested))
            elif is_nested:
                self._take_nested(record)
            else:
                self._note_unread(record.values)
                self._take_flat(record)
        self._check_mapping(asked)

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
        read = {*self.read_columns, *map(root, self.read_columns)}
        # pandas writes its index under no name.
        self.unread.update(dict.fromkeys(name for name in names if name and name not in read))

    def _check_mapping(self, asked: Mapping[str, str]) -> None:
        for name, column in asked.items():
            if column not in self.mapped and name not in _INNER and not self._has(column):
                self.problems.add(
                    None,
                    column,
                    f"it is given for {name}, and no line has a field of that name.",
                    remedy=Remedy.MAP,
                )

    def _take_flat(self, record: Record) -> None:
        for mapping, given in self.variants:
            fields = Fields(record, mapping, self.problems, given=given)
            if self.layout.systems and fields.raw("summary") is None:
                self.warnings.add(f"There is no summary by {mapping['summary']!r}.", line=record.line)
                continue
            for one in _one_reference_each(fields):
                self.has_reference = self.has_reference or bool(one.raw("reference"))
                row = _flat_row(one, self.warnings, self.target)
                for name, reason in self.dataset.add(row) if row else ():
                    # Only rows of one key are a complaint of no field.
                    pair = "" if name else self.system_pair
                    one.complain(name, reason, remedy=Remedy.MAP if pair else None, pair=pair)

    def _take_nested(self, record: Record) -> None:
        fields = Fields(record, self.layout.mapping, self.problems)
        row = nested_row(fields, self.warnings, self.unread)
        if row is None:
            return
        conflicts = self.dataset.add_nested(row)
        for name, reason in conflicts:
            fields.complain(name, reason)
        if not conflicts and self.side != "reference":
            self.side = side_of(row) or self.side

    def _remark(self, claims_side: Side | None) -> None:
        if not self.has_reference and self.format is not Format.NESTED_JSONL:
            self.warnings.add(
                "No row has a `reference`, so summaries are compared with their documents. If another column holds "
                "it, say which column is `reference`.",
                remedy=Remedy.MAP,
                is_first=True,
            )
        if repeated := self.dataset.repeated:
            first = "; ".join(
                f"{line} repeats {earlier}" for line, earlier in list(repeated.items())[:NAMES_TOLD]
            )
            more = f" and {len(repeated) - NAMES_TOLD:,} more" if len(repeated) > NAMES_TOLD else ""
            self.warnings.add(f"Duplicate rows are read once: {self.format.place} {first}{more}.")
        self._tell_missing()
        if self.unread:
            names = ", ".join(f"`{printable(name)}`" for name in list(self.unread)[:20])
            more = f" and {len(self.unread) - 20} more" if len(self.unread) > 20 else ""
            self.warnings.add(f"Not read: {names}{more}.")
        if claims_side is not None and self.side is None:
            self.warnings.add(f"{self.name} has no claims, so the side given for them has no effect.")

    def _tell_missing(self) -> None:
        """Warn where sets lack a reference or a system's summary: their means are not over the same things."""
        sets = len(self.dataset.sets)
        bare = sum(not one.references for one in self.dataset.sets.values())
        if 0 < bare < sets:
            self.warnings.add(
                f"{bare:,} of {sets:,} document sets have no reference here. Without one in the project their "
                "summaries are compared with the documents, and means mix both."
            )
        missing = self.dataset.missing(most=NAMES_TOLD)
        for system, names in list(missing.items())[:NAMES_TOLD]:
            count = sets - self.dataset.sets_of[system]
            more = f" and {count - len(names):,} more" if count > len(names) else ""
            self.warnings.add(
                f"{printable(system)} has no summary in {count:,} of {sets:,} document sets "
                f"({', '.join(map(printable, names))}{more})."
            )
        if len(missing) > NAMES_TOLD:
            self.warnings.add(
                f"{len(missing) - NAMES_TOLD:,} more systems lack summaries of some document sets."
            )


def _besides(values: Mapping[str, object], name: str) -> dict[str, object]:
    return {one: value for one, value in values.items() if one != name}


def _one_reference_each(fields: Fields) -> Iterator[Fields]:
    """The fields of a row, once for each reference of a list; these are named by their places."""
    references = fields.references()
    if len(references) == 1 and not isinstance(fields.raw("reference"), list | tuple):
        yield fields
        return
    for place, text in enumerate(references, start=1):
        named = {"reference_id": str(place)} if len(references) > 1 else {}
        yield replace(fields, given={**fields.given, "reference": text, **named})


def _flat_row(fields: Fields, warnings: Warnings, target: int | None) -> FlatRow | None:
    """The row, or None where something in it is wrong; every such thing is then noted in `fields`.

    A summary that is there and blank is a summary: it is imported with a warning. A blank
    reference is none.
    """
    reference = fields.optional_text("reference")
    reference_id = fields.identifier("reference_id")
    documents = fields.documents("document")
    is_named = fields.given.get("document_id", ...) is not None
    row = FlatRow(
        line=fields.line,
        document_id=fields.identifier("document_id", required=True) if is_named else document_hash(documents),
        documents=documents,
        system=fields.identifier("system", required=True),
        target=fields.target() or target,
        summary=fields.summary(),
        reference=reference if reference.strip() else None,
        reference_id=reference_id,
        reference_author=fields.identifier("reference_author"),
        group=fields.identifier("group"),
        language=fields.language(),
        metadata=fields.metadata(),
        questions=fields.questions(),
        # Places in a list of references are names that the row does not give.
        names_reference=bool(reference_id) and "reference_id" not in fields.given,
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


_INNER = frozenset({"system", "summary_text", "claim_text", "weight", "verdicts", "raw_votes"})
"""Fields that stand inside of a nested line, where a line's own names do not show them."""


def _other_shape(first_line: int, *, is_nested: bool) -> str:
    here, there = ("flat", "nested") if is_nested else ("nested", "flat")
    return f"is {here}, but line {first_line} is {there}. A file is one or the other: split it."
