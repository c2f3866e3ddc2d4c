"""The progress of runs, their failures, and the state of workers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.text import Truncator

from annotation.core.jobs import OPEN, due, workers_alive
from annotation.core.lists import Choices, Column, Filter, Kind, List
from annotation.core.permissions import Verb
from annotation.models import Event, Job, Judge, JudgeCall, Project, Rating, Run, Summary, Verdict
from evaluation.judging import Usage

FAILURES_SHOWN = 50
REASONS_SHOWN = 3
SETS_WITHOUT_USE = 10
"""The number of consecutive document sets without a usable answer after which a run stops."""
POOR_SHARE = 0.1
"""The unusable share from which the outcome of a run is "poor"."""
RATE_OVER = timedelta(minutes=2)
"""The period over which the rate of a run is measured."""
REASON_SHOWN = 200


RUN_STATES = Choices("RunState", Run.State.choices)

Outcome = Literal["good", "poor", "unusable"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that is not done and has an error."""

    document_set: str
    error: str
    attempt: int


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model names in some replies of a judge, and the last name before these calls; "" if unknown."""

    judge: str
    models: tuple[str, ...]
    before: str

    @property
    def is_another(self) -> bool:
        """True if the replies name several models, or a model that differs from the one before."""
        return len({*self.models, self.before} - {""}) > 1


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run. A job is a document set.

    - `failing`: the number of jobs that are not done and have an error
    - `failures`: the first of these jobs, by document set
    - `unscored`: the number of unusable verdicts, answers to questions and ratings; `usable`: the number of usable ones
    - `unscored_reasons`: the most common reasons with their counts
    - `calls` and tokens: those of the calls that the run made; `cost`: may include reserved costs of open calls
    - `rate`: the recent number of judged summaries per minute; None if there are none, and after the run has ended
    - `served`: the models that answered for each judge
    """

    total_jobs: int
    waiting: int
    working: int
    done: int
    failed: int
    cancelled: int
    failing: int
    summaries_total: int
    summaries_done: int
    unscored: int
    usable: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float
    failures: list[Failure]
    unscored_reasons: list[tuple[str, int]]
    rate: float | None
    served: list[ServedModel]

    @property
    def asked(self) -> int:
        """The number of answers that the judge was asked for."""
        return self.unscored + self.usable

    @property
    def share_unusable(self) -> float:
        """The larger of two shares: unusable answers among all answers, and failing document sets among those tried.

        It is in [0, 1]; 0 before the first answer and the first finished attempt.
        """
        answers = self.unscored / self.asked if self.asked else 0.0
        return max(answers, self.failing / (self.failing + self.done) if self.failing else 0.0)

    @property
    def outcome(self) -> Outcome:
        """Rate the run by `share_unusable`: "unusable" if it is 1, "poor" from POOR_SHARE on, otherwise "good"."""
        if self.share_unusable == 1:
            return "unusable"
        return "poor" if self.share_unusable >= POOR_SHARE else "good"

    @property
    def seconds_left(self) -> float | None:
        """The remaining seconds at the recent rate; None if the rate is unknown."""
        return 60 * (self.summaries_total - self.summaries_done) / self.rate if self.rate else None

    @property
    def share_done(self) -> float:
        """The share of judged summaries, in [0, 1]; 1 if there are no summaries."""
        return self.summaries_done / self.summaries_total if self.summaries_total else 1.0


def is_under_way(run: Run) -> bool:
    """True if the run has not ended by now, according to the database and not to the loaded row."""
    return Run.objects.filter(pk=run.pk, state=Run.State.ACTIVE).exists()


def run_to_work_on(*, besides: Collection[int] = ()) -> Run | None:
    """Choose the run with due jobs and the fewest workers; in a tie, the run that has waited longest.

    `besides` has the keys of runs to ignore.
    """
    at_work = Count("jobs__token", distinct=True, filter=Q(jobs__state=Job.State.WORKING))
    runs = Run.objects.filter(Exists(due(Job.Kind.RUN).filter(run=OuterRef("pk")))).exclude(pk__in=besides)
    runs = runs.annotate(workers=at_work, served=Max("jobs__started_at"))
    in_turn = runs.order_by("workers", F("served").asc(nulls_first=True), "pk")
    return in_turn.select_related("project", "judge").first()


def runs_to_settle() -> QuerySet[Run]:
    """Select active runs without open jobs."""
    is_open = Job.objects.filter(run=OuterRef("pk"), state__in=OPEN)
    return Run.objects.filter(~Exists(is_open), state=Run.State.ACTIVE)


def is_whole(run: Run) -> bool:
    """True if the run covers every summary of its project."""
    visited = Job.objects.filter(run=run, document_set=OuterRef("document_set"))
    summaries = Summary.objects.filter(document_set__project=run.project_id, is_summary=True)
    return not run.is_trial and not summaries.filter(~Exists(visited)).exists()


