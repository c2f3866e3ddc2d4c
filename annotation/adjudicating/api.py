from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.adjudicating.queries.answers import NamelessAnswer
from annotation.adjudicating.queries.disputes import (
    DISPUTES,
    decision_of,
    dispute_of,
    held_by,
)
from annotation.adjudicating.services.adjudicate import settle
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.adjudicating.services.take_dispute import take_next
from annotation.api.access import ApiView
from annotation.api.fields import LabelField, NamedChoice
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import CoverageJudgment, Dispute, ErrorType, Project, Rating, Verdict
from annotation.reviewing.services.review import LONGEST_REASON, NOT_LOOKED, withdraw_answer


class ErrorTypeField(NamedChoice):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__("ErrorType", ErrorType.choices, **kwargs)


DisputeRow = shape_of(DISPUTES, "DisputeRow")


class NamelessAnswerRow(serializers.Serializer[NamelessAnswer]):
    letter = serializers.CharField()
    label: Any = LabelField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    rating = serializers.CharField(
        allow_null=True, help_text="The words of the answer on the question's scale."
    )
    reason = serializers.CharField()
    error_type = serializers.CharField()
    evidence = serializers.ListField(
        child=serializers.IntegerField(), help_text="Unit numbers of the text that it is checked against."
    )


class AdjudicationRow(serializers.Serializer[Verdict | CoverageJudgment | Rating]):
    """A decision on a check (a label), on a unit of a comparison (a percent) or on a question (a rating)."""

    id = serializers.CharField(source="public_id")
    label: Any = LabelField(allow_null=True, default=None)
    percent = serializers.IntegerField(allow_null=True, default=None)
    rating = serializers.FloatField(
        allow_null=True, default=None, help_text="A value of the question's scale."
    )
    reason = serializers.CharField()
    error_type = serializers.CharField(help_text="Empty if none was given.")
    by = serializers.CharField(source="person.username")
    created_at = serializers.DateTimeField()
    withdrawn_at = serializers.DateTimeField(allow_null=True)


class DisputeDetail(DisputeRow):  # type: ignore[valid-type, misc]
    """A dispute with its answers, without names, and its decisions, oldest first."""

    said = serializers.SerializerMethodField()
    decisions = serializers.SerializerMethodField()
    seen = serializers.SerializerMethodField(
        help_text="Id of the current decision, empty for none. Send it with your decision."
    )

    @extend_schema_field(NamelessAnswerRow(many=True))
    def get_said(self, dispute: Dispute) -> Any:
        return NamelessAnswerRow(self.context["view"].answers, many=True).data

    @extend_schema_field(AdjudicationRow(many=True))
    def get_decisions(self, dispute: Dispute) -> Any:
        return AdjudicationRow(self.context["view"].decisions, many=True).data

    def get_seen(self, dispute: Dispute) -> str:
        return str(self.context["view"].seen)


class NextDispute(serializers.Serializer[Any]):
    after = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Id of the dispute that you leave."
    )


class Handed(serializers.Serializer[Any]):
    """The dispute that is leased to the caller; null if none is free."""

    dispute = DisputeDetail(allow_null=True)


class NewDecision(serializers.Serializer[Any]):
    """A decision on a dispute: `label` for a check, `percent` for a unit, `rating` for a question."""

    label: Any = LabelField(default="", allow_blank=True)
    percent = serializers.IntegerField(default=None, allow_null=True, help_text="0 to 100.")
    rating = serializers.IntegerField(
        default=None, allow_null=True, help_text="A value of the question's scale."
    )
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)
    error_type: Any = ErrorTypeField(default="", allow_blank=True)
    seen = serializers.CharField(
        default=NOT_LOOKED,
        allow_blank=True,
        help_text="Id of the decision that you saw, empty for none. If there is a newer one, the request is "
        "a conflict (409) and nothing is written.",
    )


class Disputes(ApiView):
    tag = "adjudications"

    get = operation_of(DISPUTES, DisputeRow, "List the disputes of a project, open and resolved.")


class DisputeNext(ApiView):
    tag = "adjudications"

    @operation("take_next_dispute", request=NextDispute, responses=Handed)
    def post(self, request: Request, slug: str) -> Response:
        """Take the open dispute with the largest difference, or the next one behind `after`.

        The caller holds the dispute for at least five minutes. Disputes that others hold are skipped.
        """
        project = self.enter(Verb.ADJUDICATE)
        taken = take_next(project=project, by=self.person, after=self.body(NextDispute)["after"])
        return Response({"dispute": _detail(project, taken.public_id, self) if taken else None})


class OneDispute(ApiView):
    tag = "adjudications"

    @operation("get_dispute", responses=DisputeDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a dispute with its answers."""
        project = self.enter(Verb.ADJUDICATE)
        return Response(_detail(project, public_id, self))


class DisputeDecisions(ApiView):
    tag = "adjudications"

    @operation("decide_dispute", request=NewDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Decide a dispute, or decide it again.

        The newest decision outranks all other answers, and the scores are updated at once.
        """
        project = self.enter(Verb.ADJUDICATE)
        answer = self.body(NewDecision)
        decision = settle(dispute=dispute_of(project, public_id), by=self.person, **answer)
        return Response(AdjudicationRow(decision).data, status=status.HTTP_201_CREATED)


class OneAdjudication(ApiView):
    tag = "adjudications"

    @operation("withdraw_adjudication", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Withdraw a decision.

        The earlier answers or decision count again. The withdrawn decision stays in the list. Withdrawing again changes
        nothing.
        """
        project = self.enter(Verb.ADJUDICATE)
        withdraw_answer(answer=decision_of(project, public_id), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _detail(project: Project, public_id: str, view: ApiView) -> dict[str, Any]:
    dispute = dispute_of(project, public_id)
    vars(dispute)["held_by"] = held_by(dispute, view.person)
    shown = see_dispute(dispute=dispute, by=view.person)
    return dict(DisputeDetail(dispute, context={"view": shown}).data)
