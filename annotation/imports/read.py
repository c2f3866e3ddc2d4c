"""From a file to what it says, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import median

from annotation.core.text_faults import printable
from annotation.imports.fields import Fields, ratings_in, read_ratings
from annotation.imports.files import Format, NamedFile, Record
from annotation.imports.guess import Look, look_at, records_of
from annotation.imports.layout import (
    AUTO,
    DEFAULT_SYSTEM,
    FLAT_FIELDS,
    FLAT_REQUIRED,
    NESTED_FIELDS,
    NESTED_OPTIONAL,
    Layout,
    document_hash,
    pick,
    plain,
    root,
)
from annotation.imports.problems import LIKELY_PAIR, Problems, Remedy, Warnings, unreadable
from annotation.imports.rows import ClaimData, Dataset, Mark, Row, Side, judged_sentence
from annotation.imports.tools.duc import are_duc_files, read_duc_files
from annotation.imports.tools.nested import CLAIMS, NO_LABEL, drop_ownerless, label_of, nested_rows, side_of
from evaluation.text import LengthUnit, count_length

NAMES_TOLD = 5
"""As many examples as a remark gives."""
ROWS_BETWEEN_STEPS = 500


@dataclass(slots=True)
class Progress:
    """Rows read, document sets written, and how many there are; 0 until all rows are read.

    `step` is called every few hundred rows and sets, never inside of a write that people wait for; what it raises ends
    the import. `hold` is called inside the transaction that shows everything: what it raises is the end of all of it.
    """

    rows_read: int = 0
    sets_written: int = 0
    sets: int = 0

    def read_row(self) -> None:
        self.rows_read += 1
        if self.rows_read % ROWS_BETWEEN_STEPS == 0:
            self.step()

    def step(self) -> None:
        """Nobody waits."""

    def hold(self) -> None:
        """Nobody ends it."""


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a file says and what is wrong with it; rows with problems are not in the data set.

    `lacks_target` tells that neither the rows nor a choice give a target length.
    """

    format: Format
    dataset: Dataset
    claims_side: Side | None
    problems: Problems
    warnings: Warnings
    lacks_target: bool = False


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
    if (layout and layout.is_of_rows) or claims_side:
        raise unreadable(
            "Columns of other names, a system, a target length and a side for the claims are for files of rows (CSV, "
            "JSON, JSONL, Parquet); these say such things themselves. Leave them out.",
            file=files[0].name,
        )
    return FileReading(form, dataset, "reference" if dataset.has_claims else None, found, warnings)


