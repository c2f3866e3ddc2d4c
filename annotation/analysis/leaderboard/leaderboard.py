"""The leaderboard: macro means of systems with intervals, one table per target length."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from annotation.analysis.estimates.estimates import (
    ALIGNMENT_ESTIMATE,
    CAPTION,
    ESTIMATE,
    SIDES,
    Estimates,
    EstimateTable,
    estimates,
)
from annotation.analysis.figures import Computed
from annotation.analysis.leaderboard.averages import (
    CONFIDENCE,
    DRAWS,
    SEED,
    Average,
    Observation,
    SetMeans,
    averages_of,
    set_means,
)
from annotation.analysis.leaderboard.ranking import Ranking, ranking_from, ranking_of
from annotation.core.refusals import Invalid
from annotation.models import SCORES, DocumentSet, Judge, Score, System
from annotation.models.document import cluster_of
from evaluation.blend import left_out_of_averages

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

__all__ = [
    "ALL",
    "RANKABLE",
    "RANKED",
    "Average",
    "Leaderboard",
    "SystemRow",
    "TargetTable",
    "Targets",
    "leaderboard",
]

RANKED = "coverage"
"""The default score for ranking."""
RANKABLE = (*SCORES, *SIDES)
"""The scores by which systems can be ranked."""

SAMPLING = "sampling of documents only"
JUDGED = f"{SAMPLING}; judge error not included"
CAPTIONS: Mapping[str, str] = {
    **dict.fromkeys(SCORES, JUDGED),
    **dict.fromkeys(("human_share", "completeness", "redundancy", "brevity"), SAMPLING),
    "coverage_human": f"people's own scores for summaries that they judged completely; {SAMPLING}",
    **dict.fromkeys(SIDES, CAPTION),
}
"""The population that the interval of each score covers if a judge decided any part of it."""
DECIDED = f"people decided everything it uses; {SAMPLING}"
RESTING_ON_COVERAGE = ("coverage", "composite_1", "composite_2_3", "composite_custom")
"""Scores without a judge's error if people decided all of coverage, because their other part is brevity."""

OF_COVERAGE = ("coverage", "coverage_human", "coverage_judge", ESTIMATE)
OF_ALIGNMENT = ("alignment", ALIGNMENT_ESTIMATE)
"""Scores of alignment, of which one is the estimate."""

LOW_ALIGNMENT = 0.8
"""A row warns about a mean below this: more than one in five claims lacks support in its source."""

NO_AVERAGE = Average(mean=None, low=None, high=None, n=0, left_out=0)
_ROWS_AT_ONCE = 2000
_SUMMARIZATION = SCORES.index("summarization")
_QUESTIONS = SCORES.index("question_coverage")


class Targets(Enum):
    """`ALL` selects all target lengths, None the summaries without a target length."""

    ALL = "all"


