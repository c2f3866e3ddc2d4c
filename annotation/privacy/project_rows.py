"""The rows that belong to a project, found from the foreign keys of the models, and their removal."""

from __future__ import annotations

import time
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models, transaction
from django.db.models import Q

from annotation.models import Judge, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

Model = type[models.Model]
REMOVED = "coverdict.removed_project"
"""The setting under which PostgreSQL allows a transaction to delete entries of a project's log."""
STEP, MOST_AT_ONCE, STEP_SECONDS = 200, 5000, 0.1


def remove_in_steps(project: Project) -> dict[str, int]:
    """Delete a project with all its rows and its log; returns the number of rows by table.

    Runs in transactions of about a tenth of a second. Rows go before the rows that they name, newest first, so an
    interrupted call leaves no dangling key and can be repeated.
    """
    Project.all_projects.filter(pk=project.pk).update(deciding_judge=None)
    held = held_by_projects()
    order = TopologicalSorter(
        {
            model: {field.related_model for field in _keys_of(model) if field.related_model in held}
            - {model, *({Judge} if model is Project else ())}
            for model in held
        }
    )
    gone: dict[str, int] = {}
    for model in reversed(list(order.static_order())):
        found = model._base_manager.filter(of_project(model, project.pk, held)).order_by("-pk")
        keys = list(found.values_list("pk", flat=True).distinct())
        for step in in_steps(keys):
            with transaction.atomic():
                let_go_of_log(project)
                _remove(model, model._base_manager.filter(pk__in=step), held)
        if keys:
            gone[model._meta.db_table] = len(keys)
            _forget_in_admin_log(model, keys)
    return gone


def _forget_in_admin_log(model: Model, keys: list[int]) -> None:
    """Delete entries of Django's admin on removed rows, because they name people and projects."""
    entries = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(model))
    about = set(entries.values_list("object_id", flat=True)) & set(map(str, keys))
    entries.filter(object_id__in=about).delete()


def in_steps(keys: list[int]) -> Iterator[list[int]]:
    """Yield the keys in slices that take about a tenth of a second each, sized by the time of the previous one."""
    size = STEP
    start = 0
    while start < len(keys):
        began = time.monotonic()
        yield keys[start : start + size]
        start += size
        took = time.monotonic() - began
        size = min(MOST_AT_ONCE, size * 2) if took < STEP_SECONDS / 2 else size
        size = max(STEP // 10, size // 2) if took > STEP_SECONDS else size


def let_go_of_log(project: Project) -> None:
    """Allow the transaction to delete entries of the project's log."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [REMOVED, str(project.pk)])


def _remove(model: Model, rows: models.QuerySet[models.Model], held: Held) -> None:
    for field in _loose_ends(model, held):
        field.model._base_manager.filter(**{f"{field.name}__in": rows}).update(**{field.name: None})
    rows._raw_delete(using=rows.db)


Held = dict[Model, list[tuple[str, Model]]]


def held_by_projects() -> Held:
    """Each model whose rows are deleted with a project, with its foreign keys to the others."""
    known = list(apps.get_app_config("annotation").get_models(include_auto_created=True))
    held: Held = {Project: []}
    while found := {
        model: up
        for model in known
        if model is not Project and (up := _up(model, held)) != held.get(model, [])
    }:
        held |= found
    return held


def _up(model: Model, held: Held) -> list[tuple[str, Model]]:
    return [
        (field.name, field.related_model)
        for field in _keys_of(model)
        if field.remote_field.on_delete is models.CASCADE and field.related_model in held
    ]


def of_project(model: Model, project: int, held: Held) -> Q:
    """The condition for rows of the model that belong to the project, by any path."""
    found = Q()
    for path in paths_to_project(model, held):
        found |= Q(**{path: project})
    return found


def paths_to_project(model: Model, held: Held) -> list[str]:
    """The paths from a model to its project: one on which every row depends, or all of them."""
    if model is Project:
        return ["pk"]
    ways = {
        name: [name if parent is Project else f"{name}__{path}" for path in paths_to_project(parent, held)]
        for name, parent in held[model]
        if parent is not model
    }
    sure = [paths for name, paths in ways.items() if not model._meta.get_field(name).null]
    return min(sure, key=lambda paths: (len(paths), len(paths[0])), default=[]) or [
        path for paths in ways.values() for path in paths
    ]


def _loose_ends(model: Model, held: Held) -> Iterator[models.ForeignKey[models.Model, models.Model]]:
    """Nullable foreign keys of remaining rows to the model."""
    for other in apps.get_app_config("annotation").get_models():
        for field in _keys_of(other):
            is_loose = field.remote_field.on_delete is models.SET_NULL
            if field.related_model is model and is_loose and other not in held:
                yield field


def _keys_of(model: Model) -> Iterator[models.ForeignKey[models.Model, models.Model]]:
    return (field for field in model._meta.get_fields() if isinstance(field, models.ForeignKey))
