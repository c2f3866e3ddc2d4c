"""Import files or rows into a project."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from django.db import IntegrityError, connection, transaction

from annotation.core.events import log
from annotation.core.paging import batches
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.imports.containers import Format, NamedFile, Record
from annotation.imports.layout import FLAT_FIELDS, Layout
from annotation.imports.problems import Findings, ImportRefused, Problem, unreadable
from annotation.imports.read import FileReading, Progress, RowReader, read_files
from annotation.imports.row import Row, Side
from annotation.imports.store import MOST_ORIGIN_CHARACTERS, SETS_AT_ONCE, Counts, Store
from annotation.models import Project, Summary
from annotation.projects.services.change_project import create_project
from annotation.scoring.records import summaries
from annotation.scoring.rescore import RESCORED_AT_ONCE, rescore_held

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NO_TARGET = "No target length: brevity and composite are blank unless the project's settings have one."
NEW_CRITERIA = (
    "Criteria are new, with a usual scale that holds the values: {}. Assessors are asked them, too, until you retire "
    "them. To use another scale, change it under Guidelines and criteria and import the file again."
)
CONTRADICTION = "They contradict the project's data. Correct these rows, or leave them out."
PUSH = "The push"
MOST_BYTES_ON_SQLITE = 100 * 1024 * 1024
"""The largest import of files on SQLite."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import, or of a check if `dry_run` is True.

    `problems` are the first problems of the rows and files that were left out, and `problem_count` counts all of them.
    `claims_side` is None if there are no claims.
    """

    file: str
    format: str
    claims_side: Side | None
    dry_run: bool
    counts: Counts
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    rows_left_out: int = 0

    @property
    def has_changes(self) -> bool:
        return any(count.created or count.changed for count in self.counts.values())

    @property
    def word(self) -> str:
        """The word for a numbered place in the file, such as line or row."""
        return Format(self.format).place


@contextmanager
def _without_collection() -> Iterator[None]:
    """Run no automatic garbage collection, which takes a tenth of the time of a large import."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@_without_collection()
