"""A manager brings files into a project: documents and summaries, or what DUC and TAC left of their own."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from django.db import IntegrityError, connection, models, transaction

from annotation.core.by_hand import copy_rows
from annotation.core.current_checks import put_in_force, take_out
from annotation.core.events import log
from annotation.core.paging import batches
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.imports.dataset import FlatRow, Side, Stretch
from annotation.imports.existing import (
    judged_claim_sets,
    judged_document_sets,
    summary_key,
)
from annotation.imports.formats import Format, NamedFile
from annotation.imports.layouts.layout import Layout
from annotation.imports.plan import plan_import
from annotation.imports.plan_claims import MAX_CLAIM_ORIGIN_CHARACTERS
from annotation.imports.planned import ImportCounts, ImportPlan
from annotation.imports.problems import PROBLEMS_SHOWN, ImportRefused, Problem, Problems, Remedy, unreadable
from annotation.imports.progress import Progress
from annotation.imports.pushed import add_known_documents, read_pushed
from annotation.imports.read import FileReading, read_files
from annotation.models import (
    Assignment,
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Project,
    Reading,
    Score,
    Summary,
    System,
    Unit,
    Verdict,
)
from annotation.models.claim import has_number, new_queue_key
from annotation.projects.services.change_project import create_project
from annotation.scoring.fresh import Columns, fresh_scores, unscored_columns
from annotation.scoring.records import judged_text, peers, score_rules
from annotation.scoring.rescore import DERIVED, RESCORED_AT_ONCE, rescore, rescore_held
from annotation.texts.queries.unit_texts import judged_summaries
from annotation.texts.services.change_units import rename_readings
from evaluation.text import sentence_spans

CHANGED = "The project was removed or its rules changed during the import. Import again."
NO_TARGET = "No target length: brevity and composite are blank unless the project's settings have one."

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_BYTES_ON_SQLITE = 100 * 1024 * 1024
"""Everybody else waits while SQLite is written to."""
ROWS_WRITTEN_AT_ONCE = 2000
SUMMARIES_RESCORED_AT_ONCE = 5000


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do: rows by kind, what was left out, what to know.

    `problems` holds the first problems of the rows that `skip_invalid` left out; `problem_count`
    counts them all and `rows_left_out` their rows. `claims_side` is None where the file has no claims.
    `remedies` are what may help against a warning; a door says how.
    """

    file: str
    format: str
    claims_side: Side | None
    dry_run: bool
    counts: ImportCounts
    warnings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    rows_left_out: int = 0
    remedies: tuple[Remedy, ...] = ()

    @property
    def place(self) -> str:
        """What a place in the file is called."""
        return Format(self.format).place


