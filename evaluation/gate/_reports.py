"""A gate's report as programs and people read it: a table, JSON, JUnit, Markdown, commands of GitHub Actions."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Literal, get_args
from xml.etree import ElementTree

from evaluation._guards import check_choice
from evaluation.gate._gate import (
    BaselineComparison,
    GateCheck,
    GateReport,
    ScoredRow,
    SystemMean,
    documents_in_words,
    interval_in_words,
    named,
    number,
)

ReportFormat = Literal["table", "json", "junit", "markdown", "github"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)

VERDICTS = {
    0: "Passed",
    1: "Failed: nothing could be judged",
    3: "Below the threshold, or worse than the baseline",
    4: "Cannot tell",
}
"""What an exit code says."""

_LOWEST_SHOWN = 10
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate_report_text(report: GateReport, form: ReportFormat = "table") -> str:
    """The whole report in one of `REPORT_FORMATS`, with a line end.

    JUnit has a case for each question of the gate, failed or in error where nobody can tell, and one for each summary,
    skipped where it has no score at all. Raises EvaluationError for another format.
    Example: `gate_report_text(report, "markdown")`.
    """
    check_choice("The format", form, REPORT_FORMATS)
    return f"{_FORMS[form](report).rstrip()}\n"


def _verdict(report: GateReport) -> str:
    """What came of it, without a full stop; nothing has passed where nothing was asked."""
    if report.exit_code == 0 and not report.checks:
        return (
            "No threshold given; compared only" if report.comparisons else "No threshold given; scored only"
        )
    return VERDICTS[report.exit_code]


def _table(report: GateReport) -> str:
    head = ("system", *report.metrics, "documents")
    rows = [
        (
            named(row.system, row.target_words),
            *(_cell(row.means[name]) for name in report.metrics),
            str(max(each.documents for each in row.means.values())),
        )
        for row in report.systems
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
    ]
    parts = [
        lines,
        _not_asked(report),
        list(report.remarks),
        [check.said for check in report.checks],
        _foot(report),
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in part) for part in parts if part)


def _cell(found: SystemMean) -> str:
    unscored = f" ({found.unscored} unscored)" if found.unscored else ""
    return f"{number(found.mean)}{interval_in_words(found.low, found.high)}{unscored}"


def _not_asked(report: GateReport) -> list[str]:
    """The comparisons that no question of the gate says with its answer."""
    asked = {check.metric for check in report.checks if check.kind == "worse"}
    return [_compared(each) for each in report.comparisons if each.metric not in asked]


def _compared(found: BaselineComparison) -> str:
    beside = "" if found.baseline == found.system else f" (there {found.baseline})"
    p = "" if found.p is None else f", p {found.p:.4f}"
    return (
        f"{named(found.system, found.target_words)}: {found.metric} {number(found.difference, sign='+')}"
        f"{interval_in_words(found.low, found.high, sign='+')} against the baseline{beside}{p}, "
        f"{documents_in_words(found)}."
    )


def _foot(report: GateReport) -> list[str]:
    usage = report.usage
    cost = f", cost {usage.cost:.4f}" if usage.cost else ""
    people = report.answered_by_people
    return [
        f"{_verdict(report)}.",
        *([f"{people:,} answers in the file are from people, so the judge was not asked."] if people else []),
        f"{usage.calls:,} new calls, {usage.prompt_tokens:,} prompt tokens, {usage.completion_tokens:,} "
        f"reply tokens{cost}.",
        "95 % bootstrap intervals over documents; judge error is not included.",
        *(["A threshold is compared with the mean only, not with its interval."] if _has_bar(report) else []),
        f"Signature {report.signature}",
    ]


def _has_bar(report: GateReport) -> bool:
    return any(check.kind == "below" for check in report.checks)


def _json(report: GateReport) -> str:
    whole = {
        "version": 1,
        "exit_code": report.exit_code,
        "verdict": _verdict(report),
        **asdict(report),
    }
    return json.dumps(whole, ensure_ascii=False, indent=2, allow_nan=False)


def _junit(report: GateReport) -> str:
    checks = [_check_case(check) for check in report.checks]
    summaries = [_summary_case(row) for row in report.summaries]
    root = ElementTree.Element("testsuites", name="coverdict gate")
    for name, cases in (("gate", checks), ("summaries", summaries)):
        counts = {
            f"{kind}s" if kind != "skipped" else kind: str(sum(case.find(kind) is not None for case in cases))
            for kind in ("failure", "error", "skipped")
        }
        suite = ElementTree.SubElement(root, "testsuite", {"name": name, "tests": str(len(cases)), **counts})
        suite.extend(cases)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _case(name: str, group: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", name=_xml(name), classname=_xml(group), time="0")


def _check_case(check: GateCheck) -> ElementTree.Element:
    case = _case(f"{check.metric} {check.kind} {check.bar:g}", named(check.system, check.target_words))
    if check.answer != "no":
        kind = "failure" if check.answer == "yes" else "error"
        ElementTree.SubElement(case, kind, message=_xml(check.said), type=check.kind)
    return case


def _summary_case(row: ScoredRow) -> ElementTree.Element:
    case = _case(row.document_id, named(row.system, row.target_words))
    values = ElementTree.SubElement(case, "properties")
    for name, value in row.scores.items():
        ElementTree.SubElement(values, "property", name=name, value=number(value))
    if all(value is None for value in row.scores.values()):
        ElementTree.SubElement(case, "skipped", message=_xml(" ".join(filter(None, row.reasons.values()))))
    return case


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def _markdown(report: GateReport) -> str:
    lines = [f"## Summaries: {_verdict(report).lower()}", ""]
    if report.checks:
        lines += ["| answer | question |", "|---|---|"]
        lines += [f"| {_marked(check)} | {_escaped(check.said)} |" for check in report.checks]
        lines.append("")
    lines += [f"| system | {' | '.join(report.metrics)} |", f"|---|{'---|' * len(report.metrics)}"]
    lines += [
        f"| {_escaped(named(row.system, row.target_words))} | "
        f"{' | '.join(_cell(row.means[name]) for name in report.metrics)} |"
        for row in report.systems
    ]
    lines.append("")
    lines += [f"- {_escaped(said)}" for said in [*_not_asked(report), *report.remarks]]
    lines += ["", *_lowest(report), "", *(f"{_escaped(line)}  " for line in _foot(report)[1:])]
    return "\n".join(lines)


def _marked(check: GateCheck) -> str:
    return {"yes": "❌ yes", "no": "✅ no", "cannot tell": "❓ cannot tell"}[check.answer]


def _lowest(report: GateReport) -> Iterator[str]:
    """The summaries with the lowest scores of the first metric, none of them at its top, and why."""
    metric = report.metrics[0]
    scored = [(value, row) for row in report.summaries if (value := row.scores[metric]) is not None]
    below = [(value, row) for value, row in scored if value < 1.0]
    lowest = [row for _, row in sorted(below, key=lambda each: each[0])[:_LOWEST_SHOWN]]
    if not lowest:
        return
    yield f"<details><summary>Lowest {metric}</summary>"
    yield ""
    yield f"| document | system | {metric} | why |"
    yield "|---|---|---|---|"
    for row in lowest:
        cells = (row.document_id, named(row.system, row.target_words), number(row.scores[metric]))
        yield f"| {' | '.join(map(_escaped, (*cells, row.reasons[metric])))} |"
    yield ""
    yield "</details>"


def _escaped(text: str) -> str:
    """A text within a cell: what Markdown and HTML would read in it stands as it is."""
    plain = " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", plain)


def _github(report: GateReport) -> str:
    """Commands that GitHub Actions shows beside a run."""
    levels = {"yes": "error", "cannot tell": "warning", "no": "notice"}
    lines = [_command(levels[check.answer], check.said) for check in report.checks]
    lines += [_command("warning", remark) for remark in report.remarks]
    return "\n".join([*lines, without_commands(_table(report))])


def without_commands(text: str) -> str:
    """A text for the log of GitHub Actions, which runs none of its lines as a command: names come from a file.

    Example: `without_commands("::error::x")` has three lines, of which none is an error.
    """
    # Nothing holds its own digest.
    token = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"::stop-commands::{token}\n{text.rstrip()}\n::{token}::\n"


def _command(level: str, said: str) -> str:
    return f"::{level} title=Coverdict gate::{_encoded(said)}"


def _encoded(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_FORMS: Mapping[str, Callable[[GateReport], str]] = {
    "table": _table,
    "json": _json,
    "junit": _junit,
    "markdown": _markdown,
    "github": _github,
}
