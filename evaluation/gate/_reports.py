"""A gate's report in four formats: a table, JSON, JUnit and Markdown."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Literal, get_args
from xml.etree import ElementTree

from evaluation._guards import check_choice
from evaluation.gate._gate import GateCheck, GateReport, figure_in_words, named

ReportFormat = Literal["table", "json", "junit", "markdown"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)

VERDICTS = {
    0: "Passed",
    1: "Failed: nothing could be judged",
    3: "Failed",
    4: "Cannot tell",
}
"""The meaning of each exit code."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# GitHub Actions and Azure execute log lines with these sequences as commands. Names from a file may contain them, so
# the table separates their characters with spaces.
_COMMAND = re.compile(r"::|##\[|##vso")


def gate_report_text(report: GateReport, form: ReportFormat = "table") -> str:
    """Format the report in one of `REPORT_FORMATS`; the text ends with a line end.

    In JUnit, each check of the gate is a test case: a failed check is a failure, and "cannot tell" is an error.
    Raises EvaluationError for an unknown format.
    Example: `gate_report_text(report, "markdown")`.
    """
    check_choice("The format", form, REPORT_FORMATS)
    return f"{_FORMS[form](report).rstrip()}\n"


def _verdict(report: GateReport) -> str:
    by = " by an unchecked judge" if report.is_unchecked else ""
    if report.exit_code == 0 and not report.checks:
        return f"No threshold given; scored only{by}"
    return f"{VERDICTS[report.exit_code]}{by if report.exit_code in (0, 3) else ''}"


def _answer(check: GateCheck) -> str:
    return f"{check.answer.upper()} {named(check.system, check.target_words)} {check.metric} {check.said}"


def _remarks(report: GateReport) -> list[str]:
    asked = {check.metric for check in report.checks if check.kind == "worse"}
    compared = [
        f"{named(each.system, each.target_words)} {metric} {figure_in_words(found, sign='+')} against {each.baseline} "
        "of the baseline."
        for each in report.systems
        for metric, found in each.differences.items()
        if metric not in asked
    ]
    return [*compared, *report.remarks, *report.model_changes]


def _foot(report: GateReport) -> list[str]:
    usage = report.usage
    cost = f", cost {usage.cost:.4f}" if usage.cost else ""
    return [
        f"{usage.calls:,} new calls, {usage.prompt_tokens:,} prompt tokens, {usage.completion_tokens:,} "
        f"reply tokens{cost}.",
        "95 % bootstrap intervals over documents; judge error is not included. A threshold is compared with the mean.",
        f"Signature {report.signature}",
    ]


def _table(report: GateReport) -> str:
    rows = [("system", *report.metrics)]
    for system in report.systems:
        means = (figure_in_words(system.means[metric]) for metric in report.metrics)
        rows.append((named(system.system, system.target_words), *means))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    foot = [f"{_verdict(report)}.", *_foot(report)]
    parts = [lines, _remarks(report), list(map(_answer, report.checks)), foot]
    text = "\n\n".join("\n".join(" ".join(line.splitlines()) for line in part) for part in parts if part)
    return _COMMAND.sub(lambda found: " ".join(found[0]), text)


def _json(report: GateReport) -> str:
    whole = {"version": 2, "exit_code": report.exit_code, "verdict": _verdict(report), **asdict(report)}
    return json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False)


def _junit(report: GateReport) -> str:
    kinds = {"fail": "failure", "cannot tell": "error"}
    suite = ElementTree.Element("testsuite", name="coverdict gate", tests=str(len(report.checks)))
    for answer, kind in kinds.items():
        suite.set(f"{kind}s", str(sum(check.answer == answer for check in report.checks)))
    for check in report.checks:
        system = _xml(named(check.system, check.target_words))
        name = f"{check.metric} {check.kind} {check.bar:g}"
        case = ElementTree.SubElement(suite, "testcase", name=name, classname=system, time="0")
        if check.answer in kinds:
            ElementTree.SubElement(case, kinds[check.answer], message=_xml(_answer(check)), type=check.kind)
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, encoding="unicode")


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def _markdown(report: GateReport) -> str:
    table = _table(report).replace("~~~~", "~ ~ ~ ~")
    return f"## Summaries: {_verdict(report).lower()}\n\n~~~~\n{table}\n~~~~"


_FORMS: Mapping[str, Callable[[GateReport], str]]
_FORMS = {"table": _table, "json": _json, "junit": _junit, "markdown": _markdown}
