"""The levels of export by name."""

from __future__ import annotations

from annotation.analysis.leaderboard import table as systems
from annotation.core.tables.columns import Level
from annotation.exports import claims, ratings, scores, texts, units
from annotation.exports.duc import nist_2002, pyramid, see_html
from annotation.exports.duc.duc_files import OwnFormat
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

OWN_FORMATS: dict[str, OwnFormat] = {
    form.level: form for form in (see_html.FORMAT, nist_2002.FORMAT, pyramid.FORMAT)
}
"""Files of DUC and TAC: each in a format of its own and in no other."""

LEVEL_NAMES = (*LEVELS, BUNDLE, *OWN_FORMATS)
