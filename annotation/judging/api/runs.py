"""Runs: let a judge answer the checks of a project, watch it, stop it, let it go on."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery, only
from annotation.api.fields import NamedChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotFound
from annotation.judging.queries.prompts import own_versions_of
from annotation.judging.queries.run_estimate import RunEstimate, run_estimate
from annotation.judging.queries.runs import RUNS, RunProgress, is_worker_alive, run_progress, runs_of
from annotation.judging.services.judge_document_set import parts_of
from annotation.judging.services.judges import LEXICAL, judge_by_name
from annotation.judging.services.start_run import cancel_run, resume_run, start_run
from annotation.models import Judge, JudgeCall, Project, Run
from annotation.models.run import MOST_QUESTIONS_MADE

MOST_METRICS = 20


RunRow = shape_of(RUNS, "RunRow")


class FailureRow(serializers.Serializer[Any]):
    document_id = serializers.CharField(source="document_set")
    error = serializers.CharField()
    attempt = serializers.IntegerField()


class ProgressRow(serializers.Serializer[RunProgress]):
    """Where a run stands. Jobs count document sets; summaries are peer summaries."""

    total_jobs = serializers.IntegerField()
    waiting = serializers.IntegerField()
    working = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    cancelled = serializers.IntegerField()
    summaries_total = serializers.IntegerField()
    summaries_done = serializers.IntegerField()
    unscored = serializers.IntegerField(
        help_text="Verdicts, answers to questions and ratings that are unusable."
    )
    usable = serializers.IntegerField(help_text="Those that are usable.")
    outcome = NamedChoice(
        "RunOutcome",
        [("good", "good"), ("poor", "a tenth or more came to nothing"), ("unusable", "nothing can be used")],
        help_text="Whether its answers are usable: `poor` if a tenth or more are unusable.",
    )
    calls = serializers.IntegerField(help_text="Paid calls.")
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.FloatField(help_text="Their cost at the judge's prices.")
    failures = FailureRow(many=True, help_text="The first of the jobs with an error.")


class PromptUsed(serializers.Serializer[Any]):
    step = serializers.CharField()
    number = serializers.IntegerField()
    version = serializers.CharField(help_text="Follows from the words; stored calls are found by it.")


class RunDetail(RunRow):  # type: ignore[valid-type, misc]
    progress = serializers.SerializerMethodField()
    prompts = serializers.SerializerMethodField(
        help_text="The project's own prompts at its start. Other steps used the built-in prompts."
    )
    is_worker_alive = serializers.SerializerMethodField(
        help_text="Whether a worker is running; without one, nothing proceeds."
    )

    @extend_schema_field(ProgressRow)
    def get_progress(self, run: Run) -> Any:
        return ProgressRow(run_progress(run)).data

    @extend_schema_field(PromptUsed(many=True))
    def get_prompts(self, run: Run) -> Any:
        return PromptUsed(own_versions_of(run), many=True).data

    def get_is_worker_alive(self, run: Run) -> bool:
        return is_worker_alive()


class NewRun(serializers.Serializer[Any]):
    judge = serializers.CharField(help_text='Name of the judge, such as "lexical".')
    metrics = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        max_length=MOST_METRICS,
        help_text="If omitted, coverage and alignment.",
    )
    n_questions = serializers.IntegerField(
        allow_null=True,
        default=None,
        min_value=0,
        max_value=MOST_QUESTIONS_MADE,
        help_text="Number of questions per document set; the judge generates missing ones. If omitted, it "
        "generates some only if none were added.",
    )
    max_cost = serializers.FloatField(
        allow_null=True, default=None, help_text="Cost cap; the run stops before exceeding it."
    )
    decides_after = serializers.BooleanField(
        default=False,
        help_text='The judge becomes the deciding judge when the run finishes. Needs the verb "change project".',
    )


class Resumed(serializers.Serializer[Any]):
    max_cost = serializers.FloatField(
        allow_null=True, default=None, help_text="A new cap for the whole run; if omitted, the old one stays."
    )


class Runs(ApiView):
    tag = "runs"

    get = operation_of(RUNS, RunRow, "List the runs of a project, newest first.")

    @operation("start_run", request=NewRun, responses={201: RunDetail})
    def post(self, request: Request, slug: str) -> Response:
        """Start a run.

        Needs the verb "run". What this judge has answered already is not asked again.
        """
        project = self.enter(Verb.RUN)
        wanted = self.body(NewRun)
        judge = _judge(wanted["judge"], project)
        run = start_run(
            project=project,
            judge=judge,
            metrics=wanted.get("metrics", project.usual_metrics),
            n_questions=wanted["n_questions"],
            max_cost=wanted["max_cost"],
            decides_after=wanted["decides_after"],
            by=self.person,
        )
        return Response(RunDetail(run).data, status=status.HTTP_201_CREATED)


class EstimateQuery(serializers.Serializer[Any]):
    judge = serializers.CharField(default=LEXICAL, help_text="Name of the judge.")
    metrics = serializers.CharField(
        required=False, help_text="Names, separated by commas. If omitted, coverage and alignment."
    )


class EstimateRow(serializers.Serializer[RunEstimate]):
    """About what a run comes to if nothing is answered yet."""

    document_sets = serializers.IntegerField()
    summaries = serializers.IntegerField()
    known = serializers.IntegerField(
        help_text="Summaries with stored verdicts of this judge; these cost less."
    )
    calls = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.FloatField(allow_null=True, help_text="Null for judges without a price.")
    seconds = serializers.FloatField()
    is_measured = serializers.BooleanField(
        help_text="Whether call sizes are based on the judge's latest calls instead of text lengths."
    )


class EstimateView(ApiView):
    tag = "runs"
    pagination_class = None

    @operation("estimate_run", parameters=[EstimateQuery], responses=EstimateRow, refusals=("422",))
    def get(self, request: Request, slug: str) -> Response:
        """Estimate calls, tokens, cost and time of a run before it starts."""
        project = self.enter(Verb.RUN)
        query = self.query(EstimateQuery)
        named = query["metrics"].split(",") if "metrics" in query else project.usual_metrics
        parts = parts_of(name.strip() for name in named)
        judge = _judge(query["judge"], project)
        return Response(EstimateRow(run_estimate(project=project, judge=judge, parts=parts)).data)


class OneRun(ApiView):
    tag = "runs"

    @operation("get_run", responses=RunDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a run: how far it is, and what failed and why."""
        project = self.enter(Verb.VIEW_RUNS)
        return Response(RunDetail(only(runs_of(project), public_id, "run")).data)


