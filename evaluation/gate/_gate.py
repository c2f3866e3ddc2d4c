"""Means of systems against bars, and against a baseline on common documents: yes, no, or cannot tell."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
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
    results = evaluate_summaries(
        [row.text for row in (*summaries, *baseline)],
        judge=judge,
        metrics=wanted,
        n_questions=n_questions,
        on_result=on_result,
    )
    now = _scored(summaries, results[: len(summaries)], wanted, n_questions)
    before = _scored(baseline, results[len(summaries) :], wanted, n_questions)
    clusters = {
        row.document_id: f"group {row.group}" if row.group else f"set {row.document_id}" for row in summaries
    }
    pairs, remarks = _pairs(now, before) if baseline else ({}, [])
    differences = {
        (metric, series): _Difference(metric, series, *pair, clusters, seed)
        for metric in wanted
        for series, pair in pairs.items()
    }
    systems = tuple(
        GatedSystem(*series, {metric: _mean(_values(documents, metric), clusters, seed) for metric in wanted})
        for series, documents in now.items()
    )
    rows = tuple(each.row for documents in now.values() for each in documents.values())
    checks = [
        *(_below(metric, bar, system, now) for metric, bar in bars.items() for system in systems),
        *(
            _worse(metric, by, series, differences.get((metric, series)))
            for metric, by in margins.items()
            for series in now
        ),
    ]
    return GateReport(
        metrics=wanted,
        systems=systems,
        comparisons=tuple(each.compared for each in differences.values()),
        checks=tuple(checks),
        summaries=rows,
        remarks=(*remarks, *(said for metric in wanted if (said := _lacking(metric, rows)))),
        answered_by_people=sum(
            claim.label is not None
            for row in summaries
            for claim in (*(row.text.claims or ()), *(row.text.summary_claims or ()))
        ),
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


@dataclass(frozen=True, slots=True)
class _Document:
    """A system's scores of one document, its summary, what it is measured by, and the metrics that say nothing."""

    row: ScoredRow
    summary: str
    measures: Counter[Hashable]
    left_out: frozenset[str]


_Documents = Mapping[str, _Document]


def _scored(
    given: Sequence[GateSummary],
    results: Sequence[SummaryEvaluation],
    metrics: Sequence[str],
    n_questions: int,
) -> dict[_Series, dict[str, _Document]]:
    """The documents of each system and target length, a summary's scores averaged over its references."""
    together: dict[tuple[_Series, str], list[tuple[SummaryInput, SummaryEvaluation]]] = defaultdict(list)
    for each, result in zip(given, results, strict=True):
        together[each.series, each.document_id].append((each.text, result))
    scored: dict[_Series, dict[str, _Document]] = defaultdict(dict)
    for (series, name), some in sorted(
        together.items(), key=lambda each: (each[0][0][0], each[0][0][1] or 0, each[0][1])
    ):
        texts = [text for text, _ in some]
        row = _row(series, name, [result for _, result in some], metrics)
        by_questions = bool(n_questions or any(text.questions for text in texts))
        left_out = left_out_of_averages(row.flags, by_questions=by_questions)
        scored[series][name] = _Document(
            row,
            texts[-1].summary,
            Counter(map(_measure, texts)),
            left_out | {"coverage"} if left_out else left_out,
        )
    return scored


def _values(documents: _Documents, metric: str) -> dict[str, float | None]:
    """A metric by document. What rests on there being no claims says nothing, and is not there."""
    return {name: each.row.scores[metric] for name, each in documents.items() if metric not in each.left_out}


def _mean(values: Mapping[str, float | None], clusters: Mapping[str, str], seed: int) -> SystemMean:
    scored = {name: value for name, value in values.items() if value is not None}
    low, high = _interval(scored, clusters, seed)
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


def _pairs(
    now: Mapping[_Series, _Documents], before: Mapping[_Series, _Documents]
) -> tuple[dict[_Series, tuple[str, _Documents, _Documents]], list[str]]:
    """For each series the baseline's system and the common documents of both sides; and what is to be said."""
    pairs: dict[_Series, tuple[str, _Documents, _Documents]] = {}
    remarks: list[str] = []
    changed: set[str] = set()
    for series, documents in now.items():
        other = _counterpart(series, now, before)
        if other is None:
            remarks.append(f"{named(*series)} is not in the baseline.")
            continue
        old = {name: before[other][name] for name in documents if name in before[other]}
        differing = {name for name, each in old.items() if each.measures != documents[name].measures}
        changed |= differing
        same = {name: each for name, each in old.items() if name not in differing}
        pairs[series] = other[0], {name: documents[name] for name in same}, same
    if changed:
        remarks.append(
            f"{len(changed)} documents differ from the baseline in their text, references, claims or questions and "
            f"are not compared, {min(changed)!r} among them."
        )
    return pairs, remarks


def _counterpart(series: _Series, now: Collection[_Series], before: Collection[_Series]) -> _Series | None:
    """The system of the same name; or the only one, where each file has one at that target length."""
    if series in before:
        return series
    alone, others = ([each for each in file if each[1] == series[1]] for file in (now, before))
    return others[0] if len(alone) == len(others) == 1 else None


