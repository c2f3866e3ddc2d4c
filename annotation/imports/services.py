"""A manager brings files into a project: documents and summaries, or what DUC and TAC left of their own."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from django.db import IntegrityError, models, transaction
from django.utils import timezone

from annotation.core.current_checks import put_in_force
from annotation.core.events import log
from annotation.core.paging import batches
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.core.squeezed import Stretch
from annotation.imports.dataset import Side
from annotation.imports.existing import (
    judged_claim_sets,
    judged_document_sets,
    judged_summaries,
    summary_key,
)
from annotation.imports.formats import Format
from annotation.imports.packages import NamedFile
from annotation.imports.plan import plan_import
from annotation.imports.plan_claims import new_check
from annotation.imports.planned import ImportCounts, ImportedAnswer, ImportPlan
from annotation.imports.problems import ImportRefused, Problem, Problems, Remedy
from annotation.imports.read import FileReading, read_files
from annotation.models import (
    Assignment,
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Event,
    Project,
    PublishedPercent,
    PublishedScore,
    Question,
    Sitting,
    Summary,
    System,
    Unit,
    UnitChange,
    Verdict,
)
from annotation.projects.services.change_project import create_project
from annotation.scoring.records import judged_text
from annotation.scoring.rescore import rescore
from annotation.texts.services.change_units import load_forms_anew
from evaluation.text import sentence_spans

if TYPE_CHECKING:
    from django.contrib.auth.models import User

ROWS_WRITTEN_AT_ONCE = 2000
SUMMARIES_RESCORED_AT_ONCE = 5000

Row = TypeVar("Row", bound=models.Model)


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


def import_dataset(
    *,
    project: Project,
    path: Path,
    by: User | None,
    mapping: Mapping[str, str] | None = None,
    claims_side: Side | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
    file_name: str | None = None,
) -> ImportReport:
    """Bring one file into a project, as `import_files`. `file_name` is what people call it."""
    return import_files(
        project=project,
        files=[NamedFile(file_name or path.name, path)],
        by=by,
        mapping=mapping,
        claims_side=claims_side,
        dry_run=dry_run,
        skip_invalid=skip_invalid,
    )


def import_files(
    *,
    project: Project,
    files: Sequence[NamedFile],
    by: User | None,
    mapping: Mapping[str, str] | None = None,
    claims_side: Side | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
) -> ImportReport:
    """Bring files into a project: everything, or with problems in them nothing.

    One file of rows (CSV, JSONL, Parquet), or any number of DUC's and TAC's, loose or in zips. Managers and owners
    may. All but the writing happens before the one transaction; scores follow after it. Importing a file again
    changes nothing; a text that differs from the project's replaces it, units and claims too, unless somebody or a
    judge has judged it. A published table replaces all that the file of its name said before. `skip_invalid` leaves
    bad rows and files out, never such a contradiction, and takes no line away.

    Raises ImportRefused, with the problems by file, line and column; Conflict (code `busy`) where another
    import into the project ended meanwhile.
    """
    require(by, project, Verb.IMPORT)
    name = _name_of(files)
    reading = _read(files, mapping, claims_side, skip_invalid=skip_invalid)
    latest = _latest_import(project)
    plan = _planned(project, reading, name)
    if not dry_run:
        if plan.counts.has_changes:
            pieces = _divide(plan)
            with transaction.atomic():
                _lock(project, latest)
                _write(plan, pieces)
                _log(plan, reading, by)
        _rescore(plan)
    return _report(plan, reading, name, dry_run=dry_run)


def import_new_project(
    *,
    slug: str,
    by: User | None,
    path: Path | None = None,
    files: Sequence[NamedFile] = (),
    mapping: Mapping[str, str] | None = None,
    claims_side: Side | None = None,
    dry_run: bool = False,
    skip_invalid: bool = False,
    file_name: str | None = None,
) -> ImportReport:
    """As `import_files`, into a project that is made in the same transaction: both or neither.

    Takes `files`, or one by its `path`. Raises Conflict (code `slug_taken`) where there is one of that name,
    Invalid for a name that cannot be one.
    """
    if path is not None:
        files = [NamedFile(file_name or path.name, path), *files]
    name = _name_of(files)
    reading = _read(files, mapping, claims_side, skip_invalid=skip_invalid)
    plan = _planned(Project(slug=slug, name=slug), reading, name)
    pieces = [] if dry_run else _divide(plan)
    with transaction.atomic():
        made = create_project(slug=slug, by=by)
        # The planned rows point to the project that was planned for; it is this one from now on.
        plan.project.pk, plan.project.public_id = made.pk, made.public_id
        if dry_run:
            transaction.set_rollback(True)
        else:
            _write(plan, pieces)
            _log(plan, reading, by)
    if not dry_run:
        rescore(project=made)
    return _report(plan, reading, name, dry_run=dry_run)


def _name_of(files: Sequence[NamedFile]) -> str:
    """What the files are called together."""
    if not files:
        return "nothing"
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1:,} more"


def _read(
    files: Sequence[NamedFile],
    mapping: Mapping[str, str] | None,
    claims_side: Side | None,
    *,
    skip_invalid: bool,
) -> FileReading:
    reading = read_files(files, mapping=mapping, claims_side=claims_side)
    if reading.problems.count and not (skip_invalid and not reading.dataset.is_empty):
        way_out = "" if skip_invalid else " Correct them, or leave those rows out."
        remedies = () if skip_invalid else (Remedy.SKIP_INVALID,)
        raise _refusal(_name_of(files), reading, reading.problems, way_out, remedies)
    return reading


def _planned(project: Project, reading: FileReading, name: str) -> ImportPlan:
    plan = plan_import(
        project,
        reading.dataset,
        side=reading.claims_side,
        file_name=name,
        is_whole=not reading.problems.count,
    )
    if plan.problems.count:
        raise _refusal(name, reading, plan.problems, "")
    return plan


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


def _latest_import(project: Project) -> int:
    latest = Event.objects.filter(project=project, verb="import").order_by("-pk").values_list("pk", flat=True)
    return latest.first() or 0


def _lock(project: Project, latest: int) -> None:
    """One import at a time; a plan made before another import ended is out of date."""
    Project.objects.select_for_update(of=("self",)).only("pk").get(pk=project.pk)
    if _latest_import(project) != latest:
        raise Conflict(
            "Another import into this project ended while this file was being read. Nothing of this one was "
            "written: import it again.",
            code="busy",
        )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The units of a text: offsets in pairs, packed because a large file has a million of them."""

    owner: Summary | Document
    first: int
    offsets: array[int]

    def units(self) -> Iterator[Unit]:
        of_summary = isinstance(self.owner, Summary)
        for number, place in enumerate(range(0, len(self.offsets), 2), start=self.first):
            unit = Unit(position=number, start=self.offsets[place], end=self.offsets[place + 1])
            if of_summary:
                unit.summary_id = self.owner.pk
            else:
                unit.document_id = self.owner.pk
            yield unit


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


