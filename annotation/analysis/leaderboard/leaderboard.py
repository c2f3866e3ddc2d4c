"""The leaderboard: macro means of systems with intervals, one table per target length."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from annotation.analysis.estimates.estimates import Estimates, EstimateTable, estimates, rating_estimates
from annotation.analysis.figures import Computed
from annotation.analysis.leaderboard.averages import (
    CONFIDENCE,
    DRAWS,
    SEED,
    Average,
    Observation,
    SetMeans,
    averages_of,
    compared_by,
    set_means,
)
from annotation.analysis.leaderboard.ranking import Ranking, ranking_from, ranking_of
from annotation.analysis.leaderboard.values import (
    OTHER_VALUES,
    RANKABLE,
    VERSIONS,
    Basis,
    bases_of,
    basis_of_composite,
    basis_of_own,
)
from annotation.core.refusals import Invalid
from annotation.models import SCORE_SIDES, SCORES, DocumentSet, Score, System
from annotation.models.document import cluster_of
from annotation.scoring.own_scores import COMPOSITE, OwnScores, own_names, own_scores
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
LOW_ALIGNMENT = 0.8
"""A row warns about a mean alignment below this."""

_ROWS_AT_ONCE = 2000
_SUMMARIZATION = SCORES.index("summarization")
_QUESTIONS = SCORES.index("question_coverage")


class Targets(Enum):
    """`ALL` selects all target lengths. Parameters that take it also take None, which selects summaries without a
    target.
    """

    ALL = "all"


ALL = Targets.ALL
OF_THESE_DOCUMENTS = "\nthese documents"
"""The end of the key of stored leaderboards whose estimates are about exactly these document sets."""


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system at one target length.

    - `n`: the `n` of the ranked score; each score has its own
    - `document_sets`: the number of sets with any of its `summaries`
    - `length`: the mean length of its summaries, in the project's unit
    - `claims`, `claims_unscored`: the sums over its summaries
    - `flags`: the number of summaries with each flag
    - `rank`: from 1; equal means have the same rank. None without a mean, or with too few document sets if another
      system has enough
    - `scores`: by name, the value of each score that is shown, and the values from which it was chosen
      (`values.OTHER_VALUES`)
    """

    rank: int | None
    system: str
    system_id: str
    kind: str
    n: int
    summaries: int
    document_sets: int
    length: float
    claims: int
    claims_unscored: int
    flags: dict[str, int]
    scores: dict[str, Average]

    @property
    def unsupported(self) -> float | None:
        """Return 1 minus the mean alignment; None without a mean, or if it is at least LOW_ALIGNMENT."""
        aligned = self.scores["alignment"].mean
        return None if aligned is None or aligned >= LOW_ALIGNMENT else 1 - aligned


@dataclass(frozen=True, slots=True)
class TargetTable:
    """The systems at one target length: ranked systems, best first, then the others.

    `bases` names the source of every score. `headline` is a sentence about the leading systems. `summarized_by` counts
    the summaries whose summarization uses `questions` or `claims`. `estimates` describes the estimates of coverage and
    alignment, and of criteria with a finished random sample.
    """

    target_words: int | None
    rows: tuple[SystemRow, ...]
    bases: dict[str, Basis]
    ranking: Ranking
    headline: str
    summarized_by: dict[str, int]
    estimates: dict[str, EstimateTable]

    @property
    def mixed(self) -> str:
        """Return a warning if summarization uses questions for some summaries and claims for others; otherwise ""."""
        if len(self.summarized_by) < 2:
            return ""
        return (
            "Summarization mixes two measures: question coverage if questions have answers (summaries: "
            f"{self.summarized_by['questions']}), otherwise claim coverage (summaries: "
            f"{self.summarized_by['claims']}). The values are not fully comparable."
        )

    @property
    def rests_on(self) -> str:
        """Return a sentence about the source of the ranked score and the scope of its intervals; "" without values."""
        if self.ranking.score not in self.scores_held:
            return ""
        basis = self.bases[self.ranking.score]
        return f"Scores: {basis.name}. {basis.caption}" if basis.name else basis.caption

    @property
    def checked(self) -> float:
        """Return the share of coverage that people checked, as the mean over systems; 0 if there is none."""
        shares = [row.scores["human_share"].mean for row in self.rows]
        return fmean(found) if (found := [share for share in shares if share is not None]) else 0.0

    @property
    def summaries(self) -> int:
        return sum(row.summaries for row in self.rows)

    @property
    def scores_held(self) -> list[str]:
        """Return the names of the displayed scores for which some system has a mean."""
        names = [name for name in self.bases if name not in (*VERSIONS, "human_share")]
        return [name for name in names if any(row.scores[name].mean is not None for row in self.rows)]

    @property
    def is_judged(self) -> bool:
        """Return True if any score other than brevity has a mean."""
        return bool(set(self.scores_held) - {"brevity"})


