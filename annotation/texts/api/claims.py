from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import READ_CONTENT, ApiView, only
from annotation.api.lists import operation_of, shape_of
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import Claim
from annotation.texts.queries.claims import CLAIMS, claims_in, text_with_claims
from annotation.texts.services import change_claims
from annotation.texts.services.wording import LONGEST_WORDING

LARGEST_UNIT_NUMBER = 2_147_483_647


ClaimRow = shape_of(CLAIMS, "ClaimRow")


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
        help_text="Unit number; required in a reference that is scored by units.",
    )


class Claims(ApiView):
    tag = "claims"

    get = operation_of(CLAIMS, ClaimRow, "List the claims of a project's texts.")

    @operation("add_claim", request=Adding, responses={201: ClaimRow})
    def post(self, request: Request, slug: str) -> Response:
        """Add a claim to a text."""
        project = self.enter(Verb.CHANGE_CLAIMS)
        asked = self.body(Adding)
        owner = text_with_claims(project, asked.pop("text_id"))
        made = change_claims.add_claim(owner=owner, by=self.person, **asked)
        return Response(ClaimRow(made).data, status=201)


class OneClaim(ApiView):
    tag = "claims"

    @operation("get_claim", responses=ClaimRow)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a claim, even if it was removed."""
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
        """Replace a claim by one with another wording, and return the new claim.

        Refused with code `newer_claims` if the claim has been reworded or removed meanwhile. The code is `sampled`
        while a random sample waits for an answer to the claim, and `judged` if assessors have given percents to claims
        of the text. It is `decided` if an adjudicator decided on the claim and the caller may not adjudicate.
        """
        claim, asked = self.claim(), self.body(Rewording)
        return Response(ClaimRow(change_claims.reword_claim(claim=claim, by=self.person, **asked)).data)


class ClaimRemove(_OfClaim):
    @operation("remove_claim", responses={204: None})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Remove a claim, so that it is no longer checked."""
        change_claims.remove_claim(claim=self.claim(), by=self.person)
        return Response(status=204)
