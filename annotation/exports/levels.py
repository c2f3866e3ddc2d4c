"""The levels of export by name."""

from __future__ import annotations

from annotation.exports import claims, judgments, nist_2002, pyramid, scores, see_html, systems, units
from annotation.exports.columns import Level
from annotation.exports.duc_files import DucFormat

LEVELS: dict[str, Level] = {
    level.name: level for level in (scores.LEVEL, units.LEVEL, claims.LEVEL, judgments.LEVEL, systems.LEVEL)
}

BUNDLE = "bundle"
"""All levels in one zip."""

DUC_FORMATS: dict[str, DucFormat] = {
    form.level: form for form in (see_html.FORMAT, nist_2002.FORMAT, pyramid.FORMAT)
}
"""Files of DUC and TAC, each in a format of its own and in no other."""

LEVEL_NAMES = (*LEVELS, BUNDLE, *DUC_FORMATS)
