"""Claims: the atomic statements of a text, and correcting them."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, PageQuery, only
from annotation.api.fields import WordChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Claim, ClaimOrigin, DocumentSet
from annotation.texts.queries.claims import claims_in, document_set_of, owner_of, text_with_claims
from annotation.texts.services import change_claims
from annotation.texts.services.wording import LONGEST_WORDING

LARGEST_UNIT_NUMBER = 2_147_483_647


class ClaimRow(serializers.Serializer[Claim]):
    id = serializers.CharField(source="public_id")
    document_set = serializers.SerializerMethodField()
    document_id = serializers.SerializerMethodField(help_text="The document set's name in files.")
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
    origin = WordChoice(choices=ClaimOrigin.choices)
    origin_name = serializers.CharField(
        source="claim_set.origin_name", help_text="The file, judge or person that it came from."
    )
    version = serializers.IntegerField(source="claim_set.version")
    is_active = serializers.SerializerMethodField(
        help_text="Whether it is checked: neither removed nor in a replaced list."
    )

    def get_is_active(self, claim: Claim) -> bool:
        return claim.claim_set.is_active and claim.removed_at is None

    def get_document_set(self, claim: Claim) -> str:
        return _set_of(claim).public_id

    def get_document_id(self, claim: Claim) -> str:
        return _set_of(claim).external_id


def _set_of(claim: Claim) -> DocumentSet:
    return document_set_of(owner_of(claim.claim_set))


class ClaimQuery(serializers.Serializer[Any]):
    summary = serializers.CharField(required=False, help_text="Claims of the summary of that id.")
    document_set = serializers.CharField(
        required=False, help_text="Claims of the set of that id, and of its summaries."
    )
    system = serializers.CharField(
        required=False, help_text="Claims of that system's summaries; needs the verb view scores."
    )
    active = serializers.BooleanField(default=True, help_text="Current claims, or replaced and removed ones.")


class Rewording(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LONGEST_WORDING)


class Adding(Rewording):
    text_id = serializers.CharField(
        help_text="Id of the summary it is taken from, or of the document set for its documents."
    )
    unit = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=1,
        max_value=LARGEST_UNIT_NUMBER,
        help_text="Unit number; required in a model summary that is scored by units.",
    )


class Claims(ApiView):
    tag = "claims"

    @operation("list_claims", parameters=[ClaimQuery, PageQuery], responses=ClaimRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the claims of a project's texts."""
        project = self.enter(*READ_CONTENT)
        query = self.query(ClaimQuery, PageQuery)
        if "system" in query:
            self.reader(project).need_all("system")
        scope = claims_in(project)
        return self.page(_wanted(scope, query), ClaimRow, query=query, scope=scope)

    @operation("add_claim", request=Adding, responses={201: ClaimRow})
    def post(self, request: Request, slug: str) -> Response:
        """Add a claim to a text; it is compared with what the others are compared with."""
        project = self.enter(Verb.CHANGE_CLAIMS)
        asked = self.body(Adding)
        owner = text_with_claims(project, asked.pop("text_id"))
        made = change_claims.add_claim(owner=owner, by=self.person, **asked)
        return Response(ClaimRow(made).data, status=201)


class OneClaim(ApiView):
    tag = "claims"

    @operation("get_claim", responses=ClaimRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a claim, removed or not."""
        project = self.enter(*READ_CONTENT)
        return Response(ClaimRow(only(claims_in(project), public_id, "claim")).data)


class _OfClaim(ApiView):
    tag = "claims"

    def claim(self) -> Claim:
        project = self.enter(Verb.CHANGE_CLAIMS)
        return only(claims_in(project), self.kwargs["public_id"], "claim")


class ClaimReword(_OfClaim):
    @operation("reword_claim", request=Rewording, responses=ClaimRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Put a claim with other words at the place of one. Shows the new claim, whose checks have no answers.

        Refused (`newer_claims`), with both versions, where the claim was removed since; (`sampled`) while a random
        sample waits for it; (`decided`) to those who may not adjudicate where an adjudicator's decision rests on it.
        """
        claim, asked = self.claim(), self.body(Rewording)
        return Response(ClaimRow(change_claims.reword_claim(claim=claim, by=self.person, **asked)).data)


class ClaimRemove(_OfClaim):
    @operation("remove_claim", responses={204: None})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Remove a claim: it is no longer checked. Refused as rewording is."""
        change_claims.remove_claim(claim=self.claim(), by=self.person)
        return Response(status=204)


def _wanted(claims: QuerySet[Claim], query: dict[str, Any]) -> QuerySet[Claim]:
    checked = Q(claim_set__is_active=True, removed_at__isnull=True)
    claims = claims.filter(checked if query["active"] else ~checked)
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
