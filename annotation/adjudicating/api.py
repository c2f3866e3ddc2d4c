"""Adjudication: the queue of what is different, and decisions on checks and on units of comparisons.

The answers of a dispute come without names, in an order of their own for each adjudicator.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.adjudicating.queries.dispute_view import DisputeView, decision_of
from annotation.adjudicating.queries.disputes import (
    DisputeFilter,
    DisputeKind,
    dispute_of,
    disputes_of,
    held_by,
    kind_of,
    text_of,
    with_own,
    with_words,
)
from annotation.adjudicating.queries.voices import NamelessVoice
from annotation.adjudicating.services.adjudicate import (
    decide_check,
    decide_unit,
    reopen_dispute,
    settle,
    withdraw_decision,
)
from annotation.adjudicating.services.see_dispute import see_dispute
from annotation.adjudicating.services.take_dispute import release_dispute, take_next
from annotation.api.access import ApiView, PageQuery, only
from annotation.api.fields import LabelField, NamedChoice, WordChoice
from annotation.api.rows import AdjudicationRow
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.refusals import NotFound
from annotation.core.unit_lists import unit_list
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    Comparison,
    Dispute,
    ErrorType,
    Project,
    Unit,
)
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
    document_id = serializers.SerializerMethodField()
    why = serializers.ChoiceField(
        choices=Dispute.Why.choices, help_text="audit: a random sample of agreed answers."
    )
    state: Any = StateField()
    spread = serializers.FloatField(help_text="Largest minus smallest answer, 0 to 1; unsure is .5.")
    voices = serializers.IntegerField(help_text="Number of answers.")
    held_by = serializers.SerializerMethodField(help_text="you, somebody, or empty for no one.")
    is_own = serializers.BooleanField(help_text="Whether the caller has judged it, even if withdrawn.")

    @extend_schema_field(KindField())
    def get_kind(self, dispute: Dispute) -> str:
        return kind_of(dispute)

    def get_unit(self, dispute: Dispute) -> str | None:
        return dispute.unit_judged.public_id if kind_of(dispute) == DisputeKind.UNIT else None

    def get_text(self, dispute: Dispute) -> str:
        return text_of(dispute)

    def get_document_id(self, dispute: Dispute) -> str:
        return dispute.place.peer.document_set.external_id

    def get_held_by(self, dispute: Dispute) -> str:
        return held_by(dispute, self.context["person"])


class VoiceRow(serializers.Serializer[NamelessVoice]):
    """One answer without its name."""

    id = serializers.CharField(
        source="token", help_text="Identifies this answer for you only; used in `adopt`."
    )
    letter = serializers.CharField()
    label: Any = LabelField(allow_null=True)
    percent = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    error_type = serializers.CharField()
    evidence = serializers.ListField(
        child=serializers.IntegerField(), help_text="Unit numbers of the text that it is checked against."
    )
    is_own = serializers.BooleanField()


class DisputeDetail(DisputeRow):
    """A dispute with the answers, shuffled and without names, and every decision, oldest first."""

    said = serializers.SerializerMethodField()
    decisions = serializers.SerializerMethodField()
    seen = serializers.SerializerMethodField(
        help_text="Id of the current decision, empty for none. Send it with your decision."
    )
    may_decide = serializers.SerializerMethodField()

    @extend_schema_field(VoiceRow(many=True))
    def get_said(self, dispute: Dispute) -> Any:
        said: Any = self._view.voices
        return VoiceRow(said, many=True).data

    @extend_schema_field(AdjudicationRow(many=True))
    def get_decisions(self, dispute: Dispute) -> Any:
        made = [decision.decision_id for decision in self._view.decisions]
        rows: Any = (
            Adjudication.objects.filter(public_id__in=made).select_related("decided_by").order_by("pk")
        )
        return AdjudicationRow(rows, many=True).data

    def get_seen(self, dispute: Dispute) -> str:
        return self._view.seen

    def get_may_decide(self, dispute: Dispute) -> bool:
        return self._view.may_decide

    @property
    def _view(self) -> DisputeView:
        view: DisputeView = self.context["view"]
        return view


class DisputeQuery(serializers.Serializer[Any]):
    kind: Any = KindField(required=False)
    why = WordChoice(choices=Dispute.Why.choices, required=False)
    state: Any = StateField(
        default=Dispute.State.OPEN,
        help_text="Open disputes: largest difference first. Others: newest first.",
    )


class NextDispute(serializers.Serializer[Any]):
    kind: Any = KindField(required=False)
    why = WordChoice(choices=Dispute.Why.choices, required=False)
    after = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Id of the dispute that you leave."
    )


class Handed(serializers.Serializer[Any]):
    """The dispute that you have open for five minutes, null where none is left."""

    dispute = DisputeDetail(allow_null=True)


class Judgment(serializers.Serializer[Any]):
    """What every decision takes beside its answer."""

    adopt = serializers.CharField(
        default="", allow_blank=True, help_text="Id of one of the answers, to accept it."
    )
    reason = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_REASON,
        help_text="Required if nobody gave this answer.",
    )
    error_type: Any = ErrorTypeField(default="", allow_blank=True)
    is_guideline_gap = serializers.BooleanField(
        default=False, help_text="The guidelines do not say how to answer this."
    )
    seen = serializers.CharField(
        default=NOT_LOOKED,
        allow_blank=True,
        help_text="Id of the decision that you saw, empty for none. If there is a newer one, the request is "
        "a conflict (409) and nothing is written.",
    )


class NewDecision(Judgment):
    """The answer to a check: `label`, or `adopt`."""

    label: Any = LabelField(default="", allow_blank=True)


class NewPercent(Judgment):
    """How much of a unit the peer summary expresses: `percent`, or `adopt`."""

    percent = serializers.IntegerField(default=None, allow_null=True, help_text="0 to 100.")


class NewUnitDecision(NewPercent):
    unit = serializers.CharField(help_text="Id of the model unit, or of the claim that stands in for one.")


class NewDisputeDecision(NewDecision, NewPercent):
    """A decision on a dispute: `label` for a check, `percent` for a unit, or `adopt` for either."""


class DisputeReopening(serializers.Serializer[Any]):
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)
    seen = serializers.CharField(default=NOT_LOOKED, allow_blank=True)


class Disputes(ApiView):
    tag = "adjudications"

    @operation("list_disputes", parameters=[DisputeQuery, PageQuery], responses=DisputeRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List what waits for adjudicators, or was resolved.

        Needs the verb "adjudicate".
        """
        project = self.enter(Verb.ADJUDICATE)
        query = self.query(DisputeQuery, PageQuery)
        filters = DisputeFilter.read(**{name: query.get(name, "") for name in ("kind", "why", "state")})
        return self.page(
            with_own(with_words(disputes_of(project, filters)), self.person),
            DisputeRow,
            query=query,
            scope=Dispute.objects.filter(project=project),
            order=filters.order,
            context={"person": self.person},
        )