def run_progress(run: Run) -> RunProgress:
    """Load the current progress of a run, from its jobs and calls."""
    sums = (Count("pk"), *(Sum(column) for column in ("total", "done", "unscored", "usable")))
    by_state = {
        state: row
        for state, *row in Job.objects.filter(run=run).values_list("state").annotate(*sums).order_by()
    }
    names = ("total_jobs", "summaries_total", "summaries_done", "unscored", "usable")
    counts = {name: sum(row[place] for row in by_state.values()) for place, name in enumerate(names)}
    paid = usage_of(JudgeCall.objects.filter(run=run))
    in_state = {state: by_state[state][0] if state in by_state else 0 for state in Job.State.values}
    return RunProgress(
        **in_state,
        **counts,
        failing=_failing(run).count(),
        calls=paid.calls,
        prompt_tokens=paid.prompt_tokens,
        completion_tokens=paid.completion_tokens,
        # Read the cost again, because a job may have paid since the row was read.
        cost=Run.objects.filter(pk=run.pk).values_list("cost", flat=True).get(),
        failures=_failures(run),
        unscored_reasons=why_unusable(run)[:REASONS_SHOWN] if counts["unscored"] else [],
        rate=_rate(run) if run.state == Run.State.ACTIVE else None,
        served=served_in(JudgeCall.objects.filter(run=run)) if paid.calls else [],
    )


def is_without_use(run: Run) -> bool:
    """True if each of the latest SETS_WITHOUT_USE document sets of the run failed, or had only unusable answers.

    Sets that ended before the run was last resumed are ignored. It is False while fewer sets have ended.
    """
    resumed = Event.objects.filter(project=run.project_id, verb="resume run", target_id=run.public_id)
    since = resumed.aggregate(last=Max("created_at"))["last"] or run.created_at
    ended = Job.objects.filter(run=run, finished_at__gt=since).exclude(state=Job.State.CANCELLED)
    latest = ended.order_by("-finished_at").values_list("state", "unscored", "usable")[:SETS_WITHOUT_USE]
    return len(latest) == SETS_WITHOUT_USE and not any(
        usable or (state == Job.State.DONE and not unscored) for state, unscored, usable in latest
    )


def is_useless(run: Run) -> bool:
    """True if the run asked its judge and got no usable answer.

    It is False if the same answers were unusable in an earlier run while other answers in these sets are usable.
    """
    jobs = Job.objects.filter(run=run)
    if not jobs.filter(unscored__gt=0).exists() or jobs.filter(usable__gt=0).exists():
        return False
    has_new = any(rows.filter(run=run).exists() for rows in _answers(run, are_usable=False))
    return has_new or not any(rows.exists() for rows in _answers(run, are_usable=True))


def why_unusable(run: Run) -> list[tuple[str, int]]:
    """Count the reasons of unusable answers, the most common first.

    If this run has no reasons, those of earlier runs are returned.
    """
    found = Counter[str]()
    for condition in ({"run": run}, {}):
        for rows in [] if found else _answers(run, are_usable=False):
            found.update(dict(rows.filter(**condition).values_list("reason").annotate(Count("pk"))))
    return sorted(found.items(), key=lambda each: (-each[1], each[0]))


def _answers(run: Run, *, are_usable: bool) -> tuple[QuerySet[Any], ...]:
    """Select the judge's answers about the document sets with unusable answers in this run."""
    sets = Job.objects.filter(run=run, unscored__gt=0).values("document_set")
    verdicts = Verdict.objects.filter(judge=run.judge_id, check_row__summary__document_set__in=sets)
    ratings = Rating.objects.filter(judge=run.judge_id, summary__document_set__in=sets)
    return (
        verdicts.filter(label__isnull=not are_usable).order_by(),
        ratings.filter(value__isnull=not are_usable).order_by(),
    )


def most_common_reason(run: Run) -> str:
    """Write a sentence with the most common reason of unusable answers, with a leading space; "" if there is none."""
    reasons = why_unusable(run)
    # Cut the reason, so that the following sentences fit into the run's column.
    return (
        f" Most common reason: {Truncator(reasons[0][0].rstrip('.')).chars(REASON_SHOWN)}." if reasons else ""
    )


def why_without_use(run: Run) -> str:
    """Write why a run is stopped that gets no usable answers."""
    return (
        f"No usable answer for the last {SETS_WITHOUT_USE} document sets.{most_common_reason(run)} "
        "Fix the judge or its server, resume for the rest, then start another run: it asks only what has no usable "
        "answer yet."
    )


def usage_of(calls: QuerySet[JudgeCall]) -> Usage:
    """Add up the usage of stored calls, without the cost: the run that paid has it."""
    sums = calls.aggregate(
        made=Count("pk"),
        prompt=Sum("prompt_tokens", default=0),
        completion=Sum("completion_tokens", default=0),
        took=Sum("seconds", default=0.0),
    )
    return Usage(sums["made"], sums["prompt"], sums["completion"], sums["took"])