def import_files(
    *,
    project: Project,
    files: Sequence[NamedFile],
    by: User | None,
    layout: Layout | None = None,
    claims_side: Side | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring files into a project: everything, or with problems in them nothing.

    One file of rows (CSV, JSONL, Parquet), or any number of DUC's and TAC's. Managers and owners may. All of it is one
    transaction; what it changes of sets that were there is scored after it. Importing a file again changes nothing; a
    text that differs from the project's replaces it, units and claims too, unless somebody or a judge has judged it.
    `skip_invalid` leaves bad rows and files out, never such a contradiction.

    Raises ImportRefused, with the problems by file, line and column; Conflict (code `busy`) where what the import
    changes was changed or judged meanwhile.
    """
    require(by, project, Verb.IMPORT)
    name, progress = _name_of(files), progress or Progress()
    plan = _plan(project, name)
    reading = _read(plan, files, layout, claims_side, skip_invalid=skip_invalid, progress=progress)
    if dry_run:
        _count(plan, reading, name, progress)
        return _report(plan, reading, name, dry_run=True)
    with transaction.atomic():
        plan.project = _hold_as_read(plan)
        stale = _bring_in(plan, reading, name, progress)
        progress.hold()
        if plan.counts.has_changes:
            _log(plan, reading, by)
    _rescore(project, stale)
    return _report(plan, reading, name, dry_run=False)


def import_new_project(
    *,
    slug: str,
    by: User | None,
    path: Path | None = None,
    files: Sequence[NamedFile] = (),
    layout: Layout | None = None,
    claims_side: Side | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
    file_name: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """As `import_files`, into a project that is made in the same transaction: both or neither.

    Takes `files`, or one by its `path`. Raises Conflict (code `slug_taken`) where there is one of that name,
    Invalid for a name that cannot be one.
    """
    if path is not None:
        files = [NamedFile(file_name or path.name, path), *files]
    name, progress = _name_of(files), progress or Progress()
    # Never saved: there is nothing in it to look for.
    project = Project(slug=slug, name=slug)
    plan = _plan(project, name)
    reading = _read(plan, files, layout, claims_side, skip_invalid=skip_invalid, progress=progress)
    stale: set[int] = set()
    with transaction.atomic():
        made = create_project(slug=slug, by=by)
        if dry_run:
            _count(plan, reading, name, progress)
            transaction.set_rollback(True)
        else:
            plan.project.pk, plan.project.public_id = made.pk, made.public_id
            stale = _bring_in(plan, reading, name, progress)
            _log(plan, reading, by)
    if not dry_run:
        _rescore(plan.project, stale)
    return _report(plan, reading, name, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class PushedRow:
    """What became of a row, and why it was refused; the public ids of its summary and of its reference."""

    state: Literal["created", "changed", "unchanged", "refused"]
    summary: str | None = None
    reference: str | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did, row by row and by kind of row."""

    rows: tuple[PushedRow, ...]
    counts: ImportCounts
    warnings: tuple[str, ...] = ()


def push_rows(
    *, project: Project, rows: Sequence[Mapping[str, object]], by: User | None, skip_invalid: bool = False
) -> PushReport:
    """Bring rows into a project as `import_files` does those of a file, in one transaction with the scores they move.

    The same rows again change nothing. With `skip_invalid` each bad row is left out with its problems, also one that
    contradicts the project; otherwise all of them are. Managers and owners may.

    Raises ImportRefused, whose problems name rows by their place from 1; Conflict (code `busy`).
    """
    require(by, project, Verb.IMPORT)
    given, refused = dict(enumerate(rows, start=1)), dict[int, tuple[Problem, ...]]()
    for attempt in count():
        plan = _plan(project, Format.PUSHED)
        plan.problems.most = PROBLEMS_SHOWN if not skip_invalid else 2 * len(rows)
        reading, read = read_pushed(given, most=plan.problems.most)
        if reading.problems.count and not skip_invalid:
            raise _refusal(
                "The push", reading, reading.problems, " Correct these rows, or skip invalid ones."
            )
        refused |= _by_row(reading.problems.shown)
        try:
            parts = _push(plan, reading, by)
        except ImportRefused as refusal:
            found = _by_row(refusal.problems)
            if not skip_invalid or not found:
                raise
            if attempt:
                # What is wrong with a set is told of its first row, and goes for all: else each would be tried in turn.
                told = {read[number].document_id: problems for number, problems in found.items()}
                found |= {n: told[row.document_id] for n, row in read.items() if row.document_id in told}
            refused |= found
            given = {number: row for number, row in given.items() if number not in refused}
        else:
            outcomes = _pushed(project, read, parts)
            told_rows = tuple(
                PushedRow("refused", problems=refused[number]) if number in refused else outcomes[number]
                for number in range(1, len(rows) + 1)
            )
            return PushReport(told_rows, plan.counts, reading.warnings.lines())
    raise AssertionError("every turn leaves rows out, or ends")


def _by_row(problems: Sequence[Problem]) -> dict[int, tuple[Problem, ...]]:
    found: dict[int, tuple[Problem, ...]] = {}
    for problem in problems:
        if problem.line is not None:
            found[problem.line] = (*found.get(problem.line, ()), problem)
    return found


def _push(plan: ImportPlan, reading: FileReading, by: User | None) -> list[ImportPlan]:
    """Write what was read, in one transaction; the parts that were written."""
    parts: list[ImportPlan] = []
    with transaction.atomic():
        plan.project = _hold(plan.project)
        add_known_documents(reading.dataset, plan.project, plan.problems)
        _refuse_problems(plan, reading, "The push")
        _bring_in(plan, reading, "The push", Progress(), parts)
        stale = sorted({key for part in parts for key in _stale_peers(part)})
        for keys in batches(stale, RESCORED_AT_ONCE):
            rescore_held(project=plan.project, held=peers(keys, hold=True))
        if plan.counts.has_changes:
            _log(plan, reading, by)
    return parts


def _hold(project: Project) -> Project:
    """The project as it is now. One import at a time; rows that point to the project may come in meanwhile."""
    held = Project.objects.select_for_update(of=("self",), no_key=True).filter(pk=project.pk).first()
    if held is None:
        raise Conflict(CHANGED, code="busy")
    return held


def _hold_as_read(plan: ImportPlan) -> Project:
    """As `_hold`, where what was read and written so far went by the project's rules."""
    held = _hold(plan.project)
    if score_rules(held) != score_rules(plan.project):
        raise Conflict(CHANGED, code="busy")
    return held


def _stale_peers(part: ImportPlan) -> set[int]:
    """The summaries of sets that were there whose scores a written part moves, or leaves to be made."""
    fresh = {row.pk for row in part.document_sets}
    rows = [row for row in (*part.summaries, *part.updated.values()) if row.document_set_id not in fresh]
    found = {row.pk for row in rows if row.is_peer}
    found |= {row.peer_id for row in part.comparisons if row.peer.document_set_id not in fresh}
    if models := [row.pk for row in part.updated.values() if row.is_model]:
        found |= set(Comparison.objects.filter(model__in=models).values_list("peer_id", flat=True))
    retold = {row.document_set_id for row in part.documents}
    if whole := (retold | {row.claim_set.document_set_id or 0 for row in part.questions}) - fresh:
        found |= set(
            Summary.objects.filter(document_set__in=whole, is_peer=True).values_list("pk", flat=True)
        )
    return found


def _pushed(
    project: Project, read: Mapping[int, FlatRow], parts: Sequence[ImportPlan]
) -> dict[int, PushedRow]:
    """What became of each row that was read, by its number."""
    created = {row.pk for part in parts for row in part.summaries}
    changed = created | {key for part in parts for key in part.updated}
    peer_rows: dict[tuple[str, str, int | None], tuple[int, str]] = {}
    model_rows: dict[tuple[str, str, int | None], tuple[int, str]] = {}
    found = Summary.objects.filter(
        document_set__project=project,
        document_set__external_id__in={row.document_id for row in read.values()},
    )
    for key, public_id, name, system, reference_id, target, is_peer, is_model in found.values_list(
        *("pk", "public_id", "document_set__external_id", "system__name", "external_id"),
        *("target_words", "is_peer", "is_model"),
    ):
        if is_peer:
            peer_rows[name, system, target] = key, public_id
        if is_model:
            model_rows[name, reference_id, target] = key, public_id
    nothing: tuple[int, str | None] = (0, None)
    outcomes: dict[int, PushedRow] = {}
    for number, row in read.items():
        peer = peer_rows.get((row.document_id, row.system, row.target)) or nothing
        model = nothing
        if row.reference is not None:
            place = (row.document_id, row.reference_id)
            model = model_rows.get((*place, row.target)) or model_rows.get((*place, None)) or nothing
        is_new = (peer if row.system else model)[0] in created
        is_moved = {peer[0], model[0]} & changed
        state: Literal["created", "changed", "unchanged"] = (
            "created" if is_new else "changed" if is_moved else "unchanged"
        )
        outcomes[number] = PushedRow(state, peer[1], model[1])
    return outcomes


def _name_of(files: Sequence[NamedFile]) -> str:
    """What the files are called together."""
    if not files:
        return "nothing"
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1:,} more"


