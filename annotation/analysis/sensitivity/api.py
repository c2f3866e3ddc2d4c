"""How far the order of the systems hangs on choices."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.figures import answered
from annotation.api.access import ApiView
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Analysis


class SystemOrder(serializers.Serializer[Any]):
    """The systems' means and ranks under one choice."""

    name = serializers.CharField(help_text="The weight, the judge, or who is left out.")
    means = serializers.DictField(child=serializers.FloatField())
    ranks = serializers.DictField(child=serializers.IntegerField())
    tau = serializers.FloatField(allow_null=True, help_text="Kendall's tau-b with the order by coverage.")
    ahead = serializers.ListField(child=serializers.CharField(), help_text="The highest mean.")
    moved = serializers.ListField(child=serializers.CharField(), help_text="Systems with a different rank.")


class PlaceChange(serializers.Serializer[Any]):
    weight = serializers.FloatField()
    before = serializers.CharField(help_text="Leader below this weight.")
    after = serializers.CharField(help_text="Leader above it.")


class WeightLead(serializers.Serializer[Any]):
    low = serializers.FloatField()
    high = serializers.FloatField()
    systems = serializers.ListField(child=serializers.CharField())


class OrderByWeight(serializers.Serializer[Any]):
    """The order as a weight goes from 0 to 1; means lie on straight lines between both ends."""

    own = serializers.FloatField(help_text="The project's weight.")
    own_name = serializers.CharField()
    at_zero = serializers.DictField(child=serializers.FloatField())
    at_one = serializers.DictField(child=serializers.FloatField())
    orders = SystemOrder(many=True)
    weights = serializers.ListField(child=serializers.FloatField())
    crossings = PlaceChange(many=True)
    leads = WeightLead(many=True)
    pairs = serializers.IntegerField()
    left_out = serializers.IntegerField()


class SensitivitySentences(serializers.Serializer[Any]):
    length = serializers.CharField()
    blend = serializers.CharField()
    judges = serializers.CharField()
    people = serializers.CharField()


class SensitivityTarget(serializers.Serializer[Any]):
    """The orders at one target length."""

    target_words = serializers.IntegerField(allow_null=True)
    present = SystemOrder(help_text="By mean coverage, as on the leaderboard.")
    length = OrderByWeight(allow_null=True, help_text="a, the weight of coverage against brevity.")
    blend = OrderByWeight(
        allow_null=True, help_text="w, the weight of assessors' percents against claims' final answers."
    )
    judges = SystemOrder(many=True)
    people = SystemOrder(many=True, help_text="Without one person's percents and verdicts.")
    sentences = SensitivitySentences()


class PartialJudge(serializers.Serializer[Any]):
    judge = serializers.CharField()
    answered = serializers.IntegerField()


class SensitivityFigures(serializers.Serializer[Any]):
    made_at = serializers.DateTimeField()
    is_stale = serializers.BooleanField(
        help_text="Something has changed since; newer figures are being computed."
    )
    judge = serializers.CharField(help_text="The deciding judge; empty where there is none.")
    checks = serializers.IntegerField(help_text="Coverage checks not decided by a rule.")
    incomplete = PartialJudge(many=True, help_text="Judges that have answered only a part of them.")
    targets = SensitivityTarget(many=True)


class SensitivityView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_sensitivity", responses=SensitivityFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show how the order of the systems changes with the weights, the judge and the people."""
        project = self.enter(Verb.VIEW_SCORES)
        return Response(SensitivityFigures(answered(project, Analysis.Kind.SENSITIVITY)).data)