ALL = Targets.ALL


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system at one target length.

    `n` is the number of document sets with a value of the ranked score, `document_sets` the number of sets
    with any of its `summaries`; each score has its own n. `flags` has the number of summaries with each
    flag, `claims_unscored` the number of claims without a usable answer. Equal means have the same rank; a
    system without a mean has none. `scores` includes the estimates; an estimate that does not exist has no
    mean.
    """

    rank: int | None
    system: str
    system_id: str
    kind: str
    n: int
    summaries: int
    document_sets: int
    claims: int
    claims_unscored: int
    flags: dict[str, int]
    scores: dict[str, Average]
    aligned_by: str = "alignment"

    @property
    def aligned(self) -> float | None:
        """The share of its claims with support in their sources; the estimate if there is one."""
        return self.scores[self.aligned_by].mean

    @property
    def unsupported(self) -> float | None:
        """The share of its claims without support in their sources if it is large, otherwise None."""
        return None if self.aligned is None or self.aligned >= LOW_ALIGNMENT else 1 - self.aligned


@dataclass(frozen=True, slots=True)
class TargetTable:
    """The systems at one target length, best first.

    `summarized_by` has the numbers of summaries whose summarization uses `questions` and `claims`; if both
    occur, values are not fully comparable. `ranking` is None for scores that are not means over document
    sets. `estimate` and `alignment_estimate` describe the estimates.
    """

    target_words: int | None
    rows: tuple[SystemRow, ...]
    summarized_by: dict[str, int] = field(default_factory=dict)
    ranking: Ranking | None = None
    estimate: EstimateTable | None = None
    alignment_estimate: EstimateTable | None = None

    @property
    def is_decided_by_people(self) -> bool:
        """True if people decided all of coverage, in every document set that has coverage."""
        held = [row.scores for row in self.rows if row.scores["coverage"].mean is not None]
        return bool(held) and all(
            scores["human_share"].n == scores["coverage"].n
            and math.isclose(scores["human_share"].mean or 0.0, 1.0)
            for scores in held
        )

    @property
    def is_estimated(self) -> bool:
        """True if the leaderboard shows the estimate as its value of coverage."""
        return self.shown_as("coverage") == ESTIMATE

    def shown_as(self, score: str) -> str:
        """The version of coverage or alignment that the leaderboard shows.

        It is people's value if they decided everything (the blend equals it), else the estimate if every
        system has one with an interval, else the blend.
        """
        estimate = {"coverage": ESTIMATE, "alignment": ALIGNMENT_ESTIMATE}[score]
        is_census = score == "coverage" and self.is_decided_by_people
        return estimate if self.has_all_of(estimate) and not is_census else score

    def has_all_of(self, estimate: str) -> bool:
        """True if every system has that estimate with an interval."""
        return bool(self.rows) and all(row.scores[estimate].low is not None for row in self.rows)

    def estimate_beside(self, score: str) -> EstimateTable | None:
        """The estimates that belong to a score of coverage or alignment; None for other scores."""
        if score in OF_ALIGNMENT:
            return self.alignment_estimate
        return self.estimate if score in OF_COVERAGE else None

    def caption_of(self, score: str) -> str:
        """The population that the mean and interval of a score cover."""
        estimate = self.estimate_beside(score)
        if score in SIDES and estimate is not None:
            return estimate.caption
        if score in RESTING_ON_COVERAGE and self.is_decided_by_people:
            return DECIDED
        return CAPTIONS[score]

    @property
    def mixed(self) -> str:
        """A warning if the values of summarization come from two measures; "" otherwise."""
        if len(self.summarized_by) < 2:
            return ""
        return (
            "Summarization mixes two measures: question coverage if questions have answers (summaries: "
            f"{self.summarized_by['questions']}), otherwise claim coverage (summaries: "
            f"{self.summarized_by['claims']}). The values are not fully comparable."
        )

    def headline(self, judge: Judge | None, *, is_made: bool = True) -> str:
        """The leading systems and the source of the ranking; `judge` is the project's deciding judge.

        It names no leading system while a worker computes the tests (`is_made` is false).
        """
        if not is_made and (self.ranking is None or self.ranking.front is None):
            return "The ranking is being computed."
        if self.ranking is None:
            return ""
        by = self._decided_by(self.ranking.score, judge) if self.ranking.front else ""
        return f"According to {by}, {self.ranking.sentence}" if by else self.ranking.sentence

    def _decided_by(self, score: str, judge: Judge | None) -> str:
        if score in SIDES:
            return "the estimate of people's answers"
        if judge is None or self.caption_of(score) != JUDGED:
            return ""
        is_lexical = judge.kind == Judge.Kind.LEXICAL
        name = "the lexical judge (an offline baseline)" if is_lexical else f"the judge {judge.name}"
        if score in RESTING_ON_COVERAGE and any(row.scores["human_share"].mean for row in self.rows):
            return f"{name} and people"
        return name

    @property
    def summaries(self) -> int:
        """The number of summaries of all systems."""
        return sum(row.summaries for row in self.rows)

    @property
    def scores_held(self) -> list[str]:
        """The names of scores with a mean for any system."""
        return [name for name in SCORES if any(row.scores[name].mean is not None for row in self.rows)]

    @property
    def is_judged(self) -> bool:
        """True if the summaries have any score besides brevity."""
        return bool(set(self.scores_held) - {"brevity"})


@dataclass(frozen=True, slots=True)
class Leaderboard(Computed):
    """One table per target length, shortest first and without a target last.

    Means never combine target lengths. Systems are ranked by `score`. `signature` names the scoring rules; there
    are several only during a rescoring. `draws` counts the bootstrap samples of an interval, and `captions`
    describe the population that each interval covers.
    """

    project: str
    signature: str
    tables: tuple[TargetTable, ...]
    score: str = RANKED
    confidence: float = CONFIDENCE
    draws: int = DRAWS
    seed: int = SEED
    captions: dict[str, str] = field(default_factory=dict)

    @property
    def foremost(self) -> TargetTable | None:
        """The table shown first: the judged table with most summaries; None without tables."""
        return max(self.tables, key=lambda table: (table.is_judged, table.summaries), default=None)


def opening_score(table: TargetTable | None) -> str:
    """The default score for ranking on the page, in the API and in the command.

    It is the estimate if every system has one, else the first of coverage, alignment and the other scores
    that has a mean, except brevity and the share of people's answers.
    """
    if table is None or table.is_estimated:
        return RANKED if table is None else ESTIMATE
    held = set(table.scores_held) - {"brevity", "human_share"}
    found = next((name for name in (RANKED, "alignment", *SCORES) if name in held), RANKED)
    return table.shown_as(found) if found == "alignment" else found


def leaderboard(
    project: Project, *, target_words: int | Targets | None = ALL, score: str = RANKED
) -> Leaderboard:
    """Compute every system's averages, for all target lengths or one, ranked by any score.

    Summaries within a document set are averaged first, then the document sets. Intervals resample clusters (the
    group of a set, else the set), the same ones for every system and score. A summary flagged `no_claims` is left
    out of the affected averages. Raises Invalid (code `unknown_score`).
    """
    if score not in RANKABLE:
        raise Invalid(
            f"There is no score {score!r}; scores are {', '.join(RANKABLE)}.",
            field="score",
            code="unknown_score",
        )
    estimated = {name: estimates(project, side) for name, side in SIDES.items()}
    tables = tuple(
        gathered.table(target, score, estimated)
        for target, gathered in _by_target(project, target_words).items()
    )
    signature = _signatures(project, target_words)
    return _captioned(Leaderboard(project=project.slug, signature=signature, tables=tables, score=score))


def as_it_stands(project: Project, *, score: str, computed: Leaderboard | None) -> Leaderboard:
    """The leaderboard with present means and numbers, and stored intervals, tests and estimates.

    A stored interval is left out if the present mean is outside of it.
    """
    known = {table.target_words: table for table in computed.tables} if computed else {}
    tables = tuple(
        gathered.counted(target, score, known.get(target, TargetTable(target, ())))
        for target, gathered in _by_target(project, ALL).items()
    )
    board = computed or Leaderboard(project=project.slug, signature="", tables=(), score=score)
    return _captioned(replace(board, signature=_signatures(project, ALL), tables=tables))


def _captioned(board: Leaderboard) -> Leaderboard:
    first = board.foremost
    return replace(
        board, captions={name: first.caption_of(name) if first else CAPTIONS[name] for name in CAPTIONS}
    )


def means_at(project: Project, target_words: int | None) -> SetMeans:
    """The mean of each system in each document set at one target length."""
    gathered = _Gathered()
    for row in _score_rows(project, target_words):
        gathered.add(row)
    return set_means(gathered.observations, SCORES)


def _signatures(project: Project, target_words: int | Targets | None) -> str:
    scores = _scores(project, target_words).order_by("signature").distinct()
    return ", ".join(scores.values_list("signature", flat=True))


class _ScoreRow(NamedTuple):
    target_words: int | None
    system: str
    system_id: str
    kind: str
    document_set: str
    group: str
    claims: int
    claims_unscored: int
    flags: list[str]
    values: tuple[float | None, ...]

    @property
    def summarization_part(self) -> str:
        """The part that replaces coverage in the summary's summarization, "" if there is none."""
        if self.values[_SUMMARIZATION] is None or self.averaged_values[_SUMMARIZATION] is None:
            return ""
        return "claims" if self.values[_QUESTIONS] is None else "questions"

    @property
    def averaged_values(self) -> tuple[float | None, ...]:
        """The scores without those affected by missing claims."""
        resting = left_out_of_averages(self.flags, by_questions=self.values[_QUESTIONS] is not None)
        if not resting:
            return self.values
        return tuple(
            None if name in resting else value for name, value in zip(SCORES, self.values, strict=True)
        )