def _read(
    plan: ImportPlan,
    files: Sequence[NamedFile],
    layout: Layout | None,
    claims_side: Side | None,
    *,
    skip_invalid: bool,
    progress: Progress,
) -> FileReading:
    if connection.vendor == "sqlite" and sum(_size(file) for file in files) > MOST_BYTES_ON_SQLITE:
        raise unreadable(
            f"is larger than {MOST_BYTES_ON_SQLITE // 1024**2} MB, too large for SQLite, where everybody waits for an "
            "import. Split it, or use PostgreSQL: see docs/deploy.md.",
            file=_name_of(files),
        )
    reading = read_files(
        files,
        layout=layout,
        claims_side=claims_side,
        length_unit=score_rules(plan.project).length_unit,
        progress=progress,
    )
    progress.sets = len(reading.dataset.sets)
    if reading.problems.count and not (skip_invalid and reading.dataset.sets):
        # Everything is told at once, also what the project says against the other rows.
        for _ in plan_import(plan, reading.dataset, side=reading.claims_side):
            progress.step()
        reading.problems.extend(plan.problems)
        way_out = " No row is without one." if skip_invalid else " Correct or remove these rows."
        remedies = () if skip_invalid else (Remedy.SKIP_INVALID,)
        raise _refusal(_name_of(files), reading, reading.problems, way_out, remedies)
    return reading


