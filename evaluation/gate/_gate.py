"""Means of systems against bars, and against a baseline on common documents: yes, no, or cannot tell."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np

from evaluation._guards import checked_share
from evaluation._means import ROUNDING, is_below, mean
from evaluation._signature import signature
from evaluation.blend import left_out_of_averages
from evaluation.errors import EvaluationError
from evaluation.judging.protocol import Judge, Usage
from evaluation.running import SummaryEvaluation, SummaryInput, evaluate_summaries
from evaluation.statistics import (
    FEWEST_FOR_INTERVAL,
    bootstrap_means,
    compare_systems,
    expanded_tails,
)

Answer = Literal["yes", "no", "cannot tell"]
"""Whether a system stays below a bar, or is worse than before by a margin."""

CONFIDENCE = 0.95
BELOW_OR_WORSE, CANNOT_TELL, FAILED = 3, 4, 1

_WITHOUT_JUDGE = frozenset({"brevity", "completeness", "redundancy"})
"""The metrics that no judge has a part in."""

_Series = tuple[str, int | None]
"""A system and a target length: scores are never averaged across target lengths."""


@dataclass(frozen=True, slots=True)
class GateSummary:
    """A summary of a release: of which document and by which system. `text` is what is evaluated.

    Several rows of one document, system and target length have a reference each; their scores are averaged. Documents
    of one `group` are resampled together; without one each is by itself.
    """

    document_id: str
    system: str
    text: SummaryInput
    group: str = ""

    @property
    def series(self) -> _Series:
        """What its scores are averaged with."""
        return self.system, self.text.target_words


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The scores of one summary, None with a reason where nothing can be said."""

    document_id: str
    system: str
    target_words: int | None
    scores: Mapping[str, float | None]
    reasons: Mapping[str, str]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SystemMean:
    """A metric's macro mean over documents with its 95 % bootstrap interval over groups of documents.

    `mean` is None where no summary has a value, `low` and `high` with fewer than 5 groups or where all are alike.
    `unscored` counts the summaries without a value.
    """

    mean: float | None
    low: float | None
    high: float | None
    documents: int
    unscored: int


@dataclass(frozen=True, slots=True)
class GatedSystem:
    """The means of a system at one target length, by metric."""

    system: str
    target_words: int | None
    means: Mapping[str, SystemMean]


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """A system against its baseline on the documents of both: `difference` is now minus before, p two-sided.

    The interval is None with fewer than 5 groups of documents or where all moved alike. `unscored` counts documents
    that lack a value on either side.
    """

    metric: str
    system: str
    baseline: str
    target_words: int | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    documents: int
    unscored: int


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One question of the gate and its answer: yes is bad news. `said` is the sentence with its figures."""

    kind: Literal["below", "worse"]
    metric: str
    system: str
    target_words: int | None
    bar: float
    answer: Answer
    said: str


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of a gate. `exit_code`: 0 good, 1 nothing could be judged, 3 below or worse, 4 cannot tell."""

    metrics: tuple[str, ...]
    systems: tuple[GatedSystem, ...]
    comparisons: tuple[BaselineComparison, ...]
    checks: tuple[GateCheck, ...]
    summaries: tuple[ScoredRow, ...]
    remarks: tuple[str, ...]
    answered_by_people: int
    usage: Usage
    signature: str

    @property
    def exit_code(self) -> int:
        """What a program that asked ends with."""
        answers = {check.answer for check in self.checks}
        if "yes" in answers:
            return BELOW_OR_WORSE
        if self._is_nothing_judged:
            return FAILED
        return CANNOT_TELL if "cannot tell" in answers else 0

    @property
    def _is_nothing_judged(self) -> bool:
        """Whether no score came about that a judge has a part in, where it was asked; else whether none did at all."""
        asked = [
            value
            for row in self.summaries
            if "empty_peer" not in row.flags
            for name, value in row.scores.items()
            if name not in _WITHOUT_JUDGE
        ]
        scores = asked or [value for row in self.summaries for value in row.scores.values()]
        return all(value is None for value in scores)


