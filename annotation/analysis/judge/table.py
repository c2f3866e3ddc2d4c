"""The judges' figures as flat tables, one line per version, part, bin or pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.analysis.agreement.table import interval
from annotation.analysis.figures import Figures
from annotation.analysis.web import FigureRow, FigureTables

SHARES = ("answered", "accuracy", "kappa", "sensitivity", "specificity", "precision", "bias", "brier")
OF_PARTS = ("accuracy", "kappa", "sensitivity", "specificity", "bias")


def version_rows(made: Figures) -> Iterator[FigureRow]:
    for version in made["versions"]:
        report, cost = version["report"], version["cost"]
        yield {
            "version": version["id"],
            "signature": version["signature"],
            "is_deciding": version["is_deciding"],
            "checks": report["checks"],
            "scored": report["scored"],
            "document_sets": report["documents"],
            **_intervals(report, SHARES),
            "calibration_error": report["by_quantile"]["error"],
            "calibration_error_by_chance": report["by_quantile"]["chance_error"],
            **{name: cost[name] for name in ("calls", "prompt_tokens", "completion_tokens", "cost")},
            "cost_per_right_answer": cost["per_right"],
        }


def confusion_rows(made: Figures) -> Iterator[FigureRow]:
    for version in made["versions"]:
        for said, counts in version["report"]["confusion"].items():
            yield {
                "version": version["id"],
                "judge": said,
                **{f"people_{answer}": count for answer, count in counts.items()},
            }


def part_rows(made: Figures) -> Iterator[FigureRow]:
    for version in made["versions"]:
        for split in version["splits"]:
            for part in split["parts"]:
                yield {
                    "version": version["id"],
                    "split": split["key"],
                    "part": part["name"],
                    "checks": part["checks"],
                    "document_sets": part["documents"],
                    "judge_yes": part["judge_yes"],
                    "people_yes": part["people_yes"],
                    **_intervals(part, OF_PARTS),
                }


def bin_rows(made: Figures) -> Iterator[FigureRow]:
    for version in made["versions"]:
        for binning in ("by_quantile", "by_width"):
            for each in version["report"][binning]["bins"]:
                yield {
                    "version": version["id"],
                    "bins": binning.removeprefix("by_"),
                    "from": each["low"],
                    "to": each["high"],
                    "count": each["count"],
                    "predicted": each["predicted"],
                    **interval("observed", each["observed"]),
                }


def pair_rows(made: Figures) -> Iterator[FigureRow]:
    for pair in made["pairs"]:
        yield {
            "first": pair["first"],
            "second": pair["second"],
            **pair["comparison"],
            "difference": pair["difference"],
            "p_corrected": pair["p"],
        }


def _intervals(of: Mapping[str, Any], names: tuple[str, ...]) -> FigureRow:
    columns: FigureRow = {}
    for name in names:
        columns |= interval(name, of[name])
    return columns


JUDGE_TABLES: FigureTables = {
    "versions": version_rows,
    "confusion": confusion_rows,
    "parts": part_rows,
    "bins": bin_rows,
    "pairs": pair_rows,
}
"""By the name of the table."""
