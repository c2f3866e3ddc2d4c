"""Bands that other tools print: the same on the leaderboard and in the help, and a place for every mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.analysis.leaderboard.bands import ASSERT, KASTRAX, MASTRA, Bands

METRICS = (Path(__file__).parents[4] / "docs" / "metrics.md").read_text(encoding="utf-8")


def test_each_mean_lies_in_one_band() -> None:
    # Mastra prints nothing between .6 and .7, nor between .9 and 1: the lower band holds.
    found = MASTRA.counted([1.0, 0.95, 0.7, 0.65, 0.4, 0.05, 0.0, None])
    assert [(band.word, systems) for band, systems in found] == [
        ("perfect", 1),
        ("strong", 2),
        ("moderate", 2),
        ("poor", 0),
        ("invalid", 2),
    ]
    assert [systems for _, systems in ASSERT.counted([0.999, 0.8, 0.39])] == [0, 2, 0, 0, 1]


@pytest.mark.parametrize("bands", [ASSERT, MASTRA, KASTRAX], ids=lambda bands: bands.source.partition(",")[0])
def test_the_help_prints_the_same(bands: Bands) -> None:
    printed = "; ".join(f"{band.printed} {band.word}" for band in bands.bands)
    assert f"| {bands.source} | {printed} |" in METRICS
