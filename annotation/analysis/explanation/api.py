"""Why a number is what it is: everything behind the scores of one summary."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.explanation.explanation import (
    ExplainedClaim,
    ExplainedComparison,
    ExplainedUnit,
    Explanation,
    explain,
)
from annotation.analysis.explanation.formulas import Formula
from annotation.analysis.explanation.side_by_side import DOCUMENT_SETS
from annotation.analysis.explanation.statements import (
    ExplainedAnswer,
    ExplainedPercent,
    ToldDispute,
)
from annotation.api.access import ApiView
from annotation.api.fields import LabelField, NamedChoice, WordChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.summaries import summary_of
from annotation.models import Dispute, System
from annotation.reviewing.services.look_at_check import see_summary
from annotation.scoring.judge_percents import JudgePercent
from annotation.scoring.questions import AskedQuestion, QuestionSaid
from annotation.scoring.records import score_rules, summary_records
from evaluation.blend import score


def _numbers(words: str) -> serializers.ListField:
    return serializers.ListField(child=serializers.IntegerField(), help_text=words)


class StatementRow(serializers.Serializer[ExplainedAnswer]):
    """One statement on a check: a verdict, or an adjudicator's decision."""

    id = serializers.CharField(source="answer_id")
    who = serializers.CharField()
    kind = WordChoice(choices=("judge", "reviewer", "import", "adjudicator"))
    answer = LabelField(source="label", allow_null=True, help_text="Null where a judge gave nothing usable.")
    reason = serializers.CharField()
    at = serializers.DateTimeField()
    probability = serializers.FloatField(allow_null=True, help_text="Of yes, as the judge gave it.")
    confidence = serializers.FloatField(allow_null=True, help_text="A person's own.")
    error = serializers.CharField(help_text="The kind of error, in words.")
    evidence = _numbers("Unit numbers.")
    votes = serializers.ListField(child=serializers.CharField(), help_text="Of a panel.")
    had_seen = serializers.BooleanField(
        allow_null=True,
        help_text="Whether a reviewer had seen others' answers before; null for everybody else.",
    )
    guideline = serializers.IntegerField(allow_null=True, help_text="The version that was in force.")
    is_withdrawn = serializers.BooleanField()


class StatedPercentRow(serializers.Serializer[ExplainedPercent]):
    """One statement on a unit: an assessor's percent, or an adjudicator's."""

    id = serializers.CharField(source="answer_id")
    who = serializers.CharField()
    kind = WordChoice(choices=("assessor", "adjudicator"))
    percent = serializers.IntegerField()
    marks = _numbers("Numbers of the marked peer units.")
    reason = serializers.CharField()
    at = serializers.DateTimeField()
    error = serializers.CharField(help_text="The kind of error, in words.")
    guideline = serializers.IntegerField(allow_null=True, help_text="The version that was in force.")
    is_withdrawn = serializers.BooleanField()


class ToldDisputeRow(serializers.Serializer[ToldDispute]):
    id = serializers.CharField(source="dispute_id")
    state = WordChoice(choices=Dispute.State.choices)
    spread = serializers.FloatField(help_text="Largest less smallest answer, 0 to 1.")
    voices = serializers.IntegerField()


class ExplainedClaimRow(serializers.Serializer[ExplainedClaim]):
    id = serializers.CharField(source="claim_id")
    check = serializers.CharField(source="check_id", allow_null=True, help_text="Null where none was made.")
    text = serializers.CharField()
    final_label = LabelField(source="final", allow_null=True)
    final_source = serializers.CharField(source="source", allow_null=True, help_text="Who decided it.")
    answers = StatementRow(many=True, help_text="In order, including withdrawn ones.")
    dispute = ToldDisputeRow(allow_null=True)
    comments = serializers.IntegerField(help_text="Comments on it, read at its own route.")


class JudgePercentRow(serializers.Serializer[JudgePercent]):
    """What a judge's checks say of a unit, as an assessor would say it."""

    judge = serializers.CharField()
    percent = serializers.FloatField()
    marks = _numbers("Evidence of the yes verdicts.")


