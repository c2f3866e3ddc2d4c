"""A judge's verdicts come to stand where no person has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.judging.queries.runs import is_without_use
from annotation.judging.services.judges import require_of, require_usable
from annotation.models import Judge, Project, Run, Verdict
from annotation.scoring.rescore import mark_due, rescore

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


def let_decide(*, project: Project, judge: Judge, by: User | None) -> None:
    """Make the judge the deciding one of the project; the scores follow. Choosing the one that decides is no act.

    Raises NotFound for a judge of another project; Invalid (code `unusable_judge`) for one that cannot be asked.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    require_of(judge, project)
    require_usable(judge)
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


def decide_after(*, run: Run) -> None:
    """Make the judge of a run the deciding one, if that was to follow and the run is finished. Twice is once.

    A judge whose latest answers were of no use does not come to decide.
    """
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",)).get(pk=run.project_id)
        due = Run.objects.filter(pk=run.pk, state=Run.State.FINISHED, decides_after=True)
        if not due.update(decides_after=False) or project.deciding_judge_id == run.judge_id:
            return
        if is_without_use(run):
            return
        decide(project, run.judge, run.started_by)
        mark_due(project)
    rescore(project=project)


def runs_to_decide() -> QuerySet[Run]:
    """Finished runs whose judge is still to decide: somebody else than a worker's turn ended them, or it broke off."""
    return Run.objects.filter(
        state=Run.State.FINISHED, decides_after=True, project__deleted_at__isnull=True
    ).select_related("judge", "started_by")


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
