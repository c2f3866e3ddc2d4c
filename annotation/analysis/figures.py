"""Stored statistics as doors show them."""

from __future__ import annotations

from typing import Any

from annotation.analysis.make_analysis import current_statistics
from annotation.models import Analysis, Project

Figures = dict[str, Any]

EMPTY: Figures = {"scales": [], "versions": []}
"""What a page shows while the first figures are made."""


def answered(project: Project, kind: Analysis.Kind, *, key: str = "") -> Figures:
    """The statistics as the API answers with them. Raises NotReady while a worker makes the first ones."""
    found = current_statistics(project=project, kind=kind, key=key, wait=True)
    return {**(found.payload or {}), "made_at": found.made_at, "is_stale": found.is_stale}
