"""`coverdict gate FILE`: whether a file of summaries is good enough, and no worse than the one before."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path

from annotation.core.refusals import Invalid
from annotation.imports.dataset import SetData
from annotation.imports.layouts.layout import Layout, layout_of
from annotation.imports.layouts.look import look_at
from annotation.imports.layouts.presets import AUTO, PRESETS
from annotation.imports.problems import ImportRefused
from annotation.imports.read import FileReading, read_dataset
from evaluation import METRICS, EvaluationError, LexicalJudge, MoneyCap, OpenAIJudge, Price, SummaryInput
from evaluation.gate import (
    REPORT_FORMATS,
    FileCallStore,
    GateReport,
    GateSummary,
    forecast_calls,
    gate_report_text,
    run_gate,
)
from evaluation.judging import LABELS, JudgeSettings, Label
from evaluation.judging.protocol import Judge
from evaluation.running import GivenClaim
from evaluation.text import DOCUMENT_BREAK

FAILED = 1
LEXICAL = "lexical"
DEFAULT_METRICS = ("coverage", "alignment")
DEFAULT_CACHE = ".coverdict-calls.sqlite3"
TOLD_EVERY = 50
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file in which GitHub Actions wants Markdown."""


def gate(arguments: list[str]) -> int:
    """The exit code: 0 good, 1 failed, 2 invalid arguments, 3 below or worse, 4 cannot tell."""
    parser = gate_parser()
    options = parser.parse_args(arguments)
    if options.worse and options.baseline is None:
        parser.error("--fail-if-worse needs --baseline, the file to compare with.")
    try:
        layout = layout_of(options.map, preset=options.preset)
        judge = _judge(options)
    except (Invalid, JudgeSettings) as error:
        parser.error(str(error))
    try:
        report = _report(options, layout, judge)
    except (ImportRefused, EvaluationError) as error:
        sys.stderr.write(f"{error}\n")
        return FAILED
    _tell(report, options)
    return report.exit_code


def gate_parser() -> ArgumentParser:
    """The options of `coverdict gate`."""
    parser = ArgumentParser(
        prog="coverdict gate",
        description="Judge a file of summaries. Exit code 0 where all is well, 1 where something failed, 2 where the "
        "command line makes no sense, 3 where a system stays below a bar or is worse than the baseline, 4 where "
        "nobody can tell.",
    )
    parser.add_argument(
        "file", type=Path, help="CSV, JSON or JSONL with a row for each summary, or nested JSONL"
    )
    parser.add_argument("--baseline", type=Path, metavar="OLD", help="the file of the release before")
    parser.add_argument(
        "--fail-under",
        type=_shares,
        default={},
        metavar="METRIC=VALUE,…",
        dest="under",
        help="exit with 3 if a system's mean of a metric is below the value",
    )
    parser.add_argument(
        "--fail-if-worse",
        type=_margins,
        default={},
        metavar="METRIC:BY,…",
        dest="worse",
        help="exit with 3 if a system is worse than in the baseline by at least so much, with 4 if nobody can tell",
    )
    parser.add_argument(
        "--metrics",
        type=_metrics,
        metavar="A,B",
        help=f"of {', '.join(METRICS)}; unless named those of the bars, else {' and '.join(DEFAULT_METRICS)}",
    )
    parser.add_argument(
        "--judge",
        default=LEXICAL,
        metavar="MODEL",
        help="the offline judge, lexical, or the model of a server",
    )
    parser.add_argument("--base-url", metavar="URL", help="of a server that speaks OpenAI's chat completions")
    parser.add_argument("--key-variable", metavar="NAME", help="the environment variable that holds its key")
    parser.add_argument(
        "--price", type=_price, metavar="PROMPT,REPLY", help="of a million tokens, in any one currency"
    )
    parser.add_argument(
        "--max-cost", type=float, metavar="SUM", help="stop before calls could cost more; needs --price"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(DEFAULT_CACHE),
        help=f"keeps a model's calls; {DEFAULT_CACHE} unless named",
    )
    parser.add_argument(
        "--questions", type=int, default=5, metavar="N", help="for question_coverage; 5 unless named"
    )
    parser.add_argument("--map", nargs="+", action="extend", default=[], metavar="field=column")
    parser.add_argument(
        "--preset",
        default="",
        choices=PRESETS,
        help="whose layout the columns have; told from them unless named",
    )
    parser.add_argument(
        "--claims-side", choices=("reference", "peer"), help="whose claims a nested file holds"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap and the test")
    parser.add_argument("--format", choices=REPORT_FORMATS, default="table")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PATH",
        help="write the format there, and a table to the terminal",
    )
    return parser


def _report(options: Namespace, layout: Layout, judge: Judge) -> GateReport:
    summaries = _summaries(options.file, layout, options)
    baseline = [] if options.baseline is None else _summaries(options.baseline, layout, options)
    metrics = options.metrics or tuple(dict.fromkeys([*options.under, *options.worse])) or DEFAULT_METRICS
    if isinstance(judge, OpenAIJudge):
        _tell_forecast(options, [*summaries, *baseline], metrics)
    told = _Progress(len(summaries) + len(baseline))
    return run_gate(
        summaries,
        judge=judge,
        baseline=baseline,
        metrics=metrics,
        fail_under=options.under,
        fail_if_worse=options.worse,
        n_questions=options.questions,
        seed=options.seed,
        on_result=told.count,
    )


