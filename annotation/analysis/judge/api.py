"""How far each judge can be trusted, from what people answered before they saw its verdicts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.agreement.api import IntervalRow
from annotation.analysis.figures import answered
from annotation.api.access import ApiView
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Analysis


def _number(**words: Any) -> Any:
    return serializers.FloatField(allow_null=True, **words)


class CalibrationBinRow(serializers.Serializer[Any]):
    """Answers whose probabilities of yes lie between `low` and `high`."""

    low = serializers.FloatField()
    high = serializers.FloatField()
    count = serializers.IntegerField()
    predicted = serializers.FloatField(help_text="Their mean probability.")
    observed = IntervalRow(help_text="People's share of yes.")


class CalibrationRow(serializers.Serializer[Any]):
    bins = CalibrationBinRow(many=True)
    error = _number(help_text="Expected calibration error, 0 to 1, lower is better.")
    chance_error = _number(
        help_text="About what a perfectly calibrated judge would show with as many answers in as many document sets, "
        "where those of a document set vary together as they do here."
    )
    answers = serializers.IntegerField()


class JudgeReportRow(serializers.Serializer[Any]):
    """A judge against people. Unsure counts as not yes; unscored checks count in `answered` alone."""

    confusion = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="Checks by the judge's answer, then by people's.",
    )
    checks = serializers.IntegerField()
    scored = serializers.IntegerField()
    documents = serializers.IntegerField()
    answered = IntervalRow()
    accuracy = IntervalRow()
    kappa = IntervalRow()
    sensitivity = IntervalRow()
    specificity = IntervalRow()
    precision = IntervalRow()
    bias = IntervalRow(help_text="Its share of yes less people's.")
    brier = IntervalRow()
    with_probability = serializers.IntegerField()
    by_quantile = CalibrationRow()
    by_width = CalibrationRow()


class JudgePart(serializers.Serializer[Any]):
    name = serializers.CharField()
    checks = serializers.IntegerField()
    scored = serializers.IntegerField()
    documents = serializers.IntegerField()
    judge_yes = _number(help_text="Its share of yes over the scored checks.")
    people_yes = _number(help_text="People's share of yes over the same.")
    accuracy = IntervalRow()
    kappa = IntervalRow()
    sensitivity = IntervalRow()
    specificity = IntervalRow()
    bias = IntervalRow()


class JudgeSplit(serializers.Serializer[Any]):
    """The same checks cut by system, length, side or type of claim."""

    key = serializers.CharField()
    name = serializers.CharField()
    parts = JudgePart(many=True)


class JudgeCost(serializers.Serializer[Any]):
    """What a version's calls for this project took, at the judge's present prices."""

    calls = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    seconds = serializers.FloatField()
    cost = serializers.FloatField()
    has_price = serializers.BooleanField()
    answered = serializers.IntegerField(help_text="Checks of the project that it answered.")
    per_right = _number(help_text="Of a right answer; null without a price or an accuracy.")
    right_low = _number()
    right_high = _number()
    tokens_per_right = _number()


class JudgeVersion(serializers.Serializer[Any]):
    """One judge in one version: other words or options make another one."""

    id = serializers.CharField()
    judge = serializers.CharField()
    kind = serializers.CharField()
    signature = serializers.CharField()
    own_words = serializers.ListField(child=serializers.CharField())
    is_deciding = serializers.BooleanField()
    report = JudgeReportRow()
    splits = JudgeSplit(many=True)
    cost = JudgeCost()
    trust = serializers.CharField(help_text="Whether to trust it alone, with its numbers.")
    is_trusted = serializers.BooleanField(allow_null=True, help_text="Null where it cannot be told.")
    weakness = serializers.CharField()
    picked = IntervalRow(
        allow_null=True,
        help_text="Share right on checks that people chose to answer, beside a random sample; null without both.",
    )
    picked_checks = serializers.IntegerField(help_text="Checks that people chose and it answered.")
    contrast = serializers.CharField(help_text="What both shares say; empty without both.")


class JudgePairCounts(serializers.Serializer[Any]):
    both_right = serializers.IntegerField()
    only_first_right = serializers.IntegerField()
    only_second_right = serializers.IntegerField()
    both_wrong = serializers.IntegerField()
    p = _number(help_text="McNemar's exact test, which takes checks as independent.")
    clustered_p = _number(help_text="Permutation of whole document sets.")
    left_out = serializers.IntegerField()


class JudgePair(serializers.Serializer[Any]):
    """Two versions on the same answers of people."""

    first = serializers.CharField()
    second = serializers.CharField()
    comparison = JudgePairCounts()
    difference = _number(help_text="The first one's accuracy less the second's.")
    p = _number(help_text="`clustered_p`, corrected for all pairs (Holm).")
    sentence = serializers.CharField()


class JudgeFigures(serializers.Serializer[Any]):
    made_at = serializers.DateTimeField()
    is_stale = serializers.BooleanField(
        help_text="Something has changed since; newer figures are being made."
    )
    checks = serializers.IntegerField(help_text="Checks with an answer of people.")
    documents = serializers.IntegerField()
    ties = serializers.IntegerField(help_text="Checks left out because people are evenly divided.")
    imported = serializers.IntegerField(help_text="Checks whose answer came with a file.")
    basis = serializers.CharField(source="basis_in_words", help_text="What the figures describe.")
    people_agree = IntervalRow(help_text="Share of equal answers of two people, unsure counting as not yes.")
    people_compared = serializers.IntegerField()
    versions = JudgeVersion(many=True)
    pairs = JudgePair(many=True)
    left_out = serializers.IntegerField(help_text="Versions with fewer answers that are not listed.")


class JudgeQualityView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_judge_quality", responses=JudgeFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show how far each judge can be trusted, where it errs and what it costs.

        Compared with what people answered before they saw any verdict of a judge.
        """
        project = self.enter(Verb.VIEW_SCORES)
        return Response(JudgeFigures(answered(project, Analysis.Kind.JUDGE)).data)
