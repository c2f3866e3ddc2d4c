"""Start, stop and resume a run of a judge over a project."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Count

from annotation.core import jobs
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.core.shared.clock import shared_now
from annotation.judging.queries.judges import members_of
from annotation.judging.queries.run_metrics import OTHER_NAMES, RUN_METRICS, parts_of
from annotation.judging.queries.runs import metrics_from_now_on, trial_to_go_on_from
from annotation.judging.services.end_run import end, locked_run, settle
from annotation.judging.services.judges import (
    has_price,
    require_of,
    require_usable,
    without_a_price,
)
from annotation.judging.services.let_decide import decide, let_decide
from annotation.judging.services.running.spend import cost_of_calls
from annotation.models import (
    Job,
    Judge,
    Project,
    PromptVersion,
    Run,
    Summary,
    Verdict,
)
from annotation.models.run import MOST_QUESTIONS_MADE
from annotation.scoring.rescore import mark_due, rescore

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def start_run(
    *,
    project: Project,
    judge: Judge,
    metrics: Sequence[str] = ("coverage",),
    n_questions: int | None = None,
    max_cost: float | None = None,
    repeat_share: float | None = None,
    trial_of: Collection[int] | None = None,
    decides_after: bool = False,
    by: User | None,
) -> Run:
    """Let the judge answer what the metrics need, one job for each document set that has summaries.

    What this judge has answered already is not asked again. It becomes the deciding judge where there was none, and
    stops before its calls could cost more than `max_cost`. Up to `n_questions` questions a document set it makes up
    what is missing; without it only where nobody has given any. A trial asks about the summaries with the keys
    `trial_of` alone, and decides nothing. About a random share `repeat_share` of the summaries, above 0 to 1, the judge
    is asked once more, past the stored calls. With `decides_after`, which takes the verb "change project", the judge
    becomes the deciding one once the run is finished.
    Raises NotFound for a judge of another project; Invalid (codes `unknown_metric`, `invalid_questions`,
    `invalid_share`, `unusable_judge`, `invalid_cap`, `no_summaries`); Conflict (`run_active`, with the run's id) while
    this judge is at work here.
    """
    require(by, project, Verb.RUN)
    if decides_after:
        require(by, project, Verb.CHANGE_PROJECT)
    require_of(judge, project)
    for fault in faults_of_start(
        judge=judge, metrics=metrics, n_questions=n_questions, max_cost=max_cost, repeat_share=repeat_share
    ):
        raise fault
    with transaction.atomic():
        project = _locked(project)
        _refuse_second(project, judge)
        totals = _peers_by_document_set(project, trial_of)
        if not totals:
            raise Invalid(
                f"{project.name} holds no summaries to judge. Import some first.", code="no_summaries"
            )
        told = {"n_questions": n_questions, "document_sets": len(totals), "max_cost": max_cost}
        run = Run(
            project=project,
            judge=judge,
            metrics=names_once(metrics),
            n_questions=n_questions,
            max_cost=max_cost,
            repeat_share=repeat_share,
            is_trial=trial_of is not None,
            decides_after=decides_after,
        )
        if trial_of is not None:
            told["trial_of"] = len(trial_of)
        queued = _begin(run, totals, by=by, told=told)
        run.peers.set(trial_of or ())
        is_stale = trial_of is None and _let_decide(project, judge, by)
        if is_stale:
            mark_due(project)
        jobs.enqueue(queued)
    if is_stale:
        rescore(project=project)
    return run


def faults_of_start(
    *,
    judge: Judge,
    metrics: Sequence[str],
    n_questions: int | None,
    max_cost: float | None,
    repeat_share: float | None = None,
) -> list[Invalid]:
    """Everything that is wrong with what a run is asked to do, whatever texts the project holds."""
    refusals: list[Callable[[], None]] = [
        partial(_refuse_metrics, metrics),
        partial(_refuse_questions, n_questions, metrics),
        partial(require_usable, judge),
        partial(_refuse_cap, max_cost, judge),
        partial(_refuse_share, repeat_share),
    ]
    found = []
    for refuse in refusals:
        try:
            refuse()
        except Invalid as fault:
            found.append(fault)
    return found


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


@transaction.atomic
def cancel_run(*, run: Run, by: User | None) -> Run:
    """Stop a run at once; workers write nothing more. What was judged stays. Cancelling one that is over changes
    nothing.
    """
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
    """Let the failed and cancelled jobs of a run wait again; what was judged is not asked again.

    `max_cost` is a new cap for the whole run, what it has cost already included. Raises Conflict where
    nothing is left to do (code `nothing_to_resume`) or another run of this judge is under way
    (`run_active`); Invalid (`invalid_cap`) for a new cap that the run has reached already.
    """
    require(by, run.project, Verb.RUN)
    project = _locked(run.project)
    run = locked_run(run)
    _refuse_second(project, run.judge, except_for=run)
    if not Job.objects.filter(run=run, lease_until__gt=shared_now()).exists():
        # What dead workers held back comes free.
        run.cost = cost_of_calls(run)
    if max_cost is not None:
        _refuse_cap(max_cost, run.judge)
        if max_cost <= run.cost:
            raise Invalid(
                f"The run has cost {run.cost:.4g} already. Enter a higher cap.",
                field="max_cost",
                code="invalid_cap",
            )
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


def _begin(
    run: Run, totals: Sequence[tuple[int, int]], *, by: User | None, told: Mapping[str, object]
) -> list[Job]:
    """Save a new run with the words that it asks in, and a job for each document set and its count of peers."""
    run.started_by = by
    run.save()
    prompts = PromptVersion.objects.filter(judges__in=members_of(run.judge)).distinct()
    run.prompt_versions.set(prompts)
    queued = Job.objects.bulk_create(
        [
            Job(kind=Job.Kind.RUN, project=run.project, run=run, document_set_id=key, total=total)
            for key, total in totals
        ],
        batch_size=500,
    )
    log(
        project=run.project,
        actor=by,
        verb="start run",
        target=run,
        data={
            "judge": run.judge.name,
            "metrics": run.metrics,
            **told,
            "prompts": {row.step: row.number for row in prompts},
        },
    )
    return queued


def names_once(metrics: Sequence[str]) -> list[str]:
    """The metrics as a run keeps them: under their own names, each once."""
    return list(dict.fromkeys(OTHER_NAMES.get(name, name) for name in metrics))


def _refuse_metrics(metrics: Sequence[str]) -> None:
    unknown = [name for name in names_once(metrics) if name not in RUN_METRICS]
    if unknown or not metrics:
        what = f"No judge answers {unknown[0]!r}." if unknown else "A run needs a metric."
        known = ", ".join(RUN_METRICS)
        raise Invalid(f"{what} Metrics of a run: {known}.", field="metrics", code="unknown_metric")


def _refuse_questions(n_questions: int | None, metrics: Sequence[str]) -> None:
    if n_questions is None:
        return
    if not 0 <= n_questions <= MOST_QUESTIONS_MADE:
        raise Invalid(
            f"A run brings a document set to 0 to {MOST_QUESTIONS_MADE} questions, not {n_questions}.",
            field="n_questions",
            code="invalid_questions",
        )
    if "questions" not in parts_of(metrics):
        raise Invalid(
            "Questions are used only for question coverage. Add this metric, or leave the number of "
            "questions empty.",
            field="n_questions",
            code="invalid_questions",
        )


def _refuse_share(share: float | None) -> None:
    if share is not None and not 0 < share <= 1:
        raise Invalid(
            "The share to ask again must be above 0 and at most 1.",
            field="repeat_share",
            code="invalid_share",
        )


def cap_in(form: Mapping[str, str]) -> float | None:
    """The cap that a form names as `max_cost`, or None. Raises Invalid (code `invalid_cap`) for what is no number."""
    return _number_in(form, "max_cost", Invalid("The cost cap must be above 0.", code="invalid_cap"))


def share_in(form: Mapping[str, str]) -> float | None:
    """The share that a form names as `repeat_share`, or None. Raises Invalid (code `invalid_share`)."""
    fault = Invalid("The share to ask again must be above 0 and at most 1.", code="invalid_share")
    return _number_in(form, "repeat_share", fault)


def _number_in(form: Mapping[str, str], name: str, fault: Invalid) -> float | None:
    typed = form.get(name, "").strip()
    try:
        return float(typed) if typed else None
    except ValueError:
        fault.field = name
        raise fault from None


def _refuse_cap(max_cost: float | None, judge: Judge) -> None:
    if max_cost is None:
        return
    if not (math.isfinite(max_cost) and max_cost > 0):
        raise Invalid("The cost cap must be above 0.", field="max_cost", code="invalid_cap")
    if not has_price(judge):
        raise Invalid(
            f"The judge {judge.name} has no price, so a cost cap would have no effect. Set a price on the "
            "Judges page; an administrator sets a shared judge's price.",
            field="max_cost",
            code="invalid_cap",
        )
    free = without_a_price(judge)
    if free:
        raise Invalid(
            f"The {free} have no price, so they would count as free under a cap. Set prices on the Judges "
            "page; an administrator sets a shared judge's price.",
            field="max_cost",
            code="invalid_cap",
        )


def _locked(project: Project) -> Project:
    # One after the other: two people who start the same run must not both find that there is none.
    return Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)


def _refuse_second(project: Project, judge: Judge, *, except_for: Run | None = None) -> None:
    active = Run.objects.filter(project=project, judge=judge, state=Run.State.ACTIVE)
    if except_for is not None:
        active = active.exclude(pk=except_for.pk)
    other = active.first()
    if other is not None:
        raise Conflict(
            f"The judge {judge.name} is already running on {project.name}. Wait for that run or cancel it.",
            code="run_active",
            details={"run": other.public_id},
        )


def _peers_by_document_set(project: Project, only: Collection[int] | None) -> list[tuple[int, int]]:
    peers = Summary.objects.filter(document_set__project=project, is_peer=True).order_by("document_set_id")
    if only is not None:
        peers = peers.filter(pk__in=only)
    return list(peers.values_list("document_set_id").annotate(Count("pk")))


def _let_decide(project: Project, judge: Judge, by: User | None) -> bool:
    """Make the judge the deciding one if there is none; whether scores must follow at once."""
    if project.deciding_judge_id is not None:
        return False
    decide(project, judge, by)
    return Verdict.objects.filter(check_row__project=project, judge=judge).exists()
