"""Use a judge from now on: at once where it has been through the project, else once it has judged the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.core.permissions import Verb, require
from annotation.judging.queries.runs import metrics_from_now_on, trial_to_go_on_from
from annotation.judging.services.judges import require_of
from annotation.judging.services.let_decide import let_decide
from annotation.judging.services.start_run import start_run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Judge, Project, Run


def use_judge(
    *, project: Project, judge: Judge, by: User | None, max_cost: float | None = None
) -> Run | None:
    """Make the judge the deciding one; after a trial once the run that starts here is finished, which is given back.

    That run asks what the trial and the last run of the judge that decides now asked. Raises as `let_decide` and
    `start_run`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    require_of(judge, project)
    trial = trial_to_go_on_from(project, judge)
    if trial is None:
        let_decide(project=project, judge=judge, by=by)
        return None
    return start_run(
        project=project,
        judge=judge,
        metrics=metrics_from_now_on(project, trial),
        max_cost=max_cost,
        decides_after=True,
        by=by,
    )
