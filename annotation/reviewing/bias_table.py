"""The bias watch as a small file: one line for the project and one for each reviewer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from annotation.core.tables.write import write_table
from annotation.reviewing.queries.bias import FEWEST

if TYPE_CHECKING:
    from annotation.reviewing.queries.bias import Bias, BiasWatch, Rate

Figure = str | int | float | None


def as_bytes(watch: BiasWatch, format_name: str) -> bytes:
    """The bias watch as CSV or JSON. The project's line has an empty person (null in JSON).

    Every share stands beside its count and the number of cases; it is empty (null) where these are fewer than ten.
    Raises Invalid for another format.
    """
    lines = [line_of(bias) for bias in (watch.project, *watch.people)]
    if format_name == "json":
        project, *people = lines
        told = {"fewest_cases": FEWEST, "project": project, "people": people}
        return f"{json.dumps(told, ensure_ascii=False, allow_nan=False, indent=2)}\n".encode()
    return write_table(lines, columns=list(lines[0]), format_name=format_name)


def line_of(bias: Bias) -> dict[str, Figure]:
    """One reviewer's figures by name; all of them together where the person is null."""
    return {
        "person": bias.person or None,
        "answers": bias.answers,
        **_rate("in_lists", bias.in_lists),
        **_rate("overridden_unseen", bias.overridden_unseen),
        **_rate("overridden_seen", bias.overridden_seen),
        **_rate("switched", bias.switched),
        **_rate("withstood", bias.withstood),
        "planted_already": bias.planted_already,
        "median_ms": bias.time.median_ms,
        "median_ms_n": bias.time.n,
        "agreement": bias.agreement.agreed,
        "agreement_n": bias.agreement.pairs,
        "agreement_share": bias.agreement.share,
        "agreement_kappa": bias.agreement.kappa,
    }


def _rate(name: str, rate: Rate) -> dict[str, Figure]:
    return {name: rate.count, f"{name}_n": rate.n, f"{name}_share": rate.value}
