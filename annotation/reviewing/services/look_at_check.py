"""Recording the checks, summaries and others' answers that a person has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.core.permissions import Standing, Verb, roles_with, standing_in
from annotation.models import Check, Look
from annotation.reviewing.queries.before_answer import before_answer
from annotation.reviewing.queries.sight import may_see

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project, Summary


def look_at(*, check: Check, by: User) -> None:
    """Record that the person saw the check, and others' answers if the person may see them.

    Only the first look and the first look with answers are stored. Raises the errors of `require`.
    """
    before = before_answer(check, by, verb=Verb.REVIEW)
    if may_see(check, by, said=before.said):
        reveal(check=check, to=by, look=before.look)
    elif before.look is None:
        Look.objects.bulk_create([Look(check_row=check, person=by)], ignore_conflicts=True)


def reveal(*, check: Check, to: User, look: Look | None) -> None:
    """Record that the person sees others' answers to the check, unless this is recorded already."""
    if look is None or look.revealed_at is None:
        # If the look exists, update it: the person may have opened the check in another window at the same time.
        Look.objects.bulk_create(
            [Look(check_row=check, person=to, revealed_at=timezone.now())],
            update_conflicts=True,
            unique_fields=["check_row", "person"],
            update_fields=["revealed_at"],
        )


def see_summary(*, project: Project, summary: Summary, by: User) -> None:
    """Record that a person who may view scores sees the ratings of a summary and the answers to its checks.

    Checks of the document set's questions against the source are included.
    """
    standing = standing_in(by, project)
    if Verb.VIEW_SCORES in standing.verbs:
        see_ratings(project=project, summary=summary, by=by)
        checks = Check.objects.filter(
            Q(summary=summary) | Q(summary=None, document_set=summary.document_set_id)
        )
        _see(checks.filter(project=project, is_current=True), by, standing)


def see_ratings(*, project: Project, summary: Summary, by: User) -> None:
    """Record that the person sees the ratings of a summary, so that their later ratings are not blind.

    Nothing is recorded if the person's roles allow neither reviewing nor assessing.
    """
    if _may_answer(standing_in(by, project)):
        Look.objects.get_or_create(summary=summary, person=by, defaults={"revealed_at": timezone.now()})


def see_checks(*, project: Project, checks: QuerySet[Check], by: User) -> None:
    """Record that the person sees the answers to these checks, so that their later answers are not blind.

    Nothing is recorded if the person's roles allow neither reviewing nor assessing.
    """
    _see(checks.filter(project=project), by, standing_in(by, project))


def _see(checks: QuerySet[Check], by: User, standing: Standing) -> None:
    if not _may_answer(standing):
        return
    shown = Look.objects.filter(check_row=OuterRef("pk"), person=by, revealed_at__isnull=False)
    unseen = checks.filter(~Exists(shown)).order_by()
    now = timezone.now()
    # If a look exists, update it: the person may have opened the check before without seeing others' answers.
    Look.objects.bulk_create(
        [Look(check_row_id=key, person=by, revealed_at=now) for key in unseen.values_list("pk", flat=True)],
        update_conflicts=True,
        unique_fields=["check_row", "person"],
        update_fields=["revealed_at"],
    )


def _may_answer(standing: Standing) -> bool:
    # Decide by the roles, because blindness may limit the present verbs.
    return bool(standing.roles & (roles_with(Verb.REVIEW) | roles_with(Verb.ASSESS)))
