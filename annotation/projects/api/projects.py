"""Projects: which there are for the caller, what the caller may do in one, and its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import ShareField, WordChoice
from annotation.api.schema import operation
from annotation.assessing.services.assign import MOST_PER_SET
from annotation.core.permissions import Verb, is_blind, roles_in, verbs_in, visible_projects
from annotation.core.refusals import Invalid
from annotation.judging.queries.judges import judges_of
from annotation.models import Judge, Project, Role
from annotation.projects.services.change_project import (
    LONGEST_LEASE_MINUTES,
    LONGEST_TARGET,
    change_project,
    create_project,
)
from evaluation.judging import LABEL_VALUES_IN_WORDS


class ProjectRow(serializers.Serializer[Project]):
    id = serializers.CharField(source="public_id")
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    created_at = serializers.DateTimeField()


class OwnQuestionRow(serializers.Serializer[Any]):
    """A quality question of the project's own; its answers count from `first`."""

    id = serializers.CharField(max_length=40)
    text = serializers.CharField(max_length=500)
    answers = serializers.ListField(child=serializers.CharField(max_length=200), min_length=2, max_length=11)
    first = serializers.IntegerField(required=False, min_value=0, max_value=100)


class ProjectRules(serializers.Serializer[Any]):
    """What an owner or manager may change. What is left out stays."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True)
    compares = WordChoice(
        choices=Project.Compares.choices,
        help_text="Type of data; sets the defaults on pages.",
    )
    blend = WordChoice(choices=Project.Blend.choices)
    blend_human_weight = ShareField(help_text="Weight of people's percents if the blend is weighted.")
    assessor_average = WordChoice(choices=Project.AssessorAverage.choices)
    composite_weight = ShareField(help_text="a in X = a·coverage + (1 - a)·brevity.")
    summarization_threshold = ShareField(
        help_text="Summarization passes if the lower of its two parts reaches this."
    )
    summarization_strict = serializers.BooleanField(
        help_text="Whether summarization is 1 if both parts are 1, otherwise 0."
    )
    summarization_scale = ShareField(help_text="Summarization is multiplied by this, which is above 0.")
    least_scored = ShareField(
        help_text="Scores are null if a smaller share of their claims or questions is scored."
    )
    length_unit = WordChoice(choices=Project.LengthUnit.choices)
    target_length = serializers.IntegerField(
        allow_null=True,
        min_value=1,
        max_value=LONGEST_TARGET,
        help_text="Default for summaries without a target length, in the length unit.",
    )
    over_length = WordChoice(choices=Project.OverLength.choices)
    percent_scale = WordChoice(choices=Project.PercentScale.choices)
    question_set = WordChoice(
        choices=Project.QuestionSet.choices,
        help_text="Quality questions, asked of a peer summary before its model summary is shown.",
    )
    own_questions = OwnQuestionRow(many=True)
    assessors_per_set = serializers.IntegerField(
        min_value=0,
        max_value=MOST_PER_SET,
        help_text="Assessors take sets from a queue until each set has so many assessors; 0 for no queue.",
    )
    lease_minutes = serializers.IntegerField(
        min_value=1,
        max_value=LONGEST_LEASE_MINUTES,
        help_text="Idle minutes after which a set returns to the queue.",
    )
    reveal = WordChoice(choices=Project.Reveal.choices, help_text="When reviewers see the judge's verdict.")
    dispute_threshold = ShareField(
        help_text=f"Answers that differ by more than this go to adjudicators: {LABEL_VALUES_IN_WORDS}; 100 % "
        "is 1."
    )
    dispute_voices = WordChoice(
        choices=Project.Voices.choices, help_text="Whose answers are compared for disputes."
    )
    deciding_judge = serializers.CharField(
        allow_null=True, help_text="Name of the judge whose verdicts count if no person has decided."
    )


class NewProject(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    slug = serializers.SlugField(max_length=60, required=False, help_text="Created from the name if omitted.")
    description = serializers.CharField(allow_blank=True, required=False)
    compares = WordChoice(choices=Project.Compares.choices, required=False)


class ProjectDetail(ProjectRow, ProjectRules):
    deciding_judge = serializers.CharField(
        source="deciding_judge.name",
        allow_null=True,
        default=None,
        help_text="Name of the judge whose verdicts stand where no person has decided; null while you are blind.",
    )
    roles = serializers.SerializerMethodField(help_text="The caller's roles.")
    verbs = serializers.SerializerMethodField(help_text="What the caller can do now.")
    is_blind = serializers.SerializerMethodField(
        help_text="Whether open assessor work hides systems, verdicts and other people's judgments."
    )

    def to_representation(self, project: Project) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(project)
        if shown["is_blind"]:
            shown["deciding_judge"] = None
        return shown

    def get_roles(self, project: Project) -> list[Role]:
        return sorted(roles_in(self.context["person"], project))

    @extend_schema_field(
        serializers.ListField(child=WordChoice(choices=[verb.name.lower() for verb in Verb]))
    )
    def get_verbs(self, project: Project) -> list[str]:
        return sorted(verb.name.lower() for verb in verbs_in(self.context["person"], project))

    def get_is_blind(self, project: Project) -> bool:
        return is_blind(self.context["person"], project)


class Projects(ApiView):
    tag = "projects"

    @operation("list_projects", parameters=[PageQuery], responses=ProjectRow(many=True))
    def get(self, request: Request) -> Response:
        """List the projects of the caller.

        In the order of their addresses, archived ones left out.
        """
        query = self.query(PageQuery)
        found = visible_projects(self.person).filter(archived_at__isnull=True)
        return self.page(found, ProjectRow, query=query, order=("slug",))

    @operation("create_project", request=NewProject, responses={201: ProjectDetail}, refusals=("403", "409"))
    def post(self, request: Request) -> Response:
        """Make a project.

        The caller becomes its owner. For staff, or for everybody where the operator says so.
        """
        made = create_project(by=self.person, **self.body(NewProject))
        shown = ProjectDetail(made, context={"person": self.person}).data
        return Response(shown, status=status.HTTP_201_CREATED)


class OneProject(ApiView):
    tag = "projects"

    @operation("get_project", responses=ProjectDetail)
    def get(self, request: Request, slug: str) -> Response:
        """Show a project: its rules, and what the caller may do in it."""
        return Response(self._shown(self.enter(Verb.VIEW_PROJECT)))

    @operation("change_project", request=ProjectRules, responses=ProjectDetail)
    def patch(self, request: Request, slug: str) -> Response:
        """Change rules of a project.

        Needs the verb "change project". Old and new values go into the log, and the scores are
        rebuilt at once where a rule moves them.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        changes = self.body(ProjectRules, partial=True)
        if changes.get("deciding_judge") is not None:
            changes["deciding_judge"] = _judge(changes["deciding_judge"], project)
        return Response(self._shown(change_project(project=project, by=self.person, **changes)))

    def _shown(self, project: Project) -> Mapping[str, Any]:
        return ProjectDetail(project, context={"person": self.person}).data


def _judge(name: str, project: Project) -> Judge:
    judge = judges_of(project).filter(name=name).first()
    if judge is None:
        raise Invalid(f"There is no judge {name!r}.", field="deciding_judge")
    return judge
