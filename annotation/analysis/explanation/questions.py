"""Closed questions in the explanation of a summary's question coverage."""

from __future__ import annotations

from typing import Literal

QuestionStanding = Literal["kept", "missed", "not_yes", "unscored", "retired"]
"""The effect of a question on question coverage.

`kept` and `missed` count: the source's answer is yes, and the summary's is yes (`kept`) or not (`missed`). `not_yes`:
the source's answer is no or unsure. `unscored`: otherwise, an answer is missing. `retired`: the question is not asked
any more.
"""

STANDINGS: dict[QuestionStanding, str] = {
    "kept": "counts: yes in both",
    "missed": "counts: yes only in the source",
    "not_yes": "not counted: the source does not answer yes",
    "unscored": "not counted: an answer is missing",
    "retired": "not counted: retired",
}


def standing_of(source: str | None, summary: str | None, *, is_retired: bool) -> QuestionStanding:
    """Return the effect of a question on the score. The final answers of source and summary are None if unscored."""
    if is_retired:
        return "retired"
    if source not in ("yes", None):
        return "not_yes"
    if source is None or summary is None:
        return "unscored"
    return "kept" if summary == "yes" else "missed"
