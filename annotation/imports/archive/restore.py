"""Make a project of an archive: the same rows under other ids, the same scores, and nobody let in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import ManyToManyField
from django.utils import timezone

from annotation.core.bulk_rows import insert, refresh_statistics, reserve
from annotation.core.events import log
from annotation.core.paging import batches
from annotation.core.permissions import Verb, may_create_projects, require
from annotation.core.project_rows import held_by_projects, of_project, remove_rows
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.exports.archive.kinds import BY_MODEL, KINDS, PEOPLE, VERSION, Cell, CellKind, Kind, between
from annotation.imports.archive.cells import Ids, Read, reader
from annotation.imports.archive.read import Archive, ArchiveLine, open_archive
from annotation.imports.problems import unreadable
from annotation.imports.progress import Progress
from annotation.imports.staging import ABANDONED_AFTER, RESTORED, drop, drop_abandoned, is_needed, keep
from annotation.models import Event, ImportedPerson, Judge, Membership, Project, Role, Run
from annotation.models.base import new_public_id
from annotation.scoring.rescore import rescore
from evaluation.errors import InvalidQuestion
from evaluation.metrics import own_questions

if TYPE_CHECKING:
    from django.db.models import Model

ROWS_AT_ONCE = 2000
KEYS_REMEMBERED = 50_000
MOST_USERNAME = 150
SCORED_WITHIN = timedelta(days=1)
NOT_FINISHED = "Not finished when the project was archived."


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What came of an archive: rows by kind, and how many people stand behind the answers."""

    project: Project
    rows: dict[str, int]
    people: int


def restore_project(
    *, slug: str, path: Path, by: User | None, file_name: str | None = None, progress: Progress | None = None
) -> RestoreReport:
    """Make a project of an archive, all of it or nothing; `by` becomes its owner, and nobody else a member.

    Every row has a new id; people come back as names without an account. Judges that need a server are archived until
    somebody gives them an address and a key. Scores are computed anew. Nobody sees the project before it is whole.

    Raises NotAllowed for people who may make no project; Invalid for an impossible slug; Conflict (code `slug_taken`);
    ImportRefused, with file and line, for an archive that is cut, edited, of a newer version or contradicts itself.
    """
    if not may_create_projects(by):
        raise NotAllowed(
            "You cannot create projects here. Ask the administrator of this installation.",
            code="no_new_projects",
        )
    _check_slug(slug)
    return _restore(slug, path, file_name or path.name, by, progress or Progress())


def restore_into(
    *, project: Project, path: Path, by: User | None, file_name: str, progress: Progress
) -> RestoreReport:
    """As `restore_project`, in the place of a project with nothing in it: members, address and tokens stay, the rules
    are the archive's. Owners and managers may.

    Raises Conflict (code `not_empty`) where anything was brought into it.
    """
    require(by, project, Verb.IMPORT)
    require(by, project, Verb.CHANGE_PROJECT)
    require_empty(project)
    return _restore(project.slug, path, file_name, by, progress, place=project)


def require_empty(project: Project) -> None:
    """Raises Conflict (code `not_empty`)."""
    held = held_by_projects()
    models = (kind.model for kind in KINDS if kind.model not in (Project, Event))
    if any(model._base_manager.filter(of_project(model, project.pk, held)).exists() for model in models):
        raise Conflict(
            "An archive needs an empty project. Create a new project and import the archive there first.",
            code="not_empty",
        )


def _restore(
    slug: str, path: Path, name: str, by: User | None, progress: Progress, place: Project | None = None
) -> RestoreReport:
    with open_archive(path, name=name) as archive, _home() as project:
        restored = _Restored(archive, project, slug, progress)
        restored.all_rows()
        refresh_statistics(kind.model for kind in KINDS)
        # Nothing says meanwhile that it is alive.
        Project.all_projects.filter(pk=project.pk).update(staged_until=timezone.now() + SCORED_WITHIN)
        rescore(project=project)
        with transaction.atomic():
            if place is not None:
                _take_place(project, place)
            progress.hold()
            _show(restored, by, name)
    return RestoreReport(project, restored.counts, len(restored.people))


def _take_place(project: Project, place: Project) -> None:
    """Give the project what hangs on an empty one beside its rows, which goes with its log."""
    held = Project.objects.select_for_update(of=("self",)).filter(pk=place.pk).first()
    if held is None:
        raise Conflict("The project was removed during the import.", code="busy")
    require_empty(held)
    restored = {kind.model for kind in KINDS} | {ImportedPerson}
    for model in apps.get_app_config("annotation").get_models():
        for column in model._meta.concrete_fields:
            if column.related_model is Project and model not in restored:
                model._base_manager.filter(**{column.name: held}).update(**{column.name: project})
    remove_rows(held)


