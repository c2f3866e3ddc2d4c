"""Claims: the atomic statements of a text."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, PageQuery, only
from annotation.api.schema import operation
from annotation.models import Claim, ClaimOrigin, Project


class ClaimRow(serializers.Serializer[Claim]):
    id = serializers.CharField(source="public_id")
    document_set = serializers.SerializerMethodField()
    summary = serializers.CharField(
        source="claim_set.summary.public_id",
        allow_null=True,
        default=None,
        help_text="The summary it is taken from; null where it is taken from the documents.",
    )
    unit = serializers.CharField(
        source="unit.public_id", allow_null=True, default=None, help_text="The unit it belongs to, if to one."
    )
    position = serializers.IntegerField(help_text="From 1, among the claims of one text.")
    text = serializers.CharField()
    start = serializers.IntegerField(allow_null=True)
    end = serializers.IntegerField(allow_null=True)
    weight = serializers.FloatField()
    origin = serializers.ChoiceField(choices=ClaimOrigin.choices)
    origin_name = serializers.CharField(
        source="claim_set.origin_name", help_text="The file, judge or person that it came from."
    )
    version = serializers.IntegerField(source="claim_set.version")
    is_active = serializers.BooleanField(
        source="claim_set.is_active", help_text="Whether it is checked at present."
    )

    def get_document_set(self, claim: Claim) -> str:
        summary = claim.claim_set.summary
        document_set = summary.document_set if summary else claim.claim_set.document_set
        assert document_set is not None, "the database holds a claim set to one text"
        return document_set.public_id


class ClaimDetail(ClaimRow):
    supersedes = serializers.CharField(
        source="supersedes.public_id", allow_null=True, default=None, help_text="The claim it replaces."
    )


class ClaimQuery(serializers.Serializer[Any]):
    summary = serializers.CharField(required=False, help_text="Claims of the summary of that id.")
    document_set = serializers.CharField(
        required=False, help_text="Claims of the set of that id, and of its summaries."
    )
    system = serializers.CharField(required=False, help_text="Claims of that system's summaries.")
    active = serializers.BooleanField(
        default=True, help_text="Claims that are checked at present, or those that were replaced."
    )


class Claims(ApiView):
    tag = "claims"

    @operation("list_claims", parameters=[ClaimQuery, PageQuery], responses=ClaimRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the claims of a project's texts."""
        project = self.enter(*READ_CONTENT)
        query = self.query(ClaimQuery, PageQuery)
        scope = _claims_of(project)
        return self.page(_wanted(scope, query), ClaimRow, query=query, scope=scope)


class OneClaim(ApiView):
    tag = "claims"

    @operation("get_claim", responses=ClaimDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a claim and what it replaces."""
        project = self.enter(*READ_CONTENT)
        claims = _claims_of(project).select_related("supersedes")
        return Response(ClaimDetail(only(claims, public_id, "claim")).data)


def _claims_of(project: Project) -> QuerySet[Claim]:
    return Claim.objects.filter(
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)
    ).select_related("unit", "claim_set__summary__document_set", "claim_set__document_set")


def _wanted(claims: QuerySet[Claim], query: dict[str, Any]) -> QuerySet[Claim]:
    claims = claims.filter(claim_set__is_active=query["active"])
    if "summary" in query:
        claims = claims.filter(claim_set__summary__public_id=query["summary"])
    if "system" in query:
        claims = claims.filter(claim_set__summary__system__name=query["system"])
    if "document_set" in query:
        claims = claims.filter(
            Q(claim_set__summary__document_set__public_id=query["document_set"])
            | Q(claim_set__document_set__public_id=query["document_set"])
        )
    return claims
