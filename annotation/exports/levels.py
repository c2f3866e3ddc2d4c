"""The levels of export by name."""

from __future__ import annotations

from annotation.analysis.leaderboard import table as systems
from annotation.core.tables.columns import Level
from annotation.exports import claims, ratings, scores, texts, units
from annotation.exports.judgments import level as judgments

LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        scores.LEVEL,
        units.LEVEL,
        claims.LEVEL,
        judgments.LEVEL,
        ratings.LEVEL,
        systems.SYSTEMS_LEVEL,
        texts.LEVEL,
    )
}

BUNDLE = "bundle"
"""All levels in one zip."""


LEVEL_NAMES = (*LEVELS, BUNDLE)
