"""Load stored leaderboards."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.leaderboard import (
    ALL,
    OF_THESE_DOCUMENTS,
    RANKED,
    Leaderboard,
    Targets,
    check_score,
    opening_score,
)
from annotation.analysis.make_analysis import StoredStatistics, current_statistics
from annotation.models import Analysis

if TYPE_CHECKING:
    from annotation.models import Project

WITHOUT_TARGET = "none"


def target_word(target_words: int | None) -> str:
    """Return the name of a target length in addresses."""
    return WITHOUT_TARGET if target_words is None else str(target_words)


def board(
    project: Project,
    *,
    score: str = RANKED,
    target_words: int | Targets | None = ALL,
    wait: bool = True,
    these_documents: bool = False,
) -> tuple[Leaderboard | None, StoredStatistics]:
    """Load the stored leaderboard, ranked by a score, with its state.

    `target_words` and `these_documents` are the same as in `leaderboard`, and `wait` as in `current_statistics`. The
    leaderboard is None if the statistics are missing. Raises NotReady as `current_statistics` does, and Invalid (code
    `unknown_score`) for a score that cannot rank systems.
    """
    check_score(score, project)
    key = f"{score}{OF_THESE_DOCUMENTS}" if these_documents else score
    found = current_statistics(project=project, kind=Analysis.Kind.LEADERBOARD, key=key, wait=wait)
    stored = found.facts(Leaderboard)
    if stored is None or isinstance(target_words, Targets):
        return stored, found
    tables = tuple(table for table in stored.tables if table.target_words == target_words)
    return replace(stored, tables=tables), found


def opening_board(
    project: Project,
    *,
    target_words: int | Targets | None = ALL,
    wait: bool = True,
    these_documents: bool = False,
) -> tuple[Leaderboard | None, StoredStatistics]:
    """Load the leaderboard as `board` does, ranked by the default score of the table that is shown first."""
    found, made = board(project, target_words=target_words, wait=wait, these_documents=these_documents)
    score = opening_score(found.foremost) if found else RANKED
    if score == RANKED:
        return found, made
    return board(project, score=score, target_words=target_words, wait=wait, these_documents=these_documents)