def run_gate(
    summaries: Sequence[GateSummary],
    *,
    judge: Judge,
    baseline: Sequence[GateSummary] = (),
    metrics: Sequence[str] = ("coverage", "alignment"),
    fail_under: Mapping[str, float] | None = None,
    fail_if_worse: Mapping[str, float] | None = None,
    n_questions: int = 5,
    seed: int = 0,
    on_result: Callable[[int, SummaryEvaluation], None] | None = None,
) -> GateReport:
    """Judge the summaries, and those of a baseline, and answer whether they are good enough.

    `fail_under`: by metric, the least mean in [0, 1] of every system. `fail_if_worse`: by metric, how much worse than
    the baseline, above 0 and up to 1, is too much: yes where the whole 95 % interval of the difference lies there, no
    where none of it does or the summaries are the same; without an interval nobody can tell. Answers hold whatever the
    scores are that could not be made, else nobody can tell.
    Raises EvaluationError for bars that cannot be; JudgeRefused.
    Example: `run_gate(rows, judge=LexicalJudge(), fail_under={"coverage": 0.6}).exit_code`.
    """
    bars, margins = dict(fail_under or {}), dict(fail_if_worse or {})
    _check(summaries, baseline, bars, margins)
    wanted = tuple(dict.fromkeys([*metrics, *bars, *margins]))
    everything = [*summaries, *baseline]
    results = evaluate_summaries(
        [row.text for row in everything],
        judge=judge,
        metrics=wanted,
        n_questions=n_questions,
        on_result=on_result,
    )
    now = _Scored(summaries, results[: len(summaries)], wanted, n_questions)
    before = _Scored(baseline, results[len(summaries) :], wanted, n_questions)
    pairs, remarks = _pairs(now, before) if baseline else ([], [])
    systems = tuple(now.system(series, wanted, seed) for series in now.series)
    compared = {
        (metric, pair[0]): _Difference(metric, *pair, now, before, seed)
        for metric in wanted
        for pair in pairs
    }
    checks = [
        *(_below(metric, bar, system, now) for metric, bar in bars.items() for system in systems),
        *(_worse(metric, by, series, compared) for metric, by in margins.items() for series in now.series),
    ]
    return GateReport(
        metrics=wanted,
        systems=systems,
        comparisons=tuple(each.told() for each in compared.values()),
        checks=tuple(checks),
        summaries=now.rows,
        remarks=(*remarks, *(said for metric in wanted if (said := _lacking(metric, now.rows)))),
        answered_by_people=sum(map(_answered, summaries)),
        usage=sum((result.usage for result in results), Usage()),
        signature=signature(
            judge=judge.signature, metrics=",".join(wanted), n_questions=n_questions, seed=seed
        ),
    )


def _check(
    summaries: Sequence[GateSummary],
    baseline: Sequence[GateSummary],
    bars: Mapping[str, float],
    margins: Mapping[str, float],
) -> None:
    if not summaries:
        raise EvaluationError("There are no summaries to judge.")
    for metric, bar in bars.items():
        checked_share(f"The bar of {metric}", bar)
    for metric, by in margins.items():
        if not checked_share(f"The margin of {metric}", by) > 0:
            raise EvaluationError(f"The margin of {metric} must be above 0, got {by!r}.")
    if margins and not baseline:
        raise EvaluationError("Comparing with a baseline needs a baseline file.")


class _Scored:
    """The scores of one file's summaries, one row for each document, system and target length."""

    def __init__(
        self,
        given: Sequence[GateSummary],
        results: Sequence[SummaryEvaluation],
        metrics: Sequence[str],
        n_questions: int,
    ) -> None:
        self.cluster_of = {
            row.document_id: f"group {row.group}" if row.group else f"set {row.document_id}" for row in given
        }
        self.measures: dict[tuple[_Series, str], Counter[Hashable]] = defaultdict(Counter)
        for row in given:
            self.measures[row.series, row.document_id][_measure(row.text)] += 1
        self._asked = {(row.series, row.document_id) for row in given if n_questions or row.text.questions}
        self.texts = {(row.series, row.document_id): row.text.summary for row in given}
        together = sorted(
            zip(given, results, strict=True),
            key=lambda each: (each[0].system, each[0].text.target_words or 0, each[0].document_id),
        )
        self.rows = tuple(
            _row(series, name, [result for _, result in some], metrics)
            for (series, name), some in groupby(
                together, key=lambda each: (each[0].series, each[0].document_id)
            )
        )
        self.series = tuple(dict.fromkeys((row.system, row.target_words) for row in self.rows))

    def values(self, metric: str, series: _Series) -> dict[str, float | None]:
        """A metric by document. What rests on there being no claims says nothing, and is not there."""
        return {
            row.document_id: row.scores[metric]
            for row in self.rows
            if (row.system, row.target_words) == series
            and metric not in _left_out(row, by_questions=(series, row.document_id) in self._asked)
        }

    def system(self, series: _Series, metrics: Sequence[str], seed: int) -> GatedSystem:
        return GatedSystem(*series, {metric: self._mean(metric, series, seed) for metric in metrics})

    def _mean(self, metric: str, series: _Series, seed: int) -> SystemMean:
        values = self.values(metric, series)
        scored = {name: value for name, value in values.items() if value is not None}
        low, high = _interval(scored, self.cluster_of, seed)
        return SystemMean(mean(scored.values()), low, high, len(values), len(values) - len(scored))


