"""How far the order of the systems hangs on choices, as flat tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.analysis.figures import Figures
from annotation.analysis.web import FigureRow, FigureTables


def order_rows(made: Figures) -> Iterator[FigureRow]:
    """Mean and rank of each system under each choice, beside its present rank."""
    for table in made["targets"]:
        for choice, order in _orders(table):
            for system, mean in order["means"].items():
                yield {
                    "target_words": table["target_words"],
                    "choice": choice,
                    "value": order["name"],
                    "system": system,
                    "mean": mean,
                    "rank": order["ranks"][system],
                    "rank_now": table["present"]["ranks"].get(system),
                    "tau_b": order["tau"],
                }


def crossing_rows(made: Figures) -> Iterator[FigureRow]:
    """The weights at which two systems change places."""
    for table in made["targets"]:
        for choice in ("length", "blend"):
            for turn in (table[choice] or {}).get("crossings", ()):
                yield {
                    "target_words": table["target_words"],
                    "weight_of": choice,
                    "weight": turn["weight"],
                    "ahead_below": turn["before"],
                    "ahead_above": turn["after"],
                }


def lead_rows(made: Figures) -> Iterator[FigureRow]:
    """Who is ahead at which weights."""
    for table in made["targets"]:
        for choice in ("length", "blend"):
            for lead in (table[choice] or {}).get("leads", ()):
                yield {
                    "target_words": table["target_words"],
                    "weight_of": choice,
                    "from": lead["low"],
                    "to": lead["high"],
                    "ahead": ", ".join(lead["systems"]),
                }


def _orders(table: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for choice in ("length", "blend"):
        for order in (table[choice] or {}).get("orders", ()):
            yield choice, order
    for choice, orders in (("judge", table["judges"]), ("without", table["people"])):
        for order in orders:
            yield choice, order


SENSITIVITY_TABLES: FigureTables = {
    "orders": order_rows,
    "crossings": crossing_rows,
    "leads": lead_rows,
}
"""By the name of the table."""