def _tell_forecast(options: Namespace, summaries: list[GateSummary], metrics: tuple[str, ...]) -> None:
    told = forecast_calls(summaries, metrics=metrics, n_questions=options.questions, price=options.price)
    cost = f", {told.cost:.4g} for them before replies" if options.price else ""
    cap = (
        "" if options.max_cost is None else f" It stops before it could cost more than {options.max_cost:g}."
    )
    sys.stderr.write(
        f"{told.summaries:,} summaries of {told.documents:,} documents need about {told.calls:,} calls and "
        f"{told.prompt_tokens:,} prompt tokens{cost}. Calls that {options.cache} holds cost nothing.{cap}\n"
    )


class _Progress:
    """Says now and then how far the judging is."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0

    def count(self, *_: object) -> None:
        self._done += 1
        if self._done % TOLD_EVERY == 0:
            sys.stderr.write(f"{self._done:,} of {self._count:,} summaries judged\n")


def _judge(options: Namespace) -> Judge:
    if options.judge == LEXICAL:
        return LexicalJudge()
    key = None
    if options.key_variable is not None:
        key = os.environ.get(options.key_variable)
        if not key:
            raise JudgeSettings(f"The environment variable {options.key_variable} holds no key.")
    return OpenAIJudge(
        options.judge,
        options.base_url,
        key,
        price=options.price,
        budget=None if options.max_cost is None else MoneyCap(options.max_cost),
        store=FileCallStore(options.cache),
    )


def _summaries(path: Path, layout: Layout, options: Namespace) -> list[GateSummary]:
    """What the file holds, its bad rows refused all at once."""
    try:
        look = look_at(path, name=path.name)
        if not layout and not look.is_nested and not look.guess().is_own:
            layout = Layout(preset=AUTO)
        reading = read_dataset(path, layout=layout, claims_side=options.claims_side)
    except ModuleNotFoundError as missing:
        raise EvaluationError(
            f"{path.name} is a Parquet file, which needs the server's libraries: "
            'pip install "coverdict[server]", or write CSV or JSONL.'
        ) from missing
    if reading.problems.count:
        raise EvaluationError("\n".join(_faults(path, reading)))
    for line in reading.warnings.lines():
        sys.stderr.write(f"{path.name}: {line}\n")
    return [row for name, one in reading.dataset.sets.items() for row in _of_set(name, one, reading)]


def _faults(path: Path, reading: FileReading) -> Iterator[str]:
    yield f"{path.name}: {reading.problems.count:,} problems. Nothing was judged."
    for problem in reading.problems.shown:
        yield problem.describe(reading.format.place)


def _of_set(document_id: str, one: SetData, reading: FileReading) -> Iterator[GateSummary]:
    for system, target, reference_id in one.pairs:
        reference = one.references.get(reference_id)
        # A summary is never compared with itself.
        text = None if reference is None or reference.author == system else reference.texts.get(target)
        if reference is not None and text is None:
            continue
        by_reference = [
            GivenClaim(claim.text, _label(claim.verdicts.get(system)), claim.weight) for claim in one.claims
        ]
        own = [
            GivenClaim(claim.text, _label(claim.verdicts[system]), claim.weight)
            for claim in one.claims
            if system in claim.verdicts
        ]
        yield GateSummary(
            document_id,
            system,
            SummaryInput(
                DOCUMENT_BREAK.join(one.documents),
                one.peers[system, target].text.text,
                None if text is None else text.text,
                questions=one.questions or None,
                target_words=target,
                language=one.language or "en",
                claims=by_reference if by_reference and reading.claims_side == "reference" else None,
                summary_claims=own if own and reading.claims_side == "peer" else None,
            ),
            one.group,
        )


def _label(label: str | None) -> Label | None:
    return next((known for known in LABELS if known == label), None)


def _tell(report: GateReport, options: Namespace) -> None:
    """The report where it is wanted; on GitHub its Markdown beside the run too."""
    text = gate_report_text(report, options.format)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text, encoding="utf-8")
        sys.stdout.write(gate_report_text(report))
    if options.format == "github" and (path := os.environ.get(STEP_SUMMARY)):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(gate_report_text(report, "markdown"))


def _metrics(argument: str) -> tuple[str, ...]:
    return tuple(_metric(name.strip()) for name in argument.split(","))


def _metric(name: str) -> str:
    if name not in METRICS:
        raise ArgumentTypeError(f"there is no metric {name!r}; metrics are {', '.join(METRICS)}")
    return name


def _shares(argument: str) -> dict[str, float]:
    return _values(argument, "=", "METRIC=VALUE with a value from 0 to 1, such as coverage=.7", least=0.0)


def _margins(argument: str) -> dict[str, float]:
    return _values(
        argument, ":", "METRIC:BY with a value above 0 and up to 1, such as coverage:.02", least=1e-6
    )


def _values(argument: str, sign: str, form: str, *, least: float) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair in argument.split(","):
        name, _, typed = pair.partition(sign)
        try:
            value = float(typed)
        except ValueError:
            value = -1.0
        if not least <= value <= 1.0:
            raise ArgumentTypeError(f"write {form}, not {pair!r}")
        found[_metric(name.strip())] = value
    return found


def _price(argument: str) -> Price:
    try:
        prompt, reply = map(float, argument.split(","))
    except ValueError:
        raise ArgumentTypeError(
            f"write the prices of a million tokens of prompts and of replies, such as 2.5,10, not {argument!r}"
        ) from None
    return Price(prompt, reply)