def import_files(
    *,
    project: Project,
    files: Sequence[NamedFile],
    by: User | None,
    layout: Layout | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import one file of rows, or SEE HTML and DUCView files. A `dry_run` is rolled back.

    `skip_invalid` leaves out invalid rows and files, but not rows that contradict the project, such as another text of
    a summary. Raises ImportRefused with the problems, and Conflict (code `busy`) if the project changes at the same
    time.
    """
    require(by, project, Verb.IMPORT)
    name = files[0].name if files else "nothing"
    name = f"{name} and {len(files) - 1:,} more" if len(files) > 1 else name
    size = sum(file.path.stat().st_size for file in files if file.path.is_file())
    if connection.vendor == "sqlite" and size > MOST_BYTES_ON_SQLITE:
        told = f"is larger than {MOST_BYTES_ON_SQLITE // 1024**2} MB, too large for an import on SQLite."
        raise unreadable(f"{told} Split it, or use PostgreSQL: see docs/deploy.md.", file=name)
    reading = read_files(files, layout=layout, progress=progress)
    problems, dataset = reading.problems, reading.dataset
    store = _write(
        project, name, reading, by=by, progress=progress, dry_run=dry_run, skip_invalid=skip_invalid
    )
    if store.problems.count:
        raise _refusal(name, reading, store.problems, CONTRADICTION)
    remarks = reading.warnings.texts
    remarks += [NEW_CRITERIA.format("; ".join(store.new_criteria))] if store.new_criteria else []
    remarks += [NO_TARGET] if reading.lacks_target else []
    found = (str(reading.format), dataset.claims_side, dry_run, store.counts, tuple(remarks))
    return ImportReport(name, *found, tuple(problems.shown), problems.count, problems.bad_lines)


def import_new_project(
    *, slug: str, by: User | None, files: Sequence[NamedFile], dry_run: bool = False, **choices: Any
) -> ImportReport:
    """Create a project and import files into it with `import_files`, in one transaction.

    Raises Invalid for an unusable slug, Conflict (code `slug_taken`) if another project has the slug, and the errors of
    `import_files`.
    """
    with transaction.atomic():
        project = create_project(slug=slug, by=by)
        report = import_files(project=project, files=files, by=by, dry_run=dry_run, **choices)
        transaction.set_rollback(dry_run)
    return report


def _write(
    project: Project,
    name: str,
    reading: FileReading,
    *,
    by: User | None,
    skip_invalid: bool,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> Store:
    """Roll back a dry run, and rows that contradict the project, which the store has as problems."""
    progress = progress or Progress()
    problems, sets = reading.problems, reading.dataset.sets
    if problems.count and not (skip_invalid and (sets or reading.format is Format.PUSHED)):
        way_out = "No row is valid." if skip_invalid else "Correct the file, or skip invalid rows."
        raise _refusal(name, reading, problems, way_out)
    progress.sets = len(sets)
    try:
        with transaction.atomic():
            held = Project.objects.select_for_update(of=("self",), no_key=True).filter(pk=project.pk).first()
            if held is None:
                raise Conflict("The project was removed during the import.", code="busy")
            store = Store(
                held, name[:MOST_ORIGIN_CHARACTERS], needs_documents=reading.format is Format.PUSHED
            )
            store.begin(reading.dataset)
            for some in batches(sets.items(), SETS_AT_ONCE):
                store.write(some)
                progress.sets_written += len(some)
                progress.step()
            is_refused = store.problems.count > 0
            if not (is_refused or dry_run):
                _rescore(store)
                _log(store, reading, by)
            progress.hold()
            transaction.set_rollback(is_refused or dry_run)
    except IntegrityError as error:
        message = "The project changed during the import. Nothing was imported. Import again."
        raise Conflict(message, code="busy") from error
    return store


def _rescore(store: Store) -> None:
    of_project = Summary.objects.filter(document_set__project=store.project, is_summary=True).order_by("pk")
    for names in batches(sorted(store.stale), SETS_AT_ONCE):
        stale = of_project.filter(document_set__external_id__in=names)
        for keys in batches(stale.values_list("pk", flat=True), RESCORED_AT_ONCE):
            rescore_held(project=store.project, held=summaries(keys, hold=True))


def _refusal(name: str, reading: FileReading, found: Findings, way_out: str) -> ImportRefused:
    told = f"{name} has {found.count:,} problem{'' if found.count == 1 else 's'}. Nothing was imported. {way_out}"
    count, word = found.count, reading.format.place
    return ImportRefused(told, problems=found.shown, problem_count=count, word=word)


def _log(store: Store, reading: FileReading, by: User | None) -> None:
    kinds = store.counts.items()
    created = {kind: count.created for kind, count in kinds if count.created}
    changed = {kind: count.changed for kind, count in kinds if count.changed}
    if created or changed:
        about = {"file": store.origin_name, "format": str(reading.format)}
        counts = {"created": created, "changed": changed, "rows_left_out": reading.problems.bad_lines}
        data = about | counts | {"claims_side": reading.dataset.claims_side}
        log(project=store.project, actor=by, verb="import", target=store.project, data=data)


@dataclass(frozen=True, slots=True)
class PushedRow:
    """The result of a pushed row; `summary` and `reference` are public ids."""

    state: Literal["created", "changed", "unchanged", "refused"]
    summary: str | None = None
    reference: str | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class PushReport:
    """The result of each row of a push, and the counts by kind of database row."""

    rows: tuple[PushedRow, ...]
    counts: Counts
    warnings: tuple[str, ...] = ()


def push_rows(
    *, project: Project, rows: Sequence[Mapping[str, object]], by: User | None, skip_invalid: bool = False
) -> PushReport:
    """Import rows into a project.

    A row has a summary with its system, a reference, or both. One problem refuses the whole push, unless `skip_invalid`
    omits invalid rows, and all rows of a document set that contradicts the project. Raises ImportRefused, whose
    problems count rows from 1, and Conflict (code `busy`) if the project changes at the same time.
    """
    require(by, project, Verb.IMPORT)
    reading, read = _read_pushed(rows)
    sets, problems = reading.dataset.sets, reading.problems.kept
    set_of: dict[int | None, str] = {number: row.document_id for number, row in read.items()}
    while (store := _write(project, PUSH, reading, by=by, skip_invalid=skip_invalid)).problems.count:
        of_sets = [problem for problem in store.problems.kept if problem.line]
        if not (skip_invalid and of_sets):
            raise _refusal(PUSH, reading, store.problems, CONTRADICTION)
        for problem in of_sets:
            sets.pop(set_of[problem.line], None)
        problems += of_sets
    refused = defaultdict[str | int | None, list[Problem]](list)
    for problem in problems:
        refused[set_of.get(problem.line, problem.line)].append(problem)
    outcomes = tuple(
        _outcome(read[number], store)
        if set_of.get(number) in sets
        else PushedRow("refused", problems=tuple(refused[set_of.get(number, number)]))
        for number in range(1, len(rows) + 1)
    )
    return PushReport(outcomes, store.counts, tuple(reading.warnings.texts))


def _read_pushed(rows: Sequence[Mapping[str, object]]) -> tuple[FileReading, dict[int, Row]]:
    reading = FileReading(Format.PUSHED, problems=Findings("row"), warnings=Findings("row"))
    problems, read = reading.problems, dict[int, Row]()
    reader = RowReader(problems, reading.warnings, {name: (name,) for name in FLAT_FIELDS}, is_pushed=True)
    for number, values in enumerate(rows, start=1):
        before = problems.count
        for name in values.keys() - set(FLAT_FIELDS):
            problems.add(number, name, f"is no field of a row. Fields are {', '.join(FLAT_FIELDS)}.")
        if problems.count == before and (row := reader.row(Record(number, values))):
            for name, reason in reading.dataset.add(row):
                problems.add(number, name, reason)
            if problems.count == before:
                read[number] = row
    return reading, read


def _outcome(row: Row, store: Store) -> PushedRow:
    keys = [(row.document_id, "summaries", one.system, row.target) for one in row.systems]
    summary, state = store.texts[keys[0]] if keys else (None, None)
    keys = [(row.document_id, "references", one.id, None) for one in row.references]
    reference, of_reference = store.texts[keys[0]] if keys else (None, None)
    is_changed = state == "unchanged" and of_reference == "created"
    whole = "changed" if is_changed else state or of_reference or "unchanged"
    named, other = (each.public_id if each else None for each in (summary, reference))
    return PushedRow(whole, named, other)
