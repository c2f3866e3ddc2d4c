"""What others call a score of some size: bands that the documentation of other tools prints, and nothing of our own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from annotation.analysis.estimates.estimates import ESTIMATE


class Band(NamedTuple):
    """A range as its source prints it; `low` is its lower end."""

    low: float
    printed: str
    word: str
    says: str


@dataclass(frozen=True, slots=True)
class Bands:
    """The bands of one metric, the highest first, and whose they are."""

    source: str
    bands: tuple[Band, ...]

    def counted(self, means: Iterable[float | None]) -> list[tuple[Band, int]]:
        """Each band with how many of the means lie in it; between two printed ranges the lower one holds."""
        held = [mean for mean in means if mean is not None]
        found: list[tuple[Band, int]] = []
        ceiling = float("inf")
        for band in self.bands:
            found.append((band, sum(band.low <= mean < ceiling for mean in held)))
            ceiling = band.low
        return found


ASSERT = Bands(
    "Assert LLM Tools, documentation of its coverage, which is our claim coverage",
    (
        Band(1.0, "1.0", "perfect", "all reference claims are present"),
        Band(0.8, "0.8 to 0.99", "excellent", "most claims covered, minor omissions"),
        Band(0.6, "0.6 to 0.79", "good", "some important information missing"),
        Band(0.4, "0.4 to 0.59", "fair", "significant information gaps"),
        Band(0.0, "below 0.4", "poor", "many important claims missing"),
    ),
)
MASTRA = Bands(
    "Mastra, documentation of its summarization metric",
    (
        Band(1.0, "1.0", "perfect", "completely factual, all key information"),
        Band(0.7, "0.7 to 0.9", "strong", "minor omissions or slight inaccuracies"),
        Band(0.4, "0.4 to 0.6", "moderate", "significant gaps or inaccuracies"),
        Band(0.1, "0.1 to 0.3", "poor", "major omissions or factual errors"),
        Band(0.0, "0.0", "invalid", "inaccurate, or without critical information"),
    ),
)
KASTRAX = Bands(
    "Kastrax, documentation of its completeness metric",
    (
        Band(1.0, "1.0", "complete", "all elements of the document"),
        Band(0.7, "0.7 to 0.9", "high", "most key elements"),
        Band(0.4, "0.4 to 0.6", "partial", "some key elements"),
        Band(0.1, "0.1 to 0.3", "low", "most key elements missing"),
        Band(0.0, "0.0", "none", "no element of the document"),
    ),
)

BANDS: Mapping[str, Bands] = {
    **dict.fromkeys(("coverage", "coverage_judge", "coverage_human", ESTIMATE, "claim_coverage"), ASSERT),
    "summarization": MASTRA,
    "completeness": KASTRAX,
}
"""By score; one without has no bands that anybody published."""
