"""The command `coverdict gate FILE`, which checks that summaries are good enough and not worse than a baseline."""

from __future__ import annotations

import math
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path

from annotation.core.refusals import Invalid
from annotation.imports.layout import ENCODINGS, Layout, layout_of
from annotation.imports.problems import COMMAND_WORDS, ImportRefused, way_out
from annotation.imports.read import FileReading, read_dataset
from annotation.imports.row import SetData
from annotation.operator_commands import add_summarization
from evaluation import METRICS, EvaluationError, LexicalJudge, MoneyCap, OpenAIJudge, Price, SummaryInput
from evaluation.gate import (
    REPORT_FORMATS,
    FileCallStore,
    GateReport,
    GateSummary,
    gate_report_text,
    run_gate,
)
from evaluation.judging import LABELS, JudgeSettings, Label
from evaluation.judging.protocol import Judge
from evaluation.metrics import USUAL_METRICS, Criterion, read_criteria
from evaluation.running import GivenClaim
from evaluation.text import DOCUMENT_BREAK

FAILED = 1
LEXICAL = "lexical"
DEFAULT_CACHE = ".coverdict-calls.sqlite3"
PROGRESS_EVERY = 50


def gate(arguments: list[str]) -> int:
    """Run the command and return its exit code: 0 good, 1 failed, 3 below or worse, 4 cannot tell.

    Invalid arguments end the process with 2.
    """
    parser = gate_parser()
    options = parser.parse_args(arguments)
    for option, pairs in (("--fail-under", options.under), ("--fail-if-worse", options.worse)):
        for metric, value in pairs:
            if dict(pairs)[metric] != value:
                parser.error(f"{option} gives {metric} two values, {value:g} and {dict(pairs)[metric]:g}.")
    options.under, options.worse = dict(options.under), dict(options.worse)
    _check_names(parser, options)
    if options.worse and options.baseline is None:
        parser.error("--fail-if-worse needs --baseline, the file to compare with.")
    if options.questions < 0:
        parser.error(f"--questions takes a whole number of at least 0, not {options.questions}.")
    tops = {"summarization": options.scale}
    for metric, value in [*options.under.items(), *options.worse.items()]:
        if value > tops.get(metric, 1.0):
            parser.error(
                f"{metric} is at most {tops.get(metric, 1.0):g}, so it cannot be held against {value:g}."
            )
    if options.seed < 0:
        parser.error(f"--seed takes a whole number of at least 0, not {options.seed}.")
    if fault := _output_fault(options.output):
        parser.error(f"--output {options.output} cannot be written: {fault}.")
    _check_judge(parser, options)
    try:
        layout = layout_of(options.map, encoding=options.encoding)
        store = None if options.judge == LEXICAL else FileCallStore(options.cache)
        judge = _judge(options, store)
    except (Invalid, JudgeSettings) as error:
        parser.error(str(error))
    try:
        report = _report(options, layout, judge, store)
    except (ImportRefused, EvaluationError) as error:
        words = way_out(error.problems, COMMAND_WORDS) if isinstance(error, ImportRefused) else ()
        sys.stderr.write("\n".join((str(error), *words, "")))
        return FAILED
    return report.exit_code if _write_report(report, options) else FAILED


