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
from annotation.core.refusals import NotFound
from annotation.models import Claim, ClaimChange, ClaimOrigin, DocumentSet, Project
from annotation.texts.queries.claims import changes_in, claims_in, owner_of, text_with_claims
from annotation.texts.services import change_claims
from annotation.texts.services.change_claims import MOST_PARTS, Changed
from annotation.texts.services.wording import LONGEST_CHANGE_REASON, LONGEST_WORDING

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
        help_text="Whether it is currently checked in this wording."
    )

    def get_is_active(self, claim: Claim) -> bool:
        return claim.claim_set.is_active and claim.retired_by_id is None

    def get_document_set(self, claim: Claim) -> str:
        return _set_of(claim).public_id

    def get_document_id(self, claim: Claim) -> str:
        return _set_of(claim).external_id


def _set_of(claim: Claim) -> DocumentSet:
    summary = claim.claim_set.summary
    document_set = summary.document_set if summary else claim.claim_set.document_set
    assert document_set is not None, "the database holds a claim set to one text"
    return document_set


class ClaimDetail(ClaimRow):
    supersedes = serializers.CharField(
        source="supersedes.public_id", allow_null=True, default=None, help_text="The claim it replaces."
    )
    made_by = serializers.CharField(
        source="made_by.public_id", allow_null=True, default=None, help_text="The change that made it."
    )
    retired_by = serializers.CharField(
        source="retired_by.public_id",
        allow_null=True,
        default=None,
        help_text="The change that removed it.",
    )


class ClaimQuery(serializers.Serializer[Any]):
    summary = serializers.CharField(required=False, help_text="Claims of the summary of that id.")
    document_set = serializers.CharField(
        required=False, help_text="Claims of the set of that id, and of its summaries."
    )
    system = serializers.CharField(
        required=False, help_text="Claims of that system's summaries; needs the verb view scores."
    )
    active = serializers.BooleanField(default=True, help_text="Current claims, or replaced and changed ones.")


class _Reasoned(serializers.Serializer[Any]):
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_CHANGE_REASON)


class Adding(_Reasoned):
    text_id = serializers.CharField(
        help_text="Id of the summary it is taken from, or of the document set for its documents."
    )
    text = serializers.CharField(max_length=LONGEST_WORDING)
    unit = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=1,
        max_value=LARGEST_UNIT_NUMBER,
        help_text="Unit number; required in a model summary that is scored by units.",
    )


class Rewording(_Reasoned):
    text = serializers.CharField(max_length=LONGEST_WORDING)


class SplittingClaim(_Reasoned):
    texts = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_WORDING), min_length=2, max_length=MOST_PARTS
    )


class JoiningClaims(_Reasoned):
    claims = serializers.ListField(
        child=serializers.CharField(), min_length=2, max_length=100, help_text="Ids, all of one unit."
    )
    text = serializers.CharField(max_length=LONGEST_WORDING)


class Deleting(_Reasoned):
    """Why, if that is to be told."""


