"""The log of who did what to which row."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project


class Event(PublicRow):
    """One act. Rows are only ever added."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="events")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="events"
    )
    verb = models.CharField(max_length=40)
    target_kind = models.CharField(max_length=40)
    target_id = models.CharField(max_length=16, help_text="Public id of the row.")
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=("project", "-id"), name="event_of_project"),)

    def __str__(self) -> str:
        return f"{self.verb} {self.target_kind} {self.target_id}"