def read_dataset(
    path: Path,
    *,
    name: str | None = None,
    layout: Layout | None = None,
    claims_side: Side | None = None,
    length_unit: LengthUnit = "words",
    progress: Progress | None = None,
) -> FileReading:
    """Read a whole file, row by row, and check every row by itself and against those before it.

    `name` is what the file is called, where `path` is a temporary one; lengths of references are counted in the
    `length_unit`. Raises ImportRefused where no row can be trusted: an empty file, another kind of file, a missing
    column, broken quoting.
    """
    name, layout = name or path.name, layout or Layout()
    look = look_at(path, name=name, encoding=layout.encoding)
    warnings = Warnings(word=look.format.place)
    reader = _Reader(path, name, layout, look, look.format, warnings, progress or Progress(), length_unit)
    return reader.read(claims_side)


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

    lacks_target: bool = False
    system_pair: str = ""
    """What may name the systems, where no column is read as that."""

    def read(self, claims_side: Side | None) -> FileReading:
        self._read_rows()
        if marked := self.dataset.take_marks():
            self.warnings.add(
                f"Units of summaries in which somebody marked an error: {marked:,}. They count as unsupported, the "
                "other units of annotated summaries as supported."
            )
        side = self.side or ("peer" if self.dataset.has_claims else None)
        if claims_side == "peer":
            drop_ownerless(self.dataset, self.problems)
        self._remark()
        if claims_side is not None and side is None:
            self.warnings.add(f"{self.name} has no claims, so the side given for them has no effect.")
        if not self.dataset.sets and not self.problems.count:
            raise unreadable(f"{self.name} holds no rows. It needs one for each summary.")
        return FileReading(
            format=self.format,
            dataset=self.dataset,
            claims_side=claims_side if side and claims_side else side,
            problems=self.problems,
            warnings=self.warnings,
            lacks_target=self.lacks_target,
        )

    def _read_rows(self) -> None:
        first = self.look.records[0] if self.look.records else None
        is_nested = first is not None and self._is_nested(first)
        if is_nested:
            self.format = Format.NESTED_JSONL
            self._check_fields((*NESTED_FIELDS, *NESTED_OPTIONAL), "nested")
            if replace(self.layout, mapping={}).is_of_rows:
                raise unreadable(
                    f"{self.name} is nested: its lines name systems themselves. Leave preset, system and target "
                    "length out."
                )
        elif first is not None or not self._is_json:
            self._settle()
        asked = self.layout.mapping
        for record in self._records():
            self.progress.read_row()
            if self._may_nest and (self._column("systems") in record.values) is not is_nested:
                self.problems.add(
                    record.line, "", _other_shape(first.line if first else 1, is_nested=is_nested)
                )
            elif is_nested:
                self.mapped.update(column for column in asked.values() if column in record.values)
                self._take_nested(record)
            else:
                self._take_flat(record)
        if is_nested:
            for name, column in asked.items():
                if column not in self.mapped and name not in _INNER:
                    self._no_line_has(name, column)

    def _records(self) -> Iterator[Record]:
        is_own = not self.look.tool and bool(self.read_columns)
        wanted: Collection[str] = FLAT_REQUIRED if self.look.format is Format.CSV else ()
        if is_own:
            wanted = {*self.read_columns, *map(root, self.read_columns)}
        _, table = records_of(
            *(self.path, self.name, self.look.format, self.problems),
            wanted=wanted,
            encoding=self.layout.encoding,
        )
        self._note_unread(() if self.look.tool else table.columns)
        yield from table.records
        for remark in table.remarks:
            self.warnings.add(remark)

    @property
    def _is_json(self) -> bool:
        return self.format.is_json

    @property
    def _may_nest(self) -> bool:
        return self._is_json or bool(self.look.tool)

    def _is_nested(self, first: Record) -> bool:
        """Nested lines hold a list of systems, flat ones a system and its summary; nothing is both."""
        is_nested = self._may_nest and self._column("systems") in first.values
        if is_nested and self._column("summary") in first.values:
            raise unreadable(
                f"holds both `{self._column('systems')}` (nested) and `{self._column('summary')}` (flat). "
                "A line is one document with a list of systems, or one summary.",
                line=first.line,
            )
        return is_nested

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

    def _settle(self) -> None:
        """Make the layout whole: the column of every field that the file has, and what stands for the others.

        Raises ImportRefused where a column is missing.
        """
        self._check_fields(FLAT_FIELDS, "flat")
        if self.layout.preset or self._is_recognised():
            self._follow_preset()
        elif not self.layout.is_whole:
            self._take_beside_own()
        columns = self.layout.columns()
        absent = [name for name, column in columns.items() if not self._has(column)]
        for name, column in self.layout.mapping.items():
            if name in absent and not self._is_json:
                raise unreadable(
                    f"the column {column!r} is given for {name}, and there is no such column. Columns that "
                    f"are there: {self._there()}.",
                    column=column,
                    remedy=Remedy.MAP,
                )
            if name in absent and not any(pick(record.values, column) for record in self.look.records):
                self._no_line_has(name, column)
        self._refuse_missing([name for name in FLAT_REQUIRED if name not in columns or name in absent])
        gone = [
            name
            for name in absent
            if name not in self.layout.mapping
            and not (self._is_json and name not in {"document_id", "system", "rater"})
        ]
        self.layout = self.layout.without(gone)
        self._tell_made()
        self._fill_in()
        self._refuse_claims()

    def _no_line_has(self, name: str, column: str) -> None:
        self.problems.add(
            None, column, f"it is given for {name}, and no line has a field of that name.", remedy=Remedy.MAP
        )

    def _take_beside_own(self) -> None:
        """Of a file with our own names: references and ratings in columns of their own."""
        found = self.look.guess(given=self.layout.mapping)
        if not found.is_own:
            return
        layout = found.layout
        beside = {
            name: column for name, column in layout.mapping.items() if name != column or name == "rater"
        }
        self.layout = replace(
            self.layout,
            mapping={**beside, **self.layout.mapping},
            references=self.layout.references or layout.references,
            ratings=self.layout.ratings or layout.ratings,
        )
        if beside or layout.references:
            self._tell_columns("")

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

    def _has(self, column: str) -> bool:
        # pandas writes its index under a head without a name.
        return bool(column) and (column in self.look.columns or root(column) in self.look.columns)

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
        asked = self.layout
        given = {*asked.mapping.values(), *asked.systems, *asked.references, *asked.ratings}
        found = self.look.guess(preset=asked.preset or AUTO, given=asked.mapping)
        if self.look.records and found.objections and not {"document", "summary"} <= asked.mapping.keys():
            raise unreadable(
                f"its columns read like {printable(' '.join(found.pairs()))}. {' '.join(found.objections)} "
                "Say which column is which.",
                remedy=Remedy.MAP,
                pair="\n".join(found.pairs()) or LIKELY_PAIR,
            )

        def unasked(columns: Iterable[str]) -> tuple[str, ...]:
            return tuple(column for column in columns if column not in given)

        systems = asked.systems
        if not systems and "summary" not in asked.mapping:
            systems = unasked(found.layout.systems)
        references = asked.references
        if not references and "reference" not in asked.mapping:
            references = unasked(found.layout.references)
        guessed = {name: column for name, column in found.layout.mapping.items() if column not in given}
        self.layout = replace(
            asked,
            mapping={**guessed, **asked.mapping},
            systems=systems,
            references=references,
            ratings=asked.ratings or unasked(found.layout.ratings),
            system=asked.system or found.layout.system,
            is_whole=True,
        )
        self._tell_columns(found.title)
        for note in found.notes:
            self.warnings.add(note)

    def _tell_columns(self, title: str) -> None:
        named = [(name, column) for name, column in self.layout.columns().items() if self._has(column)]
        named += [("reference", column) for column in self.layout.references]
        read = ", ".join(f"{name}={printable(column)}" for name, column in named)
        self.warnings.add(f"Columns are read{f' as {title}' if title else ''}: {read}.")

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
        """True if something stands for a field without a column."""
        layout = self.layout
        if name == "summary" and layout.systems:
            return True
        if name == "system" and (layout.systems or layout.system):
            return True
        if name == "summary" or name in layout.mapping:
            return False
        if name == "document" and not (
            self._has(layout.columns().get("reference", ""))
            or layout.references
            or layout.ratings
            or self.look.is_judged
        ):
            return False
        # A column that looks like it is not passed over in silence.
        return layout.is_whole or name not in self.look.guess(given=layout.mapping).layout.mapping

    def _tell_made(self) -> None:
        columns = self.layout.columns()
        if "document_id" not in columns:
            self.warnings.add(
                "`document_id` is made from a hash of the document: rows with the same document are one document set."
            )
        if self.layout.ratings:
            named = ", ".join(f"`{printable(column)}`" for column in self.layout.ratings)
            whose = f", the raters from `{printable(columns['rater'])}`" if "rater" in columns else ""
            self.warnings.add(f"People's ratings are read from {named}{whose}.")
        if self.layout.systems:
            named = ", ".join(f"`{printable(column)}`" for column in self.layout.systems)
            self.warnings.add(f"Each of these columns is one system: {named}.")
        elif "system" not in columns:
            named = printable(self.layout.system or DEFAULT_SYSTEM)
            self.warnings.add(f"No column names a system: every summary is by “{named}”.")
            self.system_pair = "system=COLUMN"
            self.dataset.key_advice = (
                f"No column is read as the system, so both are by “{named}”. Say which column is `system`, or remove "
                "one of the two."
            )
        target = self.layout.target
        self.target = self._reference_target() if target == "reference" else target
        self.lacks_target = self.target is None and not self._has(columns.get("target_words", ""))

    def _reference_target(self) -> int | None:
        """The median length of the references: one target, for scores are never averaged across several.

        None where no row can be read, which the reading tells of.
        """
        lengths: list[int] = []
        columns = self.layout.columns()
        given = {} if "reference" in columns else {"reference": None}
        _, table = records_of(
            self.path, self.name, self.look.format, Problems(), encoding=self.layout.encoding
        )
        record = None
        for record in table.records:
            fields = Fields(record, columns, Problems(), given=given)
            texts = fields.references(self.layout.references)
            lengths += [count_length(one.text, self.length_unit) for one in texts]
        if record is None:
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
        self.read_columns = self.layout.all_columns
        given: dict[str, object] = {name: None for name in FLAT_FIELDS if name not in columns}
        if "system" not in columns:
            given["system"] = self.layout.system or DEFAULT_SYSTEM
        self.variants = [(columns, given)]
        if self.layout.systems:
            del given["summary"]
            self.variants = [
                ({**columns, "summary": column}, {**given, "system": column})
                for column in self.layout.systems
            ]

    def _note_unread(self, names: Iterable[str]) -> None:
        read = {*self.read_columns, *map(root, self.read_columns)}
        # pandas writes its index under no name.
        self.unread.update(dict.fromkeys(name for name in names if name and name not in read))

    def _take_flat(self, record: Record) -> None:
        if self._is_json or self.look.tool:
            self._note_unread((*record.values, *record.said.unread))
        for mapping, given in self.variants:
            fields = Fields(record, mapping, self.problems, given=given)
            if self.layout.systems and fields.raw("summary") is None:
                self.warnings.add(f"There is no summary by {mapping['summary']!r}.", line=record.line)
                continue
            row = row_of(fields, self.warnings, self.layout, self.target)
            for name, reason in self.dataset.add(row) if row else ():
                # Only rows of one key are a complaint of no field.
                pair = "" if name else self.system_pair
                fields.complain(name, reason, remedy=Remedy.MAP if pair else None, pair=pair)

    def _take_nested(self, record: Record) -> None:
        fields = Fields(record, self.layout.mapping, self.problems)
        rows = nested_rows(fields, self.warnings, self.unread)
        self.unread.update(dict.fromkeys(record.said.unread))
        if not rows:
            return
        conflicts = self.dataset.add_document(rows)
        for name, reason in conflicts:
            fields.complain(name, reason)
        if not conflicts and self.side != "reference":
            self.side = side_of(rows) or self.side

    def _remark(self) -> None:
        sets = self.dataset.sets.values()
        without = sum(not one.documents for one in sets)
        if without:
            self.warnings.add(
                f"{without:,} of {len(sets):,} document sets have no document here. Without one in the project their "
                "alignment is blank."
            )
        is_bare = not any(one.references for one in sets)
        if is_bare and self.format is not Format.NESTED_JSONL and without < len(sets):
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


