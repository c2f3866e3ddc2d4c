"""The metrics of a run, and the parts of a run that each metric needs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

RUN_METRICS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("annotation.judging.queries").joinpath("run_metrics.toml").read_text("utf-8")
)
"""By name, the `meaning` of a metric, which is the question that it answers, and the `parts` that it needs."""
OTHER_NAMES: Mapping[str, str] = {
    "claim_coverage": "coverage",
    "factual_consistency": "alignment",
    "faithfulness": "alignment",
}
"""Names of metrics of the library, with the equal metric of a run."""


def parts_of(metrics: Iterable[str]) -> frozenset[str]:
    """The parts of a run that these metrics need; unknown names are ignored."""
    known = (RUN_METRICS[name]["parts"] for name in metrics if name in RUN_METRICS)
    return frozenset[str]().union(*known)
