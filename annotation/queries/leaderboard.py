"""The systems of a project side by side: macro means with intervals, one table per target length."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from annotation.models import SCORES, Score
from annotation.queries.confounding import confounded_sets, confounding_in_words
from annotation.refusals import Invalid
from evaluation import bootstrap_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from annotation.models import Project

    Floats = NDArray[np.float64]

RANKED = "coverage"
"""What systems are ranked by unless asked otherwise."""
CONFIDENCE = 0.95
DRAWS = 10_000
SEED = 0
FEWEST_CLUSTERS = 2

SAMPLING = "sampling of documents only"
JUDGED = f"{SAMPLING}; judge error not included"
PEOPLE = f"people's own scores, of the summaries that they judged completely; {SAMPLING}"
CAPTIONS: dict[str, str] = {
    **dict.fromkeys(SCORES, JUDGED),
    **dict.fromkeys(("human_share", "completeness", "brevity"), SAMPLING),
    "coverage_human": PEOPLE,
}
"""What the interval of each score covers."""

_ROWS_AT_ONCE = 2000
# A draw holds one mean per column; more columns than this are done in slices, to bound the memory.
_COLUMNS_AT_ONCE = 256


class Targets(Enum):
    """Stands for every target length; None is a target of its own, that of summaries without one."""

    ALL = "all"


ALL = Targets.ALL


@dataclass(frozen=True, slots=True)
class Average:
    """A macro mean over document sets with its percentile bootstrap interval.

    `mean` is None where there is no value, `low` and `high` where there are fewer than two clusters. `n`
    counts the document sets with a value, `left_out` the summaries without one.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    left_out: int


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system at one target length.

    `n` counts the document sets behind the mean that it is ranked by, of the `document_sets` that hold any
    of its `summaries`; each of the `scores` has an n of its own. `flags` says how many summaries carry each
    flag, `claims_unscored` counts the claims without a usable answer. Equal means share a rank, no mean has
    none.
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


@dataclass(frozen=True, slots=True)
class TargetTable:
    """The systems at one target length, the best first.

    `mixed` says of a score that its values do not all mean the same, and what they mean; empty where they do.
    """

    target_words: int | None
    rows: tuple[SystemRow, ...]
    mixed: dict[str, str] = field(default_factory=dict)

    @property
    def summaries(self) -> int:
        """How many peer summaries all systems have together."""
        return sum(row.summaries for row in self.rows)

    @property
    def scores_held(self) -> list[str]:
        """The names of the scores that any system has a mean of."""
        return [name for name in SCORES if any(row.scores[name].mean is not None for row in self.rows)]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """One table per target length, shortest first and without a target last, and how they were made.

    Means never cross target lengths. Systems are ranked by `score`. `signature` names the rules that made the
    scores; more than one only while a project is being rescored. `warnings` are sentences about what the
    averages rest on.
    """

    project: str
    signature: str
    tables: tuple[TargetTable, ...]
    score: str = RANKED
    confidence: float = CONFIDENCE
    draws: int = DRAWS
    seed: int = SEED
    captions: dict[str, str] = field(default_factory=lambda: dict(CAPTIONS))
    warnings: tuple[str, ...] = ()


class Observation(NamedTuple):
    """The scores of one peer summary, None where there is none, in the order of the columns."""

    system: str
    document_set: str
    cluster: str
    values: tuple[float | None, ...]


def leaderboard(
    project: Project, *, target_words: int | Targets | None = ALL, score: str = RANKED
) -> Leaderboard:
    """Every system's averages, per target length or for the one named, ranked by any of the scores.

    Several summaries within a document set are averaged first, then the document sets. Intervals resample
    clusters (the group of a set, else the set), the same ones for every system and score. A summary flagged
    `no_claims` stays out of the averages that would rest on there being none. Raises Invalid (code
    `unknown_score`) with the scores that there are.
    """
    if score not in SCORES:
        raise Invalid(
            f"There is no score {score!r}; scores are {', '.join(SCORES)}.",
            field="score",
            code="unknown_score",
        )
    targets: dict[int | None, _Gathered] = {}
    signatures: set[str] = set()
    for row in _score_rows(project, target_words):
        targets.setdefault(row.target_words, _Gathered()).add(row)
        signatures.add(row.signature)
    return Leaderboard(
        project=project.slug,
        signature=", ".join(sorted(signatures)),
        tables=tuple(
            targets[target].table(target, score)
            for target in sorted(targets, key=lambda target: (target is None, target or 0))
        ),
        score=score,
        warnings=tuple(filter(None, [confounding_in_words(confounded_sets(project))])),
    )


