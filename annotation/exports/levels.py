"""The levels of export by name."""

from __future__ import annotations

from annotation.analysis.leaderboard import table as systems
from annotation.core.tables.columns import Level
from annotation.exports import claims, scores, units
from annotation.exports.answers import level as answers

LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        scores.LEVEL,
        units.LEVEL,
        claims.LEVEL,
        answers.LEVEL,
        systems.SYSTEMS_LEVEL,
    )
}

BUNDLE = "bundle"
"""All levels in one zip."""

LEVEL_NAMES = (*LEVELS, BUNDLE)
