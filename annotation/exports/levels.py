"""The levels of export by name."""

from __future__ import annotations

from annotation.exports import claims, judgments, scores, systems, units
from annotation.exports.columns import Level

LEVELS: dict[str, Level] = {
    level.name: level for level in (scores.LEVEL, units.LEVEL, claims.LEVEL, judgments.LEVEL, systems.LEVEL)
}

BUNDLE = "bundle"
"""All levels in one zip."""

LEVEL_NAMES = (*LEVELS, BUNDLE)