def _scores(project: Project, target_words: int | Targets | None) -> QuerySet[Score]:
    scores = Score.objects.filter(project=project, summary__is_peer=True)
    return scores if isinstance(target_words, Targets) else scores.filter(summary__target_words=target_words)


def _score_rows(project: Project, target_words: int | Targets | None) -> Iterator[_ScoreRow]:
    # Names of systems and sets are loaded once, not with each score.
    systems = {
        key: (name, public_id, kind)
        for key, name, public_id, kind in System.objects.filter(project=project).values_list(
            "pk", "name", "public_id", "kind"
        )
    }
    nobody = ("", "", "")
    sets = {
        key: (name, group)
        for key, name, group in DocumentSet.objects.filter(project=project).values_list(
            "pk", "external_id", "group"
        )
    }
    columns = ("summary__target_words", "summary__system_id", "summary__document_set_id")
    plain = ("claims", "claims_unscored", "flags")
    first = len(columns) + len(plain)
    rows = _scores(project, target_words).order_by().values_list(*columns, *plain, *SCORES)
    for row in rows.iterator(chunk_size=_ROWS_AT_ONCE):
        target, system, document_set, claims, unscored, flags = row[:first]
        written = nobody if system is None else systems[system]
        yield _ScoreRow(target, *written, *sets[document_set], claims, unscored, flags, row[first:])


