"""Summaries by their public ids."""

from __future__ import annotations

from annotation.core.refusals import NotFound
from annotation.models import Project, Summary


def summary_of(project: Project, public_id: str) -> Summary:
    """The summary of that public id in the project. Raises NotFound."""
    summary = (
        Summary.objects.filter(document_set__project=project, is_peer=True, public_id=public_id)
        .select_related("system", "document_set")
        .first()
    )
    if summary is None:
        raise NotFound("There is no such summary in this project.")
    return summary