def _size(file: NamedFile) -> int:
    return file.path.stat().st_size if file.path.is_file() else 0


def _plan(project: Project, name: str) -> ImportPlan:
    return ImportPlan(project, name[:MAX_CLAIM_ORIGIN_CHARACTERS])


def _count(plan: ImportPlan, reading: FileReading, name: str, progress: Progress) -> None:
    """Plan all of it and write nothing. Raises ImportRefused."""
    for _ in plan_import(plan, reading.dataset, side=reading.claims_side):
        progress.step()
    _refuse_problems(plan, reading, name)


def _bring_in(
    plan: ImportPlan,
    reading: FileReading,
    name: str,
    progress: Progress,
    written: list[ImportPlan] | None = None,
) -> set[int]:
    """Write part by part; the keys of the sets whose scores are still to be made. The caller owns the transaction.

    Where there is a list for them, the parts are kept in it.
    Raises ImportRefused with the problems of all parts; what was written by then goes with the transaction.
    """
    stale: set[int] = set()
    for part in plan_import(plan, reading.dataset, side=reading.claims_side):
        if not plan.problems.count:
            pieces = _divide(part)
            stale |= _write(part, pieces)
            if written is not None:
                written.append(part)
        progress.sets_written += len(part.document_sets)
        progress.step()
    _refuse_problems(plan, reading, name)
    return stale


def _refuse_problems(plan: ImportPlan, reading: FileReading, name: str) -> None:
    if plan.problems.count:
        way_out = (
            " These rows contradict the project's data, so skipping invalid rows does not help. Correct "
            "them, and send a document before or with its rows."
            if reading.format is Format.PUSHED
            else " These rows contradict the project's data, so skipping invalid rows does not help. Correct "
            "them."
        )
        raise _refusal(name, reading, plan.problems, way_out)


