"""A reviewer has a check on screen: when, and whether the judge's verdict stood there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.core.permissions import Standing, Verb, require, roles_with, standing_in
from annotation.models import Check, Look, Verdict
from annotation.reviewing.queries.sight import may_see

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project, Summary


def look_at(*, check: Check, by: User) -> Look:
    """Record that the check came on the person's screen, and the judge's verdict with it where they may see it.

    The first sight of either is kept; later ones change nothing.
    """
    require(by, check.project, Verb.REVIEW)
    look, _ = Look.objects.get_or_create(check_row=check, person=by)
    own = Verdict.objects.filter(check_row=check, person=by, role=Verdict.Role.REVIEWER)[:1]
    return reveal(check=check, to=by, look=look) if may_see(check, by, said=own) else look


def reveal(*, check: Check, to: User, look: Look | None) -> Look:
    """Record that the judge's verdict comes on the person's screen now, unless it has before."""
    if look is not None and look.revealed_at is not None:
        return look
    look = look or Look(check_row=check, person=to)
    look.revealed_at = timezone.now()
    # Opened in another window, the look is there already.
    Look.objects.bulk_create(
        [Look(public_id=look.public_id, check_row=check, person=to, revealed_at=look.revealed_at)],
        update_conflicts=True,
        unique_fields=["check_row", "person"],
        update_fields=["revealed_at"],
    )
    return look


def see_summary(*, project: Project, summary: Summary, by: User) -> None:
    """Record that the person opens what the scores of a summary are made of, with everything said of its checks.

    As `see_checks` of each of its current checks, and of its source. Nothing is kept of anyone who cannot open it.
    """
    standing = standing_in(by, project)
    if Verb.VIEW_SCORES in standing.verbs:
        if _may_answer(standing):
            seen = Look(summary=summary, person=by, revealed_at=timezone.now())
            Look.objects.bulk_create([seen], ignore_conflicts=True)
        checks = Check.objects.filter(Q(peer=summary) | Q(peer=None, document_set=summary.document_set_id))
        _see(checks.filter(project=project, is_current=True), by, standing)


def see_checks(*, project: Project, checks: QuerySet[Check], by: User) -> None:
    """Record that the person is shown, as it is, what the judge and others said of some checks of a project.

    For every door that keeps nothing back from them. From now on they know it of each, so that a later answer counts
    as given with the judge's verdict in sight. Nothing is kept of those whose roles
    do not let them review. The number of queries does not grow with the checks, but for SQLite's limit of values in
    one.
    """
    _see(checks.filter(project=project), by, standing_in(by, project))


def _see(checks: QuerySet[Check], by: User, standing: Standing) -> None:
    if not _may_answer(standing):
        return
    shown = Look.objects.filter(check_row=OuterRef("pk"), person=by, revealed_at__isnull=False)
    unseen = checks.filter(~Exists(shown)).order_by()
    now = timezone.now()
    # Those that they have opened are there already, without the judge's verdict.
    Look.objects.bulk_create(
        [Look(check_row_id=key, person=by, revealed_at=now) for key in unseen.values_list("pk", flat=True)],
        update_conflicts=True,
        unique_fields=["check_row", "person"],
        update_fields=["revealed_at"],
    )


def _may_answer(standing: Standing) -> bool:
    # By roles, since blindness ends, and superusers see the admin all the same.
    return bool(standing.roles & (roles_with(Verb.REVIEW) | roles_with(Verb.ASSESS)))