def gate_parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="coverdict gate",
        description="Judge a file of summaries. Exit codes: 0 passed, 1 failed, 2 invalid arguments, 3 a "
        "system is below a threshold or worse than the baseline, 4 cannot tell, or another model answers.",
    )
    parser.add_argument(
        "file", type=Path, help="CSV, JSON or JSONL with a row for each summary, or nested JSONL"
    )
    parser.add_argument("--baseline", type=Path, metavar="OLD", help="the previous release's file")
    parser.add_argument(
        "--fail-under",
        type=_shares,
        action="extend",
        default=[],
        metavar="METRIC=VALUE,…",
        dest="under",
        help="exit with 3 if a system's mean of a metric is below the value; can be repeated",
    )
    parser.add_argument(
        "--fail-if-worse",
        type=_margins,
        action="extend",
        default=[],
        metavar="METRIC:BY,…",
        dest="worse",
        help="exit with 3 if a system is worse than the baseline by at least this much, with 4 if it is "
        "uncertain; can be repeated",
    )
    parser.add_argument(
        "--metrics",
        type=_metrics,
        action="extend",
        default=[],
        metavar="A,B",
        help=f"of {', '.join(METRICS)}; by default those of the bars, else {' and '.join(USUAL_METRICS)}",
    )
    parser.add_argument(
        "--criteria",
        type=_criteria,
        default=(),
        metavar="FILE",
        help="questions of your own as JSON, see the help; a model answers them, and the bars can name them",
    )
    parser.add_argument(
        "--judge",
        default=LEXICAL,
        metavar="MODEL",
        help="the offline judge, lexical, or the model of a server",
    )
    parser.add_argument(
        "--base-url",
        metavar="URL",
        help="the address of a server with an OpenAI-compatible chat completions API",
    )
    parser.add_argument("--key-variable", metavar="NAME", help="the environment variable with its key")
    parser.add_argument(
        "--price", type=_price, metavar="PROMPT,REPLY", help="price per million tokens, in any currency"
    )
    parser.add_argument(
        "--max-cost", type=_cap, metavar="SUM", help="stop before calls cost more; needs --price"
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(DEFAULT_CACHE),
        help=f"the file with a model's calls; by default {DEFAULT_CACHE}",
    )
    parser.add_argument(
        "--questions",
        type=int,
        default=5,
        metavar="N",
        help="the number of questions for question_coverage; by default 5",
    )
    parser.add_argument("--instruction", metavar="TEXT", help="an addition to the judge's instructions")
    add_summarization(parser, threshold=0.5, strict=False, scale=1.0)
    parser.add_argument(
        "--accept-model-change",
        action="store_true",
        help="judge although another model answers than in the stored calls; without it such a change ends with 4",
    )
    parser.add_argument("--map", nargs="+", action="extend", default=[], metavar="field=column")
    parser.add_argument(
        "--encoding", default="", choices=ENCODINGS, help="of a text file; UTF-8 or Windows-1252 by default"
    )
    parser.add_argument("--seed", type=int, default=0, help="the seed of the bootstrap and the test")
    parser.add_argument("--format", choices=REPORT_FORMATS, default="table")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="PATH",
        help="write the report to this file, and a table to the terminal",
    )
    return parser


def _check_names(parser: ArgumentParser, options: Namespace) -> None:
    known = (*METRICS, *(each.name for each in options.criteria))
    for name in (*options.metrics, *options.under, *options.worse):
        if name not in known:
            parser.error(f"there is no metric {name!r}; metrics are {', '.join(known)}")


def _report(options: Namespace, layout: Layout, judge: Judge, store: FileCallStore | None) -> GateReport:
    summaries = _summaries(options.file, layout, options)
    baseline = [] if options.baseline is None else _summaries(options.baseline, layout, options)
    own = [each.name for each in options.criteria]
    named = dict.fromkeys([*options.metrics, *options.under, *options.worse])
    metrics = tuple(name for name in named if name not in own) or (() if own else USUAL_METRICS)
    if store is not None:
        # If texts need not be divided, a document needs one call for its claims, questions and topics, and a summary up
        # to two, and one for each other text that criteria read.
        beside = len({each.reads for each in options.criteria} - {"summary"})
        most = len({row.text.document for row in (*summaries, *baseline)}) + (2 + beside) * (
            len(summaries) + len(baseline)
        )
        sys.stderr.write(f"At most {most:,} calls. Those that {options.cache} holds cost nothing.\n")
    progress = _Progress(len(summaries) + len(baseline))
    return run_gate(
        summaries,
        judge=judge,
        baseline=baseline,
        fail_under=options.under,
        fail_if_worse=options.worse,
        seed=options.seed,
        store=store,
        accept_model_change=options.accept_model_change,
        on_result=progress.count,
        metrics=metrics,
        criteria=options.criteria,
        n_questions=options.questions,
        custom_instruction=options.instruction,
        threshold=options.threshold,
        strict=options.strict,
        scale=options.scale,
    )


class _Progress:
    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0

    def count(self, *_: object) -> None:
        self._done += 1
        if self._done % PROGRESS_EVERY == 0:
            sys.stderr.write(f"{self._done:,} of {self._count:,} summaries judged\n")


def _output_fault(path: Path | None) -> str:
    if path is None:
        return ""
    if path.is_dir():
        return "it is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    there = path if path.exists() else path.parent
    return "" if os.access(there, os.W_OK) else f"{there} is not yours to write"


def _check_judge(parser: ArgumentParser, options: Namespace) -> None:
    if options.judge == LEXICAL:
        for name in ("base_url", "key_variable", "price", "max_cost", "instruction"):
            if getattr(options, name) is not None:
                parser.error(
                    f"--{name.replace('_', '-')} needs a model on a server: name it with --judge MODEL. The "
                    "offline judge, lexical, makes no calls and is free."
                )
    elif options.max_cost is not None and (
        options.price is None or min(options.price.prompt, options.price.completion) <= 0
    ):
        parser.error(
            "--max-cost needs --price PROMPT,REPLY, the prices of a million tokens, both above 0, such as "
            "--price 2.5,10."
        )


