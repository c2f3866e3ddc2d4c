"""What a person may see of others' answers to a check: everything, or nothing until they have answered it.

Queues may go by how sure the judge is in both reveal modes. The figure itself is hidden with the verdict: a judge that
is surer of one answer than of the other tells by it what it said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models import Case, Exists, OuterRef, Q, Value, When

from annotation.core.permissions import Verb
from annotation.models import Check, Project, Verdict
from annotation.reviewing.queries.known_checks import answered

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.core.lists import Viewer

DECIDED_BY_RULE = Q(final_source=Check.Decider.RULE)


def keeps_back(viewer: Viewer) -> bool:
    """Whether others' answers are hidden from the viewer until they have answered: they review, do not adjudicate, and
    the project does not show verdicts at once.
    """
    must_wait = Verb.REVIEW in viewer.verbs and Verb.ADJUDICATE not in viewer.verbs
    return must_wait and viewer.project.reveal != Project.Reveal.SHOWN


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


def has_unanswered(viewer: Viewer, claim: str) -> Q:
    """Rows whose claim, at that path, has a check that the viewer has still to answer; what others say of it is hidden.

    A comment may give away the answer to any check of its claim. One that a rule decides waits for nobody.
    """
    if not keeps_back(viewer):
        return Q(pk__in=())
    checks = Check.objects.filter(claim=OuterRef(claim), is_current=True).exclude(DECIDED_BY_RULE)
    return Q(Exists(checks.filter(~answered(viewer.person))))
