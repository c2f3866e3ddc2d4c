"""How far people agree, from answers given before anything was revealed."""

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


def _share(**words: Any) -> Any:
    return serializers.FloatField(allow_null=True, **words)


class IntervalRow(serializers.Serializer[Any]):
    """A statistic with its 95 % bootstrap interval over document sets; null where nothing can be said."""

    value = _share()
    low = _share()
    high = _share()
    clusters = serializers.IntegerField(help_text="Document sets that were resampled.")


class RaterPair(serializers.Serializer[Any]):
    """Two raters on the items that both answered."""

    first = serializers.CharField()
    second = serializers.CharField()
    items = serializers.IntegerField()
    equal = _share(help_text="Share of equal answers.")
    kappa = IntervalRow(help_text="Cohen's kappa; quadratic weights on ordered scales.")
    within_step = _share(help_text="For percents: share within 20 points.")
    mean_difference = _share(help_text="For percents: mean difference in points, 0 to 100.")


class ThirdOfWork(serializers.Serializer[Any]):
    """The agreement on a third of the items, by when the last answer to each was given."""

    number = serializers.IntegerField()
    items = serializers.IntegerField()
    first_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    alpha = IntervalRow()
    equal = _share()


class DividedItem(serializers.Serializer[Any]):
    """An item on which answers differ. Ids are empty where there is no such row."""

    disagreement = serializers.FloatField(help_text="Mean squared distance of two answers, as used by alpha.")
    answers = serializers.ListField(child=serializers.ListField(), help_text="Number of people per answer.")
    text = serializers.CharField()
    document_id = serializers.CharField()
    system = serializers.CharField()
    target_words = serializers.IntegerField(allow_null=True)
    summary_id = serializers.CharField()
    check_id = serializers.CharField()
    unit_id = serializers.CharField()
    dispute_id = serializers.CharField()


class AgreementScale(serializers.Serializer[Any]):
    """The agreement on one scale. The deciding judge stands beside people and is in none of their figures."""

    key = serializers.CharField()
    name = serializers.CharField()
    question = serializers.CharField()
    level = serializers.CharField(help_text="nominal, ordinal or interval")
    raters = serializers.ListField(child=serializers.CharField())
    items = serializers.IntegerField(help_text="Answered by at least two people.")
    single = serializers.IntegerField(help_text="Answered by only one person.")
    answers = serializers.IntegerField(help_text="Answers to items with two or more.")
    alpha = IntervalRow(help_text="Krippendorff's alpha.")
    equal = IntervalRow(help_text="Share of equal pairs of answers to the same item.")
    pairs = RaterPair(many=True)
    pairs_left_out = serializers.IntegerField()
    judge = RaterPair(many=True, help_text="The deciding judge compared with each person.")
    thirds = ThirdOfWork(many=True)
    divided = DividedItem(many=True)
    sentence = serializers.CharField()
    drift = serializers.CharField()


class AgreementFigures(serializers.Serializer[Any]):
    made_at = serializers.DateTimeField()
    is_stale = serializers.BooleanField(
        help_text="Something has changed since; newer figures are being computed."
    )
    judge = serializers.CharField(help_text="The deciding judge; empty where there is none.")
    touched = serializers.IntegerField(
        help_text="Answers left out because they were given after seeing another answer, or in a list."
    )
    imported = serializers.IntegerField(help_text="Imported answers.")
    scales = AgreementScale(many=True)


class AgreementView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_agreement", responses=AgreementFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show how far people agree on every scale, in pairs and over time.

        Of answers alone that were given before anything was revealed.
        """
        project = self.enter(Verb.VIEW_SCORES)
        return Response(AgreementFigures(answered(project, Analysis.Kind.AGREEMENT)).data)