class ClaimChangeRow(serializers.Serializer[ClaimChange]):
    id = serializers.CharField(source="public_id")
    kind = WordChoice(choices=ClaimChange.Kind.choices)
    text_id = serializers.SerializerMethodField(
        help_text="The summary, or the document set of the documents."
    )
    reason = serializers.CharField()
    by = serializers.CharField(source="by.username", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    undone_at = serializers.DateTimeField(allow_null=True)

    def get_text_id(self, change: ClaimChange) -> str:
        return owner_of(change.claim_set).public_id


class ChangedRow(serializers.Serializer[Changed]):
    change = ClaimChangeRow()
    claims = ClaimRow(many=True, help_text="Claims that it created or restored.")
    run = serializers.CharField(
        source="run.public_id",
        allow_null=True,
        default=None,
        help_text="The run that answers open checks; null if there is none.",
    )
    waits = serializers.CharField(
        help_text="Why open checks wait for the next run, if cost is the reason; otherwise empty."
    )


class ChangeQuery(serializers.Serializer[Any]):
    text_id = serializers.CharField(required=False, help_text="Changes of the claims of that text.")


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

    @operation("add_claim", request=Adding, responses={201: ChangedRow})
    def post(self, request: Request, slug: str) -> Response:
        """Add a claim to a text, as the last one of its unit; it is compared with what the others are."""
        project = self.enter(Verb.CHANGE_CLAIMS)
        asked = self.body(Adding)
        owner = text_with_claims(project, asked.pop("text_id"))
        return _changed(change_claims.add_claim(owner=owner, by=self.person, **asked), status=201)


class OneClaim(ApiView):
    tag = "claims"

    @operation("get_claim", responses=ClaimDetail)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """Show a claim, what it replaces and what took its place. A wording stays readable for ever."""
        project = self.enter(*READ_CONTENT)
        return Response(_shown(only(_whole(project), public_id, "claim")))


class _OfClaim(ApiView):
    tag = "claims"

    def claim(self) -> Claim:
        """The claim. The services refuse one that was changed meanwhile."""
        project = self.enter(Verb.CHANGE_CLAIMS)
        return only(_whole(project), self.kwargs["public_id"], "claim")


class ClaimReword(_OfClaim):
    @operation("reword_claim", request=Rewording, responses=ChangedRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Give a claim other words.

        The old wording keeps its answers; the new one is asked again. Refused (`newer_claims`), with both
        versions, where the claim was changed since, and (`decided`) to those who may not adjudicate where an
        adjudicator's decision rests on it.
        """
        claim, asked = self.claim(), self.body(Rewording)
        return _changed(change_claims.reword_claim(claim=claim, by=self.person, **asked))


class ClaimSplit(_OfClaim):
    @operation("split_claim", request=SplittingClaim, responses=ChangedRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Put several claims in the place of one; each has its whole weight. Refused as rewording is."""
        claim, asked = self.claim(), self.body(SplittingClaim)
        return _changed(change_claims.split_claim(claim=claim, by=self.person, **asked))


class ClaimDelete(_OfClaim):
    @operation("delete_claim", request=Deleting, responses=ChangedRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Take a claim away: nothing is asked of it any more. Refused as rewording is."""
        claim, asked = self.claim(), self.body(Deleting)
        return _changed(change_claims.delete_claim(claim=claim, by=self.person, **asked))


class ClaimsJoin(ApiView):
    tag = "claims"

    @operation("join_claims", request=JoiningClaims, responses=ChangedRow)
    def post(self, request: Request, slug: str) -> Response:
        """Put one claim in the place of several of one unit, with the largest weight. Refused as rewording is."""
        project = self.enter(Verb.CHANGE_CLAIMS)
        asked = self.body(JoiningClaims)
        wanted = dict.fromkeys(asked.pop("claims"))
        rows = {claim.public_id: claim for claim in claims_in(project).filter(public_id__in=wanted)}
        for public_id in wanted:
            if public_id not in rows:
                raise NotFound("There is no such claim in this project.")
        claims = [rows[public_id] for public_id in wanted]
        return _changed(change_claims.join_claims(claims=claims, by=self.person, **asked))


class ClaimChanges(ApiView):
    tag = "claims"

    @operation("list_claim_changes", parameters=[ChangeQuery, PageQuery], responses=ClaimChangeRow(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List what people changed of the claims, the first change first."""
        project = self.enter(*READ_CONTENT)
        query = self.query(ChangeQuery, PageQuery)
        scope = changes_in(project)
        rows = scope
        if "text_id" in query:
            rows = scope.filter(
                Q(claim_set__summary__public_id=query["text_id"])
                | Q(claim_set__document_set__public_id=query["text_id"])
            )
        return self.page(rows, ClaimChangeRow, query=query, scope=scope)


class ClaimChangeUndo(ApiView):
    tag = "claims"

    @operation("undo_claim_change", responses=ChangedRow)
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Take the last change of a text's claims back; their answers come back with them.

        Refused (`newer_claims`) where others stand upon it, (`nothing_to_undo`) where it was undone, and (`decided`) to
        those who may not adjudicate where an adjudicator's decision rests on what it made.
        """
        project = self.enter(Verb.CHANGE_CLAIMS)
        change = only(changes_in(project), public_id, "change of claims")
        return _changed(change_claims.undo_claim_change(change=change, by=self.person))


def _whole(project: Project) -> QuerySet[Claim]:
    return claims_in(project).select_related("supersedes", "made_by", "retired_by")


def _shown(claim: Claim) -> dict[str, Any]:
    return ClaimDetail(claim).data


def _changed(changed: Changed, *, status: int = 200) -> Response:
    return Response(ChangedRow(changed).data, status=status)


def _wanted(claims: QuerySet[Claim], query: dict[str, Any]) -> QuerySet[Claim]:
    checked = Q(claim_set__is_active=True, retired_by__isnull=True)
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
