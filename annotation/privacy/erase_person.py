"""Erase a person: the account identifies nobody any more, and the answers remain under a pseudonym with equal
scores.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import models, transaction
from django.db.models import Q, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotation.core.events import log, rewritten
from annotation.core.jobs import OPEN, cancel
from annotation.core.refusals import Conflict
from annotation.exports.services import remove_file
from annotation.models import (
    Analysis,
    Answer,
    ClaimSet,
    Comment,
    Event,
    Export,
    Invitation,
    Job,
    Project,
    Run,
    administrators,
)
from annotation.privacy.project_rows import held_by_projects, in_steps, paths_to_project
from annotation.privacy.renaming import Renaming

HOLDING_NAMES: Mapping[type[models.Model], tuple[str, ...]] = {
    ClaimSet: ("origin_name",),
    Run: ("stop_reason",),
    Comment: ("text",),
    Event: ("data",),
}
"""Columns in which the program writes names of people within a text."""
ERASED = "erased-"
GONE = "(erased)"

logger = logging.getLogger(__name__)


def erase_person(
    *,
    person: User,
    remove_texts: bool = False,
    dry_run: bool = False,
) -> Mapping[str, int]:
    """Remove everything that identifies a person; returns the number of rows by table.

    With `dry_run` nothing changes.

    Name, address, rights, sessions, tokens, sign-in records and memberships are removed, and the name in texts that
    the program wrote. Answers remain under a pseudonym; `remove_texts` also removes their reasons, notes and
    comments. Files with people's names are removed from the person's projects. An interrupted call can be repeated.
    Raises Conflict (code `last_administrator`).
    """
    others = administrators().exclude(pk=person.pk)
    if person.is_superuser and not others.exists():
        raise Conflict(
            "This is the last administrator. Make someone else an administrator first.",
            code="last_administrator",
        )
    shown = f"{ERASED}{secrets.token_hex(5)}"
    gone: dict[str, int] = {}
    projects = _projects_of(person)
    _rename_in_rows(person, shown, gone, dry_run=dry_run)
    if remove_texts:
        _remove_texts(person, gone, dry_run=dry_run)
    with transaction.atomic():
        _end_account(person, shown, projects, gone)
        _remove_files(projects, gone, dry_run=dry_run)
        if dry_run:
            transaction.set_rollback(True)
            return gone
        for project in projects:
            data = {"person": shown, "texts_removed": remove_texts}
            log(project=project, actor=None, verb="erase person", target=project, data=data)
        person.save()
    logger.warning("%s was erased", shown)
    return gone


def _projects_of(person: User) -> list[Project]:
    """Projects with any row of the person; answers remain even if memberships and log entries are gone."""
    held = held_by_projects()
    keys = {
        key
        for model, field in _naming_users()
        if model in held
        for path in paths_to_project(model, held)
        for key in model._base_manager.filter(**{field.name: person}).values_list(path, flat=True).distinct()
    }
    return list(Project.all_projects.filter(pk__in=keys - {None}).order_by("pk"))


def _names(person: User) -> list[str]:
    mailed = Invitation.objects.filter(accepted_by=person).values_list("email", flat=True)
    return [name for name in {person.username, person.get_full_name(), person.email, *mailed} if name]


def _renaming(person: User, shown: str) -> Renaming:
    return Renaming(frozenset(_names(person)), shown)


def _rename_in_rows(person: User, shown: str, gone: dict[str, int], *, dry_run: bool) -> None:
    """Replace the name in texts that the program wrote."""
    names = _renaming(person, shown)
    for model, columns in HOLDING_NAMES.items():
        for name in columns:
            column = model._meta.get_field(name)
            is_json = isinstance(column, models.JSONField)
            rename: Any = names.in_json if is_json else names.in_text
            for step in in_steps(_naming(model, name, person)):
                rows = list(model._base_manager.filter(pk__in=step).only(name))
                moved = [row for row in rows if rename(getattr(row, name)) != getattr(row, name)]
                gone[model._meta.db_table] = gone.get(model._meta.db_table, 0) + len(moved)
                if dry_run or not moved:
                    continue
                with transaction.atomic():
                    _write(model, name, {row.pk: rename(getattr(row, name)) for row in moved})


def _write(model: type[models.Model], name: str, values: Mapping[Any, object]) -> None:
    def change() -> None:
        for key, value in values.items():
            # The log's own manager refuses changes.
            models.QuerySet(model).filter(pk=key).update(**{name: value})

    if model is Event:
        with rewritten():
            change()
    else:
        change()


def _naming(model: type[models.Model], name: str, person: User) -> list[int]:
    """Keys of the rows whose text or JSON contains one of the person's names."""
    found = Q()
    for each in _names(person):
        escaped = each.encode("ascii", "backslashreplace").decode()
        found |= Q(as_text__icontains=each) | Q(as_text__icontains=escaped.replace("\\x", "\\u00"))
    rows = model._base_manager.annotate(as_text=Cast(name, TextField())).filter(found)
    return list(rows.order_by("pk").values_list("pk", flat=True))