def averages(
    observations: Sequence[Observation],
    columns: Sequence[str],
    *,
    confidence: float = CONFIDENCE,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, dict[str, Average]]:
    """The average of each system and column: over the summaries of a set, then over the sets.

    A cluster weighs as much as it has document sets, so the mean is that over sets however they are
    grouped. Where a draw holds no cluster of a system, that draw says nothing of it.
    """
    systems = sorted({seen.system for seen in observations})
    clusters = {seen.document_set: seen.cluster for seen in observations}
    sums, counts = _by_set(observations, systems, sorted(clusters), len(columns))
    has_value = counts > 0
    means = np.where(has_value, sums / np.maximum(counts, 1), 0.0)
    bounds = _bounds(
        *_by_cluster(means, has_value, [clusters[name] for name in sorted(clusters)]),
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    summaries = Counter(seen.system for seen in observations)
    made: dict[str, dict[str, Average]] = {system: {} for system in systems}
    for place, (system, name) in enumerate((system, name) for system in systems for name in columns):
        found = means[has_value[:, place], place]
        low, high = bounds[place]
        made[system][name] = Average(
            mean=math.fsum(found) / len(found) if len(found) else None,
            low=low,
            high=high,
            n=len(found),
            left_out=summaries[system] - int(counts[:, place].sum()),
        )
    return made


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
    signature: str
    values: tuple[float | None, ...]

    @property
    def summarization_part(self) -> str:
        """What stands for coverage in the summary's summarization; empty where it has none."""
        if self.averaged_values[SCORES.index("summarization")] is None:
            return ""
        return "claims" if self.values[SCORES.index("question_coverage")] is None else "questions"

    @property
    def averaged_values(self) -> tuple[float | None, ...]:
        """The scores without those that rest on there being no claims."""
        if "no_claims" not in self.flags:
            return self.values
        resting = {"claim_coverage", "factual_alignment"}
        if self.values[SCORES.index("question_coverage")] is None:
            resting.add("summarization")
        return tuple(
            None if name in resting else value for name, value in zip(SCORES, self.values, strict=True)
        )


def _score_rows(project: Project, target_words: int | Targets | None) -> Iterator[_ScoreRow]:
    scores = Score.objects.filter(project=project, summary__is_peer=True)
    if not isinstance(target_words, Targets):
        scores = scores.filter(summary__target_words=target_words)
    rows = scores.order_by().values_list(
        "summary__target_words",
        "summary__system__name",
        "summary__system__public_id",
        "summary__system__kind",
        "summary__document_set__external_id",
        "summary__document_set__group",
        "claims",
        "claims_unscored",
        "flags",
        "signature",
        *SCORES,
    )
    plain = len(_ScoreRow._fields) - 1
    for row in rows.iterator(chunk_size=_ROWS_AT_ONCE):
        yield _ScoreRow._make((*row[:plain], tuple(row[plain:])))


@dataclass(slots=True)
class _Gathered:
    """What one target length has, while the rows come in."""

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
        # A group and a document set may have the same name without being the same cluster.
        cluster = f"group {row.group}" if row.group else f"set {row.document_set}"
        self.observations.append(Observation(name, row.document_set, cluster, row.averaged_values))
        self.systems[name] = (row.system_id, row.kind)
        self.sets.setdefault(name, set()).add(row.document_set)
        self.summaries[name] += 1
        self.claims[name] += row.claims
        self.unscored[name] += row.claims_unscored
        self.flags.setdefault(name, Counter()).update(flag.partition(":")[0] for flag in row.flags)
        self.parts.update(filter(None, [row.summarization_part]))

    def table(self, target_words: int | None, score: str) -> TargetTable:
        return TargetTable(target_words=target_words, rows=tuple(self.rows(score)), mixed=_mixed(self.parts))

    def rows(self, score: str) -> Iterator[SystemRow]:
        found = averages(self.observations, SCORES)
        ranks = _ranks({system: scores[score].mean for system, scores in found.items()})
        for system, rank in ranks.items():
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
                flags=dict(sorted(self.flags[system].items())),
                scores=found[system],
            )


