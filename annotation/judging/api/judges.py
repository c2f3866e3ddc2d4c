"""Judges that a run may name. Their addresses and keys are no business of the API."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import LabelField
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.refusals import NotAllowed
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.try_judge import Trial, may_try, try_judge
from annotation.models import Judge


class JudgeRow(serializers.Serializer[Judge]):
    id = serializers.CharField(source="public_id")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=Judge.Kind.choices)
    model = serializers.CharField(help_text="The model's name at the provider; empty for the lexical one.")
    is_deciding = serializers.SerializerMethodField(help_text="Whether its verdicts decide in this project.")

    def get_is_deciding(self, judge: Judge) -> bool:
        deciding: int | None = self.context["deciding_judge_id"]
        return judge.pk == deciding


class TrialRow(serializers.Serializer[Trial]):
    answer = LabelField(
        source="label",
        allow_null=True,
        help_text="To the sample claim; null where no answer could be used.",
    )
    probability = serializers.FloatField(allow_null=True, help_text="Of yes, where the judge gave one.")
    reason = serializers.CharField()
    seconds = serializers.FloatField(help_text="The whole wait, connecting included.")
    calls = serializers.IntegerField()
    format = serializers.CharField(
        help_text="json_schema, json_object or text: the best that the server takes. Empty without a server."
    )
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.FloatField()


class JudgeTrial(ApiView):
    tag = "judges"

    @operation("try_judge", responses=TrialRow)
    def post(self, request: Request, name: str) -> Response:
        """Ask a judge one sample question.

        For those who may start runs in some project. Tells whether it answers, how long that takes and
        which reply format its server supports. Nothing else is kept.
        """
        if not may_try(self.person):
            # Whoever may try none learns no names of judges either.
            raise NotAllowed("Trying a judge is for those who may start runs in some project.")
        trial = try_judge(judge=judge_by_name(name), by=self.person)
        return Response(TrialRow(trial).data)


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
