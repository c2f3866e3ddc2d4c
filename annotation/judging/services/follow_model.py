"""A judge's server answers with another model than before: go on with that one as a judge of its own.

The judge's verdicts stay those of one model. Nothing follows the new one's until it is compared with people's answers
and somebody lets it decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.judging.queries.judges import members_of, not_permitted
from annotation.judging.queries.runs import other_models
from annotation.judging.services.save_judge import PROFILE, copy_judge
from annotation.judging.services.start_run import start_run
from annotation.models import Judge, Project, Run
from annotation.models.base import new_public_id

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@transaction.atomic
def follow_model(*, run: Run, by: User | None) -> Run:
    """The run of a judge like the stopped run's, whose model is the one that the server answers with by now.

    Of a panel each member whose model changed is followed, and a panel of these and the others is asked. The run asks
    for the same metrics under the same cap. Where there is such a judge already it is asked. Raises Conflict (code
    `same_model`) where no server has named another model; else as `start_run`.
    """
    project, judge = run.project, run.judge
    require(by, project, Verb.CHANGE_PROJECT)
    # One after the other: a form that is sent twice must not make two judges.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    named = other_models(run)
    if not named:
        raise Conflict("The server of this run's judge has named no other model.", code="same_model")
    followed = {each.pk: _followed(project, each, model, by) for each, model in named.items()}
    if judge.kind == Judge.Kind.PANEL:
        asked = _panel_of(project, judge, [followed.get(each.pk, each) for each in members_of(judge)], by)
    else:
        asked = followed[judge.pk]
    return start_run(
        project=project,
        judge=asked,
        metrics=run.metrics,
        n_questions=run.n_questions,
        max_cost=run.max_cost,
        send_texts=not not_permitted(project, judge),
        trial_of=list(run.peers.values_list("pk", flat=True)) if run.is_trial else None,
        by=by,
    )


def _followed(project: Project, judge: Judge, model: str, by: User | None) -> Judge:
    profile = {each: getattr(judge, each) for each in PROFILE if each != "name"}
    same = Judge.objects.filter(
        project=project, served_model=model, archived_at=None, examples=None, **profile
    ).first()
    if same is not None:
        return same
    made = copy_judge(project=project, judge=judge, stem=judge.name, by=by)
    made.served_model, made.call_space = model, new_public_id()
    made.save(update_fields=["served_model", "call_space"])
    return made


def _panel_of(project: Project, panel: Judge, members: Sequence[Judge], by: User | None) -> Judge:
    panels = Judge.objects.filter(project=project, kind=Judge.Kind.PANEL, archived_at=None)
    for each in panels.prefetch_related("members"):
        if set(each.members.all()) == set(members):
            return each
    return copy_judge(project=project, judge=panel, stem=panel.name, by=by, members=members)
