"""What a person may see of others' answers to a check: everything, or nothing until they have answered it.

Queues may go by how sure the judge is in both reveal modes. The figure itself is hidden with the verdict: a judge that
is surer of one answer than of the other tells by it what it said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Q, Value, When

from annotation.core.known_checks import answered
from annotation.models import Check, Project, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.core.readers import CheckReader
    from annotation.models import Claim

OF_OTHERS = ("judge_label", "judge_probability", "unscored_reason", "human_label", "is_disputed")
"""Columns of a check that tell what others said. `FINAL` tells it too, unless a rule decided."""
FINAL = ("final_label", "final_source")
DECIDED_BY_RULE = Q(final_source=Check.Decider.RULE)


def keeps_back(project: Project, reader: CheckReader) -> bool:
    """Whether others' answers are hidden from the reader until they have answered."""
    return reader.must_wait and project.reveal != Project.Reveal.SHOWN


def may_see(check: Check, person: User, *, said: Iterable[Verdict]) -> bool:
    """Whether the person has answered the check, or the project shows the judge's verdict at once.

    `said` are the verdicts on the check. A look does not count: it may be one at an earlier wording.
    """
    is_shown = check.project.reveal == Project.Reveal.SHOWN
    reviewer = Verdict.Role.REVIEWER
    return is_shown or any(one.person_id == person.pk and one.role == reviewer for one in said)


def with_known(checks: QuerySet[Check], person: User, *, is_kept_back: bool) -> QuerySet[Any]:
    """The checks with `is_known`: whether the person may see others' answers."""
    if not is_kept_back:
        return checks.annotate(is_known=Value(True))
    return checks.annotate(is_known=Case(When(answered(person), then=Value(True)), default=Value(False)))


def hides_words_on(claim: Claim, project: Project, reader: CheckReader) -> bool:
    """Whether what others say of a claim is hidden from the reader: as long as they have a check of it to answer.

    A comment may give away the answer to any check of its claim. One that a rule decides waits for nobody.
    """
    if not keeps_back(project, reader):
        return False
    checks = Check.objects.filter(claim=claim, is_current=True).exclude(DECIDED_BY_RULE)
    return checks.filter(~answered(reader.person)).exists()
