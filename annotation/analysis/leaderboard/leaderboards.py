"""The stored leaderboard and the stored differences, as values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard import differences as compared
from annotation.analysis.leaderboard.differences import Differences
from annotation.analysis.leaderboard.leaderboard import (
    ALL,
    RANKABLE,
    RANKED,
    Leaderboard,
    Targets,
    as_it_stands,
    opening_score,
)
from annotation.analysis.make_analysis import StoredStatistics, current_statistics
from annotation.core.refusals import Invalid
from annotation.models import Analysis

if TYPE_CHECKING:
    from annotation.models import Project


def board_key(score: str) -> str:
    """The key of the stored leaderboard by a score."""
    return f"board {score}"


def board(
    project: Project,
    *,
    score: str = RANKED,
    target_words: int | Targets | None = ALL,
    wait: bool = False,
    other: Leaderboard | None = None,
) -> tuple[Leaderboard, StoredStatistics]:
    """The leaderboard ranked by a score, with the state of its stored part.

    Means and numbers are always current. With `wait`, everything is current or NotReady is raised. Before
    the first computation, intervals and estimates come from `other`, a leaderboard ranked by another
    score. Raises Invalid (code `unknown_score`).
    """
    if score not in RANKABLE:
        raise Invalid(
            f"There is no score {score!r}; scores are {', '.join(RANKABLE)}.",
            field="score",
            code="unknown_score",
        )
    found = current_statistics(
        project=project, kind=Analysis.Kind.LEADERBOARD, key=board_key(score), wait=wait
    )
    stored = found.facts(Leaderboard)
    if stored is None and other is not None:
        unranked = tuple(replace(table, ranking=None) for table in other.tables)
        stored = as_it_stands(project, score=score, computed=replace(other, score=score, tables=unranked))
    elif stored is None or found.is_stale:
        stored = as_it_stands(project, score=score, computed=stored)
    if isinstance(target_words, Targets):
        return stored, found
    tables = tuple(table for table in stored.tables if table.target_words == target_words)
    return replace(stored, tables=tables), found


def opening_board(
    project: Project, *, target_words: int | Targets | None = ALL, wait: bool = False
) -> tuple[Leaderboard, StoredStatistics]:
    """As `board`, ranked by the default score of the table shown first."""
    found, made = board(project, target_words=target_words, wait=wait)
    score = opening_score(found.foremost)
    if score == found.score:
        return found, made
    return board(project, score=score, target_words=target_words, wait=wait, other=found)


def differences(
    project: Project, *, score: str, target_words: int | None, wait: bool = False
) -> tuple[Differences | None, StoredStatistics]:
    """All pairs of systems by a score at a target length, with their state; errors are as in `board`.

    The differences are None only until a worker has computed the first ones; with `wait`, NotReady is
    raised instead.
    """
    if score not in RANKABLE:
        raise Invalid(f"Systems cannot be compared by {score!r}.", field="score", code="unknown_score")
    key = f"differences {compared.key(score, target_words)}"
    found = current_statistics(project=project, kind=Analysis.Kind.LEADERBOARD, key=key, wait=wait)
    return found.facts(Differences), found