def _row(
    series: _Series,
    document_id: str,
    results: Sequence[SummaryEvaluation],
    metrics: Sequence[str],
) -> ScoredRow:
    """The summary's mean scores over its references; one without claims says nothing where another has some."""
    results = [result for result in results if "no_claims" not in result.flags] or results
    return ScoredRow(
        document_id,
        *series,
        {name: mean(result.scores[name] for result in results) for name in metrics},
        {name: next(filter(None, (result.reasons.get(name) for result in results)), "") for name in metrics},
        tuple(dict.fromkeys(flag for result in results for flag in result.flags)),
    )


def _lacking(metric: str, rows: Sequence[ScoredRow]) -> str:
    """How many summaries have no score, with the first one's reason; nothing where all have one."""
    lacking = [row for row in rows if row.scores[metric] is None]
    many = f"{len(lacking)} of {len(rows)} summaries have no {metric.replace('_', ' ')}"
    return f"{many}. The first: {lacking[0].reasons[metric]}" if lacking else ""


def _measure(text: SummaryInput) -> Hashable:
    """What a summary is measured by, in an order of its own; people's answers are of one release alone."""
    claims = None if text.claims is None else tuple(sorted((each.text, each.weight) for each in text.claims))
    return text.document, text.reference, claims, tuple(sorted(text.questions or ()))


def _left_out(row: ScoredRow, *, by_questions: bool) -> frozenset[str]:
    named = left_out_of_averages(row.flags, by_questions=by_questions)
    return named | {"coverage"} if named else named


def _answered(row: GateSummary) -> int:
    claims = [*(row.text.claims or ()), *(row.text.summary_claims or ())]
    return sum(claim.label is not None for claim in claims)


def _interval(
    values: Mapping[str, float], cluster_of: Mapping[str, str], seed: int
) -> tuple[float | None, float | None]:
    """The 95 % interval of the mean, None twice where there are too few clusters or none differs from another."""
    clusters = sorted({cluster_of[name] for name in values})
    if len(clusters) < FEWEST_FOR_INTERVAL:
        return None, None
    places = {name: place for place, name in enumerate(clusters)}
    sums, sizes = np.zeros((len(clusters), 1)), np.zeros((len(clusters), 1))
    for name, value in values.items():
        sums[places[cluster_of[name]], 0] += value
        sizes[places[cluster_of[name]], 0] += 1
    if np.ptp(sums / sizes) < ROUNDING:
        return None, None
    drawn, _ = bootstrap_means(sums, sizes, seed=seed)
    low, high = np.quantile(drawn[:, 0], expanded_tails(CONFIDENCE, len(clusters)))
    return float(low), float(high)


def _pairs(now: _Scored, before: _Scored) -> tuple[list[tuple[_Series, _Series, tuple[str, ...]]], list[str]]:
    """Each series with the one that it is compared with, and their common documents; and what is to be said."""
    pairs: list[tuple[_Series, _Series, tuple[str, ...]]] = []
    remarks: list[str] = []
    changed: set[str] = set()
    for series in now.series:
        other = _counterpart(series, now, before)
        if other is None:
            remarks.append(f"{named(*series)} is not in the baseline.")
            continue
        common = [name for of, name in now.texts if of == series and (other, name) in before.texts]
        differing = {name for name in common if now.measures[series, name] != before.measures[other, name]}
        changed |= differing
        pairs.append((series, other, tuple(name for name in common if name not in differing)))
    if changed:
        remarks.append(
            f"{len(changed)} documents differ from the baseline in their text, references, claims or questions and "
            f"are not compared, {min(changed)!r} among them."
        )
    return pairs, remarks


def _counterpart(series: _Series, now: _Scored, before: _Scored) -> _Series | None:
    """The system of the same name; or the only one, where each file has one at that target length."""
    if series in before.series:
        return series
    alone = [each for each in now.series if each[1] == series[1]]
    others = [each for each in before.series if each[1] == series[1]]
    return others[0] if len(alone) == len(others) == 1 else None


