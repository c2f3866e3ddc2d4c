"""Agreement as flat tables with a line per figure."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.analysis.agreement.agreement import AgreementFigures
from annotation.analysis.web import FigureRow, FigureTables
from evaluation.statistics import Estimate


def scale_rows(made: AgreementFigures) -> Iterator[FigureRow]:
    for scale in made.scales:
        yield {
            "scale": scale.key,
            "question": scale.question,
            "level": scale.level,
            "raters": len(scale.raters),
            "items": scale.items,
            "answered_once": scale.single,
            "answers": scale.answers,
            **interval("alpha", scale.alpha),
            **interval("equal", scale.equal),
            "document_sets": scale.alpha.clusters,
        }


def pair_rows(made: AgreementFigures) -> Iterator[FigureRow]:
    for scale in made.scales:
        for kind, pairs in (("pairs", scale.pairs), ("judge", scale.judge)):
            for pair in pairs:
                yield {
                    "scale": scale.key,
                    "first": pair.first,
                    "second": pair.second,
                    "first_is_judge": kind == "judge",
                    "items": pair.items,
                    "equal": pair.equal,
                    **interval("kappa", pair.kappa),
                }


def interval(name: str, estimate: Estimate) -> FigureRow:
    """Put a figure and its interval into three columns."""
    return {
        name: estimate.value,
        f"{name}_low": estimate.low,
        f"{name}_high": estimate.high,
    }


AGREEMENT_TABLES: FigureTables = {
    "scales": scale_rows,
    "pairs": pair_rows,
}
"""The tables by name."""