def _judge(options: Namespace, store: FileCallStore | None) -> Judge:
    if store is None:
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
        store=store,
    )


def _summaries(path: Path, layout: Layout, options: Namespace) -> list[GateSummary]:
    try:
        reading = read_dataset(path, layout=layout)
    except ModuleNotFoundError as missing:
        raise EvaluationError(
            f"{path.name} is a Parquet file, which needs the server's libraries: "
            'pip install "coverdict[server]", or write CSV or JSONL.'
        ) from missing
    if reading.problems.count:
        raise EvaluationError("\n".join(_faults(path, reading)))
    for line in reading.warnings.texts:
        sys.stderr.write(f"{path.name}: {line}\n")
    return [row for name, one in reading.dataset.sets.items() for row in _of_set(name, one)]


def _faults(path: Path, reading: FileReading) -> Iterator[str]:
    yield f"{path.name}: {reading.problems.count:,} problems. Nothing was judged."
    for problem in reading.problems.shown:
        yield problem.describe(reading.format.place)
    yield from way_out(reading.problems.shown, COMMAND_WORDS)


def _of_set(document_id: str, one: SetData) -> Iterator[GateSummary]:
    for system, target, reference_id, text in _compared(one):
        summary = one.summaries[system, target]
        by_reference = [
            GivenClaim(claim.text, _label(claim.verdicts.get(system)), claim.weight)
            for claim in one.claims.get((reference_id, target), {}).values()
        ]
        own = [
            GivenClaim(claim.text, _label(claim.verdicts.get(system)), claim.weight)
            for claim in summary.claims
        ]
        yield GateSummary(
            document_id,
            system,
            SummaryInput(
                DOCUMENT_BREAK.join(one.documents),
                summary.summary,
                text,
                questions=one.questions or None,
                target_words=target,
                language=one.language or "en",
                claims=by_reference or None,
                summary_claims=own or None,
            ),
            one.group,
        )


def _compared(one: SetData) -> Iterator[tuple[str, int | None, str, str | None]]:
    # A summary without a reference has one comparison, with the name "" and the text None.
    for (system, target), summary in one.summaries.items():
        names_none = (system, target, "") in one.pairs
        texts: list[tuple[str, str | None]] = [
            (name, each.text)
            for name, each in one.references.items()
            if (each.author, each.text) != (system, summary.summary)
            and (names_none or (system, target, name) in one.pairs)
        ]
        yield from ((system, target, name, text) for name, text in texts or [("", None)])


def _label(label: str | None) -> Label | None:
    return next((known for known in LABELS if known == label), None)


def _write_report(report: GateReport, options: Namespace) -> bool:
    sys.stdout.write(gate_report_text(report, "table" if options.output else options.format))
    return options.output is None or _is_written(gate_report_text(report, options.format), options.output)


def _is_written(text: str, path: Path) -> bool:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        sys.stderr.write(f"The report was not written to {path}: {error.strerror}.\n")
        return False
    return True


def _metrics(argument: str) -> list[str]:
    return [name.strip() for name in argument.split(",")]


def _criteria(argument: str) -> tuple[Criterion, ...]:
    try:
        return read_criteria(Path(argument).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, EvaluationError) as error:
        raise ArgumentTypeError(str(error)) from error


def _shares(argument: str) -> list[tuple[str, float]]:
    return _values(argument, "=", "METRIC=VALUE with a value of 0 or more, such as coverage=.7", least=0.0)


def _margins(argument: str) -> list[tuple[str, float]]:
    return _values(argument, ":", "METRIC:BY with a value above 0, such as coverage:.02", least=1e-6)


def _values(argument: str, sign: str, form: str, *, least: float) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for pair in argument.split(","):
        name, _, typed = pair.partition(sign)
        try:
            value = float(typed)
        except ValueError:
            value = -1.0
        if not least <= value < math.inf:
            raise ArgumentTypeError(f"write {form}, not {pair!r}")
        found.append((name.strip(), value))
    return found


def _price(argument: str) -> Price:
    try:
        prompt, reply = map(float, argument.split(","))
        return Price(prompt, reply)
    except ValueError:
        raise ArgumentTypeError(
            f"write the prices of a million tokens of prompts and of replies, such as 2.5,10, not {argument!r}"
        ) from None


def _cap(argument: str) -> float:
    try:
        return MoneyCap(float(argument)).limit
    except ValueError:
        raise ArgumentTypeError(f"write a sum above 0, not {argument!r}") from None