@dataclass(frozen=True, slots=True)
class Leaderboard(Computed):
    """A table per target length, shortest first; the table without a target is last.

    Systems are ranked by `score`. `signature` has the signatures of the scores, which identify scoring rules. `draws`
    is the number of samples of a bootstrap interval. With `these_documents`, estimates are about exactly these document
    sets, otherwise about document sets like these.
    """

    project: str
    signature: str
    tables: tuple[TargetTable, ...]
    score: str = RANKED
    confidence: float = CONFIDENCE
    draws: int = DRAWS
    seed: int = SEED
    these_documents: bool = False

    @property
    def foremost(self) -> TargetTable | None:
        """Return the table to show first: a judged table before others, then most summaries; None if there are no
        tables.
        """
        return max(self.tables, key=lambda table: (table.is_judged, table.summaries), default=None)


def opening_score(table: TargetTable | None) -> str:
    """Return the score to rank by if nobody chose one: coverage, unless only others have a mean; brevity is ignored.

    Own criteria come last.
    """
    held = [name for name in (table.scores_held if table else ()) if name != "brevity"]
    return next((name for name in (RANKED, "alignment", *RANKABLE, *held) if name in held), RANKED)


def check_score(score: str, project: Project) -> None:
    """Raise Invalid (code `unknown_score`) if this score cannot rank systems.

    Own criteria and the own composite can rank systems.
    """
    if score in RANKABLE:
        return
    own = own_names(project)
    if score not in own:
        raise Invalid(
            f"There is no score {score!r}; scores are {', '.join([*RANKABLE, *own])}.",
            field="score",
            code="unknown_score",
        )


def leaderboard(
    project: Project,
    *,
    target_words: int | Targets | None = ALL,
    score: str = RANKED,
    these_documents: bool = False,
) -> Leaderboard:
    """Compute every system's averages, for all target lengths or one, and rank the systems by a score.

    Summaries within a document set are averaged first, then the document sets. With `these_documents`, estimates are
    about exactly these document sets.

    Raises Invalid (code `unknown_score`) if the score cannot rank systems.
    """
    check_score(score, project)
    own = own_scores(project)
    estimated = {
        name: estimates(project, side, these_documents=these_documents) for name, side in SCORE_SIDES.items()
    }
    estimated |= rating_estimates(project) if own.names else {}
    tables = tuple(
        gathered.table(project, target, score, estimated, own)
        for target, gathered in _by_target(project, target_words, own).items()
    )
    signature = _signatures(project, target_words)
    return Leaderboard(
        project=project.slug,
        signature=signature,
        tables=tables,
        score=score,
        these_documents=these_documents,
    )


def _signatures(project: Project, target_words: int | Targets | None) -> str:
    scores = _scores(project, target_words).order_by("signature").distinct()
    return ", ".join(scores.values_list("signature", flat=True))


class ScoreRow(NamedTuple):
    """The scores of a summary in the order of `SCORES`, with its system and document set."""

    target_words: int | None
    system: str
    system_id: str
    kind: str
    document_set: str
    group: str
    length: int
    claims: int
    claims_unscored: int
    flags: list[str]
    values: tuple[float | None, ...]
    own: tuple[float | None, ...]

    @property
    def summarization_part(self) -> str:
        """Return the score that summarization uses beside alignment, `questions` or `claims`; "" if there is no value
        to average.
        """
        if self.values[_SUMMARIZATION] is None or self.averaged_values[_SUMMARIZATION] is None:
            return ""
        return "claims" if self.values[_QUESTIONS] is None else "questions"

    @property
    def averaged_values(self) -> tuple[float | None, ...]:
        """Return the scores, with None for those that `left_out_of_averages` names."""
        resting = left_out_of_averages(self.flags, by_questions=self.values[_QUESTIONS] is not None)
        if not resting:
            return self.values
        return tuple(
            None if name in resting else value for name, value in zip(SCORES, self.values, strict=True)
        )


def _scores(project: Project, target_words: int | Targets | None) -> QuerySet[Score]:
    scores = Score.objects.filter(project=project, summary__is_summary=True)
    return scores if isinstance(target_words, Targets) else scores.filter(summary__target_words=target_words)


def score_rows(project: Project, target_words: int | Targets | None, own: OwnScores) -> Iterator[ScoreRow]:
    """Yield the stored scores of summaries under test, at all target lengths or one."""
    # Load the names of systems and sets once, and not with each score.
    systems: dict[int | None, tuple[str, str, str]] = {
        key: (name, public_id, kind)
        for key, name, public_id, kind in System.objects.filter(project=project).values_list(
            "pk", "name", "public_id", "kind"
        )
    }
    systems[None] = ("", "", "")
    sets = {
        key: (name, group)
        for key, name, group in DocumentSet.objects.filter(project=project).values_list(
            "pk", "external_id", "group"
        )
    }
    columns = ("summary_id", "summary__target_words", "summary__system_id", "summary__document_set_id")
    plain = ("summary_words", "claims", "claims_unscored", "flags")
    first = len(columns) + len(plain)
    rows = _scores(project, target_words).order_by().values_list(*columns, *plain, *SCORES)
    for row in rows.iterator(chunk_size=_ROWS_AT_ONCE):
        summary, target, system, document_set, length, claims, unscored, flags = row[:first]
        if system not in systems or document_set not in sets:
            # This score was stored after the names were loaded.
            continue
        place = *systems[system], *sets[document_set]
        yield ScoreRow(target, *place, length, claims, unscored, flags, row[first:], own.of(summary))


