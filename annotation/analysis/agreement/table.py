"""The agreement between people as flat tables, one line per figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.analysis.figures import Figures
from annotation.analysis.web import FigureRow, FigureTables


def scale_rows(made: Figures) -> Iterator[FigureRow]:
    for scale in made["scales"]:
        yield {
            "scale": scale["key"],
            "question": scale["question"],
            "level": scale["level"],
            "raters": len(scale["raters"]),
            "items": scale["items"],
            "answered_once": scale["single"],
            "answers": scale["answers"],
            **interval("alpha", scale["alpha"]),
            **interval("equal", scale["equal"]),
            "document_sets": scale["alpha"]["clusters"],
        }


def pair_rows(made: Figures) -> Iterator[FigureRow]:
    for scale in made["scales"]:
        for kind in ("pairs", "judge"):
            for pair in scale[kind]:
                yield {
                    "scale": scale["key"],
                    "first": pair["first"],
                    "second": pair["second"],
                    "first_is_judge": kind == "judge",
                    "items": pair["items"],
                    "equal": pair["equal"],
                    **interval("kappa", pair["kappa"]),
                    "within_step": pair["within_step"],
                    "mean_difference": pair["mean_difference"],
                }


def third_rows(made: Figures) -> Iterator[FigureRow]:
    for scale in made["scales"]:
        for third in scale["thirds"]:
            yield {
                "scale": scale["key"],
                "third": third["number"],
                "items": third["items"],
                "first_at": third["first_at"],
                "last_at": third["last_at"],
                **interval("alpha", third["alpha"]),
                "equal": third["equal"],
            }


def divided_rows(made: Figures) -> Iterator[FigureRow]:
    for scale in made["scales"]:
        for item in scale["divided"]:
            answers = "; ".join(f"{count} × {answer}" for answer, count in item["answers"])
            yield {"scale": scale["key"], **item, "answers": answers}


def interval(name: str, estimate: Mapping[str, Any]) -> FigureRow:
    """A figure and the ends of its interval as three columns."""
    return {
        name: estimate.get("value"),
        f"{name}_low": estimate.get("low"),
        f"{name}_high": estimate.get("high"),
    }


AGREEMENT_TABLES: FigureTables = {
    "scales": scale_rows,
    "pairs": pair_rows,
    "thirds": third_rows,
    "divided": divided_rows,
}
"""By the name of the table."""