def row_of(
    fields: Fields,
    warnings: Warnings,
    layout: Layout | None = None,
    target: int | None = None,
    *,
    is_pushed: bool = False,
) -> Row | None:
    """The row, or None where something in it is wrong; every such thing is then noted.

    A summary that is there and blank is a summary: it is imported with a warning. A blank reference is none. `target`
    is that of rows that name none. A pushed row may lack its document, and hold references alone.
    """
    layout, values, said = layout or Layout(), fields.record.values, fields.record.said
    references = fields.references(layout.references)
    is_bare = is_pushed and fields.raw("system") is None and fields.raw("summary") is None
    is_absent = fields.given.get("document", ...) is None or (is_pushed and fields.raw("document") is None)
    documents = () if is_absent else fields.documents("document", required=not references)
    is_named = fields.given.get("document_id", ...) is not None
    document_id = fields.identifier("document_id", required=True) if is_named else ""
    system = "" if is_bare else fields.identifier("system", required=True)
    summary = "" if is_bare else fields.required_text("summary")
    target = fields.target() or target
    rater, columns = fields.identifier("rater"), layout.ratings or (("rating",) if is_pushed else ())
    ratings, left = read_ratings(
        chain(said.ratings, *(ratings_in(column, pick(values, column), rater) for column in columns))
    )
    row = Row(
        line=fields.line,
        document_id=document_id or document_hash(documents or [one.text for one in references] or [summary]),
        documents=documents,
        system=system,
        target=target,
        summary=summary,
        references=references,
        group=fields.identifier("group"),
        language=fields.language(),
        metadata=fields.metadata(),
        questions=fields.questions(),
        # Places in a list of references are names that the row does not give.
        names_reference=bool(fields.identifier("reference_id")) and len(references) == 1,
        ratings=tuple(ratings),
        marks=tuple(_marks(fields, summary, warnings)),
        own_claims=tuple(_claims_of(fields, system)),
    )
    if is_bare and not references and fields.is_good:
        fields.complain("reference", "is empty. A row holds a system with its summary, a reference, or both.")
    if not fields.is_good:
        return None
    for remark in dict.fromkeys((*left, *said.remarks, *([row.remark] if system and row.remark else ()))):
        warnings.add(remark, line=fields.line)
    return row


