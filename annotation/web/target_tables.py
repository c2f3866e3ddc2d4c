"""Stored statistics that hold one table per target length, and the one that an address names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Project
from annotation.refusals import NotFound
from annotation.web.htmx import Request
from annotation.web.scores import shown_table

WITHOUT_TARGET = "none"

Table = Mapping[str, Any]


def target_word(table: Table) -> str:
    """How an address names the table: by its target length."""
    words = table["target_words"]
    return WITHOUT_TARGET if words is None else str(words)


def target_choices(tables: Sequence[Table]) -> list[tuple[str, int | None]]:
    """The tables by word and length, for a switch."""
    return [(target_word(table), table["target_words"]) for table in tables]


def chosen_table(tables: Sequence[Table], word: str) -> Table | None:
    """The table that the word names, without a word the first; None where there are none. Raises NotFound."""
    if not word or not tables:
        return next(iter(tables), None)
    named = next((table for table in tables if target_word(table) == word), None)
    if named is None:
        raise NotFound(f"There are no scores at a target length of {word!r}.")
    return named


def opened_table(request: Request, project: Project, tables: Sequence[Table]) -> Table | None:
    """The table that the address names, without a word that at which the leaderboard opens. Raises NotFound."""
    word = request.GET.get("target", "")
    if word or len(tables) < 2:
        return chosen_table(tables, word)
    opened = shown_table(request, project).table
    same = (table for table in tables if opened and table["target_words"] == opened.target_words)
    return next(same, chosen_table(tables, ""))
