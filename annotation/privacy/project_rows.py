"""Finding the rows that belong to a project by the foreign keys of the models, and deleting them."""

from __future__ import annotations

from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection, models, transaction
from django.db.models import Q

from annotation.models import Project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Model = type[models.Model]
REMOVED = "coverdict.removed_project"
"""The setting under which PostgreSQL allows a transaction to delete entries of a project's log."""
STEP = 1000


def remove_in_steps(project: Project) -> dict[str, int]:
    """Delete a project with its rows and its log. Returns the number of rows by table.

    Rows are deleted before the rows that they refer to, in transactions of at most STEP rows.
    """
    Project.all_projects.filter(pk=project.pk).update(deciding_judge=None)
    known = apps.get_app_config("annotation").get_models(include_auto_created=True)
    held = {model: paths for model in known if (paths := paths_to_project(model))}
    # The project's reference to its deciding judge, which would make a cycle, was just removed.
    order = TopologicalSorter(
        {
            model: {key.related_model for key in _keys_of(model)} & held.keys() - {model}
            if model is not Project
            else ()
            for model in held
        }
    )
    gone: dict[str, int] = {}
    for model in reversed(list(order.static_order())):
        found = model._base_manager.filter(any_of((path, project.pk) for path in held[model]))
        keys = list(found.order_by("-pk").values_list("pk", flat=True).distinct())
        for step in in_steps(keys):
            with transaction.atomic():
                unlock_log(project)
                rows = model._base_manager.filter(pk__in=step)
                for other in model._meta.related_objects:
                    if other.on_delete is models.SET_NULL and other.related_model not in held:
                        name = other.field.name
                        other.related_model._base_manager.filter(**{f"{name}__in": rows}).update(
                            **{name: None}
                        )
                rows._raw_delete(using=rows.db)
        if keys:
            gone[model._meta.db_table] = len(keys)
            # Entries of Django's admin name people and projects, so delete them too.
            entries = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(model))
            about = set(entries.values_list("object_id", flat=True)) & set(map(str, keys))
            entries.filter(object_id__in=about).delete()
    return gone


def in_steps(keys: list[int]) -> Iterator[list[int]]:
    """Yield the keys in slices of at most STEP."""
    for start in range(0, len(keys), STEP):
        yield keys[start : start + STEP]


def unlock_log(project: Project) -> None:
    """Allow the current transaction to delete entries of the project's log."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config(%s, %s, true)", [REMOVED, str(project.pk)])


def any_of(conditions: Iterable[tuple[str, object]]) -> Q:
    """Build the condition that at least one of these lookups matches. Without a lookup, it is empty."""
    return Q(*conditions, _connector=Q.OR)


@cache
def paths_to_project(model: Model) -> list[str]:
    """Find the paths from a model to the project with which its rows are deleted.

    If one path leads from every row to its project, only this path is returned, otherwise all paths. The list is
    empty if rows are not deleted with a project.
    """
    if model is Project:
        return ["pk"]
    ways = [
        (
            key.null,
            [key.name if parent is Project else f"{key.name}__{path}" for path in paths_to_project(parent)],
        )
        for key in _keys_of(model)
        if key.remote_field.on_delete is models.CASCADE and (parent := key.related_model) is not model
    ]
    sure = [paths for is_loose, paths in ways if paths and not is_loose]
    return min(
        sure,
        key=lambda paths: (len(paths), len(paths[0])),
        default=[path for _, paths in ways for path in paths],
    )


def _keys_of(model: Model) -> list[models.ForeignKey[models.Model, models.Model]]:
    return [field for field in model._meta.get_fields() if isinstance(field, models.ForeignKey)]