def _refusal(
    name: str,
    reading: FileReading,
    problems: Problems,
    way_out: str,
    remedies: Sequence[Remedy] = (),
) -> ImportRefused:
    count = problems.count
    noun = "problem" if count == 1 else "problems"
    return ImportRefused(
        f"{name} has {count:,} {noun}. Nothing was imported.{way_out}",
        problems=problems.shown,
        problem_count=count,
        word=reading.format.place,
        remedies=remedies,
    )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The units of a text: offsets in pairs, packed because a large file has a million of them."""

    owner: Summary | Document
    first: int
    offsets: array[int]

    def places(self) -> Iterator[tuple[int, int, int]]:
        """Number and offsets of each."""
        ends = iter(self.offsets)
        return zip(count(self.first), ends, ends, strict=False)

    def summary_units(self) -> Iterator[Unit]:
        """As unsaved rows; none where the text is a document."""
        for number, start, end in self.places() if isinstance(self.owner, Summary) else ():
            yield Unit(summary_id=self.owner.pk, position=number, start=start, end=end)


def _divide(plan: ImportPlan) -> list[_Pieces]:
    """The units of every new text; those of documents are numbered through their set."""
    pieces: list[_Pieces] = []
    following: dict[int, int] = {}
    for owner, language in plan.texts:
        is_document = isinstance(owner, Document)
        text = owner.text if isinstance(owner, Document) else judged_text(owner, plan.project)
        offsets = array("L", (at for stretch in _stretches(plan, owner, text, language) for at in stretch))
        first = following.get(id(owner.document_set), 1) if is_document else 1
        following[id(owner.document_set)] = first + len(offsets) // 2 if is_document else 1
        pieces.append(_Pieces(owner=owner, first=first, offsets=offsets))
    return pieces


def _stretches(plan: ImportPlan, owner: Summary | Document, text: str, language: str) -> Iterable[Stretch]:
    """Where the units of a text stand: as its file cuts it, else by sentences."""
    if isinstance(owner, Summary) and (given := plan.given_units.get(summary_key(owner))) is not None:
        return given
    return ((span.start, span.end) for span in sentence_spans(text, language))


def _write(plan: ImportPlan, pieces: list[_Pieces]) -> set[int]:
    """Write a part; the keys of the sets that are to be scored from what the database holds by then."""
    _make_way(plan)
    try:
        System.objects.bulk_create(plan.systems)
        DocumentSet.objects.bulk_create(plan.document_sets)
        DocumentSet.objects.bulk_update(plan.regrouped, ["group"], batch_size=ROWS_WRITTEN_AT_ONCE)
        Document.objects.bulk_create(plan.documents)
        Summary.objects.bulk_create(plan.summaries)
        # An upsert by key: an update by CASE, one branch a row and column, costs ten times as much.
        Summary.objects.bulk_create(
            list(plan.updated.values()),
            update_conflicts=True,
            unique_fields=["pk"],
            update_fields=[
                *("text", "metadata", "system", "external_id", "is_model", "is_peer", "names_references")
            ],
        )
        _part_from_itself([row.key for row in plan.replaced_summaries])
        Comparison.objects.bulk_create(plan.comparisons)
        if plan.retired_questions:
            take_out(plan.retired_questions)
        _write_units(pieces)
        ClaimSet.objects.bulk_create(plan.claim_sets)
        Claim.objects.bulk_create([*plan.claims, *plan.questions])
        _write_answers(plan, _score_new(plan, pieces))
    except IntegrityError as error:
        raise Conflict(
            "The project changed during the import. Nothing was imported. Import again.",
            code="busy",
        ) from error
    fresh = {row.pk for row in plan.document_sets}
    return {row.pk for row in plan.touched.values()} - fresh


def _write_units(pieces: list[_Pieces]) -> None:
    copy_rows(
        Unit,
        ("summary_id", "document_id", "position", "start", "end"),
        (
            owner + place
            for piece in pieces
            for owner in [
                (piece.owner.pk, None) if isinstance(piece.owner, Summary) else (None, piece.owner.pk)
            ]
            for place in piece.places()
        ),
    )


def _score_new(plan: ImportPlan, pieces: list[_Pieces]) -> dict[tuple[int, int], Columns]:
    """Store the scores of new sets' summaries; the derived columns of their checks, by claim and peer."""
    new = {row.pk for row in plan.document_sets}
    peers = [row for row in plan.summaries if row.is_peer and row.document_set_id in new]
    labels: dict[int, dict[int, str]] = defaultdict(dict)
    for answer in plan.answers:
        labels[answer.peer.id][answer.claim.id] = answer.label
    models = {row.model_id for row in plan.comparisons}
    found = fresh_scores(
        plan.project,
        peers,
        labels,
        comparisons=plan.comparisons,
        units=(unit for piece in pieces if piece.owner.pk in models for unit in piece.summary_units()),
        claims=plan.claims,
    )
    scores, columns = [], {}
    for peer, fresh in zip(peers, found, strict=True):
        fresh.score.project_id = plan.project.pk
        scores.append(fresh.score)
        columns.update({(claim, peer.pk): derived for claim, derived in fresh.columns.items()})
    Score.objects.bulk_create(scores)
    return columns


def _make_way(plan: ImportPlan) -> None:
    """Take away what belonged to replaced texts, unless a judgment arrived since the plan was made."""
    summaries = [row.key for row in plan.replaced_summaries]
    sets = [row.key for row in plan.replaced_documents]
    claim_sets = [row.key for row in plan.replaced_claim_sets]
    claimed = [made.summary.pk for made in plan.claim_sets if made.summary and made.summary.pk is not None]
    if not (summaries or claimed or sets or claim_sets):
        return
    _hold_assignments([*summaries, *claimed])
    list(Summary.objects.select_for_update().filter(pk__in=summaries).order_by("pk").only("pk"))
    if judged_summaries(summaries) or judged_document_sets(sets) or judged_claim_sets(claim_sets):
        raise Conflict(
            "A text that this file replaces was judged during the import. Nothing was imported. Import again "
            "to see which.",
            code="busy",
        )
    of_documents = models.Q(document_set__in=sets, kind=ClaimSet.Kind.CLAIMS)
    ClaimSet.objects.filter(models.Q(summary__in=summaries) | of_documents).delete()
    ClaimSet.objects.filter(pk__in=claim_sets).update(is_active=False)
    put_in_force(Check.objects.filter(claim__claim_set__in=claim_sets))
    Unit.objects.filter(summary__in=summaries).delete()
    Document.objects.filter(document_set__in=sets).delete()
    rename_readings(summaries)


def _hold_assignments(summaries: Sequence[int]) -> None:
    """Lock the assignments that hold these summaries, so that nobody saves a judgment at the same time."""
    if not summaries:
        return
    held = Reading.objects.filter(
        models.Q(comparison__peer__in=summaries) | models.Q(comparison__model__in=summaries)
    )
    assignments = Assignment.objects.select_for_update(of=("self",)).filter(
        pk__in=held.values("assignment_id")
    )
    list(assignments.order_by("pk"))