def _remove_texts(person: User, gone: dict[str, int], *, dry_run: bool) -> None:
    now = timezone.now()
    written: list[tuple[models.QuerySet[Any], dict[str, object]]] = [
        (kind._base_manager.filter(person=person).exclude(reason=""), {"reason": ""})
        for kind in Answer.__subclasses__()
    ]
    written.append((Comment.objects.filter(author=person), {"text": GONE, "withdrawn_at": now}))
    for rows, blank in written:
        keys = list(rows.order_by("pk").values_list("pk", flat=True))
        gone[rows.model._meta.db_table] = gone.get(rows.model._meta.db_table, 0) + len(keys)
        for step in in_steps([] if dry_run else keys):
            rows.model._base_manager.filter(pk__in=step).update(**blank)
    cleared = [
        (key, {name: value for name, value in data.items() if name not in FREE_TEXTS})
        for key, data in Event.objects.filter(actor=person).values_list("pk", "data").iterator()
        if data.keys() & FREE_TEXTS
    ]
    for step in in_steps([] if dry_run else list(range(len(cleared)))):
        with transaction.atomic():
            _write(Event, "data", dict(cleared[number] for number in step))


FREE_TEXTS = frozenset({"reason", "note", "text", "comment"})
"""The keys under which the log stores people's free texts."""


def _remove_files(projects: list[Project], gone: dict[str, int], *, dry_run: bool) -> None:
    """Exports with people's names, including those that a worker is writing."""
    named = Export.objects.filter(project__in=projects, named_people=True)
    jobs = Job.objects.filter(export__in=named)
    started = set(jobs.filter(state__in=OPEN).values_list("export", flat=True))
    cancel(jobs)
    found = list(named.filter(~Q(path="") | Q(pk__in=started)))
    gone["exported files"] = len(found)
    for export in [] if dry_run else found:
        remove_file(export)


def _end_account(person: User, shown: str, projects: list[Project], gone: dict[str, int]) -> None:
    """Delete everything that belongs to the account alone, and rename it."""
    held = User.objects.select_for_update(no_key=True).get(pk=person.pk)
    _forget_in_admin_log(held, gone)
    for model, field in _hanging_on_users():
        _, by_kind = model._base_manager.filter(**{field: person}).delete()
        count = by_kind.get(model._meta.label, 0)
        gone[model._meta.db_table] = gone.get(model._meta.db_table, 0) + count
    for model in apps.get_models():
        columns = {each.name for each in model._meta.concrete_fields}
        if model is not User and "username" in columns:
            gone[model._meta.db_table] = model._base_manager.filter(username=held.username).delete()[0]
    # Recomputed from the rows on demand.
    Analysis.objects.filter(project__in=projects).delete()
    invited = Q(accepted_by=person)
    for name in _names(held):
        invited |= Q(email__iexact=name)
    Invitation.objects.filter(invited).update(note="", email="")
    person.username, person.first_name, person.last_name, person.email = shown, "", "", ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login = None
    person.set_unusable_password()
    person.groups.clear()
    person.user_permissions.clear()


def _forget_in_admin_log(person: User, gone: dict[str, int]) -> None:
    """Entries of Django's admin about the account and its rows, such as "mona in Harbour", even if the rows are
    gone.
    """
    begins = Q(object_repr=person.username) | Q(object_repr__startswith=f"{person.username} ")
    kinds: list[tuple[type[models.Model], str]] = [(User, "pk"), *_hanging_on_users()]
    for model, field in kinds:
        rows = model._base_manager.filter(**{field: person.pk})
        keys = rows.annotate(row_key=Cast("pk", TextField())).values("row_key")
        kind = ContentType.objects.get_for_model(model)
        entries = LogEntry.objects.filter(begins | Q(object_id__in=keys), content_type=kind)
        gone["django_admin_log"] = gone.get("django_admin_log", 0) + entries.delete()[0]


def _hanging_on_users() -> Iterator[tuple[type[models.Model], str]]:
    """The foreign keys that delete rows with an account, here and in libraries."""
    for model, field in _naming_users():
        if field.remote_field.on_delete is models.CASCADE:
            yield model, field.name


def _naming_users() -> Iterator[tuple[type[models.Model], models.ForeignKey[User, User]]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey) and field.related_model is User:
                yield model, field
