"""The API of runs."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import FactsField
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.judging.api.judges import named_judge
from annotation.judging.queries.runs import RUNS, RunProgress, is_worker_alive, run_progress, runs_of
from annotation.judging.services.start_run import cancel_run, resume_run, start_run
from annotation.models import Run
from annotation.models.run import MOST_QUESTIONS_MADE

RunRow = shape_of(RUNS, "RunRow")


class RunDetail(RunRow):  # type: ignore[valid-type, misc]
    progress = FactsField(RunProgress, run_progress)
    prompts = serializers.SerializerMethodField(
        help_text="The project's own prompts at its start. Other steps used the built-in prompts."
    )
    is_worker_alive = serializers.SerializerMethodField(
        help_text="Whether a worker is running; without one, nothing proceeds."
    )

    def get_prompts(self, run: Run) -> list[str]:
        return list(map(str, run.prompt_versions.all()))

    def get_is_worker_alive(self, run: Run) -> bool:
        return is_worker_alive()


class NewRun(serializers.Serializer[Any]):
    judge = serializers.CharField(help_text='Name of the judge, such as "lexical".')
    metrics = serializers.ListField(
        child=serializers.CharField(),
        required=False,
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
    repeat_share = serializers.FloatField(
        allow_null=True,
        default=None,
        help_text="Share of the summaries that the judge is asked about again, which shows how often it changes "
        "its answers.",
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

        Needs the verb "run".
        """
        project = self.enter(Verb.RUN)
        wanted = {"metrics": project.usual_metrics, **self.body(NewRun)}
        wanted["judge"] = named_judge(wanted["judge"], project, "judge")
        run = start_run(project=project, by=self.person, **wanted)
        return Response(RunDetail(run).data, status=status.HTTP_201_CREATED)


class OneRun(ApiView):
    tag = "runs"

    @operation("get_run", responses=RunDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a run with its progress and failures."""
        project = self.enter(Verb.VIEW_RUNS)
        return Response(RunDetail(only(runs_of(project), public_id, "run")).data)


class RunCancel(ApiView):
    tag = "runs"

    @operation("cancel_run", responses=RunDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Cancel a run.

        Needs the verb "run". Stored answers are kept. A run that has ended is not changed.
        """
        project = self.enter(Verb.RUN)
        run = cancel_run(run=only(runs_of(project), public_id, "run"), by=self.person)
        return Response(RunDetail(run).data)


class RunResume(ApiView):
    tag = "runs"

    @operation("resume_run", request=Resumed, responses=RunDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Resume a run: its failed and cancelled jobs are queued again.

        Needs the verb "run".
        """
        project = self.enter(Verb.RUN)
        run = only(runs_of(project), public_id, "run")
        run = resume_run(run=run, max_cost=self.body(Resumed)["max_cost"], by=self.person)
        return Response(RunDetail(run).data)