def _part_from_itself(replaced: list[int]) -> None:
    """Take away comparisons that a new text made those of a writer's text with itself."""
    of_replaced = models.Q(peer__in=replaced) | models.Q(model__in=replaced)
    same = {"peer__system": models.F("model__system"), "peer__text": models.F("model__text")}
    Comparison.objects.filter(of_replaced, **same).delete()


def _write_answers(plan: ImportPlan, derived: Mapping[tuple[int, int], Columns]) -> None:
    """The checks that people answered, and their answers."""
    if not plan.answers:
        return
    asked = [answer for answer in plan.answers if answer.check_id is None]
    unscored = unscored_columns()
    with_number = {
        claim.id: has_number(claim.text) for claim in {id(a.claim): a.claim for a in asked}.values()
    }
    made = iter(
        Check.objects.bulk_create(
            Check(
                project=plan.project,
                claim=claim,
                peer=peer,
                document_set_id=peer.document_set_id,
                side=side,
                is_current=claim.removed_at is None,
                has_number=with_number[claim.id],
                queue_key=new_queue_key(),
                **dict(zip(DERIVED, derived.get((claim.id, peer.id), unscored), strict=True)),
            )
            for claim, peer, side, *_ in asked
        )
    )
    units = _units_of({answer.peer.pk for answer in plan.answers if answer.places})
    Verdict.objects.bulk_create(
        Verdict(
            check_row_id=next(made).pk if check is None else check,
            role=Verdict.Role.REVIEWER,
            origin_name=plan.origin,
            label=label,
            evidence=_touched_units(places, units.get(peer.pk, ())),
            votes=votes,
        )
        for _, peer, _, label, check, places, votes in plan.answers
    )


_UnitPlace = tuple[int, int, int]
"""A unit's number and offsets."""


def _units_of(summaries: set[int]) -> dict[int, list[_UnitPlace]]:
    found: dict[int, list[_UnitPlace]] = defaultdict(list)
    units = (
        Unit.objects.filter(summary__in=summaries).order_by("position") if summaries else Unit.objects.none()
    )
    for summary_id, *place in units.values_list("summary__pk", "position", "start", "end"):
        found[summary_id].append((place[0], place[1], place[2]))
    return found


def _touched_units(places: Sequence[Stretch], units: Sequence[_UnitPlace]) -> list[int]:
    """The numbers of the units in which one of the places lies, wholly or in part."""
    return [
        number
        for number, start, end in units
        if any(start < place_end and place_start < end for place_start, place_end in places)
    ]


def _log(plan: ImportPlan, reading: FileReading, by: User | None) -> None:
    kinds = plan.counts.by_kind
    log(
        project=plan.project,
        actor=by,
        verb="import",
        target=plan.project,
        data={
            "file": plan.origin_name,
            "format": str(reading.format),
            "claims_side": reading.claims_side,
            "created": {kind: count.created for kind, count in kinds.items() if count.created},
            "changed": {kind: count.changed for kind, count in kinds.items() if count.changed},
            "rows_left_out": reading.problems.bad_lines,
        },
    )


def _rescore(project: Project, document_sets: set[int]) -> None:
    """Score these sets, and what an import that was cut short left unscored."""
    peers = Summary.objects.filter(document_set__project=project, is_peer=True)
    wanted = set(peers.filter(score=None).values_list("pk", flat=True))
    for some in batches(document_sets, SUMMARIES_RESCORED_AT_ONCE):
        wanted.update(peers.filter(document_set__in=some).values_list("pk", flat=True))
    for keys in batches(sorted(wanted), SUMMARIES_RESCORED_AT_ONCE):
        rescore(project=project, summary_ids=keys)


def _report(plan: ImportPlan, reading: FileReading, name: str, *, dry_run: bool) -> ImportReport:
    return ImportReport(
        file=name,
        format=str(reading.format),
        claims_side=reading.claims_side,
        dry_run=dry_run,
        counts=plan.counts,
        warnings=(*reading.warnings.lines(), *([NO_TARGET] if reading.lacks_target else ()), *plan.remarks),
        problems=tuple(reading.problems.shown),
        problem_count=reading.problems.count,
        rows_left_out=reading.problems.bad_lines,
        remedies=tuple(remedy for remedy in Remedy if remedy in reading.warnings.remedies),
    )