def _check_slug(slug: str) -> None:
    try:
        Project(slug=slug, name=slug).clean_fields(exclude=["id"])
    except ValidationError as error:
        raise Invalid(f"slug: {' '.join(error.messages)}", field="slug") from error
    if Project.objects.filter(slug=slug).exists():
        raise _taken(slug)


def _taken(slug: str) -> Conflict:
    return Conflict(
        f"There is already a project {slug!r}. An archive needs a new project. Choose another name.",
        code="slug_taken",
    )


@contextmanager
def _home() -> Iterator[Project]:
    """A project that nobody sees. Where the block fails nothing is left of it.

    On PostgreSQL one transaction; on SQLite, where everybody would wait for that, many short ones.
    """
    if not is_needed():
        with transaction.atomic():
            yield _hidden_project()
        return
    drop_abandoned()
    project = _hidden_project()
    try:
        yield project
    except BaseException:
        drop(project)
        raise


def _hidden_project() -> Project:
    return Project.all_projects.create(
        slug=f"{RESTORED}{new_public_id()}", name="archive", staged_until=timezone.now() + ABANDONED_AFTER
    )


def _show(restored: _Restored, by: User | None, name: str) -> None:
    project = restored.project
    keep(project)
    project.slug, project.staged_until = restored.slug, None
    try:
        with transaction.atomic():
            project.save(update_fields=["slug", "staged_until"])
    except IntegrityError as error:
        raise _taken(restored.slug) from error
    if by is not None:
        Membership.objects.get_or_create(project=project, user=by, defaults={"roles": [Role.OWNER]})
    about = restored.archive.manifest
    log(
        project=project,
        actor=by,
        verb="import",
        target=project,
        data={
            "file": name if by is None else "",
            "format": "archive",
            "written": str(about.get("created_at", ""))[:40],
            "created": restored.counts,
        },
    )