class ExplainedUnitRow(serializers.Serializer[ExplainedUnit]):
    id = serializers.CharField(source="unit_id")
    number = serializers.IntegerField()
    text = serializers.CharField()
    weight = serializers.FloatField(source="coverage.weight")
    coverage = serializers.FloatField(source="coverage.value", allow_null=True)
    coverage_judge = serializers.FloatField(source="coverage.judge_share", allow_null=True)
    coverage_human = serializers.FloatField(source="coverage.human_value", allow_null=True)
    source: Any = serializers.CharField(help_text="Where the coverage comes from, in words.")
    formula = serializers.CharField(help_text="With its numbers; empty where nothing is computed.")
    percents = StatedPercentRow(many=True)
    by_judges = JudgePercentRow(many=True)
    claims = ExplainedClaimRow(many=True)
    dispute = ToldDisputeRow(allow_null=True)


class ExplainedComparisonRow(serializers.Serializer[ExplainedComparison]):
    """One model summary's part in the coverage."""

    model = serializers.CharField(source="summary_id", help_text="Id of the model summary.")
    reference_id = serializers.CharField(source="reference")
    coverage = serializers.FloatField(source="score.coverage", allow_null=True)
    formula = serializers.CharField()
    units = ExplainedUnitRow(many=True)


class FormulaRow(serializers.Serializer[Formula]):
    name = serializers.CharField()
    score = serializers.CharField(source="column", help_text="Its name in exports.")
    value = serializers.FloatField(allow_null=True)
    formula = serializers.CharField(
        source="text", help_text="With its numbers; why there is none without a value."
    )


class ToldAnswerRow(serializers.Serializer[QuestionSaid]):
    answer = LabelField(source="label", allow_null=True)
    probability = serializers.FloatField(allow_null=True)
    evidence = _numbers("Unit numbers.")
    reason = serializers.CharField()


class ExplainedQuestionRow(serializers.Serializer[AskedQuestion]):
    id = serializers.CharField(source="question_id")
    text = serializers.CharField()
    standing = serializers.CharField(help_text="kept, missed, not_yes, unscored or retired.")
    from_source = ToldAnswerRow(source="source", allow_null=True)
    from_summary = ToldAnswerRow(source="answer", allow_null=True)


class ReadUnitRow(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    text = serializers.CharField()


class ExplanationRow(serializers.Serializer[Explanation]):
    """Everything behind the scores of one peer summary, people by name."""

    id = serializers.CharField(source="summary.public_id")
    document_id = serializers.CharField(source="summary.document_set.external_id")
    system = serializers.CharField(source="summary.system.name", allow_null=True, default=None)
    kind = NamedChoice(
        "SystemKind", System.Kind.choices, source="summary.system.kind", allow_null=True, default=None
    )
    target_words = serializers.IntegerField(source="summary.target_words", allow_null=True)
    signature = serializers.CharField(source="score.signature", help_text="Names the rules.")
    scores = FormulaRow(source="formulas", many=True)
    flags = serializers.ListField(child=serializers.CharField(), help_text="In words.")
    peer_units = serializers.SerializerMethodField()
    comparisons = ExplainedComparisonRow(many=True)
    document_claims = ExplainedClaimRow(many=True, help_text="The reference where there is no model summary.")
    peer_claims = ExplainedClaimRow(many=True, help_text="Compared with the source.")
    questions = ExplainedQuestionRow(many=True)

    @extend_schema_field(ReadUnitRow(many=True))
    def get_peer_units(self, made: Explanation) -> list[dict[str, Any]]:
        return [{"number": number, "text": text} for number, text in made.peer_units]


class SummaryExplanation(ApiView):
    tag = "scores"

    @operation("explain_scores", responses=ExplanationRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show what the scores of a peer summary are made of.

        Units, claims, every statement and who made it in order, decisions, and each score as a
        formula with its numbers. Of a caller who may review it is kept that they have seen what the judge
        and others said of its checks: an answer of theirs counts from now on as given after that.
        """
        project = self.enter(Verb.VIEW_SCORES)
        summary = summary_of(project, public_id)
        record = next(summary_records(project, [summary.pk]))
        result = score(record.value, score_rules(project))
        made = explain(project, summary, record.value, result, record.conciseness_terms)
        see_summary(project=project, summary=summary, by=self.person)
        return Response(ExplanationRow(made).data)


DocumentSetRow = shape_of(DOCUMENT_SETS, "DocumentSetRow")


class DocumentSets(ApiView):
    tag = "document sets"

    get = operation_of(DOCUMENT_SETS, DocumentSetRow, "List the document sets of a project.")
