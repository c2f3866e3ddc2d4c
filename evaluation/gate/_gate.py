"""The gate: it compares means of systems with minimums, and with a baseline on the documents that both have.

Each comparison passes, fails, or has the answer "cannot tell".
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, NamedTuple, Unpack

import numpy as np

from evaluation._guards import checked_scale, checked_share
from evaluation._means import ROUNDING, is_below, mean
from evaluation._signature import signature
from evaluation.blend import left_out_of_averages
from evaluation.errors import EvaluationError
from evaluation.gate._call_file import FileCallStore
from evaluation.judging.protocol import Judge, Usage
from evaluation.metrics import USUAL_METRICS, factual_alignment, summarization
from evaluation.running import EvaluationOptions, SummaryEvaluation, SummaryInput, evaluate_summaries
from evaluation.running._cases import Options
from evaluation.statistics import FEWEST_FOR_INTERVAL, bootstrap_means, expanded_tails

Answer = Literal["pass", "fail", "cannot tell"]

CONFIDENCE = 0.95
FAILED, BELOW_OR_WORSE, CANNOT_TELL = 1, 3, 4

_WITHOUT_JUDGE = frozenset({"brevity", "completeness", "redundancy"})
"""The metrics that are computed without a judge."""
_OF_REFERENCE = ("coverage", "claim_coverage")
_Series = tuple[str, int | None]
"""A system and a target length."""


@dataclass(frozen=True, slots=True)
class GateSummary:
    """A summary to evaluate, with its document and system. `text` has the texts.

    A summary with several references has a row for each reference. The bootstrap resamples documents with the same
    `group` together; a document without a group is a group of its own.
    """

    document_id: str
    system: str
    text: SummaryInput
    group: str = ""


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The scores of one summary.

    A missing score is None. `passed` is the result of the summarization metric, see `SummaryEvaluation`.
    """

    document_id: str
    system: str
    target_words: int | None
    scores: Mapping[str, float | None]
    passed: bool | None
    reasons: Mapping[str, str]
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A macro mean over documents with its 95 % bootstrap interval over groups of documents.

    `mean` is None if no document has a value. `low` and `high` are None with fewer than 5 groups or if all groups have
    the same mean. `documents` counts the documents with a value, `unscored` the documents without a value; documents
    that are left out of averages are in neither count.
    """

    mean: float | None
    low: float | None
    high: float | None
    documents: int
    unscored: int


@dataclass(frozen=True, slots=True)
class GatedSystem:
    """The means of a system at one target length, by metric.

    `baseline` is the name of the compared system in the baseline file; None if there is none. `differences` has, by
    metric, the mean change from the baseline over the compared documents.
    """

    system: str
    target_words: int | None
    means: Mapping[str, Figure]
    baseline: str | None
    differences: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One comparison that the gate makes. `answer` is its result, and `said` has the figures or a reason in words."""

    kind: Literal["below", "worse"]
    metric: str
    system: str
    target_words: int | None
    bar: float
    answer: Answer
    said: str


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of a gate.

    `is_unchecked` is True if a score of the summaries may rest on a judge's answers. `model_changes` has the sentences
    of `FileCallStore.model_changes`; it is empty without a store or if the caller accepted the change. `exit_code` is 3
    if a check failed and no model has changed. Otherwise 1 means that nothing could be judged, and 4 that a check
    cannot tell or a model has changed. 0 is success.
    """

    metrics: tuple[str, ...]
    systems: tuple[GatedSystem, ...]
    checks: tuple[GateCheck, ...]
    summaries: tuple[ScoredRow, ...]
    remarks: tuple[str, ...]
    model_changes: tuple[str, ...]
    usage: Usage
    signature: str
    is_unchecked: bool = False

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command: 0, 1, 3 or 4."""
        answers = {check.answer for check in self.checks}
        if "fail" in answers and not self.model_changes:
            return BELOW_OR_WORSE
        # Empty summaries need no judge. If no other score needs a judge, look at every score.
        words = [row for row in self.summaries if "empty_summary" not in row.flags]
        asked = [value for row in words for name, value in row.scores.items() if name not in _WITHOUT_JUDGE]
        every = (value for row in self.summaries for value in row.scores.values())
        if all(value is None for value in asked or every):
            return FAILED
        return CANNOT_TELL if "cannot tell" in answers or self.model_changes else 0


