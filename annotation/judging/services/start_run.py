"""Start, stop and resume a run of a judge over a project."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Count, Exists, OuterRef

from annotation.core import jobs
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.core.shared.clock import shared_now
from annotation.judging.queries.judges import members_of
from annotation.judging.queries.run_metrics import OTHER_NAMES, RUN_METRICS, parts_of
from annotation.judging.services.end_run import end, locked_run, settle
from annotation.judging.services.judges import fault_of_use, has_price, require_of
from annotation.judging.services.let_decide import decide
from annotation.judging.services.running.spend import cost_of_calls
from annotation.models import DocumentSet, Job, Judge, Project, PromptVersion, Run, Summary
from annotation.models.run import MOST_QUESTIONS_MADE
from annotation.scoring.rescore import rescore

if TYPE_CHECKING:
    from django.contrib.auth.models import User

WRONG_CAP = "The cost cap must be above 0."
WRONG_SHARE = "The share to ask again must be above 0 and at most 1."
NUMBERS: Mapping[str, tuple[Callable[[str], float], str, str]] = {
    "n_questions": (int, "The number of questions must be a whole number.", "invalid_questions"),
    "max_cost": (float, WRONG_CAP, "invalid_cap"),
    "repeat_share": (float, WRONG_SHARE, "invalid_share"),
}
"""For each number of a form: the function that reads it, and the message and the code of a refusal."""


def start_run(
    *,
    project: Project,
    judge: Judge,
    metrics: Sequence[str] = ("coverage",),
    n_questions: int | None = None,
    max_cost: float | None = None,
    repeat_share: float | None = None,
    trial_of: Collection[int] | None = None,
    by: User | None,
) -> Run:
    """Start a run of the judge for these metrics, with a job for each document set that has summaries.

    If the project has no deciding judge, this judge becomes it.

    - `n_questions`: the number of questions per document set; the judge generates the missing ones. If it is None, the
      judge generates questions only for sets without questions.
    - `max_cost`: the run stops before its calls could cost more
    - `repeat_share`: the random share of summaries, in (0, 1], about which the judge is asked again
    - `trial_of`: makes the run a trial of the summaries with these keys; a trial never makes the judge the deciding one

    Raises NotFound for another project's judge. Raises Invalid (codes `unknown_metric`, `invalid_questions`,
    `invalid_share`, `unusable_judge`, `invalid_cap`, `no_summaries`). Raises Conflict (`run_active`, with the run's id)
    while another run of the judge in the project is active.
    """
    require(by, project, Verb.RUN)
    require_of(judge, project)
    run = Run(
        project=project,
        judge=judge,
        metrics=names_once(metrics),
        n_questions=n_questions,
        max_cost=max_cost,
        repeat_share=repeat_share,
        is_trial=trial_of is not None,
        started_by=by,
    )
    require_startable(run)
    with transaction.atomic():
        project = _locked(project)
        _refuse_second(project, run)
        summaries = Summary.objects.filter(is_summary=True).order_by("document_set_id")
        if trial_of is None:
            summaries = summaries.filter(document_set__project=project)
        else:
            # With a join, SQLite would look for each of the keys in every document set of the project.
            of_project = DocumentSet.objects.filter(pk=OuterRef("document_set"), project=project)
            summaries = summaries.filter(Exists(of_project), pk__in=trial_of)
        totals = list(summaries.values_list("document_set_id").annotate(Count("pk")))
        if not totals:
            raise Invalid(
                f"{project.name} holds no summaries to judge. Import some first.", code="no_summaries"
            )
        run.save()
        run.summaries.set(trial_of or ())
        prompts = PromptVersion.objects.filter(judges__in=members_of(judge)).distinct()
        run.prompt_versions.set(prompts)
        queued = Job.objects.bulk_create(
            [
                Job(kind=Job.Kind.RUN, project=project, run=run, document_set_id=key, total=total)
                for key, total in totals
            ],
            batch_size=500,
        )
        data = {"judge": judge.name, "metrics": run.metrics, "n_questions": n_questions, "max_cost": max_cost}
        data |= {"prompts": sorted(map(str, prompts))}
        data |= {"document_sets": len(totals)} | ({"trial_of": len(trial_of)} if trial_of is not None else {})
        log(project=project, actor=by, verb="start run", target=run, data=data)
        decides = trial_of is None and project.deciding_judge_id is None
        is_stale = decides and decide(project, judge, by)
        jobs.enqueue(queued)
    if is_stale:
        rescore(project=project)
    return run


def require_startable(run: Run) -> None:
    """Raise Invalid for unusable options of an unsaved run; the codes are those of `start_run`."""
    unknown = [name for name in run.metrics if name not in RUN_METRICS]
    if unknown or not run.metrics:
        what = f"No judge answers {unknown[0]!r}." if unknown else "A run needs a metric."
        known = ", ".join(RUN_METRICS)
        raise Invalid(f"{what} Metrics of a run: {known}.", field="metrics", code="unknown_metric")
    if run.n_questions is not None and not 0 <= run.n_questions <= MOST_QUESTIONS_MADE:
        raise Invalid(
            f"Ask for 0 to {MOST_QUESTIONS_MADE} questions per document set, not {run.n_questions}.",
            field="n_questions",
            code="invalid_questions",
        )
    if run.n_questions is not None and "questions" not in parts_of(run.metrics):
        raise Invalid(
            "Questions are used only for question coverage. Add this metric, or leave the number of "
            "questions empty.",
            field="n_questions",
            code="invalid_questions",
        )
    if fault := fault_of_use(run.judge):
        raise Invalid(fault, field="judge", code="unusable_judge")
    if run.max_cost is not None:
        _require_cap(run.max_cost, run.judge)
    if run.repeat_share is not None and not 0 < run.repeat_share <= 1:
        raise Invalid(WRONG_SHARE, field="repeat_share", code="invalid_share")


@transaction.atomic
def cancel_run(*, run: Run, by: User | None) -> Run:
    """Cancel a run. Stored answers are kept. Idempotent."""
    require(by, run.project, Verb.RUN)
    run = locked_run(run)
    if run.state != Run.State.ACTIVE:
        return run
    who = by.get_username() if by else "the operator"
    cancelled = end(run, Run.State.CANCELLED, reason=f"Cancelled by {who}.")
    log(project=run.project, actor=by, verb="cancel run", target=run, data={"jobs": cancelled})
    return run


@transaction.atomic
def resume_run(*, run: Run, max_cost: float | None = None, by: User | None) -> Run:
    """Queue the failed and cancelled jobs of a run again.

    A cancelled or stopped run is resumed even without such jobs. `max_cost` is a new cap for the whole run, including
    its cost so far. Raises Conflict if any other run has no such jobs (code `nothing_to_resume`), or if another run of
    the judge is active (`run_active`). Raises Invalid (`invalid_cap`) if the cap is not finite or not above the cost so
    far, or if the judge has no price.
    """
    require(by, run.project, Verb.RUN)
    project = _locked(run.project)
    run = locked_run(run)
    _refuse_second(project, run)
    if not Job.objects.filter(run=run, lease_until__gt=shared_now()).exists():
        # Recompute the cost from stored calls, which drops reservations of dead workers.
        run.cost = cost_of_calls(run)
    if max_cost is not None:
        _require_cap(max_cost, run.judge)
        if max_cost <= run.cost:
            told = f"The run has cost {run.cost:.4g} already. Enter a higher cap."
            raise Invalid(told, field="max_cost", code="invalid_cap")
        run.max_cost = max_cost
    over = Job.objects.filter(run=run, state__in=(Job.State.FAILED, Job.State.CANCELLED))
    again = jobs.again(over)
    if not again and run.state not in (Run.State.CANCELLED, Run.State.STOPPED):
        raise Conflict("Every job of this run is finished or in progress.", code="nothing_to_resume")
    run.state = Run.State.ACTIVE
    run.stop_reason = ""
    run.finished_at = None
    run.save(update_fields=["state", "stop_reason", "finished_at", "max_cost", "cost"])
    log(project=run.project, actor=by, verb="resume run", target=run, data={"jobs": len(again)})
    settle(run)
    run.refresh_from_db()
    return run


def names_once(metrics: Sequence[str]) -> list[str]:
    """Return the distinct metrics under the names that runs use."""
    return list(dict.fromkeys(OTHER_NAMES.get(name, name) for name in metrics))


def number_in(form: Mapping[str, str], name: str) -> Any:
    """Read a number of `NUMBERS` in a form; None if it is empty. Raises Invalid if it is not such a number."""
    kind, message, code = NUMBERS[name]
    typed = form.get(name, "").strip()
    try:
        return kind(typed) if typed else None
    except ValueError:
        raise Invalid(message, field=name, code=code) from None


def _require_cap(max_cost: float, judge: Judge) -> None:
    if not (math.isfinite(max_cost) and max_cost > 0):
        raise Invalid(WRONG_CAP, field="max_cost", code="invalid_cap")
    if not has_price(judge):
        raise Invalid(
            f"The judge {judge.name} has no price, so a cost cap would have no effect. Set a price on the "
            "Judges page; an administrator sets a shared judge's price.",
            field="max_cost",
            code="invalid_cap",
        )


def _locked(project: Project) -> Project:
    # Lock the project, so that two people cannot start the same run at once.
    return Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)


def _refuse_second(project: Project, run: Run) -> None:
    active = Run.objects.filter(project=project, judge=run.judge, state=Run.State.ACTIVE)
    if other := active.exclude(pk=run.pk).first():
        told = f"The judge {run.judge.name} is already running on {project.name}. Wait for that run or cancel it."
        raise Conflict(told, code="run_active", details={"run": other.public_id})
