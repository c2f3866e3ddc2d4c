"""The guidelines of a project."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project


class Guideline(PublicRow):
    """One version of a project's guidelines, in Markdown.

    The highest version is the current one.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown; HTML in it is shown as text.")
    note = models.CharField(
        max_length=200, blank=True, help_text="The change, for people who know the previous version."
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="guidelines",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("project_id", "-version")
        constraints = (models.UniqueConstraint(fields=("project", "version"), name="guideline_version_once"),)

    def __str__(self) -> str:
        return f"guidelines {self.version}"
