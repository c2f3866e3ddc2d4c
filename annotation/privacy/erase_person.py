"""Replacing a person's name by a pseudonym; the answers remain."""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
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
from annotation.privacy.project_rows import any_of, in_steps, paths_to_project

HOLDING_NAMES: tuple[tuple[type[models.Model], str], ...] = (
    (ClaimSet, "origin_name"),
    (Run, "stop_reason"),
    (Comment, "text"),
    (Event, "data"),
)
"""Columns with texts or JSON in which names of people are replaced."""
PERSON_KEYS = frozenset(
    {"assessor", "assessors", "held_by", "invited_by", "people", "person", "reviewer", "to"}
)
"""Keys of our JSON whose values name people, alone or in a list."""
PRIVATE_KEYS = frozenset({"for"})
"""Keys of the log whose values name people freely, such as the recipient of an invitation."""
FREE_TEXTS = frozenset({"reason", "note", "text", "comment"})
"""The keys under which the log stores people's free texts."""
CANCELLED = "Cancelled by "

logger = logging.getLogger(__name__)


def erase_person(*, person: User, remove_texts: bool = False, dry_run: bool = False) -> Mapping[str, int]:
    """Replace a person's name by a pseudonym, and remove the rights, sessions, tokens and memberships. Returns the
    numbers of changed rows by table and of deleted exported files.

    Answers remain; `remove_texts` removes their reasons, and the person's texts in comments and in the log. In the
    person's projects, exported files with people's names are deleted. With `dry_run` nothing changes. Raises Conflict
    (code `last_administrator`) for the last administrator.
    """
    if person.is_superuser and not administrators().exclude(pk=person.pk).exists():
        raise Conflict("This is the last administrator: make another one first.", code="last_administrator")
    shown, gone = f"erased-{secrets.token_hex(5)}", Counter[str]()
    projects, names = _projects_of(person), _names(person)
    with transaction.atomic() if dry_run else nullcontext():
        _rename_in_rows(names, shown, gone)
        if remove_texts:
            _remove_texts(person, gone)
        with transaction.atomic():
            _end_account(person, names, projects, gone)
            found = _named_exports(projects)
            gone["exported files"] = len(found)
            for export in [] if dry_run else found:
                remove_file(export)
            for project in projects:
                data = {"person": shown, "texts_removed": remove_texts}
                log(project=project, actor=None, verb="erase person", target=project, data=data)
            _rename(person, shown)
        if dry_run:
            transaction.set_rollback(True)
            return gone
    logger.warning("%s was erased", shown)
    return gone


def _projects_of(person: User) -> list[Project]:
    keys = {
        key
        for model, field in _naming_users()
        for path in paths_to_project(model)
        for key in model._base_manager.filter(**{field.name: person}).values_list(path, flat=True).distinct()
    }
    return list(Project.all_projects.filter(pk__in=keys - {None}).order_by("pk"))


def _names(person: User) -> frozenset[str]:
    mailed = Invitation.objects.filter(accepted_by=person).values_list("email", flat=True)
    return frozenset({person.username, person.get_full_name(), person.email, *mailed} - {""})


def _rename_in_rows(names: Collection[str], shown: str, gone: Counter[str]) -> None:
    for model, column in HOLDING_NAMES:
        escaped = {
            name.encode("ascii", "backslashreplace").decode().replace("\\x", "\\u00") for name in names
        }
        found = any_of(("as_text__icontains", name) for name in {*names, *escaped})
        rows = model._base_manager.annotate(as_text=Cast(column, TextField())).filter(found)
        renamed = (
            (key, value, _without(value, names, shown, is_person=column != "data"))
            for key, value in rows.order_by("pk").values_list("pk", column).iterator()
        )
        _write(model, column, {key: new for key, value, new in renamed if new != value}, gone)


def _without(value: Any, names: Collection[str], shown: str, *, is_person: bool) -> Any:
    """In JSON, only the values of PERSON_KEYS are searched, and PRIVATE_KEYS are removed with their values."""
    match value:
        case str() if is_person:
            name = value if value in names else value.removeprefix(CANCELLED).removesuffix(".")
            return value.replace(name, shown) if name in names else value
        case list():
            return [_without(each, names, shown, is_person=is_person) for each in value]
        case dict():
            return {
                key: _without(each, names, shown, is_person=key in PERSON_KEYS)
                for key, each in value.items()
                if key not in PRIVATE_KEYS
            }
    return value


def _write(model: type[models.Model], column: str, values: Mapping[Any, object], gone: Counter[str]) -> None:
    gone[model._meta.db_table] += len(values)
    for step in in_steps(list(values)):
        with transaction.atomic(), rewritten() if model is Event else nullcontext():
            for key in step:
                # The log's own manager refuses changes, so use a plain queryset.
                models.QuerySet(model).filter(pk=key).update(**{column: values[key]})


def _remove_texts(person: User, gone: Counter[str]) -> None:
    for kind in Answer.__subclasses__():
        _blank(kind._base_manager.filter(person=person).exclude(reason=""), gone, reason="")
    _blank(Comment.objects.filter(author=person), gone, text="(erased)", withdrawn_at=timezone.now())
    said = Event.objects.filter(actor=person).values_list("pk", "data")
    cleared = {
        key: {name: data[name] for name in data.keys() - FREE_TEXTS}
        for key, data in said
        if data.keys() & FREE_TEXTS
    }
    _write(Event, "data", cleared, Counter())


def _blank(rows: models.QuerySet[Any], gone: Counter[str], **blank: object) -> None:
    keys = list(rows.order_by("pk").values_list("pk", flat=True))
    gone[rows.model._meta.db_table] += len(keys)
    for step in in_steps(keys):
        rows.model._base_manager.filter(pk__in=step).update(**blank)


def _named_exports(projects: list[Project]) -> list[Export]:
    named = Export.objects.filter(project__in=projects, named_people=True)
    jobs = Job.objects.filter(export__in=named)
    started = set(jobs.filter(state__in=OPEN).values_list("export", flat=True))
    cancel(jobs)
    return list(named.filter(~Q(path="") | Q(pk__in=started)))


def _end_account(person: User, names: Collection[str], projects: list[Project], gone: Counter[str]) -> None:
    User.objects.select_for_update(no_key=True).get(pk=person.pk)
    sessions = Session.objects.filter(
        session_key__in=UserSession.objects.filter(user=person).values("session_key")
    )
    gone["django_session"] += sessions.delete()[0]
    begins = any_of(("object_repr__startswith", f"{name} ") for name in names)
    # Entries of Django's admin, such as "mona in Harbour", remain after their rows, so delete them too.
    gone["django_admin_log"] += LogEntry.objects.filter(begins | Q(object_repr__in=names)).delete()[0]
    for model, field in _naming_users():
        if field.remote_field.on_delete is models.CASCADE:
            _, by_kind = model._base_manager.filter(**{field.name: person}).delete()
            gone[model._meta.db_table] += by_kind.get(model._meta.label, 0)
    # Stored statistics may have names, so delete them.
    Analysis.objects.filter(project__in=projects).delete()
    mailed = any_of(("email__iexact", name) for name in names)
    Invitation.objects.filter(mailed | Q(accepted_by=person)).update(note="", email="")


def _rename(person: User, shown: str) -> None:
    person.username, person.first_name, person.last_name, person.email = shown, "", "", ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login = None
    person.set_unusable_password()
    person.groups.clear()
    person.user_permissions.clear()
    person.save()


def _naming_users() -> Iterator[tuple[type[models.Model], models.ForeignKey[User, User]]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey) and field.related_model is User:
                yield model, field
