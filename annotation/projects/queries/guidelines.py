"""A project's guidelines: which version is in force, how it reads, and how versions differ."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from annotation.core.guidelines import _newest
from annotation.core.refusals import NotFound
from annotation.models import Guideline

if TYPE_CHECKING:
    from annotation.models import Project

HISTORY_SHOWN = 20

_WORD = re.compile(r"\s+|\w+|[^\w\s]")

Kind = Literal["same", "gone", "new"]
Pieces = list[tuple[Kind, str]]


class PastGuideline(NamedTuple):
    """A version, and how it differs from the one before it."""

    row: Guideline
    pieces: Pieces


def version_of(project: Project, version: int) -> Guideline:
    """That version of the project's guidelines. Raises NotFound."""
    row = Guideline.objects.filter(project=project, version=version).select_related("by").first()
    if row is None:
        raise NotFound(f"There is no version {version} of these guidelines.")
    return row


def history_of(project: Project) -> list[PastGuideline]:
    """The last versions, newest first, each compared with the one before it."""
    rows = list(_newest(project).select_related("by")[: HISTORY_SHOWN + 1])
    texts = [*(row.text for row in rows), ""]
    compared = zip(rows, pairwise(texts), strict=True)
    return [PastGuideline(row, differences(old, new)) for row, (new, old) in compared][:HISTORY_SHOWN]


def differences(old: str, new: str) -> Pieces:
    """What changed between two texts: whole lines first, and word by word where a line was reworded.

    One run of the same kind is one piece. The pieces that are not new, joined, are the old text; those that
    are not gone, the new one.
    """
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    pieces: Pieces = []
    for kind, old_start, old_end, new_start, new_end in _compared(before, after):
        gone, made = "".join(before[old_start:old_end]), "".join(after[new_start:new_end])
        if kind == "equal":
            pieces.append(("same", gone))
        elif kind == "replace":
            pieces += _words(gone, made)
        else:
            pieces.append(("gone", gone) if gone else ("new", made))
    return pieces


def _words(gone: str, made: str) -> Pieces:
    before, after = _WORD.findall(gone), _WORD.findall(made)
    pieces: Pieces = []
    for kind, old_start, old_end, new_start, new_end in _compared(before, after):
        old, new = "".join(before[old_start:old_end]), "".join(after[new_start:new_end])
        if kind == "equal":
            pieces.append(("same", old))
            continue
        pieces += [("gone", old)] if old else []
        pieces += [("new", new)] if new else []
    return pieces


def _compared(before: list[str], after: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return difflib.SequenceMatcher(None, before, after).get_opcodes()