@dataclass
class _Restored:
    """The rows of one archive on their way into a project."""

    archive: Archive
    project: Project
    slug: str
    progress: Progress
    counts: dict[str, int] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = Ids(self.project.public_id)
        self._keys: dict[type[Model], dict[str, int]] = defaultdict(dict)
        self._judge_names: set[str] = set()
        self._later: dict[str, Any] = {}

    def all_rows(self) -> None:
        self._add_people()
        for kind in KINDS:
            if kind.since > self.archive.version:
                self.counts[kind.name] = 0
            elif kind.model is Project:
                self._set_rules(kind)
            else:
                self._add(kind)
            if kind.model is Judge:
                self._set_decider()

    def _add_people(self) -> None:
        """Names behind answers, as closed accounts without a password: whoever said something stays told apart."""
        file = f"{PEOPLE}.jsonl"
        for batch in batches(self.archive.lines(file), ROWS_AT_ONCE):
            names = [_person_name(line, file) for line in batch]
            with transaction.atomic():
                users = User.objects.bulk_create(
                    User(username=username, is_active=False, password=make_password(None))
                    for username in self._usernames(names)
                )
                for user, name, line in zip(users, names, batch, strict=True):
                    if name in self.people:
                        raise unreadable("names somebody a second time.", file=file, line=line.number)
                    self.people[name] = user.pk
                ImportedPerson.objects.bulk_create(
                    ImportedPerson(user=user, project=self.project, name=name)
                    for user, name in zip(users, names, strict=True)
                )

    def _usernames(self, names: Sequence[str]) -> list[str]:
        """Names that no account has: with the project's behind them, as nobody would choose one by accident."""
        tail = f"@{self.slug}"
        wanted = [f"{name[: MOST_USERNAME - len(tail) - 8]}{tail}" for name in names]
        taken = set(User.objects.filter(username__in=wanted).values_list("username", flat=True))
        made: list[str] = []
        for name in wanted:
            is_free = name not in taken
            taken.add(name)
            made.append(name if is_free else f"{name}-{new_public_id()[:6]}")
        return made

    def _set_rules(self, kind: Kind) -> None:
        """The project's one row: its rules, and what can only be set once judges are there."""
        lines = list(self.archive.lines(kind.file))
        if len(lines) != 1:
            raise unreadable(f"has {len(lines)} rows and not one.", file=kind.file)
        values = self._values(kind, lines[0], self._readers(kind))
        self._later = {name: values.pop(name) for name in ("deciding_judge",)}
        for name, value in values.items():
            if name not in ("public_id", "slug"):
                setattr(self.project, name, value)
        # The time that people took counts.
        self.project.staged_until = timezone.now() + ABANDONED_AFTER
        try:
            self.project.clean_fields()
            own_questions(self.project.own_questions)
            with transaction.atomic():
                self.project.save()
        except (ValidationError, IntegrityError, InvalidQuestion) as error:
            raise unreadable(_said_by(error), file=kind.file, line=1) from error
        # Set by Django to now when the row was made.
        Project.all_projects.filter(pk=self.project.pk).update(created_at=values["created_at"])
        self.counts[kind.name] = 1

    def _set_decider(self) -> None:
        name = self._later["deciding_judge"]
        self.project.deciding_judge_id = self._found(Judge, [name] if name else []).get(name)
        self.project.save(update_fields=["deciding_judge"])

    def _add(self, kind: Kind) -> None:
        readers = self._readers(kind)
        count = 0
        for batch in batches(self.archive.lines(kind.file), ROWS_AT_ONCE):
            rows = [self._values(kind, line, readers) for line in batch]
            with transaction.atomic():
                keep(self.project)
                self._store(kind, batch, rows)
            count += len(batch)
            self.progress.rows_read += len(batch)
            self.progress.step()
        self.counts[kind.name] = count

    def _readers(self, kind: Kind) -> dict[str, tuple[Cell, Read]]:
        return {
            cell.name: (cell, reader(cell, self.ids))
            for cell in kind.cells
            if cell.since <= self.archive.version
        }

    def _lacking(self, kind: Kind) -> list[Cell]:
        """What the archive is too old to have."""
        if self.archive.version == VERSION:
            return []
        return [cell for cell in kind.cells if cell.since > self.archive.version]

    def _values(self, kind: Kind, line: ArchiveLine, readers: dict[str, tuple[Cell, Read]]) -> dict[str, Any]:
        """A line's values by field, checked one by one; what came after the archive's version is as in a new row."""
        if line.row.keys() != readers.keys():
            odd = sorted(line.row.keys() ^ readers.keys())[0]
            fault = "is not a field of this file" if odd in line.row else "is missing"
            raise unreadable(f"{fault}.", file=kind.file, line=line.number, column=odd)
        values = {cell.field.name: _as_in_a_new_row(cell) for cell in self._lacking(kind)}
        for name, (cell, read) in readers.items():
            try:
                values[cell.field.name] = read(line.row[name])
            except ValueError as error:
                raise unreadable(f"{error}.", file=kind.file, line=line.number, column=name) from error
        return values

    def _store(self, kind: Kind, lines: Sequence[ArchiveLine], rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows with what they refer to; the caller owns the transaction."""
        for known in self._keys.values():
            if len(known) > KEYS_REMEMBERED:
                known.clear()
        keys = reserve(kind.model, len(rows))
        # A row may refer to another one of its own kind.
        if any(cell.kind is CellKind.ID for cell in kind.cells):
            own = {row["public_id"]: key for row, key in zip(rows, keys, strict=True)}
            self._keys[kind.model] |= own
        columns = [cell for cell in kind.cells if cell.lookups]
        by_row = [[key, *([self.project.pk] if kind.project_field else [])] for key in keys]
        for cell in columns:
            for made, value in zip(by_row, self._column(kind, cell, lines, rows), strict=True):
                made.append(value)
        names = [
            kind.model._meta.pk.attname,
            *([kind.project_field] if kind.project_field else []),
            *(cell.field.attname for cell in columns),
        ]
        made_rows = [tuple(made) for made in by_row]
        self._insert(kind, names, made_rows, lines)
        for cell in kind.cells:
            if not cell.lookups:
                self._store_beside(kind, cell, lines, rows, keys)

    def _insert(
        self, kind: Kind, names: Sequence[str], rows: list[tuple[Any, ...]], lines: Sequence[ArchiveLine]
    ) -> None:
        """Insert; where the database refuses, by halves until the line is found. Raises ImportRefused."""
        try:
            with transaction.atomic():
                insert(kind.model, names, rows)
        except (IntegrityError, DataError) as error:
            if len(rows) == 1:
                raise unreadable(_said_by(error), file=kind.file, line=lines[0].number) from error
            half = len(rows) // 2
            self._insert(kind, names, rows[:half], lines[:half])
            self._insert(kind, names, rows[half:], lines[half:])

    def _column(
        self, kind: Kind, cell: Cell, lines: Sequence[ArchiveLine], rows: Sequence[dict[str, Any]]
    ) -> Iterable[Any]:
        values = [row[cell.field.name] for row in rows]
        if cell.kind is CellKind.REFERENCE:
            found = self._found(cell.target, [value for value in values if value is not None])
            return self._as_keys(kind, cell, lines, values, found.get)
        if cell.kind is CellKind.PERSON:
            return self._as_keys(kind, cell, lines, values, self.people.get)
        if kind.model is Judge and cell.name == "name":
            return [self._judge_name(name) for name in values]
        if kind.model is Judge and cell.name == "archived_at":
            now = timezone.now()
            is_local = [row["kind"] == Judge.Kind.LEXICAL for row in rows]
            return [at if local else at or now for at, local in zip(values, is_local, strict=True)]
        if kind.model is Run and cell.name == "state":
            # Nothing works at it here.
            return [Run.State.STOPPED if state == Run.State.ACTIVE else state for state in values]
        if kind.model is Run and cell.name == "stop_reason":
            return [
                NOT_FINISHED if row["state"] == Run.State.ACTIVE else reason
                for row, reason in zip(rows, values, strict=True)
            ]
        return values

    def _as_keys(
        self,
        kind: Kind,
        cell: Cell,
        lines: Sequence[ArchiveLine],
        values: Sequence[str | None],
        key_of: Callable[[str], int | None],
    ) -> Iterator[int | None]:
        for line, value in zip(lines, values, strict=True):
            key = None if value is None else key_of(value)
            if key is None and value is not None:
                where = (
                    PEOPLE if cell.kind in (CellKind.PERSON, CellKind.PEOPLE) else BY_MODEL[cell.target].name
                )
                raise unreadable(
                    f"refers to {value[:40]!r}, which is not in {where}.jsonl or comes after it.",
                    file=kind.file,
                    line=line.number,
                    column=cell.name,
                )
            yield key

    def _store_beside(
        self,
        kind: Kind,
        cell: Cell,
        lines: Sequence[ArchiveLine],
        rows: Sequence[dict[str, Any]],
        keys: Sequence[int],
    ) -> None:
        """What stands in a table between two kinds, or between one and people."""
        named = [
            (line, key, value)
            for line, row, key in zip(lines, rows, keys, strict=True)
            for value in row[cell.field.name]
        ]
        if not named:
            return
        if cell.kind is CellKind.PEOPLE:
            key_of = self.people.get
        else:
            key_of = self._found(cell.target, [value for _, _, value in named]).get
        others = self._as_keys(
            kind, cell, [line for line, _, _ in named], [value for _, _, value in named], key_of
        )
        through, *ends = between(cell)
        names = [through._meta.get_field(name).attname for name in ends]  # type: ignore[union-attr]
        pairs = [(key, other) for (_, key, _), other in zip(named, others, strict=True)]
        try:
            with transaction.atomic():
                insert(through, names, pairs)
        except IntegrityError as error:
            raise unreadable(
                _said_by(error), file=kind.file, line=lines[0].number, column=cell.name
            ) from error

    def _found(self, model: type[Model], names: Iterable[str]) -> dict[str, int]:
        """The keys of rows that are there already, by what the archive calls them."""
        mapped = {name: self.ids.mapped(name) for name in set(names)}
        known = self._keys[model]
        wanted = [new for new in mapped.values() if new not in known]
        for some in batches(wanted, ROWS_AT_ONCE):
            known.update(model._base_manager.filter(public_id__in=some).values_list("public_id", "pk"))
        return {name: known[new] for name, new in mapped.items() if new in known}

    def _judge_name(self, name: str) -> str:
        """Of a shared judge and one of the project's own that were called alike, the second has a number."""
        made, number = name, 2
        while made in self._judge_names:
            made, number = f"{name[:56]}-{number}", number + 1
        self._judge_names.add(made)
        return made


def _as_in_a_new_row(cell: Cell) -> Any:
    return [] if isinstance(cell.field, ManyToManyField) else cell.field.get_default()


def _person_name(line: ArchiveLine, file: str) -> str:
    name = line.row.get("name")
    if (
        line.row.keys() != {"name"}
        or not isinstance(name, str)
        or not 0 < len(name) <= MOST_USERNAME
        or "\0" in name
    ):
        raise unreadable("names nobody.", file=file, line=line.number, column="name")
    return name


def _said_by(error: Exception) -> str:
    """What a database or a model refuses, without the values that it may quote."""
    if isinstance(error, ValidationError):
        field, messages = next(iter(error.message_dict.items()))
        return f"{field}: {' '.join(messages)}"
    said = str(error).splitlines()[0][:200]
    return f"contradicts another row or a rule of the data: {said}."
