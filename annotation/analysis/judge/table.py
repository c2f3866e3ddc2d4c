"""The judges' figures as flat tables with a line per version, judge's answer or system."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.analysis.agreement.table import interval
from annotation.analysis.judge.judge_quality import JudgeFigures
from annotation.analysis.web import FigureRow, FigureTables
from evaluation.statistics import JudgeReport

SHARES = ("answered", "accuracy", "kappa", "sensitivity", "specificity", "precision", "bias")


def version_rows(made: JudgeFigures) -> Iterator[FigureRow]:
    for version in made.versions:
        report, cost = version.report, version.cost
        yield {
            "version": version.id,
            "signature": version.signature,
            "is_deciding": version.is_deciding,
            "checks": report.checks,
            "scored": report.scored,
            "document_sets": report.documents,
            **_intervals(report, SHARES),
            **{name: getattr(cost, name) for name in ("calls", "prompt_tokens", "completion_tokens", "cost")},
        }


def confusion_rows(made: JudgeFigures) -> Iterator[FigureRow]:
    for version in made.versions:
        for said, counts in version.report.confusion.items():
            yield {
                "version": version.id,
                "judge": said,
                **{f"people_{answer}": count for answer, count in counts.items()},
            }


def system_rows(made: JudgeFigures) -> Iterator[FigureRow]:
    for version in made.versions:
        for system, report in version.systems.items():
            yield {
                "version": version.id,
                "system": system,
                "checks": report.checks,
                "document_sets": report.documents,
                **_intervals(report, SHARES),
            }


def _intervals(of: JudgeReport, names: tuple[str, ...]) -> FigureRow:
    columns: FigureRow = {}
    for name in names:
        columns |= interval(name, getattr(of, name))
    return columns


JUDGE_TABLES: FigureTables = {
    "versions": version_rows,
    "confusion": confusion_rows,
    "systems": system_rows,
}
"""The tables by name."""
