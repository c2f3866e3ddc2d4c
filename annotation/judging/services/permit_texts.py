"""An owner or manager permits that a project's texts are sent to a judge's server, or ends that.

Before a project's first text leaves this machine somebody has said so, and the log tells who. A permission holds for
the address that it was given for: a judge that moves to another server needs another one. The lexical judge needs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.judging.queries.judges import destinations, not_permitted
from annotation.judging.services.judges import require_of
from annotation.models import TextPermission

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Judge, Project


@transaction.atomic
def permit_texts(*, project: Project, judge: Judge, by: User | None) -> None:
    """Let the judge, or every member of a panel, receive the project's texts at its address of now.

    What is permitted already is no act. Raises NotFound for a judge of another project.
    """
    require(by, project, Verb.RUN)
    require_of(judge, project)
    for each in not_permitted(project, judge):
        TextPermission.objects.get_or_create(
            project=project, judge=each.judge, address=each.address, defaults={"given_by": by}
        )
        log(
            project=project,
            actor=by,
            verb="permit texts",
            target=each.judge,
            data={"judge": each.judge.name, "address": each.address},
        )


@transaction.atomic
def end_permission(*, project: Project, judge: Judge, by: User | None) -> None:
    """No text goes to the judge any more; a run under way stops before its next turn. What was sent stays sent."""
    require(by, project, Verb.RUN)
    require_of(judge, project)
    for each in destinations(judge):
        gone, _ = TextPermission.objects.filter(project=project, judge=each.judge).delete()
        if gone:
            log(
                project=project,
                actor=by,
                verb="end text permission",
                target=each.judge,
                data={"judge": each.judge.name, "address": each.address},
            )
