"""The rows that are loaded before a look at a check or an answer to it is saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import User

from annotation.core.by_hand import Part, named, rows
from annotation.core.permissions import STANDING, Verb, require_as_read, standing_values
from annotation.core.refusals import NotFound
from annotation.models import Check, Claim, Judge, Look, Project, Verdict

# The statement returns a row for each answer to the check, oldest first, or a single row without an answer. It is
# written by hand for speed; tests/bench/answering.py (answer) measures it.
_STATEMENT = """
SELECT
    {standing},
    (SELECT id FROM annotation_guideline WHERE project_id = project.id ORDER BY version DESC LIMIT 1),
    EXISTS (SELECT 1 FROM annotation_sampledcheck WHERE check_row_id = annotation_check.id AND verdict_id IS NULL),
    (SELECT username FROM auth_user WHERE id = verdict.person_id),
    (SELECT name FROM annotation_judge WHERE id = verdict.judge_id),
    {verdict}, {project}, {check}, {claim}, {look}
FROM annotation_check
JOIN annotation_project project ON project.id = annotation_check.project_id
JOIN annotation_claim claim ON claim.id = annotation_check.claim_id
LEFT JOIN annotation_look look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
LEFT JOIN annotation_verdict verdict ON verdict.check_row_id = annotation_check.id
WHERE annotation_check.id = %(check)s
ORDER BY verdict.id
"""

_PROJECT, _CHECK = Part(Project, "project"), Part(Check, "annotation_check")
_CLAIM, _LOOK, _VERDICT = Part(Claim, "claim"), Part(Look, "look"), Part(Verdict, "verdict")
_FACTS = 4
"""The number of columns before the columns of the rows."""


@dataclass(frozen=True, slots=True)
class BeforeAnswer:
    """A check with its project, its claim, its answers (oldest first), and the person's look.

    `guideline_id` is the key of the current guidelines. `is_sampled` is True if a random sample has no answer to the
    check.
    """

    check: Check
    look: Look | None
    said: tuple[Verdict, ...]
    guideline_id: int | None
    is_sampled: bool

    def answers_of(self, person: User) -> list[Verdict]:
        """Return the answers that the person gave as a reviewer."""
        return [
            said for said in self.said if said.person_id == person.pk and said.role == Verdict.Role.REVIEWER
        ]


def before_answer(check: Check, person: User, *, verb: Verb) -> BeforeAnswer:
    """Load a check with its project, its claim, its answers and the person's look.

    A caller that saves an answer must have locked the check's summary. Raises NotFound if the check no longer exists,
    and the errors of `require` for `verb`.
    """
    statement = _STATEMENT.format(
        standing=STANDING,
        verdict=_VERDICT.columns,
        project=_PROJECT.columns,
        check=_CHECK.columns,
        claim=_CLAIM.columns,
        look=_LOOK.columns,
    )
    found = rows(statement, {**standing_values(person, check.project), "check": check.pk})
    if not found:
        raise NotFound("There is no such check in this project.")
    roles, is_blind, guideline_id, is_sampled = found[0][:_FACTS]
    require_as_read(person, check.project, verb, roles, is_blind)
    rest = [iter(row[_FACTS:]) for row in found]
    said = [_verdict(values) for values in rest]
    # The other columns are the same in all rows, so read them from the first.
    project, now = _PROJECT.read(rest[0]), _CHECK.read(rest[0])
    if project.deciding_judge_id == check.project.deciding_judge_id:
        project.deciding_judge = check.project.deciding_judge
    now.project, now.claim, look = project, _CLAIM.read(rest[0]), _LOOK.read(rest[0])
    return BeforeAnswer(
        check=now,
        look=look if look.pk else None,
        said=tuple(verdict for verdict in said if verdict.pk),
        guideline_id=guideline_id,
        is_sampled=bool(is_sampled),
    )


def _verdict(values: Iterator[object]) -> Verdict:
    username, judge = next(values), next(values)
    verdict = _VERDICT.read(values)
    verdict.person = named(User, id=verdict.person_id, username=username) if verdict.person_id else None
    verdict.judge = named(Judge, id=verdict.judge_id, name=judge) if verdict.judge_id else None
    return verdict
