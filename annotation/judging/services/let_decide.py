"""A judge's verdicts come to stand where no person has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.judging.services.judges import require_of, require_usable
from annotation.models import Judge, Project, Run, Verdict
from annotation.scoring.rescore import mark_due, rescore

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def let_decide(*, project: Project, judge: Judge, by: User | None) -> None:
    """Make the judge the deciding one of the project; the scores follow. Choosing the one that decides is no act.

    Raises NotFound for a judge of another project; Invalid (code `unusable_judge`) for one that cannot be asked;
    Conflict (`trial_only`) for one whose latest run was a trial.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    require_of(judge, project)
    require_usable(judge)
    latest = Run.objects.filter(project=project, judge=judge).order_by("-pk").first()
    if latest is not None and latest.is_trial:
        raise Conflict(
            f"{judge.name} has judged a sample only. Start a run with it over the whole project, then use it for "
            "scores.",
            code="trial_only",
        )
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        if project.deciding_judge_id == judge.pk:
            return
        decide(project, judge, by)
        is_stale = Verdict.objects.filter(check_row__project=project, role=Verdict.Role.JUDGE).exists()
        if is_stale:
            mark_due(project)
    if is_stale:
        rescore(project=project)


def decide(project: Project, judge: Judge, by: User | None) -> None:
    """Write and log it, of a project that the caller has locked; scores are the caller's to renew."""
    before = None if project.deciding_judge is None else project.deciding_judge.name
    project.deciding_judge = judge
    project.save(update_fields=["deciding_judge"])
    log(
        project=project,
        actor=by,
        verb="change project",
        target=project,
        data={"changed": {"deciding_judge": [before, judge.name]}},
    )