def _marks(fields: Fields, summary: str, warnings: Warnings) -> Iterator[Mark]:
    """What raters marked in the summary; marks of other texts are told and left out."""
    for mark in fields.record.said.marks:
        if not mark.end:
            yield Mark(mark.rater, None)
            continue
        words = mark.words or (mark.text or summary)[mark.start : mark.end]
        start = mark.start if summary[mark.start : mark.end] == words else summary.find(words)
        if (mark.text and mark.text != summary) or not words or start < 0:
            warnings.add(
                f"The mark “{printable(words)}” is not in the summary and left out.", line=fields.line
            )
            continue
        yield Mark(mark.rater, (start, start + len(words)), f"“{words}”: {mark.reason}")


def _claims_of(fields: Fields, system: str) -> Iterator[ClaimData]:
    """The sentences of a summary that people judged one by one."""
    for sentence, votes, reason in fields.record.said.claims:
        labels = {rater: label_of(vote) for rater, vote in votes.items()}
        known = tuple((rater, label) for rater, label in labels.items() if label)
        if len(known) < len(labels):
            fields.complain("", f"gives the sentence “{printable(sentence)}” {NO_LABEL} among its votes.")
        elif known:
            yield judged_sentence(system, sentence, known, reason)


_INNER = frozenset(
    {"system", "summary_text", "claim_text", "weight", "verdicts", "raw_votes", "reasons", "ratings"}
)
"""Fields that stand inside of a nested line, where a line's own names do not show them."""


def _other_shape(first_line: int, *, is_nested: bool) -> str:
    here, there = ("flat", "nested") if is_nested else ("nested", "flat")
    return f"is {here}, but line {first_line} is {there}. A file is one or the other: split it."