class DisputeNext(ApiView):
    tag = "adjudications"

    @operation("take_next_dispute", request=NextDispute, responses=Handed)
    def post(self, request: Request, slug: str) -> Response:
        """Take the worst dispute that nobody else has.

        It is yours for five minutes. Those that hold an answer of your own are left out, unless the
        project lets people resolve them.
        """
        project = self.enter(Verb.ADJUDICATE)
        asked = self.body(NextDispute)
        filters = DisputeFilter.read(asked.get("kind", ""), asked.get("why", ""))
        taken = take_next(project=project, by=self.person, filters=filters, after=asked["after"])
        shown = _detail(project, taken.public_id, self) if taken else None
        return Response({"dispute": shown})


class OneDispute(ApiView):
    tag = "adjudications"

    @operation("get_dispute", responses=DisputeDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a dispute with the answers that differ."""
        project = self.enter(Verb.ADJUDICATE)
        return Response(_detail(project, public_id, self))


class DisputeDecisions(ApiView):
    tag = "adjudications"

    @operation("decide_dispute", request=NewDisputeDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Resolve a disagreement.

        The decision stands above every other answer, and the scores follow at once. Nobody resolves
        what they have judged themselves, unless the project allows it.
        """
        project = self.enter(Verb.ADJUDICATE)
        answer = self.body(NewDisputeDecision)
        decision = settle(dispute=dispute_of(project, public_id), by=self.person, **answer)
        return Response(AdjudicationRow(decision).data, status=status.HTTP_201_CREATED)


class DisputeReopen(ApiView):
    tag = "adjudications"

    @operation("reopen_dispute", request=DisputeReopening, responses=DisputeDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Reopen a resolved dispute.

        Every decision on it is withdrawn; the rows are kept. One that is open stays as it is.
        """
        project = self.enter(Verb.ADJUDICATE)
        reopen_dispute(dispute=dispute_of(project, public_id), by=self.person, **self.body(DisputeReopening))
        return Response(_detail(project, public_id, self))


class DisputeRelease(ApiView):
    tag = "adjudications"

    @operation("release_dispute", responses=DisputeDetail)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Release a dispute, wherever it is open."""
        project = self.enter(Verb.ADJUDICATE)
        release_dispute(dispute=dispute_of(project, public_id), by=self.person)
        return Response(_detail(project, public_id, self))


class CheckAdjudications(ApiView):
    tag = "adjudications"

    @operation("adjudicate_check", request=NewDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Resolve a check: the label stands above every verdict.

        Needs the verb "adjudicate". A reason is compulsory where nobody gave that answer. The scores
        follow at once.
        """
        project = self.enter(Verb.ADJUDICATE)
        answer = self.body(NewDecision)
        checks = Check.objects.filter(project=project).select_related("project")
        decision = decide_check(check=only(checks, public_id, "check"), by=self.person, **answer)
        return Response(AdjudicationRow(decision).data, status=status.HTTP_201_CREATED)


class ComparisonAdjudications(ApiView):
    tag = "adjudications"

    @operation("adjudicate_unit", request=NewUnitDecision, responses={201: AdjudicationRow})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Resolve how much of a model unit the peer summary of a comparison expresses.

        Needs the verb "adjudicate". The percent stands above every assessor's. A reason is
        compulsory where nobody gave that percent. The scores follow at once.
        """
        project = self.enter(Verb.ADJUDICATE)
        answer = self.body(NewUnitDecision)
        comparisons = Comparison.objects.filter(peer__document_set__project=project)
        comparison = only(
            comparisons.select_related("peer__document_set__project__deciding_judge", "model"),
            public_id,
            "comparison",
        )
        unit = _unit(comparison, answer.pop("unit"))
        decision = decide_unit(comparison=comparison, unit=unit, by=self.person, **answer)
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
    shown = see_dispute(dispute=dispute, by=view.person, filters=DisputeFilter())
    dispute.is_own = shown.is_own  # type: ignore[attr-defined]  # as `with_own` does for lists
    return dict(DisputeDetail(dispute, context={"person": view.person, "view": shown}).data)


def _unit(comparison: Comparison, public_id: str) -> Unit | Claim:
    for unit in unit_list(comparison.model):
        if unit.public_id == public_id:
            return unit
    raise NotFound("There is no such model unit in this comparison.")
