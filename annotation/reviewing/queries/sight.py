"""The visibility of others' answers to a check."""

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


def hides_answers(viewer: Viewer) -> bool:
    """Return True if others' answers are hidden from the viewer until the viewer has answered.

    Answers are hidden from reviewers who do not adjudicate, unless the project shows verdicts at once.
    """
    must_wait = Verb.REVIEW in viewer.verbs and Verb.ADJUDICATE not in viewer.verbs
    return must_wait and viewer.project.reveal != Project.Reveal.SHOWN


def may_see(check: Check, person: User, *, said: Iterable[Verdict]) -> bool:
    """Return True if the person has answered the check, or the project shows verdicts at once.

    `said` has the verdicts on the check. A recorded look is not enough.
    """
    is_shown = check.project.reveal == Project.Reveal.SHOWN
    reviewer = Verdict.Role.REVIEWER
    return is_shown or any(one.person_id == person.pk and one.role == reviewer for one in said)


def with_known(checks: QuerySet[Check], person: User, *, is_kept_back: bool) -> QuerySet[Any]:
    """Annotate the checks with `is_known`: True if the person may see others' answers.

    Without `is_kept_back`, `is_known` is True for all checks.
    """
    if not is_kept_back:
        return checks.annotate(is_known=Value(True))
    return checks.annotate(is_known=Case(When(answered(person), then=Value(True)), default=Value(False)))


def has_unanswered(viewer: Viewer, claim: str) -> Q:
    """Build a condition for rows whose claim (at the path `claim`) has a check that the viewer has not answered.

    Checks that a rule decides do not count. If answers are not hidden from the viewer, the condition matches no row.
    """
    if not hides_answers(viewer):
        return Q(pk__in=())
    checks = Check.objects.filter(claim=OuterRef(claim), is_current=True).exclude(DECIDED_BY_RULE)
    return Q(Exists(checks.filter(~answered(viewer.person))))
