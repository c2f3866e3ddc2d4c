"""Disputes and decisions."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.adjudicating.queries.disputes import (
    NEWEST_DISPUTES_FIRST,
    WORST_FIRST,
    DisputeKind,
    decision_of,
    dispute_of,
    disputes_of,
    held_by,
    kind_of,
    text_of,
)
from annotation.adjudicating.queries.voices import NamelessVoice
from annotation.adjudicating.services.adjudicate import settle, withdraw_decision
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.adjudicating.services.take_dispute import take_next
from annotation.api.access import ApiView, PageQuery
from annotation.api.fields import LabelField, NamedChoice
from annotation.api.rows import AdjudicationRow
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Dispute, ErrorType, Project
from annotation.reviewing.services.review import LONGEST_REASON, NOT_LOOKED


class KindField(NamedChoice):
    """What a dispute is about."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("DisputeKind", [(kind.value, kind.value) for kind in DisputeKind], **kwargs)


class StateField(NamedChoice):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__("DisputeState", Dispute.State.choices, **kwargs)


class ErrorTypeField(NamedChoice):
    """What is wrong with the text, in a word."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("ErrorType", ErrorType.choices, **kwargs)


class DisputeRow(serializers.Serializer[Dispute]):
    """A check, or a unit of a comparison, that goes to the adjudicators."""

    id = serializers.CharField(source="public_id")
    kind = serializers.SerializerMethodField(help_text="check or unit.")
    check_id = serializers.CharField(source="check_row.public_id", allow_null=True, default=None)
    comparison = serializers.CharField(source="comparison.public_id", allow_null=True, default=None)
    unit = serializers.SerializerMethodField(
        help_text="Id of the model unit, or of the claim that stands in for one."
    )
    text = serializers.SerializerMethodField(help_text="The claim, or the model unit.")
    document_id = serializers.CharField(source="place.peer.document_set.external_id")
    state: Any = StateField()
    spread = serializers.FloatField(help_text="Largest minus smallest answer, 0 to 1; unsure is .5.")
    voices = serializers.IntegerField(help_text="Number of answers.")
    held_by = serializers.SerializerMethodField(help_text="you, somebody, or empty for no one.")

    @extend_schema_field(KindField())
    def get_kind(self, dispute: Dispute) -> str:
        return kind_of(dispute)

    def get_unit(self, dispute: Dispute) -> str | None:
        return dispute.unit_judged.public_id if kind_of(dispute) == DisputeKind.UNIT else None

    def get_text(self, dispute: Dispute) -> str:
        return text_of(dispute)

    def get_held_by(self, dispute: Dispute) -> str:
        return held_by(dispute, self.context["person"])


class VoiceRow(serializers.Serializer[NamelessVoice]):
    """One answer without its name."""

    letter = serializers.CharField()
    label: Any = LabelField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    error_type = serializers.CharField()
    evidence = serializers.ListField(
        child=serializers.IntegerField(), help_text="Unit numbers of the text that it is checked against."
    )


class DisputeDetail(DisputeRow):
    """A dispute with the answers, shuffled and without names, and every decision, oldest first."""

    said = serializers.SerializerMethodField()
    decisions = serializers.SerializerMethodField()
    seen = serializers.SerializerMethodField(
        help_text="Id of the current decision, empty for none. Send it with your decision."
    )

    @extend_schema_field(VoiceRow(many=True))
    def get_said(self, dispute: Dispute) -> Any:
        return VoiceRow(self.context["view"].voices, many=True).data

    @extend_schema_field(AdjudicationRow(many=True))
    def get_decisions(self, dispute: Dispute) -> Any:
        return AdjudicationRow(self.context["view"].decisions, many=True).data

    def get_seen(self, dispute: Dispute) -> str:
        return str(self.context["view"].seen)


class DisputeQuery(serializers.Serializer[Any]):
    state: Any = StateField(
        default=Dispute.State.OPEN,
        help_text="Open disputes: largest difference first. Others: newest first.",
    )


class NextDispute(serializers.Serializer[Any]):
    after = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Id of the dispute that you leave."
    )


class Handed(serializers.Serializer[Any]):
    """The dispute that you have open for five minutes, null where none is left."""

    dispute = DisputeDetail(allow_null=True)


class NewDecision(serializers.Serializer[Any]):
    """A decision on a dispute: `label` for a check, `percent` for a unit."""

    label: Any = LabelField(default="", allow_blank=True)
    percent = serializers.IntegerField(default=None, allow_null=True, help_text="0 to 100.")
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

    @operation("list_disputes", parameters=[DisputeQuery, PageQuery], responses=DisputeRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List what waits for adjudicators, or was resolved.

        Needs the verb "adjudicate".
        """
        project = self.enter(Verb.ADJUDICATE)
        query = self.query(DisputeQuery, PageQuery)
        return self.page(
            disputes_of(project, query["state"]),
            DisputeRow,
            query=query,
            scope=Dispute.objects.filter(project=project),
            order=WORST_FIRST if query["state"] == Dispute.State.OPEN else NEWEST_DISPUTES_FIRST,
            context={"person": self.person},
        )


class DisputeNext(ApiView):
    tag = "adjudications"

    @operation("take_next_dispute", request=NextDispute, responses=Handed)
    def post(self, request: Request, slug: str) -> Response:
        """Take the worst dispute that nobody else has. It is yours for five minutes."""
        project = self.enter(Verb.ADJUDICATE)
        taken = take_next(project=project, by=self.person, after=self.body(NextDispute)["after"])
        return Response({"dispute": _detail(project, taken.public_id, self) if taken else None})


class OneDispute(ApiView):
    tag = "adjudications"

    @operation("get_dispute", responses=DisputeDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a dispute with the answers that differ."""
        project = self.enter(Verb.ADJUDICATE)
        return Response(_detail(project, public_id, self))


class DisputeDecisions(ApiView):
    tag = "adjudications"

    @operation("decide_dispute", request=NewDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Resolve a disagreement, or decide again.

        The newest decision stands above every other answer, and the scores follow at once.
        """
        project = self.enter(Verb.ADJUDICATE)
        answer = self.body(NewDecision)
        decision = settle(dispute=dispute_of(project, public_id), by=self.person, **answer)
        return Response(AdjudicationRow(decision).data, status=status.HTTP_201_CREATED)


class OneAdjudication(ApiView):
    tag = "adjudications"

    @operation("withdraw_adjudication", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take a decision back.

        What stood before it stands again. The row is kept. Twice changes nothing.
        """
        project = self.enter(Verb.ADJUDICATE)
        withdraw_decision(decision=decision_of(project, public_id), by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _detail(project: Project, public_id: str, view: ApiView) -> dict[str, Any]:
    dispute = dispute_of(project, public_id)
    shown = see_dispute(dispute=dispute, by=view.person)
    return dict(DisputeDetail(dispute, context={"person": view.person, "view": shown}).data)
