"""The event log of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from django.conf import settings
from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models.base import ModelBase

APPEND_ONLY = "The log is append-only: an event is never changed and never deleted."


class Events(models.QuerySet["Event"]):
    """A query set that refuses to update and delete entries."""

    def update(self, **columns: Any) -> NoReturn:
        raise TypeError(APPEND_ONLY)

    def delete(self) -> NoReturn:
        raise TypeError(APPEND_ONLY)


class Event(PublicRow):
    """An entry in the event log.

    A trigger of the database refuses changes, and on PostgreSQL deletions too. Only `privacy` lifts it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="events", db_index=False)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="events",
        db_index=False,
    )
    verb = models.CharField(max_length=40)
    target_kind = models.CharField(max_length=40)
    target_id = models.CharField(max_length=16, help_text="Public id of the row.")
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Events.as_manager()

    class Meta:
        ordering = ("-id",)
        indexes = (
            models.Index(fields=("project", "-id"), name="event_of_project"),
            models.Index(fields=("project", "-created_at", "-id"), name="event_by_time"),
            models.Index(fields=("target_id",), name="event_of_row"),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.target_kind} {self.target_id}"

    def save(
        self,
        *,
        force_insert: bool | tuple[ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        if not self._state.adding:
            raise TypeError(APPEND_ONLY)
        super().save(
            force_insert=force_insert, force_update=force_update, using=using, update_fields=update_fields
        )

    def delete(self, using: Any = None, keep_parents: bool = False) -> NoReturn:
        raise TypeError(APPEND_ONLY)
