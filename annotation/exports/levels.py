"""Export levels by name."""

from __future__ import annotations

from annotation.analysis.leaderboard import table as systems
from annotation.core.tables.columns import Level
from annotation.exports import answers, claims, nested, pairs, summaries, units

TABLES: dict[str, Level] = {
    level.name: level
    for level in (summaries.SCORES_LEVEL, units.LEVEL, claims.LEVEL, answers.LEVEL, systems.SYSTEMS_LEVEL)
}
NESTED = nested.LEVEL.name
PAIRS = pairs.LEVEL.name
LEVELS: dict[str, Level] = {**TABLES, NESTED: nested.LEVEL, PAIRS: pairs.LEVEL}

BUNDLE = "bundle"
"""All tables in one zip."""

LEVEL_NAMES = (*LEVELS, BUNDLE)
