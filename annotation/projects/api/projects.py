from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import FloatField
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView
from annotation.api.fields import ShareField, WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.assessing.services.assign import MOST_PER_SET
from annotation.core.criteria import criteria_in_force
from annotation.core.lists import Viewer
from annotation.core.permissions import Verb, is_blind, roles_in, verbs_in
from annotation.core.refusals import Invalid
from annotation.judging.queries.judges import judges_of
from annotation.models import Criterion, Judge, Project, Role
from annotation.projects.queries.overview import PROJECTS
from annotation.projects.services.change_project import (
    LONGEST_LEASE_MINUTES,
    RULES,
    change_project,
    create_project,
    own_project,
)
from evaluation import metrics

ProjectRow = shape_of(PROJECTS, "ProjectRow")


@extend_schema_field(
    {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}
)
class PointField(serializers.Field[Any, Any, Any, Any]):
    """A point of a scale: a whole number and its words."""

    def to_internal_value(self, given: Any) -> tuple[int, str]:
        match given:
            case [int(value), str(words)] if not isinstance(value, bool):
                return value, words
        raise serializers.ValidationError("A point is a whole number and its words.")

    def to_representation(self, point: Any) -> Any:
        return point


class CriterionRow(serializers.ModelSerializer[Criterion]):
    """A question that people, judges or both answer about each summary."""

    serializer_choice_field = WordChoice
    name = serializers.CharField(max_length=40)
    points = serializers.ListField(child=PointField(), required=False)

    class Meta:
        model = Criterion
        fields = tuple(field.name for field in dataclasses.fields(metrics.Criterion))
        validators = ()


class ProjectRules(serializers.ModelSerializer[Project]):
    """The rules that owners and managers can change. Omitted rules keep their values."""

    serializer_choice_field = WordChoice
    serializer_field_mapping = serializers.ModelSerializer.serializer_field_mapping | {FloatField: ShareField}

    criteria = CriterionRow(many=True)
    deciding_judge: Any = serializers.CharField(
        allow_null=True, help_text="Name of the judge whose verdicts count if no person has decided."
    )

    class Meta:
        model = Project
        fields: tuple[str, ...] = (*RULES, "criteria")
        validators = ()
        extra_kwargs: ClassVar[dict[str, dict[str, Any]]] = {
            "target_length": {"min_value": 1},
            "assessors_per_set": {"max_value": MOST_PER_SET},
            "lease_minutes": {"min_value": 1, "max_value": LONGEST_LEASE_MINUTES},
        }


class NewProject(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, required=False, max_length=4000)
    compares = WordChoice(choices=Project.Compares.choices, required=False)


class ProjectDetail(ProjectRules):
    id = serializers.CharField(source="public_id")
    criteria: Any = serializers.SerializerMethodField()
    deciding_judge = serializers.CharField(
        source="deciding_judge.name",
        allow_null=True,
        default=None,
        help_text="Name of the judge whose verdicts count if no person has decided; null while you are blind.",
    )
    roles = serializers.SerializerMethodField(help_text="The caller's roles.")
    verbs = serializers.SerializerMethodField(help_text="What the caller can do now.")
    is_blind = serializers.SerializerMethodField(
        help_text="True if open assessor work hides systems, verdicts and other people's judgments."
    )

    class Meta(ProjectRules.Meta):
        fields = ("id", "slug", "created_at", *RULES, "criteria", "roles", "verbs", "is_blind")

    def to_representation(self, project: Project) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(project)
        if shown["is_blind"]:
            shown["deciding_judge"] = None
        return shown

    @extend_schema_field(CriterionRow(many=True))
    def get_criteria(self, project: Project) -> Any:
        return CriterionRow(criteria_in_force(project), many=True).data

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

    get = operation_of(PROJECTS, ProjectRow, "List the projects of the caller without archived ones.")

    def viewer(self, *any_of: Verb) -> Viewer:
        """Return the caller as a viewer without a project."""
        return Viewer(self.person, Project(), frozenset())

    @operation(
        "create_project",
        request=NewProject,
        responses={200: ProjectDetail, 201: ProjectDetail},
        refusals=("403",),
    )
    def post(self, request: Request) -> Response:
        """Create a project that the caller owns, or return the caller's own project of that name unchanged.

        Refused (403) if the caller may not create projects.
        """
        asked = self.body(NewProject)
        own = own_project(asked["name"], self.person)
        found = own or create_project(by=self.person, **asked)
        shown = ProjectDetail(found, context={"person": self.person}).data
        return Response(shown, status=status.HTTP_200_OK if own else status.HTTP_201_CREATED)


class OneProject(ApiView):
    tag = "projects"

    @operation("get_project", responses=ProjectDetail)
    def get(self, request: Request, slug: str) -> Response:
        """Show the rules of a project and the caller's permissions in it."""
        return Response(self._shown(self.enter(Verb.VIEW_PROJECT)))

    @operation("change_project", request=ProjectRules, responses=ProjectDetail)
    def patch(self, request: Request, slug: str) -> Response:
        """Change rules of a project.

        Needs the verb "change project".
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        changes = self.body(ProjectRules, partial=True)
        if changes.get("deciding_judge") is not None:
            changes["deciding_judge"] = _judge(changes["deciding_judge"], project)
        if (criteria := changes.pop("criteria", None)) is not None:
            changes["criteria"] = [_fact(**criterion) for criterion in criteria]
        return Response(self._shown(change_project(project=project, by=self.person, **changes)))

    def _shown(self, project: Project) -> Mapping[str, Any]:
        return ProjectDetail(project, context={"person": self.person}).data


def _fact(*, name: str = "", question: str = "", points: Any = (), **columns: Any) -> metrics.Criterion:
    return metrics.Criterion(name, question, points=tuple(points), **columns)


def _judge(name: str, project: Project) -> Judge:
    judge = judges_of(project).filter(name=name).first()
    if judge is None:
        raise Invalid(f"There is no judge {name!r}.", field="deciding_judge")
    return judge
