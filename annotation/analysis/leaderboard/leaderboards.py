"""The stored leaderboard and the stored differences behind it, as values."""

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
    """Under which the leaderboard by a score is stored."""
    return f"board {score}"


def board(
    project: Project,
    *,
    score: str = RANKED,
    target_words: int | Targets | None = ALL,
    wait: bool = False,
    other: Leaderboard | None = None,
) -> tuple[Leaderboard, StoredStatistics]:
    """The leaderboard ranked by a score, and how fresh its intervals and tests are.

    Means and counts are those of this moment, also while a worker makes the rest; who waits has it all, or NotReady.
    Until the first one is made, intervals and estimates are those of the `other` one, by another score.
    Raises Invalid (code `unknown_score`) with the scores that there are.
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
    """As `board`, by the score that it opens on: that of the table that is shown first."""
    found, made = board(project, target_words=target_words, wait=wait)
    score = opening_score(found.foremost)
    if score == found.score:
        return found, made
    return board(project, score=score, target_words=target_words, wait=wait, other=found)


def differences(
    project: Project, *, score: str, target_words: int | None, wait: bool = False
) -> tuple[Differences | None, StoredStatistics]:
    """All pairs of systems by a score at a target length, and how fresh they are; refusals as `board`.

    None only while a worker makes the first ones; who waits gets NotReady instead.
    """
    if score not in RANKABLE:
        raise Invalid(f"Systems cannot be compared by {score!r}.", field="score", code="unknown_score")
    key = f"differences {compared.key(score, target_words)}"
    found = current_statistics(project=project, kind=Analysis.Kind.LEADERBOARD, key=key, wait=wait)
    return found.facts(Differences), found