def run_gate(
    summaries: Sequence[GateSummary],
    *,
    judge: Judge,
    baseline: Sequence[GateSummary] = (),
    fail_under: Mapping[str, float] | None = None,
    fail_if_worse: Mapping[str, float] | None = None,
    seed: int = 0,
    store: FileCallStore | None = None,
    accept_model_change: bool = False,
    on_result: Callable[[int, SummaryEvaluation], None] | None = None,
    **options: Unpack[EvaluationOptions],
) -> GateReport:
    """Evaluate summaries and a baseline's summaries, and answer whether the summaries are good enough.

    `fail_under` has the lowest allowed mean of each named metric; it applies to every system.

    `fail_if_worse` has a margin above 0 for each named metric. A decrease against the baseline by this margin or more
    is too large. The check fails if the whole 95 % interval of the difference is at or below minus the margin. It
    passes if the whole interval is above minus the margin, or if the summaries and their scores are the same. Without
    an interval, or if minus the margin is inside the interval, the answer is "cannot tell".

    Missing scores are replaced once by the lowest and once by the highest possible scores. If the two answers differ,
    the answer is "cannot tell".

    `store` is the judge's call store; it shows if the judge's model has changed. `options` are the options of
    `evaluate_summaries`; the default metrics are coverage and alignment. Raises EvaluationError for an invalid minimum
    or margin, without summaries, and for margins without a baseline. Also raises the errors of `evaluate_summaries`.
    Example: `run_gate(rows, judge=LexicalJudge(), fail_under={"coverage": 0.6}).exit_code`.
    """
    bars, margins = dict(fail_under or {}), dict(fail_if_worse or {})
    tops = {"summarization": checked_scale("The scale", options.get("scale", 1.0))}
    if not summaries:
        raise EvaluationError("There are no summaries to judge.")
    if margins and not baseline:
        raise EvaluationError("Comparing with a baseline needs a baseline file.")
    for metric, value in [*bars.items(), *margins.items()]:
        checked_share(f"The bar or margin of {metric}", value / tops.get(metric, 1.0))
    if any(margin < ROUNDING for margin in margins.values()):
        raise EvaluationError("A margin must be above 0.")
    own = [each.name for each in options.get("criteria", ())]
    wanted = tuple(dict.fromkeys([*options.get("metrics", USUAL_METRICS), *own, *bars, *margins]))
    texts = [row.text for row in (*summaries, *baseline)]
    # Over several references, composed metrics are computed from the means of their parts.
    parts = ["claim_coverage", "alignment"] if {"factual_alignment", "summarization"} & {*wanted} else []
    parts += ["question_coverage"] if "summarization" in wanted else []
    options["metrics"] = [*(name for name in wanted if name not in own), *parts]
    results = evaluate_summaries(texts, judge=judge, on_result=on_result, **options)
    chosen = Options.of(options)
    now = _scored(summaries, results[: len(summaries)], wanted, chosen)
    before = _scored(baseline, results[len(summaries) :], wanted, chosen)
    remarks: list[str] = []
    pairs = _pairs(now, before, remarks) if baseline else {}
    groups = {row.document_id: f"group {row.group}" if row.group else row.document_id for row in summaries}
    figures = _Figures(groups, seed)
    systems: list[GatedSystem] = []
    checks: list[GateCheck] = []
    for series, documents in now.items():
        pair = pairs.get(series)
        moves = {name: _Move(name, pair, figures, tops.get(name, 1.0)) for name in wanted} if pair else {}
        means = {metric: figures.of(_values(documents, metric)) for metric in wanted}
        moved = {metric: move.figure for metric, move in moves.items()}
        systems.append(GatedSystem(*series, means, pair.name if pair else None, moved))
        for metric, bar in bars.items():
            answer = _below(_values(documents, metric), bar, tops.get(metric, 1.0))
            checks.append(GateCheck("below", metric, *series, bar, *answer))
        for metric, by in margins.items():
            checks.append(GateCheck("worse", metric, *series, by, *_worse(moves.get(metric), by)))
    rows = tuple(each.row for documents in now.values() for each in documents.values())
    said = {name: value for name, value in options.items() if isinstance(value, str | int | float | None)}
    return GateReport(
        metrics=wanted,
        systems=tuple(systems),
        checks=tuple(checks),
        summaries=rows,
        remarks=(*remarks, *filter(None, (_lacking(metric, rows) for metric in wanted))),
        model_changes=() if store is None or accept_model_change else store.model_changes(),
        usage=sum((result.usage for result in results), Usage()),
        signature=signature(judge=judge.signature, metrics=",".join(wanted), seed=seed, **said),
        is_unchecked=any(_is_judged(metric, text) for metric in wanted for text in texts[: len(summaries)]),
    )


def _is_judged(metric: str, text: SummaryInput) -> bool:
    if metric in _WITHOUT_JUDGE:
        return False
    claims = {**dict.fromkeys(_OF_REFERENCE, text.claims), "alignment": text.summary_claims}.get(metric)
    return not claims or any(claim.label is None for claim in claims)