class _Difference:
    """How a system's metric has moved on the documents that both files have."""

    def __init__(
        self,
        metric: str,
        series: _Series,
        other: _Series,
        common: Sequence[str],
        now: _Scored,
        before: _Scored,
        seed: int,
    ) -> None:
        self.metric, self.series, self.other, self.seed = metric, series, other, seed
        self.clusters = now.cluster_of
        new, old = now.values(metric, series), before.values(metric, other)
        names = [name for name in common if name in new and name in old]
        self.sides = {name: (new[name], old[name]) for name in names}
        # The same texts with the same scores are not worse, however few they are.
        self.is_unchanged = bool(self.moved()) and all(
            now.texts[series, name] == before.texts[other, name] and new[name] == old[name] for name in names
        )

    def moved(self, lacking: tuple[float, float] | None = None) -> dict[str, float]:
        """Now minus before by document; without those that lack a value, or with these for now and before."""
        new_lacking, old_lacking = lacking or (None, None)
        sides = {
            name: (new_lacking if new is None else new, old_lacking if old is None else old)
            for name, (new, old) in self.sides.items()
        }
        return {name: new - old for name, (new, old) in sides.items() if new is not None and old is not None}

    def is_worse(self, by: float) -> Answer:
        """Whether it is worse by at least so much, whatever the scores are that are missing."""
        if self.is_unchanged:
            return "no"
        worst, best = self.moved((0.0, 1.0)), self.moved((1.0, 0.0))
        answer = self._answer(by, self._interval(worst))
        if best == worst or self._answer(by, self._interval(best)) == answer:
            return answer
        return "cannot tell"

    def why_no_interval(self, told: BaselineComparison) -> str:
        """In words, behind the figures; nothing where there is an interval, or no difference either."""
        if told.difference is None or told.low is not None:
            return ""
        if self.is_unchanged:
            return "; the summaries are the same"
        if len({self.clusters[name] for name in self.moved()}) < FEWEST_FOR_INTERVAL:
            return f"; no interval with fewer than {FEWEST_FOR_INTERVAL} documents or groups"
        return "; no interval, because the difference is the same everywhere"

    def _interval(self, moved: Mapping[str, float]) -> tuple[float | None, float | None]:
        return _interval(moved, self.clusters, self.seed)

    @staticmethod
    def _answer(by: float, interval: tuple[float | None, float | None]) -> Answer:
        low, high = interval
        if low is None or high is None:
            return "cannot tell"
        if high <= -by + ROUNDING:
            return "yes"
        return "no" if low > -by + ROUNDING else "cannot tell"

    def told(self) -> BaselineComparison:
        moved = self.moved()
        low, high = self._interval(moved)
        scored = [name for name in self.sides if name in moved]
        (tested,) = compare_systems(
            {
                "now": {name: self.sides[name][0] or 0.0 for name in scored},
                "before": {name: self.sides[name][1] or 0.0 for name in scored},
            },
            {name: self.clusters[name] for name in scored},
            seed=self.seed,
        )
        return BaselineComparison(
            metric=self.metric,
            system=self.series[0],
            baseline=self.other[0],
            target_words=self.series[1],
            difference=mean(moved.values()),
            low=low,
            high=high,
            p=tested.p,
            documents=len(moved),
            unscored=len(self.sides) - len(moved),
        )


def _below(metric: str, bar: float, system: GatedSystem, now: _Scored) -> GateCheck:
    """Whether the mean stays below the bar, whatever the scores are that are missing."""
    found = system.means[metric]
    values = now.values(metric, (system.system, system.target_words)).values()
    least = mean(0.0 if value is None else value for value in values)
    most = mean(1.0 if value is None else value for value in values)
    answer: Answer = "cannot tell"
    if found.mean is not None and least is not None and most is not None:
        if not is_below(least, bar):
            answer = "no"
        elif is_below(most, bar):
            answer = "yes"
    return GateCheck(
        "below",
        metric,
        system.system,
        system.target_words,
        bar,
        answer,
        f"{named(system.system, system.target_words)}: is its mean {metric} below {bar:g}? {answer}: "
        f"{number(found.mean)}{interval_in_words(found.low, found.high)}, {documents_in_words(found)}.",
    )


def _worse(
    metric: str, by: float, series: _Series, compared: Mapping[tuple[str, _Series], _Difference]
) -> GateCheck:
    found = compared.get((metric, series))
    answer: Answer = "cannot tell"
    said = "the baseline has no such system"
    if found is not None:
        answer = found.is_worse(by)
        told = found.told()
        said = (
            f"{number(told.difference, sign='+')}{interval_in_words(told.low, told.high, sign='+')}"
            f"{'' if told.p is None else f', p {told.p:.4f}'}, {documents_in_words(told)} of both files"
            f"{found.why_no_interval(told)}"
        )
    return GateCheck(
        "worse",
        metric,
        *series,
        by,
        answer,
        f"{named(*series)}: is {metric} worse by at least {by:g}? {answer}: {said}.",
    )


def named(system: str, target_words: int | None) -> str:
    """A system as reports name it."""
    return system if target_words is None else f"{system} ({target_words} words)"


def number(value: float | None, *, sign: str = "") -> str:
    """A score as reports write it."""
    return "no value" if value is None else f"{value:{sign}.4f}"


def interval_in_words(low: float | None, high: float | None, *, sign: str = "") -> str:
    """An interval behind its mean; nothing where there is none."""
    return "" if low is None or high is None else f" [{low:{sign}.4f}, {high:{sign}.4f}]"


def documents_in_words(found: SystemMean | BaselineComparison) -> str:
    """Over how many documents a mean goes, and how many lack a value."""
    unscored = f", {found.unscored} unscored" if found.unscored else ""
    return f"{found.documents} document{'' if found.documents == 1 else 's'}{unscored}"
