"""A manager brings files or rows into a project: documents and summaries, or what DUC and TAC left of their own."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from annotation.core.by_hand import copy_rows
from annotation.core.current_checks import put_in_force, take_out
from annotation.core.events import log
from annotation.core.paging import batches
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.imports.fields import Fields
from annotation.imports.files import Format, NamedFile, Record
from annotation.imports.layout import FLAT_FIELDS, Layout
from annotation.imports.plan import (
    MOST_ORIGIN_CHARACTERS,
    ImportCounts,
    ImportPlan,
    judged_claim_sets,
    judged_document_sets,
    plan_import,
    summary_key,
)
from annotation.imports.problems import ImportRefused, Problem, Problems, Remedy, Warnings, unreadable
from annotation.imports.read import FileReading, Progress, read_files, row_of
from annotation.imports.rows import Dataset, Row, Side, Stretch
from annotation.models import (
    Assignment,
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Criterion,
    Document,
    DocumentSet,
    Project,
    Rating,
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
    """The result of an import, or with `dry_run` of a trial: rows by kind, omissions and remarks.

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
        """The word for a place in the file."""
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

    One file of rows (CSV, JSON, JSONL, Parquet), or any number of DUC's and TAC's. Managers and owners may. All of it
    is one transaction; what it changes of sets that were there is scored after it. Importing a file again changes
    nothing; a text that differs from the project's replaces it, units and claims too, unless somebody or a judge has
    judged it. `skip_invalid` leaves bad rows and files out, never such a contradiction.

    Raises ImportRefused, with the problems by file, line and column; Conflict (code `busy`) where what the import
    changes was changed or judged meanwhile.
    """
    require(by, project, Verb.IMPORT)
    name, progress = _name_of(files), progress or Progress()
    plan = _plan(project, name)
    reading = _read(plan, files, layout, claims_side, skip_invalid=skip_invalid, progress=progress)
    if dry_run:
        for _ in plan_import(plan, reading.dataset, side=reading.claims_side):
            progress.step()
        _refuse_problems(plan, reading, name)
        return _report(plan, reading, name, dry_run=True)
    with transaction.atomic():
        plan.project = _hold(project)
        # What was read so far went by the project's rules.
        if score_rules(plan.project) != score_rules(project):
            raise Conflict(CHANGED, code="busy")
        stale: set[int] = set()
        for part in _bring_in(plan, reading, name, progress):
            fresh = {row.pk for row in part.document_sets}
            stale |= {row.pk for row in part.touched.values()} - fresh
        progress.hold()
        if plan.counts.has_changes:
            _log(plan, reading, by)
    _rescore(project, stale)
    return _report(plan, reading, name, dry_run=False)


def import_new_project(
    *, slug: str, by: User | None, files: Sequence[NamedFile], dry_run: bool = False, **choices: Any
) -> ImportReport:
    """As `import_files`, into a project that is made in the same transaction: both or neither.

    Raises Conflict (code `slug_taken`) where there is one of that name, Invalid for a name that cannot be one.
    """
    with transaction.atomic():
        project = create_project(slug=slug, by=by)
        report = import_files(project=project, files=files, by=by, dry_run=dry_run, **choices)
        transaction.set_rollback(dry_run)
    return report


@dataclass(frozen=True, slots=True)
class PushedRow:
    """The outcome of a row, the reason if it was refused, and the public ids of its summary and its reference."""

    state: Literal["created", "changed", "unchanged", "refused"]
    summary: str | None = None
    reference: str | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class PushReport:
    """The result of a push, by row and by kind of row."""

    rows: tuple[PushedRow, ...]
    counts: ImportCounts
    warnings: tuple[str, ...] = ()


def push_rows(
    *, project: Project, rows: Sequence[Mapping[str, object]], by: User | None, skip_invalid: bool = False
) -> PushReport:
    """Bring rows into a project as `import_files` does those of a file, in one transaction with the scores they move.

    A row holds a summary of a document with its system, a reference, or both, and leaves out a document that the
    project has. The same rows again change nothing. With `skip_invalid` each bad row is left out with its problems,
    also one that contradicts the project; otherwise all of them are. Managers and owners may.

    Raises ImportRefused, whose problems name rows by their place from 1; Conflict (code `busy`).
    """
    require(by, project, Verb.IMPORT)
    given, refused = dict(enumerate(rows, start=1)), dict[int, tuple[Problem, ...]]()
    for attempt in count():
        plan = _plan(project, Format.PUSHED)
        plan.problems.tells_each_line = skip_invalid
        reading, read = _read_pushed(given, tells_each_line=skip_invalid)
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
            outcomes = {number: _outcome(row, parts) for number, row in read.items()}
            told_rows = tuple(
                PushedRow("refused", problems=refused[number]) if number in refused else outcomes[number]
                for number in range(1, len(rows) + 1)
            )
            return PushReport(told_rows, plan.counts, tuple(reading.warnings.shown))
    raise AssertionError("every turn leaves rows out, or ends")


def _by_row(problems: Sequence[Problem]) -> dict[int, tuple[Problem, ...]]:
    found: dict[int, tuple[Problem, ...]] = defaultdict(tuple)
    for problem in problems:
        if problem.line is not None:
            found[problem.line] += (problem,)
    return dict(found)


def _read_pushed(
    rows: Mapping[int, Mapping[str, object]], *, tells_each_line: bool
) -> tuple[FileReading, dict[int, Row]]:
    """The rows by their numbers, which stand for a file's lines; and those without a problem."""
    problems, warnings = Problems(tells_each_line=tells_each_line), Warnings(word=Format.PUSHED.place)
    dataset, read = Dataset(), dict[int, Row]()
    for number, values in rows.items():
        fields = Fields(Record(number, values), {}, problems)
        for name in values:
            if name not in FLAT_FIELDS:
                fields.complain(name, f"is no field of a row. Fields are {', '.join(FLAT_FIELDS)}.")
        row = row_of(fields, warnings, is_pushed=True)
        conflicts = dataset.add(row) if row else []
        for name, reason in conflicts:
            fields.complain(name, reason)
        if row and not conflicts:
            read[number] = row
    return FileReading(Format.PUSHED, dataset, None, problems, warnings), read