def _write(plan: ImportPlan, pieces: list[_Pieces]) -> None:
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
            update_fields=["text", "metadata", "system", "external_id", "is_model", "is_peer"],
        )
        _part_from_itself([row.key for row in plan.replaced_summaries])
        Comparison.objects.bulk_create(plan.comparisons)
        Question.objects.filter(pk__in=plan.retired_questions).update(retired_at=timezone.now())
        Question.objects.bulk_create(plan.questions)
        _create(Unit, (unit for piece in pieces for unit in piece.units()))
        ClaimSet.objects.bulk_create(plan.claim_sets)
        Claim.objects.bulk_create(plan.claims)
        _write_answers(plan)
        _write_published(plan)
    except IntegrityError as error:
        raise Conflict(
            "Rows of this project changed while the file was being read. Nothing of it was written: "
            "import it again.",
            code="busy",
        ) from error


def _make_way(plan: ImportPlan) -> None:
    """Take away what belonged to replaced texts, unless a judgment arrived since the plan was made."""
    summaries = [row.key for row in plan.replaced_summaries]
    sets = [row.key for row in plan.replaced_documents]
    claim_sets = [row.key for row in plan.replaced_claim_sets]
    recut = [row.key for row in plan.recut_summaries]
    cut_anew = [*summaries, *recut]
    claimed = [made.summary.pk for made in plan.claim_sets if made.summary and made.summary.pk is not None]
    sittings = _hold_sittings([*cut_anew, *claimed])
    list(Summary.objects.select_for_update().filter(pk__in=cut_anew).order_by("pk").only("pk"))
    if judged_summaries(cut_anew) or judged_document_sets(sets) or judged_claim_sets(claim_sets):
        raise Conflict(
            "A text that this file replaces was judged while the file was being read. Nothing was written: "
            "import it again to see which.",
            code="busy",
        )
    _drop_claims(ClaimSet.objects.filter(models.Q(summary__in=summaries) | models.Q(document_set__in=sets)))
    ClaimSet.objects.filter(pk__in=claim_sets).update(is_active=False)
    put_in_force(Check.objects.filter(claim__claim_set__in=claim_sets))
    # Claims that are no unit's own hold for any cut of the same text.
    _drop_claims(ClaimSet.objects.filter(summary__in=recut, claims__unit__isnull=False))
    Unit.all_units.filter(summary__in=cut_anew).delete()
    UnitChange.objects.filter(summary__in=cut_anew).delete()
    Document.objects.filter(document_set__in=sets).delete()
    load_forms_anew(sittings)


def _drop_claims(claim_sets: models.QuerySet[ClaimSet]) -> None:
    """Take lists of claims away with all their wordings, which know each other and so go one kind at a time."""
    keys = list(claim_sets.values_list("pk", flat=True))
    claims = Claim.all_claims.filter(claim_set__in=keys)
    claims.update(supersedes=None)
    claims.delete()
    ClaimSet.objects.filter(pk__in=keys).delete()


