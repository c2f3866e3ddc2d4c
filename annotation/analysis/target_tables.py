"""Stored statistics that hold one table per target length, and the one that an address names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.analysis.leaderboard.differences import target_word
from annotation.analysis.leaderboard.web import shown_table
from annotation.core.refusals import NotFound
from annotation.models import Project
from annotation.web.htmx import Request

LengthTable = Mapping[str, Any]


def target_choices(tables: Sequence[LengthTable]) -> list[tuple[str, int | None]]:
    """The tables by word and length, for a switch."""
    return [(target_word(table["target_words"]), table["target_words"]) for table in tables]


def chosen_table(tables: Sequence[LengthTable], word: str) -> LengthTable | None:
    """The table that the word names, without a word the first; None where there are none. Raises NotFound."""
    if not word or not tables:
        return next(iter(tables), None)
    named = next((table for table in tables if target_word(table["target_words"]) == word), None)
    if named is None:
        raise NotFound(f"There are no scores at a target length of {word!r}.")
    return named


def opened_table(request: Request, project: Project, tables: Sequence[LengthTable]) -> LengthTable | None:
    """The table that the address names, without a word that at which the leaderboard opens. Raises NotFound."""
    word = request.GET.get("target", "")
    if word or len(tables) < 2:
        return chosen_table(tables, word)
    opened = shown_table(request, project).table
    same = (table for table in tables if opened and table["target_words"] == opened.target_words)
    return next(same, chosen_table(tables, ""))
