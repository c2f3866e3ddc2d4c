"""How far each judge can be trusted, from what people answered before they saw its verdicts."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.agreement.api import IntervalRow
from annotation.analysis.figures import answered
from annotation.analysis.judge.judge_quality import judge_key
from annotation.analysis.judge.teach_judge import teach_judge
from annotation.api.access import ApiView, only
from annotation.api.fields import NamedChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.judging.queries.judges import judges_of
from annotation.models import SCORE_SIDES, Analysis


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
        help_text="Expected value for a perfectly calibrated judge with as many answers and document sets "
        "and the same correlation within sets."
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
    bias = IntervalRow(help_text="Its yes rate minus people's.")
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
    bias_p = _number(
        help_text="Of systems: test that the bias differs from the other systems', corrected for all (Holm)."
    )


class JudgeSplit(serializers.Serializer[Any]):
    """The same checks cut by system, length, score or type of claim."""

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
    per_right = _number(help_text="Per correct answer; null without a price or an accuracy.")
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
    trust = serializers.CharField(help_text="Whether it can be trusted alone, with its figures.")
    is_trusted = serializers.BooleanField(allow_null=True, help_text="Null if not known yet.")
    weakness = serializers.CharField()
    picked = IntervalRow(
        allow_null=True,
        help_text="Accuracy on checks that people chose, for comparison with a random sample; null without "
        "both.",
    )
    picked_checks = serializers.IntegerField(help_text="Checks that people chose and that it answered.")
    contrast = serializers.CharField(help_text="Comparison of both in words; empty without both.")


class BeforeAfterRow(serializers.Serializer[Any]):
    before = IntervalRow()
    after = IntervalRow()


class ToldExampleRow(serializers.Serializer[Any]):
    """A claim of a document set or group, the passage that decides it, and people's answer."""

    side = serializers.CharField()
    set = serializers.CharField()
    claim = serializers.CharField()
    passage = serializers.CharField()
    answer = serializers.CharField(source="label")
    reason = serializers.CharField()


class TaughtRow(serializers.Serializer[Any]):
    """A version that is told examples beside its base, on the same checks; no set was judged by its own examples."""

    before = serializers.CharField(help_text="The version without examples.")
    after = serializers.CharField(help_text="The version with them.")
    checks = serializers.IntegerField()
    accuracy = BeforeAfterRow()
    kappa = BeforeAfterRow()
    brier = BeforeAfterRow()
    p = _number(source="comparison.clustered_p", help_text="Permutation test over document sets.")
    cost_before = _number(help_text="Per 1,000 checks; null without prices.")
    cost_after = _number()
    helps = serializers.BooleanField(help_text="More accurate with examples, at p below .05.")
    sentence = serializers.CharField()
    told = ToldExampleRow(many=True, help_text="Examples for sets that provided none; other sets get fewer.")


class JudgePairCounts(serializers.Serializer[Any]):
    both_right = serializers.IntegerField()
    only_first_right = serializers.IntegerField()
    only_second_right = serializers.IntegerField()
    both_wrong = serializers.IntegerField()
    p = _number(help_text="McNemar's exact test; assumes independent checks.")
    clustered_p = _number(help_text="Permutation test over document sets.")
    left_out = serializers.IntegerField()


class JudgePair(serializers.Serializer[Any]):
    """Two versions on the same answers of people."""

    first = serializers.CharField()
    second = serializers.CharField()
    comparison = JudgePairCounts()
    difference = _number(help_text="The first judge's accuracy minus the second's.")
    p = _number(help_text="`clustered_p`, corrected for all pairs (Holm).")
    sentence = serializers.CharField()


class JudgeQualityQuery(serializers.Serializer[Any]):
    score = NamedChoice(
        "ClaimScore",
        [(score, score) for score in SCORE_SIDES],
        required=False,
        help_text="Whose answers judges are compared with; by default coverage, unless alignment alone has a finished "
        "random sample or any answer.",
    )


class JudgeFigures(serializers.Serializer[Any]):
    score = serializers.CharField(help_text="Whose answers judges are compared with: coverage or alignment.")
    made_at = serializers.DateTimeField()
    is_stale = serializers.BooleanField(
        help_text="Something has changed since; newer figures are being computed."
    )
    checks = serializers.IntegerField(help_text="Checks with answers by people.")
    documents = serializers.IntegerField()
    ties = serializers.IntegerField(help_text="Checks left out because people are evenly divided.")
    imported = serializers.IntegerField(help_text="Checks with imported answers.")
    basis = serializers.CharField(source="basis_in_words", help_text="What the figures describe.")
    people_agree = IntervalRow(
        help_text="Share of matching answers of two people, counting unsure as not yes."
    )
    people_compared = serializers.IntegerField()
    versions = JudgeVersion(many=True)
    pairs = JudgePair(many=True)
    taught = TaughtRow(many=True)
    left_out = serializers.IntegerField(help_text="Unlisted versions with fewer answers.")


class JudgeQualityView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_judge_quality", parameters=[JudgeQualityQuery], responses=JudgeFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show how far each judge can be trusted, where it errs and what it costs.

        Compared with what people answered before they saw any verdict of a judge.
        """
        project = self.enter(Verb.VIEW_SCORES)
        key = judge_key(project, self.query(JudgeQualityQuery).get("score", ""))
        return Response(JudgeFigures(answered(project, Analysis.Kind.JUDGE, key=key)).data)


class TeachingRequest(serializers.Serializer[Any]):
    max_cost = serializers.FloatField(
        required=False, allow_null=True, help_text="Cost cap; the run stops before exceeding it."
    )


class TeachingStarted(serializers.Serializer[Any]):
    judge = serializers.CharField(source="judge.public_id")
    name = serializers.CharField(source="judge.name")
    run = serializers.CharField(source="public_id")


class JudgeTeaching(ApiView):
    tag = "judges"

    @operation("teach_judge", request=TeachingRequest, responses={201: TeachingStarted})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Make a judge that is told examples of people's answers, and start its trial.

        Needs the verb "change project". The trial judges the summaries with sampled answers of people alone, each
        document set by examples of others; `judge-quality` compares the new judge with this one. A run with
        `decides_after` then judges the rest. Refused (422, no_examples) without a random sample answered in five
        document sets.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        judge = only(judges_of(project).select_related("project"), public_id, "judge")
        run = teach_judge(project=project, judge=judge, by=self.person, **self.body(TeachingRequest))
        return Response(TeachingStarted(run).data, status=status.HTTP_201_CREATED)