def _push(plan: ImportPlan, reading: FileReading, by: User | None) -> list[ImportPlan]:
    """Write what was read, in one transaction; the parts that were written."""
    with transaction.atomic():
        plan.project = _hold(plan.project)
        _add_known_documents(plan, reading.dataset)
        _refuse_problems(plan, reading, "The push")
        parts = list(_bring_in(plan, reading, "The push", Progress()))
        stale = sorted({key for part in parts for key in _stale_peers(part)})
        for keys in batches(stale, RESCORED_AT_ONCE):
            rescore_held(project=plan.project, held=peers(keys, hold=True))
        if plan.counts.has_changes:
            _log(plan, reading, by)
    return parts


def _add_known_documents(plan: ImportPlan, dataset: Dataset) -> None:
    """Give the sets whose rows name no document those that the project has; a problem where it has none."""
    bare = {name: one for name, one in dataset.sets.items() if not one.documents}
    known = Document.objects.filter(document_set__project=plan.project, document_set__external_id__in=bare)
    columns = ("document_set__external_id", "text")
    for name, text in known.order_by("document_set_id", "position").values_list(*columns) if bare else ():
        bare[name].documents += (text,)
    for name, one in bare.items():
        if not one.documents:
            plan.problems.add(
                one.line,
                "document",
                f"is missing, and the project has no document {name!r} yet. Send it with the first of its rows.",
            )


def _hold(project: Project) -> Project:
    """The project as it is now. One import at a time; rows that point to the project may come in meanwhile."""
    held = Project.objects.select_for_update(of=("self",), no_key=True).filter(pk=project.pk).first()
    if held is None:
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


def _outcome(row: Row, parts: Sequence[ImportPlan]) -> PushedRow:
    """The outcome of a row."""
    part, peer, model = next((part, *found) for part in parts if any(found := part.written(row)))
    main = peer or model
    created, changed = set(map(id, part.summaries)), set(map(id, part.updated.values()))
    touched = {id(each) for each in (peer, model) if each}
    return PushedRow(
        "created" if id(main) in created else "changed" if touched & (created | changed) else "unchanged",
        peer.public_id if peer else None,
        model.public_id if model else None,
    )


def _name_of(files: Sequence[NamedFile]) -> str:
    """The name of all files together."""
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
    size = sum(file.path.stat().st_size for file in files if file.path.is_file())
    if connection.vendor == "sqlite" and size > MOST_BYTES_ON_SQLITE:
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