class CallRow(serializers.Serializer[JudgeCall]):
    """What was sent to a judge and what came back, word for word."""

    id = serializers.CharField(source="public_id")
    judge = serializers.CharField(source="judge.name")
    step = serializers.CharField()
    prompt_version = serializers.CharField()
    request = serializers.CharField(help_text="JSON, without any secret.")
    reply = serializers.CharField()
    finish_reason = serializers.CharField(help_text="As the server gave it; empty where it gave none.")
    served_model = serializers.CharField(help_text="The model's name in the reply.")
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    seconds = serializers.FloatField()
    created_at = serializers.DateTimeField()


class RunCalls(ApiView):
    tag = "runs"

    @operation("list_run_calls", parameters=[PageQuery], responses=CallRow(many=True))
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """List the calls that a run paid for, newest first, with what was sent and what came back.

        Needs the verb "view scores": they tell what the judge said of every summary.
        """
        project = self.enter(Verb.VIEW_SCORES)
        run = only(runs_of(project), public_id, "run")
        rows = JudgeCall.objects.filter(run=run).select_related("judge")
        return self.page(rows, CallRow, query=self.query(PageQuery), order=("-pk",))


class RunCancel(ApiView):
    tag = "runs"

    @operation("cancel_run", responses=RunDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Stop a run.

        Needs the verb "run". What was judged stays. A run that is over stays as it is.
        """
        project = self.enter(Verb.RUN)
        run = cancel_run(run=only(runs_of(project), public_id, "run"), by=self.person)
        return Response(RunDetail(run).data)


class RunResume(ApiView):
    tag = "runs"

    @operation("resume_run", request=Resumed, responses=RunDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Let the failed and cancelled jobs of a run wait again.

        Needs the verb "run". What was judged is not asked again. A run that reached its cap needs a
        higher one.
        """
        project = self.enter(Verb.RUN)
        run = only(runs_of(project), public_id, "run")
        run = resume_run(run=run, max_cost=self.body(Resumed)["max_cost"], by=self.person)
        return Response(RunDetail(run).data)


def _judge(name: str, project: Project) -> Judge:
    try:
        return judge_by_name(name, project)
    except NotFound as refusal:
        # The address is right; what is wrong is an input.
        raise Invalid(refusal.message, field="judge", code=refusal.code) from refusal