@dataclass(frozen=True, slots=True)
class _Document:
    """`measures` counts the results of `_measure`. `left_out` has the metrics that must not enter an average."""

    row: ScoredRow
    summary: str
    measures: Counter[Hashable]
    left_out: frozenset[str]


_Documents = Mapping[str, _Document]


def _scored(
    given: Sequence[GateSummary],
    results: Sequence[SummaryEvaluation],
    metrics: Sequence[str],
    options: Options,
) -> dict[_Series, dict[str, _Document]]:
    together: dict[tuple[str, int, str], list[tuple[SummaryInput, SummaryEvaluation]]] = defaultdict(list)
    for each, result in zip(given, results, strict=True):
        key = each.system, each.text.target_words or 0, each.document_id
        together[key].append((each.text, result))
    asked = [*options.metrics, *(each.name for each in options.criteria)]
    scored: dict[_Series, dict[str, _Document]] = defaultdict(dict)
    for (system, target, name), some in sorted(together.items(), key=itemgetter(0)):
        texts = [text for text, _ in some]
        # Ignore a reference without claims if another reference has claims, because every summary covers it.
        every = [result for _, result in some]
        found = [result for result in every if "no_claims" not in result.flags] or every
        asks = bool(options.questions or options.n_questions or any(text.questions for text in texts))
        values: dict[str, float | None] = {name: mean(one.scores[name] for one in found) for name in asked}
        passed = None
        if "factual_alignment" in metrics:
            values["factual_alignment"] = factual_alignment(values["claim_coverage"], values["alignment"])
        if "summarization" in metrics:
            by = values["question_coverage" if asks else "claim_coverage"]
            rules = {"threshold": options.threshold, "scale": options.scale}
            made = summarization(values["alignment"], by, strict=options.strict, **rules)
            values["summarization"], passed = made.score, made.passed
        reasons = {name: [reason for one in found if (reason := one.reasons.get(name))] for name in metrics}
        row = ScoredRow(
            name,
            system,
            target or None,
            {metric: values[metric] for metric in metrics},
            passed,
            {metric: said[0] if said else "" for metric, said in reasons.items()},
            tuple(dict.fromkeys(flag for result in found for flag in result.flags)),
        )
        left_out = left_out_of_averages(row.flags, by_questions=asks)
        left_out |= {"coverage"} if left_out else set()
        measures = Counter(map(_measure, texts))
        scored[system, target or None][name] = _Document(row, texts[-1].summary, measures, left_out)
    return scored


def _measure(text: SummaryInput) -> Hashable:
    """Return the inputs that must be equal for a comparison with the baseline. People's answers are not among them."""
    claims = None if text.claims is None else tuple(sorted((each.text, each.weight) for each in text.claims))
    return text.document, text.reference, claims, tuple(sorted(text.questions or ()))


def _values(documents: _Documents, metric: str) -> dict[str, float | None]:
    return {name: each.row.scores[metric] for name, each in documents.items() if metric not in each.left_out}


def _lacking(metric: str, rows: Sequence[ScoredRow]) -> str:
    lacking = [row for row in rows if row.scores[metric] is None]
    many = f"{len(lacking)} of {len(rows)} summaries have no {metric.replace('_', ' ')}"
    return f"{many}. The first: {lacking[0].reasons[metric]}" if lacking else ""


class _Figures(NamedTuple):
    group_of: Mapping[str, str]
    seed: int

    def of(self, values: Mapping[str, float | None]) -> Figure:
        scored = {name: value for name, value in values.items() if value is not None}
        counts = len(scored), len(values) - len(scored)
        groups: dict[str, list[float]] = defaultdict(list)
        for name in sorted(scored):
            groups[self.group_of[name]].append(scored[name])
        sums, sizes = (np.array([[float(make(some))] for some in groups.values()]) for make in (sum, len))
        if len(groups) < FEWEST_FOR_INTERVAL or np.ptp(sums / sizes) < ROUNDING:
            return Figure(mean(scored.values()), None, None, *counts)
        means, _ = bootstrap_means(sums, sizes, seed=self.seed)
        low, high = np.quantile(means[:, 0], expanded_tails(CONFIDENCE, len(groups))).tolist()
        return Figure(mean(scored.values()), low, high, *counts)


class _Pair(NamedTuple):
    name: str
    now: _Documents
    before: _Documents