def _plan(project: Project, name: str) -> ImportPlan:
    return ImportPlan(project, name[:MOST_ORIGIN_CHARACTERS])


def _bring_in(plan: ImportPlan, reading: FileReading, name: str, progress: Progress) -> Iterator[ImportPlan]:
    """Write part by part. The caller owns the transaction.

    Raises ImportRefused with the problems of all parts; what was written by then goes with the transaction.
    """
    for part in plan_import(plan, reading.dataset, side=reading.claims_side):
        if not plan.problems.count:
            _write(part, _divide(part))
            yield part
        progress.sets_written += len(part.document_sets)
        progress.step()
    _refuse_problems(plan, reading, name)


def _refuse_problems(plan: ImportPlan, reading: FileReading, name: str) -> None:
    if plan.problems.count:
        also = ", and send a document before or with its rows" if reading.format is Format.PUSHED else ""
        raise _refusal(
            name,
            reading,
            plan.problems,
            " These rows contradict the project's data, so skipping invalid rows does not help. Correct "
            f"them{also}.",
        )


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
    """The offsets of the units of a text: those of its file, else its sentences."""
    if isinstance(owner, Summary) and (given := plan.given_units.get(summary_key(owner))) is not None:
        return given
    return ((span.start, span.end) for span in sentence_spans(text, language))


def _write(plan: ImportPlan, pieces: list[_Pieces]) -> None:
    """Write a part."""
    _make_way(plan)
    try:
        System.objects.bulk_create(plan.systems)
        Criterion.objects.bulk_create(plan.criteria)
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
        _link_claims(plan)
        ClaimSet.objects.bulk_create(plan.claim_sets)
        Claim.objects.bulk_create([*plan.claims, *plan.questions])
        _write_answers(plan, _score_new(plan, pieces))
        _write_ratings(plan)
    except IntegrityError as error:
        raise Conflict(
            "The project changed during the import. Nothing was imported. Import again.",
            code="busy",
        ) from error


def _link_claims(plan: ImportPlan) -> None:
    """Give claims the units that the file says they belong to."""
    owners = {claim.claim_set.summary.pk for claim, _ in plan.of_units if claim.claim_set.summary}
    rows = (
        Unit.objects.filter(summary__in=owners).values_list("summary_id", "position", "pk") if owners else ()
    )
    units = {(summary, position): pk for summary, position, pk in rows}
    for claim, number in plan.of_units:
        owner = claim.claim_set.summary
        claim.unit_id = units.get((owner.pk if owner else 0, number))


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
        # Only claims that belong to units need their keys.
        units=Unit.objects.filter(summary__in=models)
        if plan.of_units
        else (unit for piece in pieces if piece.owner.pk in models for unit in piece.summary_units()),
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
            reason=reason,
        )
        for _, peer, _, label, check, places, votes, reason in plan.answers
    )


def _write_ratings(plan: ImportPlan) -> None:
    """The ratings, as tuples: instances of many raters' take half of the time of an import."""
    names = (
        "criterion_id",
        "summary_id",
        "origin_name",
        "value",
        "role",
        "reason",
        "error_type",
        "evidence",
        "created_at",
    )
    same = (Rating.Role.REVIEWER, "", "", "[]", connection.ops.adapt_datetimefield_value(timezone.now()))
    copy_rows(Rating, names, ((row.pk, summary.pk, *said, *same) for row, summary, *said in plan.ratings))


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


def _remarks(plan: ImportPlan, reading: FileReading) -> Iterator[str]:
    if plan.counts.criteria.created:
        names = ", ".join(f"`{name}`" for name in reading.dataset.rated())
        yield f"Criteria are new in the project, of {names}. Assessors are asked them, too, until you retire them."
    if reading.lacks_target:
        yield NO_TARGET


def _report(plan: ImportPlan, reading: FileReading, name: str, *, dry_run: bool) -> ImportReport:
    return ImportReport(
        file=name,
        format=str(reading.format),
        claims_side=reading.claims_side,
        dry_run=dry_run,
        counts=plan.counts,
        warnings=(*reading.warnings.shown, *_remarks(plan, reading)),
        problems=tuple(reading.problems.shown),
        problem_count=reading.problems.count,
        rows_left_out=reading.problems.bad_lines,
        remedies=tuple(remedy for remedy in Remedy if remedy in reading.warnings.remedies),
    )