def served_in(calls: QuerySet[JudgeCall]) -> list[ServedModel]:
    """Find the models that answered these calls, by judge."""
    named = calls.exclude(served_model="").order_by("judge__name", "judge", "served_model")
    models: defaultdict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    rows = named.values_list("judge", "judge__name", "served_model").annotate(first=Min("pk"))
    for judge, name, model, first in rows:
        models[judge, name][model] = first
    found = []
    for (judge, name), firsts in models.items():
        earlier = JudgeCall.objects.filter(judge=judge, pk__lt=min(firsts.values())).exclude(served_model="")
        before = earlier.order_by("-pk").values_list("served_model", flat=True).first()
        found.append(ServedModel(name, tuple(firsts), before or ""))
    return found


def latest_run(project: Project) -> Run | None:
    """The project's newest run; None if it has no runs."""
    return Run.objects.filter(project=project).select_related("judge", "started_by").order_by("-pk").first()


def is_worker_alive(now: datetime | None = None) -> bool:
    """True if a worker has a recent heartbeat."""
    return workers_alive(now) > 0


def _failing(run: Run) -> QuerySet[Job]:
    has_failed = ~Q(error="") | Q(state=Job.State.FAILED)
    return Job.objects.filter(has_failed, run=run).exclude(state=Job.State.DONE)


def _failures(run: Run) -> list[Failure]:
    jobs = _failing(run).order_by("document_set__external_id")
    rows = jobs.values_list("document_set__external_id", "error", "attempt")
    return [Failure(*row) for row in rows[:FAILURES_SHOWN]]


def _rate(run: Run) -> float | None:
    now = timezone.now()
    late = Job.objects.filter(run=run, state=Job.State.DONE, finished_at__gte=now - RATE_OVER)
    found = late.aggregate(summaries=Sum("done", default=0), began=Min("started_at"))
    if not found["summaries"]:
        return None
    seconds = min(RATE_OVER, now - found["began"]).total_seconds()
    return float(60 * found["summaries"] / max(1.0, seconds))


def runs_of(project: Project) -> QuerySet[Run]:
    """The project's runs, with their judges and the people who started them."""
    return project.runs.select_related("project", "judge", "started_by")


RUNS = List(
    name="runs",
    verbs=(Verb.VIEW_RUNS,),
    rows=lambda viewer: runs_of(viewer.project).annotate(unusable=Sum("jobs__unscored", default=0)),
    order=("-pk",),
    title="Past runs",
    empty="No runs yet.",
    # Poll slowly if there are no runs, because the first run may be starting.
    polls=lambda rows: 10 if not rows else 2 if any(run.state == Run.State.ACTIVE for run in rows) else 0,
    filters=(Filter("state", choices=RUN_STATES, title="State"),),
    columns=(
        Column("created_at", kind=Kind.MOMENT, head="Started", order="pk", link="run"),
        Column("id", "public_id"),
        Column("judge", "judge.name", head="Judge", order=True, search=True),
        Column("metrics", kind=Kind.TEXTS, head="Metrics"),
        Column(
            "n_questions",
            kind=Kind.COUNT,
            nullable=True,
            help="Number of questions per document set. Null: the judge generates some only if none were added.",
        ),
        Column("state", choices=RUN_STATES, head="State", order=True, cell="judging/runs/_state.html"),
        Column("unusable", kind=Kind.COUNT, nullable=True, help="Unusable answers; null outside of lists."),
        Column("stop_reason", help="Reason for an early stop; empty otherwise."),
        Column("cost", kind=Kind.NUMBER, help="What its calls cost, at the judge's prices."),
        Column("max_cost", kind=Kind.NUMBER, nullable=True, help="Its cap; null for none."),
        Column(
            "repeat_share",
            kind=Kind.NUMBER,
            nullable=True,
            help="Share of the summaries that the judge is asked about again; null for none.",
        ),
        Column(
            "is_trial",
            kind=Kind.FLAG,
            help="It judges only some summaries, to measure the judge or for a watch.",
        ),
        Column(
            "started_by", "started_by.username", nullable=True, head="By", missing="Coverdict", search=True
        ),
        Column("finished_at", kind=Kind.MOMENT, nullable=True),
    ),
)


def calls_of(run: Run) -> List:
    """The list of the calls that a run paid for, newest first."""
    return List(
        name="calls",
        verbs=(Verb.VIEW_SCORES,),
        rows=lambda viewer: JudgeCall.objects.filter(run=run).select_related("judge"),
        order=("-pk",),
        empty="The built-in judge makes no calls."
        if run.judge.kind == Judge.Kind.LEXICAL
        else "This run paid for no call: its answers were stored already, or no call succeeded.",
        columns=(
            Column("created_at", kind=Kind.MOMENT, head="Answered", order="pk"),
            Column("id", "public_id"),
            Column("step", head="Step", order=True),
            Column("judge", "judge.name", head="Judge", order=True),
            Column("reply", head="Call", search=True, cell="judging/runs/_call.html"),
            Column("request", search=True),
            Column("finish_reason", head="Ended by", order=True, missing="no reason given"),
            Column("prompt_tokens", kind=Kind.COUNT, head="Tokens sent", order=True),
            Column("completion_tokens", kind=Kind.COUNT, head="received", order=True),
            Column("seconds", kind=Kind.NUMBER, head="Seconds", order=True),
            Column("erased_at", kind=Kind.MOMENT, nullable=True),
        ),
    )
