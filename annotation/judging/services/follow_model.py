"""A judge's server answers with another model than before: go on with that one as a judge of its own.

The judge's verdicts stay those of one model. Nothing follows the new one's until it is compared with people's answers
and somebody lets it decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.judging.queries.judges import not_permitted
from annotation.judging.queries.runs import other_model
from annotation.judging.services.save_judge import copy_judge
from annotation.judging.services.start_run import start_run
from annotation.models import Judge, Project, Run
from annotation.models.base import new_public_id

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def follow_model(*, run: Run, by: User | None) -> Run:
    """The run of a judge like the stopped run's, whose model is the one that the server answers with by now.

    It asks for the same metrics under the same cap. Where there is such a judge already it is asked. Raises Conflict
    (code `same_model`) where the server has named no other model; else as `start_run`.
    """
    project, judge = run.project, run.judge
    require(by, project, Verb.CHANGE_PROJECT)
    # One after the other: a form that is sent twice must not make two judges.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    named = other_model(run)
    if not named:
        raise Conflict("The server of this run's judge has named no other model.", code="same_model")
    same = Judge.objects.filter(
        project=project, model=judge.model, base_url=judge.base_url, served_model=named, archived_at=None
    )
    followed = same.first()
    if followed is None:
        followed = copy_judge(project=project, judge=judge, stem=judge.name, by=by)
        followed.served_model, followed.call_space = named, new_public_id()
        followed.save(update_fields=["served_model", "call_space"])
    return start_run(
        project=project,
        judge=followed,
        metrics=run.metrics,
        n_questions=run.n_questions,
        max_cost=run.max_cost,
        send_texts=not not_permitted(project, judge),
        by=by,
    )