def _mixed(parts: Mapping[str, int]) -> dict[str, str]:
    """What to say of summarization where some of it rests on questions and some on claims."""
    if len(parts) < 2:
        return {}
    return {
        "summarization": "Summarization takes question coverage where questions have answers and claim "
        "coverage elsewhere: its values do not all mean the same (summaries by questions: "
        f"{parts['questions']}, by claims: {parts['claims']})."
    }


def _ranks(means: Mapping[str, float | None]) -> dict[str, int | None]:
    """Rank of each system, the best first, systems without a mean last."""
    ranked = sorted(
        ((mean, system) for system, mean in means.items() if mean is not None),
        key=lambda pair: (-pair[0], pair[1]),
    )
    ranks: dict[str, int | None] = {}
    rank, last = 0, math.inf
    for place, (mean, system) in enumerate(ranked, start=1):
        # Means of the same scores, summed in another order, may differ in the last digit.
        if not math.isclose(mean, last, abs_tol=1e-12):
            rank, last = place, mean
        ranks[system] = rank
    return ranks | {system: None for system in sorted(means) if means[system] is None}


def _by_set(
    observations: Sequence[Observation], systems: Sequence[str], sets: Sequence[str], width: int
) -> tuple[Floats, Floats]:
    """Sums and counts of the values there are, each of shape (sets, systems x columns)."""
    system_places = {name: place for place, name in enumerate(systems)}
    set_places = {name: place for place, name in enumerate(sets)}
    sums = np.zeros((len(sets), len(systems) * width))
    counts = np.zeros_like(sums)
    for seen in observations:
        line, first = set_places[seen.document_set], system_places[seen.system] * width
        for place, value in enumerate(seen.values, start=first):
            if value is not None:
                sums[line, place] += value
                counts[line, place] += 1
    return sums, counts


def _by_cluster(
    means: Floats, has_value: NDArray[np.bool_], clusters: Sequence[str]
) -> tuple[Floats, Floats]:
    """Sums of the sets' means, and how many sets they come from, each of shape (clusters, columns)."""
    places = {name: place for place, name in enumerate(sorted(set(clusters)))}
    of_set = np.array([places[name] for name in clusters], dtype=np.intp)
    sums = np.zeros((len(places), means.shape[1]))
    sizes = np.zeros_like(sums)
    np.add.at(sums, of_set, means)
    np.add.at(sizes, of_set, has_value.astype(np.float64))
    return sums, sizes


def _bounds(
    sums: Floats, sizes: Floats, *, confidence: float, draws: int, seed: int
) -> list[tuple[float | None, float | None]]:
    """The interval of each column, None twice where fewer than two clusters have a value."""
    bounds: list[tuple[float | None, float | None]] = [(None, None)] * sums.shape[1]
    wanted = np.flatnonzero((sizes > 0).sum(axis=0) >= FEWEST_CLUSTERS)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    for start in range(0, len(wanted), _COLUMNS_AT_ONCE):
        some = wanted[start : start + _COLUMNS_AT_ONCE]
        # Side by side, so that sums and sizes are drawn together: their quotient is the mean over the
        # document sets of each draw.
        both = np.hstack([sums[:, some], sizes[:, some]])
        drawn, _ = bootstrap_means(both, np.ones_like(both, dtype=np.bool_), draws=draws, seed=seed)
        totals, held = drawn[:, : len(some)], drawn[:, len(some) :]
        for column, place in enumerate(some):
            said = held[:, column] > 0
            low, high = np.quantile(totals[said, column] / held[said, column], tails)
            bounds[place] = (float(low), float(high))
    return bounds
