"""Judges that a run may name. Their addresses and keys are no business of the API."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.schema import operation
from annotation.models import Judge
from annotation.permissions import Verb


class JudgeRow(serializers.Serializer[Judge]):
    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Judge.Kind.choices)
    model = serializers.CharField(help_text="The model's name at the provider; empty for the lexical one.")
    is_deciding = serializers.SerializerMethodField(help_text="Whether its verdicts decide in this project.")

    def get_is_deciding(self, judge: Judge) -> bool:
        deciding: int | None = self.context["deciding_judge_id"]
        return judge.pk == deciding


class Judges(ApiView):
    tag = "judges"

    @operation("list_judges", parameters=[PageQuery], responses=JudgeRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the judges that there are, and which one decides in the project.

        The built-in judge "lexical" can always be named, and is listed once it has been used.
        """
        project = self.enter(Verb.VIEW_RUNS)
        context = {"deciding_judge_id": project.deciding_judge_id}
        query = self.query(PageQuery)
        return self.page(Judge.objects.all(), JudgeRow, query=query, order=("name",), context=context)
