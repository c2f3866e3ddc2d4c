"""One answer that anybody gave, as a row of the level `answers`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

# The kinds of answers:
#
# unit                        an assessor's percent and marks, or an adjudicator's; a judge's as one more assessor's
#                             (the share of yes over its verdicts on the unit's claims, and their evidence)
# check, question             a verdict of a judge, a reviewer or an adjudicator on a claim, or on a closed
#                             question from the summary or, without a system, from the source
# vote                        what one of several raters said, of a verdict that a file brought with their votes
# repeat                      the label of a judge that was asked the same again
# rating                      what a person or a judge answered to a criterion about a summary as a whole


@dataclass(frozen=True, slots=True)
class ExportedAnswer:
    """What somebody said of a summary, or (`peer_id` is 0) of the source of a document set, `document_id`.

    `superseded`: it no longer stands;
    `blind`: a person gave it who had seen nothing of the judge's and others', None where that is not known or asked.
    """

    peer_id: int
    kind: str
    rater: str
    rater_kind: str
    value: str | None
    submitted_at: datetime | None
    superseded: bool
    blind: bool | None = None
    document_id: str = ""
    reference_id: str | None = None
    unit: int | None = None
    claim_id: str | None = None
    evidence: Sequence[int] = ()
    selected_by: str | None = None
    inclusion_probability: float | None = None
    guideline_version: int | None = None


def standing_among(answers: Iterable[tuple[int, Hashable, bool]]) -> set[int]:
    """The keys of the answers that stand: the last of each source to each question.

    An answer is its key, its source and question, and whether it says anything: one that could not be given does not
    take back one that was given before.
    """
    last: dict[Hashable, tuple[int, bool]] = {}
    for key, source, says in answers:
        if says or not last.get(source, (0, False))[1]:
            last[source] = key, says
    return {key for key, _ in last.values()}
