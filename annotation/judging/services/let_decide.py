"""Choose the judge whose verdicts count as long as no person has decided."""

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
    """Make the judge the project's deciding judge, and rescore. Idempotent.

    Raises NotFound for another project's judge, Invalid (code `unusable_judge`) for an unusable judge, and the Conflict
    of `require_whole`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    require_of(judge, project)
    require_usable(judge)
    require_whole(project, judge)
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        if project.deciding_judge_id == judge.pk:
            return
        is_stale = decide(project, judge, by)
    if is_stale:
        rescore(project=project)


def require_whole(project: Project, judge: Judge) -> None:
    """Raise Conflict (code `trial_only`) if the judge has runs in the project and all of them are trials."""
    runs = Run.objects.filter(project=project, judge=judge)
    if runs.filter(is_trial=True).exists() and not runs.filter(is_trial=False).exists():
        told = f"{judge.name} has judged a sample only. Start a run with it over the whole project, then use it for"
        raise Conflict(f"{told} scores.", code="trial_only")


def decide(project: Project, judge: Judge, by: User | None) -> bool:
    """Store the deciding judge of a project that the caller has locked, and log it.

    True if the project has verdicts of judges: then the caller must rescore it after its transaction.
    """
    before = None if project.deciding_judge is None else project.deciding_judge.name
    project.deciding_judge = judge
    project.save(update_fields=["deciding_judge"])
    changed = {"deciding_judge": [before, judge.name]}
    log(project=project, actor=by, verb="change project", target=project, data={"changed": changed})
    is_stale = Verdict.objects.filter(check_row__project=project, role=Verdict.Role.JUDGE).exists()
    if is_stale:
        mark_due(project)
    return is_stale