@dataclass(slots=True)
class _Gathered:
    """The collected rows of one target length."""

    observations: list[Observation] = field(default_factory=list)
    systems: dict[str, tuple[str, str]] = field(default_factory=dict)
    sets: dict[str, set[str]] = field(default_factory=dict)
    summaries: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)
    flags: dict[str, Counter[str]] = field(default_factory=dict)
    parts: Counter[str] = field(default_factory=Counter)

    def add(self, row: _ScoreRow) -> None:
        name = row.system
        cluster = cluster_of(row.document_set, row.group)
        self.observations.append(Observation(name, row.document_set, cluster, row.averaged_values))
        self.systems[name] = (row.system_id, row.kind)
        self.sets.setdefault(name, set()).add(row.document_set)
        self.summaries[name] += 1
        self.claims[name] += row.claims
        self.unscored[name] += row.claims_unscored
        if row.flags:
            self.flags.setdefault(name, Counter()).update(flag.partition(":")[0] for flag in row.flags)
        if part := row.summarization_part:
            self.parts[part] += 1

    def table(self, target_words: int | None, score: str, estimated: Mapping[str, Estimates]) -> TargetTable:
        of_score = {name: each.at(target_words) for name, each in estimated.items()}
        means = set_means(self.observations, SCORES)
        found = averages_of(means)
        for system, of_system in found.items():
            of_system |= {name: estimate.average(system) for name, estimate in of_score.items()}
        rows = tuple(_aligned(self.rows(found, score)))
        order = [row.system for row in rows if row.rank is not None]
        by_score = {system: scores[score] for system, scores in found.items()}
        ranked = of_score.get(score)
        return TargetTable(
            target_words=target_words,
            rows=rows,
            summarized_by=dict(self.parts),
            ranking=ranking_from(ranked.compared, by_score, order, score, level=ranked.level)
            if ranked is not None
            else ranking_of(means, by_score, order, score),
            estimate=of_score[ESTIMATE],
            alignment_estimate=of_score[ALIGNMENT_ESTIMATE],
        )

    def counted(self, target_words: int | None, score: str, known: TargetTable) -> TargetTable:
        """The stored table with present rows."""
        found = averages_of(set_means(self.observations, SCORES), draws=0)
        known_scores = {row.system: row.scores for row in known.rows}
        for system, of_system in found.items():
            before = known_scores.get(system, {})
            of_system |= {name: before.get(name, NO_AVERAGE) for name in SIDES}
            for name in SCORES:
                of_system[name] = _with_interval(of_system[name], before.get(name, NO_AVERAGE))
        rows = tuple(_aligned(self.rows(found, score)))
        return replace(
            known,
            target_words=target_words,
            rows=rows,
            summarized_by=dict(self.parts),
        )

    def rows(self, found: Mapping[str, dict[str, Average]], score: str) -> Iterator[SystemRow]:
        placed = _ranks({system: scores[score].mean for system, scores in found.items()})
        for system, rank in placed.items():
            system_id, kind = self.systems[system]
            yield SystemRow(
                rank=rank,
                system=system,
                system_id=system_id,
                kind=kind,
                n=found[system][score].n,
                summaries=self.summaries[system],
                document_sets=len(self.sets[system]),
                claims=self.claims[system],
                claims_unscored=self.unscored[system],
                flags=dict(sorted(self.flags.get(system, Counter()).items())),
                scores=found[system],
            )


def _aligned(rows: Iterator[SystemRow]) -> Iterator[SystemRow]:
    """The rows with the shown value of alignment: estimates if all systems have one."""
    held = list(rows)
    by = TargetTable(None, tuple(held)).shown_as("alignment")
    return (replace(row, aligned_by=by) for row in held)


def _by_target(project: Project, target_words: int | Targets | None) -> dict[int | None, _Gathered]:
    """The rows by target length, shortest first and without a target last."""
    targets: defaultdict[int | None, _Gathered] = defaultdict(_Gathered)
    for row in _score_rows(project, target_words):
        targets[row.target_words].add(row)
    return {
        target: targets[target]
        for target in sorted(targets, key=lambda target: (target is None, target or 0))
    }


def _with_interval(average: Average, before: Average) -> Average:
    if average.mean is None or before.low is None or before.high is None:
        return average
    if not before.low <= average.mean <= before.high:
        return average
    return replace(average, low=before.low, high=before.high)


def _ranks(means: Mapping[str, float | None]) -> dict[str, int | None]:
    """The rank of each system, best first; equal means share a rank, systems without a mean are last."""
    known = {system: mean for system, mean in means.items() if mean is not None}
    found: dict[str, int | None] = {}
    rank, last = 0, math.inf
    for place, system in enumerate(sorted(known, key=lambda name: (-known[name], name)), start=1):
        # Means that differ only by rounding count as equal.
        if not math.isclose(known[system], last, abs_tol=1e-12):
            rank, last = place, known[system]
        found[system] = rank
    return found | {system: None for system in sorted(means) if means[system] is None}