@dataclass(slots=True)
class _Gathered:
    summaries: list[ScoreRow] = field(default_factory=list)

    def table(
        self,
        project: Project,
        target_words: int | None,
        score: str,
        estimated: Mapping[str, Estimates],
        own: OwnScores,
    ) -> TargetTable:
        at_target = {name: each.at(target_words) for name, each in estimated.items()}
        means = self.means(own)
        found = averages_of(means)
        bases = bases_of(project, target_words, found, at_target)
        for name in own.names:
            rated = compared_by({system: of_system[name] for system, of_system in found.items()})
            sources = own.sources.get(name, frozenset())
            bases[name] = basis_of_own(name, sources, at_target.get(name), rated)
        if COMPOSITE in own.names:
            parts = [
                basis_of_own(name, own.sources.get(name, frozenset()), None, ())
                if name in own.names
                else bases[name]
                for name in project.own_weights
                if name in bases
            ]
            bases[COMPOSITE] = basis_of_composite(
                COMPOSITE, parts, has_judge=project.deciding_judge_id is not None
            )
        compared = compared_by({system: of_system[score] for system, of_system in found.items()})
        for system, of_system in found.items():
            for name, estimate in at_target.items():
                versions = {
                    f"{name}_estimate": estimate.average(system),
                    f"{name}_pooled": estimate.average(system, is_pooled=True),
                    f"{name}_blend": of_system[name],
                }
                of_system[name] = {**of_system, **versions}[bases[name].column]
                # A criterion is shown by one value alone.
                if name in OTHER_VALUES:
                    of_system.update(versions)
        rows = tuple(self.rows(found, score, compared))
        order = [row.system for row in rows if row.rank is not None]
        by_score = {system: scores[score] for system, scores in found.items()}
        basis = bases[score]
        ranking = (
            ranking_from(at_target[score].compared, by_score, order, score)
            if score in at_target and basis.is_estimate
            else ranking_of(means, by_score, order, score)
        )
        return TargetTable(
            target_words=target_words,
            rows=rows,
            bases=bases,
            ranking=ranking,
            headline=ranking.sentence(basis.judged_by),
            summarized_by=dict(Counter(part for row in self.summaries if (part := row.summarization_part))),
            estimates=at_target,
        )

    def means(self, own: OwnScores) -> SetMeans:
        observations = [
            Observation(
                row.system,
                row.document_set,
                cluster_of(row.document_set, row.group),
                row.averaged_values + row.own,
            )
            for row in self.summaries
        ]
        return set_means(observations, (*SCORES, *own.names))

    def rows(
        self, found: Mapping[str, dict[str, Average]], score: str, compared: Collection[str]
    ) -> Iterator[SystemRow]:
        of_system: defaultdict[str, list[ScoreRow]] = defaultdict(list)
        for row in self.summaries:
            of_system[row.system].append(row)
        ranks = _ranks({system: found[system][score].mean or 0.0 for system in compared})
        for system in (*ranks, *sorted(set(found) - set(ranks))):
            rows = of_system[system]
            flags = Counter(flag.partition(":")[0] for row in rows for flag in row.flags)
            yield SystemRow(
                rank=ranks.get(system),
                system=system,
                system_id=rows[0].system_id,
                kind=rows[0].kind,
                n=found[system][score].n,
                summaries=len(rows),
                document_sets=len({row.document_set for row in rows}),
                length=fmean(row.length for row in rows),
                claims=sum(row.claims for row in rows),
                claims_unscored=sum(row.claims_unscored for row in rows),
                flags=dict(sorted(flags.items())),
                scores=found[system],
            )


def means_at(project: Project, target_words: int | None) -> SetMeans:
    """Average each system's summaries of a target length within each document set, for each score and own score."""
    own = own_scores(project)
    return _by_target(project, target_words, own).get(target_words, _Gathered()).means(own)


def _by_target(
    project: Project, target_words: int | Targets | None, own: OwnScores
) -> dict[int | None, _Gathered]:
    targets: defaultdict[int | None, _Gathered] = defaultdict(_Gathered)
    for row in score_rows(project, target_words, own):
        targets[row.target_words].summaries.append(row)
    return {
        target: targets[target]
        for target in sorted(targets, key=lambda target: (target is None, target or 0))
    }


def _ranks(means: Mapping[str, float]) -> dict[str, int]:
    found: dict[str, int] = {}
    rank, last = 0, math.inf
    for place, system in enumerate(sorted(means, key=lambda name: (-means[name], name)), start=1):
        # Means that differ only by rounding share a rank.
        if not math.isclose(means[system], last, abs_tol=1e-12):
            rank, last = place, means[system]
        found[system] = rank
    return found
