"""Document sets and their source documents."""

from __future__ import annotations

from django.db import models

from annotation.models.base import PublicRow
from annotation.models.project import Project


def cluster_of(document_set: str, group: str) -> str:
    """Name the cluster of a document set: its group, or the set itself if it has no group.

    A group and a set with the same name get different names.
    """
    return f"group {group}" if group else f"set {document_set}"


class DocumentSet(PublicRow):
    """One or more source documents that are summarised together."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="document_sets", db_index=False
    )
    external_id = models.CharField(max_length=200, help_text="The document_id of the imported file.")
    group = models.CharField(
        max_length=200,
        blank=True,
        help_text="Cluster that intervals resample; empty if the set is a cluster of its own.",
    )
    language = models.CharField(max_length=12, default="en")
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("project_id", "external_id")
        constraints = (
            models.UniqueConstraint(fields=("project", "external_id"), name="document_set_external_id"),
        )

    def __str__(self) -> str:
        return self.external_id

    @property
    def cluster(self) -> str:
        return cluster_of(self.external_id, self.group)


class Document(PublicRow):
    """One source text of a document set."""

    document_set = models.ForeignKey(
        DocumentSet, on_delete=models.CASCADE, related_name="documents", db_index=False
    )
    position = models.PositiveIntegerField(help_text="1 for the first document of the set.")
    text = models.TextField()

    class Meta:
        ordering = ("document_set_id", "position")
        constraints = (
            models.UniqueConstraint(fields=("document_set", "position"), name="document_position"),
        )

    def __str__(self) -> str:
        return f"{self.document_set} [{self.position}]"
