"""What the leaderboard's figures say in words, and no more than they say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotation.analysis.estimates.estimates import SIDES
from annotation.analysis.estimates.words import CAPTION, caption_of_estimate
from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.leaderboard import Leaderboard, TargetTable
from annotation.analysis.leaderboard.ranking import Ranking
from annotation.core.words import listed
from annotation.models import SCORES, Judge

SAMPLING = "sampling of documents only"
JUDGED = f"{SAMPLING}; judge error not included"
CAPTIONS: Mapping[str, str] = {
    **dict.fromkeys(SCORES, JUDGED),
    **dict.fromkeys(("human_share", "completeness", "redundancy", "brevity"), SAMPLING),
    "coverage_human": f"people's own scores for summaries that they judged completely; {SAMPLING}",
    **dict.fromkeys(SIDES, CAPTION),
}
"""What the interval of each score covers, where a judge decided any of it."""
DECIDED = f"people decided everything it uses; {SAMPLING}"
RESTING_ON_COVERAGE = ("coverage", "composite_1", "composite_2_3", "composite_custom")
"""What has no error of a judge in it where people decided all of coverage: the rest is brevity."""


def caption_of(score: str, table: TargetTable) -> str:
    """What a score's mean and interval cover at one target length."""
    estimate = table.estimate_beside(score)
    if score in SIDES and estimate is not None:
        return caption_of_estimate(estimate)
    if score in RESTING_ON_COVERAGE and table.is_decided_by_people:
        return DECIDED
    return CAPTIONS[score]


def mixed_in_words(table: TargetTable) -> dict[str, str]:
    """By score, that its values do not all mean the same, and what they mean."""
    if len(table.summarized_by) < 2:
        return {}
    return {
        "summarization": "Summarization mixes two measures: question coverage if questions have answers (summaries: "
        f"{table.summarized_by['questions']}), otherwise claim coverage (summaries: "
        f"{table.summarized_by['claims']}). The values are not fully comparable."
    }


def ranking_in_words(ranking: Ranking) -> str:
    """The sentence that names the leading systems and those that may be best."""
    front = ranking.front
    if front is None:
        return "No system has this score yet."
    first = front.level[0]
    if not front.others:
        return f"{first} is the only system with this score."
    near = [system for system in front.may_be_best if system not in front.level]
    if len(front.level) > 1:
        tied = f"{listed(front.level)} are tied for first"
        return f"{tied}, and {listed(near)} could be as good." if near else f"{tied}."
    if not has_interval(front.sets):
        return f"{first} is ahead, but there are too few document sets to test it."
    if not near:
        return f"{first} is best: every other system is significantly worse than the best."
    named = "any other system" if len(near) == front.others else listed(near)
    return f"{first} is ahead, but {named} could be as good."


def headline(table: TargetTable, judge: Judge | None, *, is_made: bool = True) -> str:
    """What the order says and who says so: `judge` is the project's deciding judge.

    Nothing leads while a worker computes the tests (`is_made` is false).
    """
    if not is_made and (table.ranking is None or table.ranking.front is None):
        return "The ranking is being computed."
    if table.ranking is None:
        return ""
    said = ranking_in_words(table.ranking)
    by = _said_by(table, table.ranking.score, judge) if table.ranking.front else ""
    return f"According to {by}, {said}" if by else said


def _said_by(table: TargetTable, score: str, judge: Judge | None) -> str:
    """Whose answers a score rests on; empty if people alone gave them all."""
    if score in SIDES:
        return "the estimate of people's answers"
    if judge is None or caption_of(score, table) != JUDGED:
        return ""
    name = (
        "the lexical judge (an offline baseline)"
        if judge.kind == Judge.Kind.LEXICAL
        else f"the judge {judge.name}"
    )
    if score in RESTING_ON_COVERAGE and any(row.scores["human_share"].mean for row in table.rows):
        return f"{name} and people"
    return name


def captioned(board: Leaderboard) -> Leaderboard:
    """The leaderboard with its captions, which are those of the table that is shown first."""
    first = board.foremost
    captions = {name: caption_of(name, first) for name in CAPTIONS} if first else dict(CAPTIONS)
    return replace(board, captions=captions)
