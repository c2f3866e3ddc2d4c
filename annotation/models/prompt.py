"""A project's own prompts."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project


class PromptVersion(PublicRow):
    """A project's own prompt for one step of judging."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="prompt_versions")
    step = models.CharField(max_length=40)
    number = models.PositiveIntegerField(help_text="Counts the versions of a step, from 1.")
    text = models.TextField(help_text="The words of the step and its parts.")
    version = models.CharField(max_length=40, help_text="Computed from the text; stored calls name it.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="prompt_versions",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("step", "-number")
        constraints = (
            models.UniqueConstraint(fields=("project", "step", "number"), name="prompt_version_number"),
        )

    def __str__(self) -> str:
        return f"{self.step} v{self.number}"
