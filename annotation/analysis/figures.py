"""Stored statistics with their sentences, as doors show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from annotation.analysis.agreement import words as agreement
from annotation.analysis.estimates import words as plan
from annotation.analysis.judge import words as judge
from annotation.analysis.make_analysis import StoredStatistics, current_statistics
from annotation.models import Analysis, Project

Figures = dict[str, Any]

WORDS: Mapping[Analysis.Kind, Callable[[Figures], Figures]] = {
    Analysis.Kind.AGREEMENT: agreement.told,
    Analysis.Kind.JUDGE: judge.told,
    Analysis.Kind.PLAN: plan.told,
}
EMPTY: Figures = {
    "scales": [],
    "versions": [],
    "pairs": [],
    "taught": [],
    "targets": [],
    "sizes": [],
    "checks": 0,
}
"""What a page shows while the first figures are made."""


def figures(project: Project, kind: Analysis.Kind, *, key: str = "", wait: bool = False) -> StoredStatistics:
    """The stored statistics with their sentences as payload. Who waits gets some, or NotReady."""
    stored = current_statistics(project=project, kind=kind, key=key, wait=wait)
    return stored if stored.payload is None else replace(stored, payload=WORDS[kind](stored.payload))


def answered(project: Project, kind: Analysis.Kind, *, key: str = "") -> Figures:
    """The statistics as the API answers with them. Raises NotReady while a worker makes the first ones."""
    found = figures(project, kind, key=key, wait=True)
    return {**(found.payload or {}), "made_at": found.made_at, "is_stale": found.is_stale}
