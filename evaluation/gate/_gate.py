"""Means of systems against bars, and against a baseline on common documents: pass, fail, or cannot tell."""

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


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """The scores of one summary, None with a reason where nothing can be said; `passed` as in `SummaryEvaluation`."""

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

    `mean` is None where no document has a value, `low` and `high` with fewer than 5 groups or where all are alike.
    `documents` counts the values, `unscored` the documents without one.
    """

    mean: float | None
    low: float | None
    high: float | None
    documents: int
    unscored: int


@dataclass(frozen=True, slots=True)
class GatedSystem:
    """The means of a system at one target length, by metric.

    `baseline` is the system of the baseline that it is compared with, None where there is none; `differences` are now
    minus before on the documents of both, by metric.
    """

    system: str
    target_words: int | None
    means: Mapping[str, Figure]
    baseline: str | None
    differences: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One question of the gate and its answer. `said` has the figures."""

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

    `model_changes` says which model answered in the place of another since the stored calls, empty where none did or
    that was accepted. `exit_code`: 0 good, 1 nothing could be judged, 3 below or worse, 4 cannot tell, as after a
    change of the model.
    """

    metrics: tuple[str, ...]
    systems: tuple[GatedSystem, ...]
    checks: tuple[GateCheck, ...]
    summaries: tuple[ScoredRow, ...]
    remarks: tuple[str, ...]
    model_changes: tuple[str, ...]
    usage: Usage
    signature: str

    @property
    def exit_code(self) -> int:
        """The exit code of the program."""
        answers = {check.answer for check in self.checks}
        if "fail" in answers and not self.model_changes:
            return BELOW_OR_WORSE
        # Of those that a judge has a part in, where it was asked; else of all.
        words = [row for row in self.summaries if "empty_peer" not in row.flags]
        asked = [value for row in words for name, value in row.scores.items() if name not in _WITHOUT_JUDGE]
        if all(
            value is None for value in asked or (v for row in self.summaries for v in row.scores.values())
        ):
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
    """Judge the summaries, and those of a baseline, and answer whether they are good enough.

    `fail_under`: by metric, the least mean of every system, in the range of the metric. `fail_if_worse`: by metric, how
    much worse than the baseline, above 0, is too much: fail where the whole 95 % interval of the difference lies there,
    pass where none of it does or the summaries are the same; without an interval nobody can tell. Answers hold whatever
    the scores are that could not be made, else nobody can tell. `store` is the judge's: it shows whether another model
    answers than before. `options` are those of `evaluate_summaries`; metrics are coverage and alignment by default.
    Raises EvaluationError for bars that cannot be; JudgeRefused.
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
    wanted = tuple(dict.fromkeys([*options.get("metrics", USUAL_METRICS), *bars, *margins]))
    texts = [row.text for row in (*summaries, *baseline)]
    # What is made of other metrics is made of their means over several references.
    parts = ["claim_coverage", "alignment"] if {"factual_alignment", "summarization"} & {*wanted} else []
    options["metrics"] = [*wanted, *parts, *["question_coverage"] * ("summarization" in wanted)]
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
            told = _below(_values(documents, metric), bar, tops.get(metric, 1.0))
            checks.append(GateCheck("below", metric, *series, bar, *told))
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
    )


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
    options: Options,
) -> dict[_Series, dict[str, _Document]]:
    """The documents of each system and target length, a summary's scores averaged over its references."""
    together: dict[tuple[str, int, str], list[tuple[SummaryInput, SummaryEvaluation]]] = defaultdict(list)
    for each, result in zip(given, results, strict=True):
        key = each.system, each.text.target_words or 0, each.document_id
        together[key].append((each.text, result))
    scored: dict[_Series, dict[str, _Document]] = defaultdict(dict)
    for (system, target, name), some in sorted(together.items(), key=itemgetter(0)):
        texts = [text for text, _ in some]
        # A reference without claims says nothing where another has some.
        every = [result for _, result in some]
        found = [result for result in every if "no_claims" not in result.flags] or every
        asks = bool(options.questions or options.n_questions or any(text.questions for text in texts))
        values: dict[str, float | None] = {
            name: mean(result.scores[name] for result in found) for name in options.metrics
        }
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
        scored[system, target or None][name] = _Document(
            row, texts[-1].summary, Counter(map(_measure, texts)), left_out
        )
    return scored


def _measure(text: SummaryInput) -> Hashable:
    """What a summary is measured by, in an order of its own; people's answers are of one release alone."""
    claims = None if text.claims is None else tuple(sorted((each.text, each.weight) for each in text.claims))
    return text.document, text.reference, claims, tuple(sorted(text.questions or ()))