def _pairs(
    now: Mapping[_Series, _Documents], before: Mapping[_Series, _Documents], remarks: list[str]
) -> dict[_Series, _Pair]:
    """Pair systems with those of the baseline, over the documents with equal measures. Also appends to `remarks`."""
    pairs: dict[_Series, _Pair] = {}
    changed: set[str] = set()
    for series, documents in now.items():
        # Compare with the system of the same name. If each file has only one system at that length, compare these two.
        alone, others = ([each for each in file if each[1] == series[1]] for file in (now, before))
        other = series if series in before else others[0] if len(alone) == len(others) == 1 else None
        if other is None:
            remarks.append(f"{named(*series)} is not in the baseline.")
            continue
        old = {name: before[other][name] for name in documents if name in before[other]}
        same = {name: each for name, each in old.items() if each.measures == documents[name].measures}
        changed |= old.keys() - same.keys()
        pairs[series] = _Pair(other[0], {name: documents[name] for name in same}, same)
    if changed:
        told = "differ from the baseline in their text, references, claims or questions and are not compared"
        remarks.append(f"{len(changed)} documents {told}, {min(changed)!r} among them.")
    return pairs


class _Move:
    """`top` is the largest value of the metric."""

    def __init__(self, metric: str, pair: _Pair, figures: _Figures, top: float) -> None:
        new, old = _values(pair.now, metric), _values(pair.before, metric)
        self._sides = {name: (new[name], old[name]) for name in new if name in old}
        self._figures, self._top = figures, top
        self.figure = self._moved(None, None)
        # Identical texts with identical scores are not worse, even if there are too few documents for an interval.
        self.is_unchanged = self.figure.documents > 0 and all(
            pair.now[name].summary == pair.before[name].summary and one == two
            for name, (one, two) in self._sides.items()
        )

    def is_worse(self, by: float) -> Answer:
        if self.is_unchanged:
            return "pass"
        answers: set[Answer] = set()
        for found in (self._moved(0.0, self._top), self._moved(self._top, 0.0)):
            if found.low is None or found.high is None or found.low <= -by + ROUNDING < found.high:
                return "cannot tell"
            answers.add("fail" if found.high <= -by + ROUNDING else "pass")
        return answers.pop() if len(answers) == 1 else "cannot tell"

    def _moved(self, if_no_new: float | None, if_no_old: float | None) -> Figure:
        """`if_no_new` and `if_no_old` replace missing values."""
        moved: dict[str, float | None] = {}
        for name, (one, two) in self._sides.items():
            new, old = if_no_new if one is None else one, if_no_old if two is None else two
            moved[name] = None if new is None or old is None else new - old
        return self._figures.of(moved)


def _below(values: Mapping[str, float | None], bar: float, top: float) -> tuple[Answer, str]:
    """Missing scores count once as 0 and once as `top`. Returns the answer and the figures in words."""
    least, most = (
        mean(lacking if value is None else value for value in values.values()) for lacking in (0.0, top)
    )
    unscored = list(values.values()).count(None)
    beside = f" ({unscored} of {len(values)} unscored)" if unscored else ""
    if least is None or most is None or unscored == len(values):
        return "cannot tell", f"has no value{beside}"
    if not is_below(least, bar):
        return "pass", f"{_apart(least, '>=', bar)}{beside}"
    if is_below(most, bar):
        return "fail", f"{_apart(most, '<', bar)}{beside}"
    return "cannot tell", f"between {least:.4f} and {most:.4f}, bar {bar:g}{beside}"


def _worse(move: _Move | None, by: float) -> tuple[Answer, str]:
    if move is None:
        return "cannot tell", "the baseline has no such system"
    answer, found = move.is_worse(by), move.figure
    why = ""
    if move.is_unchanged:
        why = "; the summaries are the same"
    elif found.low is None:
        why = "; no interval: few documents, or all differ by the same"
    return answer, f"{figure_in_words(found, sign='+')} against the baseline, margin {by:g}{why}"


def _apart(value: float, sign: str, bar: float) -> str:
    """Format both with the fewest digits, from 2 to 6, that show the bar exactly and which value is larger."""
    good = (n for n in range(2, 6) if round(bar, n) == bar and (round(value, n) < bar) == (sign == "<"))
    digits = next(good, 6)
    return f"{value:.{digits}f} {sign} {bar:.{digits}f}"


def named(system: str, target_words: int | None) -> str:
    """Return a system's name with its target length, for reports."""
    return system if target_words is None else f"{system} ({target_words} words)"


def figure_in_words(found: Figure, *, sign: str = "") -> str:
    """Format the mean with its interval and counts, such as "0.6000 [0.5000, 0.7000], 9 documents, 1 unscored"; "no
    value" without a mean.
    """
    if found.mean is None:
        return "no value"
    interval = "" if found.low is None else f" [{found.low:{sign}.4f}, {found.high:{sign}.4f}]"
    unscored = f", {found.unscored} unscored" if found.unscored else ""
    count = f"{found.documents} document{'' if found.documents == 1 else 's'}"
    return f"{found.mean:{sign}.4f}{interval}, {count}{unscored}"
