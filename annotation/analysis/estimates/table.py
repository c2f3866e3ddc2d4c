"""The plan as flat tables, one line per figure."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.analysis.figures import Figures
from annotation.analysis.web import FigureRow, FigureTables

BOUNDS = ("mean", "low", "high")


def known_rows(made: Figures) -> Iterator[FigureRow]:
    """What is known of each system now: by the judge alone, by estimate, and by people's drawn answers."""
    for table in made["targets"]:
        for system in table["systems"]:
            yield {
                "target_words": table["target_words"],
                "system": system["system"],
                **{
                    f"{source}_{bound}": (system[source] or {}).get(bound)
                    for source in ("judge", "estimate", "people")
                    for bound in BOUNDS
                },
                "least_width": system["least"],
            }


def size_rows(made: Figures) -> Iterator[FigureRow]:
    """What a draw of each size and design would bring, over the systems."""
    hours = {str(each["size"]): each["hours"] for each in made["sizes"]}
    for table in made["targets"]:
        for size, outlooks in table["outlooks"].items():
            for design, outlook in outlooks.items():
                yield {
                    "target_words": table["target_words"],
                    "checks": int(size),
                    "hours": hours[size],
                    "design": design,
                    "mean_width": outlook["mean"],
                    "widest": outlook["widest"],
                    "document_sets": outlook["documents"],
                    "too_few_to_use_the_judge": outlook["is_few"],
                }


def system_rows(made: Figures) -> Iterator[FigureRow]:
    """What a draw of each size and design would bring and ask, by system."""
    for table in made["targets"]:
        for size, outlooks in table["outlooks"].items():
            for design, outlook in outlooks.items():
                for system, strata in outlook["strata"].items():
                    yield {
                        "target_words": table["target_words"],
                        "checks": int(size),
                        "design": design,
                        "system": system,
                        "width": outlook["systems"][system],
                        **{f"checks_{name.replace(' ', '_')}": count for name, count in strata.items()},
                    }


def wanted_rows(made: Figures) -> Iterator[FigureRow]:
    """What each width takes: the smallest planned size by design, or document sets."""
    for table in made["targets"]:
        for wanted in table["wanted"]:
            yield {
                "target_words": table["target_words"],
                "width": wanted["width"],
                **{f"checks_{design}": size for design, size in wanted["sizes"].items()},
                "document_sets_needed": max((each["needed"] for each in wanted["short"]), default=None),
            }


PLAN_TABLES: FigureTables = {
    "known": known_rows,
    "sizes": size_rows,
    "systems": system_rows,
    "wanted": wanted_rows,
}
"""By the name of the table."""