def _values(documents: _Documents, metric: str) -> dict[str, float | None]:
    """A metric by document. What rests on there being no claims says nothing, and is not there."""
    return {name: each.row.scores[metric] for name, each in documents.items() if metric not in each.left_out}


def _lacking(metric: str, rows: Sequence[ScoredRow]) -> str:
    """The number of summaries without a score, with the first reason; "" if all have one."""
    lacking = [row for row in rows if row.scores[metric] is None]
    many = f"{len(lacking)} of {len(rows)} summaries have no {metric.replace('_', ' ')}"
    return f"{many}. The first: {lacking[0].reasons[metric]}" if lacking else ""


class _Figures(NamedTuple):
    """The groups of documents that are resampled together, and the seed."""

    group_of: Mapping[str, str]
    seed: int

    def of(self, values: Mapping[str, float | None]) -> Figure:
        """The mean with its interval."""
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
    """A system of the baseline, and the documents that both files have."""

    name: str
    now: _Documents
    before: _Documents


def _pairs(
    now: Mapping[_Series, _Documents], before: Mapping[_Series, _Documents], remarks: list[str]
) -> dict[_Series, _Pair]:
    """For each series that the baseline has, both sides of its common documents. Adds to the remarks."""
    pairs: dict[_Series, _Pair] = {}
    changed: set[str] = set()
    for series, documents in now.items():
        # The system of the same name; or the only one, where each file has one at that target length.
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
        remarks.append(
            f"{len(changed)} documents differ from the baseline in their text, references, claims or questions and "
            f"are not compared, {min(changed)!r} among them."
        )
    return pairs


class _Move:
    """How a system's metric, which is at most `top`, has moved on the documents that both files have."""

    def __init__(self, metric: str, pair: _Pair, figures: _Figures, top: float) -> None:
        new, old = _values(pair.now, metric), _values(pair.before, metric)
        self._sides = {name: (new[name], old[name]) for name in new if name in old}
        self._figures, self._top = figures, top
        self.figure = self._moved(None, None)
        # The same texts with the same scores are not worse, however few they are.
        self.is_unchanged = self.figure.documents > 0 and all(
            pair.now[name].summary == pair.before[name].summary and one == two
            for name, (one, two) in self._sides.items()
        )

    def is_worse(self, by: float) -> Answer:
        """True if it is worse by at least so much, whatever the scores are that are missing."""
        if self.is_unchanged:
            return "pass"
        answers: set[Answer] = set()
        for lacking in ((0.0, self._top), (self._top, 0.0)):
            found = self._moved(*lacking)
            if found.low is None or found.high is None or found.low <= -by + ROUNDING < found.high:
                return "cannot tell"
            answers.add("fail" if found.high <= -by + ROUNDING else "pass")
        return answers.pop() if len(answers) == 1 else "cannot tell"

    def _moved(self, *lacking: float | None) -> Figure:
        """Now minus before, with these in the place of missing values."""
        moved: dict[str, float | None] = {}
        for name, sides in self._sides.items():
            new, old = (other if side is None else side for side, other in zip(sides, lacking, strict=True))
            moved[name] = None if new is None or old is None else new - old
        return self._figures.of(moved)


def _below(values: Mapping[str, float | None], bar: float, top: float) -> tuple[Answer, str]:
    """True if the mean reaches the bar, whatever the scores up to `top` are that are missing; and the figures."""
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
    """Both with as many digits, two at least, as show on which side of the bar the value lies."""
    good = (n for n in range(2, 6) if round(bar, n) == bar and (round(value, n) < bar) == (sign == "<"))
    digits = next(good, 6)
    return f"{value:.{digits}f} {sign} {bar:.{digits}f}"


def named(system: str, target_words: int | None) -> str:
    """A system as reports name it."""
    return system if target_words is None else f"{system} ({target_words} words)"


def figure_in_words(found: Figure, *, sign: str = "") -> str:
    """The mean with interval and counts, as in "0.6000 [0.5000, 0.7000], 9 documents, 1 unscored"."""
    if found.mean is None:
        return "no value"
    interval = "" if found.low is None else f" [{found.low:{sign}.4f}, {found.high:{sign}.4f}]"
    unscored = f", {found.unscored} unscored" if found.unscored else ""
    count = f"{found.documents} document{'' if found.documents == 1 else 's'}"
    return f"{found.mean:{sign}.4f}{interval}, {count}{unscored}"