def _hold_sittings(summaries: Sequence[int]) -> list[Sitting]:
    """The sittings that hold these summaries, locked, so that nobody saves a judgment at the same time."""
    if not summaries:
        return []
    held = Assignment.objects.filter(
        models.Q(comparison__peer__in=summaries) | models.Q(comparison__model__in=summaries)
    )
    sittings = Sitting.objects.select_for_update(of=("self",)).filter(pk__in=held.values("sitting_id"))
    return list(sittings.order_by("pk"))


def _part_from_itself(replaced: list[int]) -> None:
    """Take away comparisons that a new text made those of a writer's text with itself."""
    of_replaced = models.Q(peer__in=replaced) | models.Q(model__in=replaced)
    same = {"peer__system": models.F("model__system"), "peer__text": models.F("model__text")}
    Comparison.objects.filter(of_replaced, **same).delete()


def _write_answers(plan: ImportPlan) -> None:
    """The checks that people answered, and their answers, a few thousand at a time to save memory."""
    for answers in batches(plan.answers, ROWS_WRITTEN_AT_ONCE):
        asked = [answer for answer in answers if answer.check_id is None]
        checks = _created(asked, plan)
        units = _units_of({answer.peer.pk for answer in answers if answer.places})
        Verdict.objects.bulk_create(
            Verdict(
                check_row_id=answer.check_id or checks[answer.claim.pk, answer.peer.pk],
                source=Verdict.Source.REVIEWER,
                origin_name=answer.origin,
                label=answer.label,
                evidence=_touched_units(answer.places, units.get(answer.peer.pk, ())),
            )
            for answer in answers
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


def _write_published(plan: ImportPlan) -> None:
    """The lines of published tables, and their percents on the units that stand now."""
    new = [published.row for published in plan.published if not published.is_known]
    known = [published.row for published in plan.published if published.is_known]
    for gone in batches(plan.gone, ROWS_WRITTEN_AT_ONCE):
        PublishedScore.objects.filter(project=plan.project, pk__in=gone).delete()
    PublishedPercent.objects.filter(score__in=[row.pk for row in known]).delete()
    PublishedScore.objects.bulk_create(new, batch_size=ROWS_WRITTEN_AT_ONCE)
    PublishedScore.objects.bulk_create(
        known,
        batch_size=ROWS_WRITTEN_AT_ONCE,
        update_conflicts=True,
        unique_fields=["pk"],
        update_fields=[
            field.name for field in PublishedScore._meta.local_concrete_fields if field.name not in _KEPT
        ],
    )
    _create(PublishedPercent, _published_percents(plan))


_KEPT = frozenset({"id", "public_id", "project", "created_at"})
"""Columns of a published line that stay as they are when its table is imported again."""


def _published_percents(plan: ImportPlan) -> Iterator[PublishedPercent]:
    models = {published.comparison.model_id for published in plan.published if published.comparison}
    units: dict[tuple[int | None, int], int] = {
        (summary_id, position): unit_id
        for summary_id, position, unit_id in Unit.objects.filter(summary__in=models).values_list(
            "summary_id", "position", "pk"
        )
    }
    for row, comparison, percents, _ in plan.published:
        for number, percent, marks in percents if comparison else ():
            assert comparison is not None, "percents are of a comparison"
            unit_id = units.get((comparison.model_id, number))
            if unit_id is None:
                raise Conflict(
                    "Units were joined while the file was being read. Nothing of it was written: import it again.",
                    code="busy",
                )
            yield PublishedPercent(
                score_id=row.pk,
                comparison_id=comparison.pk,
                unit_id=unit_id,
                percent=percent,
                marks=list(marks),
            )


def _created(answers: list[ImportedAnswer], plan: ImportPlan) -> dict[tuple[int, int], int]:
    made = Check.objects.bulk_create([new_check(plan.project, answer) for answer in answers])
    return {(check.claim_id, check.peer_id): check.pk for check in made}


def _create(kind: type[Row], rows: Iterator[Row]) -> None:
    for batch in batches(rows, ROWS_WRITTEN_AT_ONCE):
        kind._default_manager.bulk_create(batch)


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
            "removed": {kind: count.removed for kind, count in kinds.items() if count.removed},
            "rows_left_out": reading.problems.bad_lines,
        },
    )


def _rescore(plan: ImportPlan) -> None:
    """Score what the import touched, and what an import that was cut short left unscored."""
    project = plan.project
    peers = Summary.objects.filter(document_set__project=project, is_peer=True)
    wanted = set(peers.filter(score=None).values_list("pk", flat=True))
    for some in batches((row.pk for row in plan.touched.values()), SUMMARIES_RESCORED_AT_ONCE):
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
        warnings=(*reading.warnings.lines(), *plan.remarks),
        problems=tuple(reading.problems.shown),
        problem_count=reading.problems.count,
        rows_left_out=reading.problems.bad_lines,
        remedies=tuple(remedy for remedy in Remedy if remedy in reading.warnings.remedies),
    )
