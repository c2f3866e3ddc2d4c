"""Each judge against what people answered before they saw its verdicts."""

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


class JudgeCost(serializers.Serializer[Any]):
    """What a version's calls for this project took, at the judge's present prices."""

    calls = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.FloatField()
    has_price = serializers.BooleanField()
    answered = serializers.IntegerField(help_text="Checks of the project that it answered.")
    of_thousand = serializers.FloatField(allow_null=True, help_text="Per 1,000 checks; null without a price.")


class ToldExampleRow(serializers.Serializer[Any]):
    """A claim of a document set or group, the passage that decides it, and people's answer."""

    side = serializers.CharField()
    set = serializers.CharField()
    claim = serializers.CharField()
    passage = serializers.CharField()
    answer = serializers.CharField(source="label")
    reason = serializers.CharField()


class JudgeVersion(serializers.Serializer[Any]):
    """One judge in one version: other words or options make another one."""

    id = serializers.CharField()
    judge = serializers.CharField()
    kind = serializers.CharField()
    signature = serializers.CharField()
    own_words = serializers.ListField(child=serializers.CharField())
    is_deciding = serializers.BooleanField()
    report = JudgeReportRow()
    systems = serializers.DictField(child=JudgeReportRow(), help_text="By system.")
    cost = JudgeCost()
    examples = ToldExampleRow(many=True, help_text="Examples in its prompt.")


class JudgeQualityQuery(serializers.Serializer[Any]):
    score = NamedChoice(
        "ClaimScore",
        [(score, score) for score in SCORE_SIDES],
        required=False,
        help_text="Whose answers judges are compared with; by default coverage, unless alignment alone has a finished "
        "random sample or any answer.",
    )


class BasisRow(serializers.Serializer[Any]):
    """Population that people's answers represent."""

    kind = serializers.CharField(
        help_text="all: every check is answered. sample: a finished random sample with equal probabilities. uneven: "
        "finished samples with unequal ones. open: an unfinished sample. chosen: people chose the checks."
    )
    frame = serializers.IntegerField(help_text="Checks that could have been answered.")
    drawn = serializers.IntegerField(help_text="Sampled checks.")
    answered = serializers.IntegerField(help_text="Of these, answered.")
    others = serializers.IntegerField(help_text="Checks that people answered outside the sample.")


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
    basis = BasisRow()
    versions = JudgeVersion(many=True)
    left_out = serializers.IntegerField(help_text="Unlisted versions with fewer answers.")


class JudgeQualityView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_judge_quality", parameters=[JudgeQualityQuery], responses=JudgeFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show how each judge compares with people, by system, and what it costs.

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