class _Difference:
    """How a system's metric has moved on the documents that both files have."""

    def __init__(
        self,
        metric: str,
        series: _Series,
        other: str,
        now: _Documents,
        before: _Documents,
        clusters: Mapping[str, str],
        seed: int,
    ) -> None:
        self._clusters, self._seed = clusters, seed
        new, old = _values(now, metric), _values(before, metric)
        self._sides = {name: (new[name], old[name]) for name in new if name in old}
        moved = self._moved()
        # The same texts with the same scores are not worse, however few they are.
        self._is_unchanged = bool(moved) and all(
            now[name].summary == before[name].summary and one == two
            for name, (one, two) in self._sides.items()
        )
        low, high = self._interval(moved)
        now_and_before = {
            side: {name: self._sides[name][place] or 0.0 for name in moved}
            for place, side in enumerate(("now", "before"))
        }
        (tested,) = compare_systems(now_and_before, clusters, seed=seed)
        self.compared = BaselineComparison(
            metric,
            series[0],
            other,
            series[1],
            mean(moved.values()),
            low,
            high,
            tested.p,
            documents=len(moved),
            unscored=len(self._sides) - len(moved),
        )

    def is_worse(self, by: float) -> Answer:
        """Whether it is worse by at least so much, whatever the scores are that are missing."""
        if self._is_unchanged:
            return "no"
        answers = {
            _fallen(by, *self._interval(self._moved(*lacking))) for lacking in ((0.0, 1.0), (1.0, 0.0))
        }
        return answers.pop() if len(answers) == 1 else "cannot tell"

    def why_no_interval(self) -> str:
        """In words, behind the figures; nothing where there is an interval, or no difference either."""
        if self.compared.difference is None or self.compared.low is not None:
            return ""
        if self._is_unchanged:
            return "; the summaries are the same"
        if len({self._clusters[name] for name in self._moved()}) < FEWEST_FOR_INTERVAL:
            return f"; no interval with fewer than {FEWEST_FOR_INTERVAL} documents or groups"
        return "; no interval, because the difference is the same everywhere"

    def _moved(self, new_lacking: float | None = None, old_lacking: float | None = None) -> dict[str, float]:
        """Now minus before by document; without those that lack a value, or with these for now and before."""
        sides = {
            name: (new_lacking if new is None else new, old_lacking if old is None else old)
            for name, (new, old) in self._sides.items()
        }
        return {name: new - old for name, (new, old) in sides.items() if new is not None and old is not None}

    def _interval(self, moved: Mapping[str, float]) -> tuple[float | None, float | None]:
        return _interval(moved, self._clusters, self._seed)


def _fallen(by: float, low: float | None, high: float | None) -> Answer:
    if low is None or high is None:
        return "cannot tell"
    if high <= -by + ROUNDING:
        return "yes"
    return "no" if low > -by + ROUNDING else "cannot tell"


def _below(metric: str, bar: float, system: GatedSystem, now: Mapping[_Series, _Documents]) -> GateCheck:
    """Whether the mean stays below the bar, whatever the scores are that are missing."""
    series, found = (system.system, system.target_words), system.means[metric]
    values = _values(now[series], metric).values()
    least, most = (mean(lacking if value is None else value for value in values) for lacking in (0.0, 1.0))
    answer: Answer = "cannot tell"
    if found.mean is not None and least is not None and most is not None:
        answer = "no" if not is_below(least, bar) else "yes" if is_below(most, bar) else "cannot tell"
    figures = f"{number(found.mean)}{interval_in_words(found.low, found.high)}, {documents_in_words(found)}"
    said = f"{named(*series)}: is its mean {metric} below {bar:g}? {answer}: {figures}."
    return GateCheck("below", metric, *series, bar, answer, said)


def _worse(metric: str, by: float, series: _Series, found: _Difference | None) -> GateCheck:
    answer: Answer = "cannot tell"
    figures = "the baseline has no such system"
    if found is not None:
        answer, told = found.is_worse(by), found.compared
        figures = (
            f"{number(told.difference, sign='+')}{interval_in_words(told.low, told.high, sign='+')}"
            f"{'' if told.p is None else f', p {told.p:.4f}'}, {documents_in_words(told)} of both files"
            f"{found.why_no_interval()}"
        )
    said = f"{named(*series)}: is {metric} worse by at least {by:g}? {answer}: {figures}."
    return GateCheck("worse", metric, *series, by, answer, said)


def named(system: str, target_words: int | None) -> str:
    """A system as reports name it."""
    return system if target_words is None else f"{system} ({target_words} words)"


def number(value: float | None, *, sign: str = "") -> str:
    """A score as reports write it."""
    return "no value" if value is None else f"{value:{sign}.4f}"


def interval_in_words(low: float | None, high: float | None, *, sign: str = "") -> str:
    """The interval as text to follow a mean, as in " [0.1000, 0.2000]"; empty if a bound is None."""
    return "" if low is None or high is None else f" [{low:{sign}.4f}, {high:{sign}.4f}]"


def documents_in_words(found: SystemMean | BaselineComparison) -> str:
    """Over how many documents a mean goes, and how many lack a value."""
    unscored = f", {found.unscored} unscored" if found.unscored else ""
    return f"{found.documents} document{'' if found.documents == 1 else 's'}{unscored}"
