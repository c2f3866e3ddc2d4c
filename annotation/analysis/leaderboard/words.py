"""What the leaderboard's figures say in words, and no more than they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from annotation.analysis.estimates.estimates import ALIGNMENT_ESTIMATE, ESTIMATE, SIDES, EstimateTable
from annotation.analysis.estimates.words import CAPTION, caption_of_estimate, estimate_in_words
from annotation.analysis.intervals import has_interval
from annotation.analysis.leaderboard.leaderboard import Leaderboard, TargetTable
from annotation.analysis.leaderboard.people_changed import Moved, PeopleChanged
from annotation.analysis.leaderboard.ranking import Front, Ranking
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
BESIDE = {"coverage": ESTIMATE, "coverage_judge": ESTIMATE, "alignment": ALIGNMENT_ESTIMATE}
"""The estimate that stands beside what a judge has decided some of."""
RESTING_ON_COVERAGE = ("coverage", "composite_1", "composite_2_3", "composite_custom")
"""What has no error of a judge in it where people decided all of coverage: the rest is brevity."""
SMALLEST = 0.0005
"""A mean that moves by less is the same in three decimals."""


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
    """What the order says: who leads, and whom the tests cannot tell from the leader."""
    front = ranking.front
    if front is None:
        return "No system has this score yet."
    first = front.level[0]
    if not front.others:
        return f"{first} is the only system with this score."
    if len(front.level) > 1:
        return f"{listed(front.level)} are tied for first."
    if not has_interval(front.sets):
        told = "1 document set is" if front.sets == 1 else f"{front.sets} document sets are"
        return f"{first} is ahead, but {told} too few to test it."
    if ranking.least_p is not None and ranking.least_p > ranking.level:
        return (
            f"{first} is ahead, but with {front.clusters} document sets no difference among {ranking.pairs:,} "
            f"{'pair' if ranking.pairs == 1 else 'pairs'} of systems can be significant after correction."
        )
    return _told_apart(first, front, by_estimate=ranking.score in SIDES)


def headline(table: TargetTable, judge: Judge | None, *, is_made: bool = True) -> str:
    """What the order says and who says so: `judge` is the project's deciding judge.

    Nothing leads before a worker has looked, who has not where it is not `is_made`.
    """
    if not is_made and (table.ranking is None or table.ranking.front is None):
        return "The ranking is being computed."
    if table.ranking is None:
        return ""
    score = table.ranking.score
    said = ranking_in_words(table.ranking)
    by = _said_by(table, score, judge) if table.ranking.front else ""
    # Beside an estimate, what leaves the judge's errors out must not be read as what people would say.
    if (
        by
        and (beside := BESIDE.get(score))
        and table.has_all_of(beside)
        and caption_of(score, table) == JUDGED
    ):
        said += " This leaves out the judge's errors; the estimate includes them."
    return f"According to {by}, {said}" if by else said


def _said_by(table: TargetTable, score: str, judge: Judge | None) -> str:
    """Whose answers a score rests on; empty where people alone gave them all."""
    if score in SIDES:
        return "the estimate of people's answers"
    if judge is None or CAPTIONS[score] != JUDGED or caption_of(score, table) == DECIDED:
        return ""
    is_lexical = judge.kind == Judge.Kind.LEXICAL
    name = "the lexical judge" if is_lexical else f"the judge {judge.name}"
    baseline = "an offline baseline" if is_lexical else ""
    if score not in RESTING_ON_COVERAGE:
        by = f"{name} ({baseline})" if baseline else name
        sample = table.alignment_estimate.sample if table.alignment_estimate else None
        answered = sample.answered if sample else 0
        return f"{by} and people" if score == "alignment" and answered else by
    shares = [row.scores["human_share"].mean or 0.0 for row in table.rows]
    share = sum(shares) / len(shares)
    if not share:
        asides = ", ".join(filter(None, (baseline, "not checked by people")))
        return f"{name} ({asides})"
    aside = f" ({baseline})" if baseline else ""
    return f"{name}{aside} and people (who decided {_percent(share)} of coverage)"


def _told_apart(first: str, front: Front, *, by_estimate: bool) -> str:
    if front.above:
        return (
            f"{first} has the highest mean, but {listed(front.above)} "
            f"{'is' if len(front.above) == 1 else 'are'} better on the document sets that both have."
        )
    over = f" over {front.most} document sets"
    if front.fewest < front.most:
        over = f" over the shared document sets ({front.fewest} to {front.most})"
    if by_estimate:
        # The estimate speaks of all sets, those without an answer among them.
        over = ""
    if not front.near:
        return f"{first} leads: its difference from every other system is significant{over}."
    near = "any other system" if len(front.near) == front.others else listed(front.near)
    return f"{first} is ahead, but not significantly different from {near}{over}."


def taken_over_in_words(answers: int, in_lists: int) -> str:
    """`96 of 100 reviewers' verdicts by accepting the judge's in lists`; nothing where none was."""
    if not in_lists:
        return ""
    return f"{in_lists:,} of {answers:,} reviewers' verdicts accepted from the judge in lists"


def changed_in_words(changed: PeopleChanged) -> str:
    """What people changed; nothing where there is nobody to compare."""
    if not changed.systems:
        return ""
    if not changed.share:
        return "People have not decided anything yet, so the blend is the judge's score."
    return " ".join(_changes(changed))


def _changes(changed: PeopleChanged) -> Iterator[str]:
    everybody = changed.systems
    moved = {system: each for system, each in everybody.items() if abs(each.by) >= SMALLEST}
    asides = ["mean over systems"] if len(everybody) > 1 else []
    if changed.in_lists:
        asides.append(taken_over_in_words(changed.answers, changed.in_lists))
    aside = f" ({'; '.join(asides)})" if asides else ""
    decided = f"People decided {_percent(changed.share or 0.0)} of coverage{aside}"
    if not moved:
        yield f"{decided}; no mean changed."
        return
    most = max(moved, key=lambda system: (abs(moved[system].by), system))
    whose = f"the mean of {most}"
    if len(moved) > 1:
        whose = f"the means of {len(moved)} of {len(everybody)} systems; the largest change is {most},"
    elif len(everybody) > 1:
        whose = f"the mean of 1 of {len(everybody)} systems, {most},"
    of_most = moved[most]
    yield f"{decided}. This changed {whose} from {of_most.judge:.3f} (judge alone) to {of_most.blend:.3f}."
    if len(everybody) > 1:
        yield _order(everybody)


def _order(moved: Mapping[str, Moved]) -> str:
    first_by_judge = [system for system, each in moved.items() if each.rank_by_judge == 1]
    first_by_blend = [system for system, each in moved.items() if each.rank_by_blend == 1]
    if len(first_by_judge) == len(first_by_blend) == 1 and first_by_judge != first_by_blend:
        return f"The judge alone would rank {first_by_judge[0]} first instead of {first_by_blend[0]}."
    others = sum(each.rank_by_judge != each.rank_by_blend for each in moved.values())
    if not others:
        return "The ranking is unchanged."
    return f"{others} of {len(moved)} systems change rank."


def _percent(share: float) -> str:
    rounded = round(100 * share)
    if rounded in (0, 100) and 0 < share < 1:
        return "less than 1 %" if rounded == 0 else "more than 99 %"
    return f"{rounded} %"


def told(board: Leaderboard) -> dict[str, Any]:
    """The leaderboard as plain values, with what it says in words; captions are those of the table shown first."""
    first = board.foremost
    return asdict(board) | {
        "captions": {name: caption_of(name, first) for name in CAPTIONS} if first else dict(CAPTIONS),
        "tables": [_told_table(table) for table in board.tables],
    }


def _told_table(table: TargetTable) -> dict[str, Any]:
    plain = asdict(table) | {"mixed": mixed_in_words(table)}
    if table.ranking is not None:
        plain["ranking"]["sentence"] = ranking_in_words(table.ranking)
    if table.changed is not None:
        plain["changed"]["sentence"] = changed_in_words(table.changed)
        for system, moved in table.changed.systems.items():
            plain["changed"]["systems"][system]["by"] = moved.by
    for name, estimate in (("estimate", table.estimate), ("alignment_estimate", table.alignment_estimate)):
        if estimate is not None:
            plain[name] |= _told_estimate(estimate)
    return plain


def _told_estimate(estimate: EstimateTable) -> dict[str, Any]:
    return {
        "sentence": estimate_in_words(estimate),
        "caption": caption_of_estimate(estimate),
        "draw_id": estimate.draw_id,
        "answered": estimate.sample.answered if estimate.sample else 0,
        "drawn": estimate.sample.drawn if estimate.sample else 0,
    }
