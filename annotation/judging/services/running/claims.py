"""Read and store the claims of judged texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Exists, Max, OuterRef, Prefetch, Q, QuerySet

from annotation.judging.services.running.texts import TextToJudge
from annotation.models import Claim, ClaimOrigin, ClaimSet, DocumentSet, Summary
from annotation.models.claim import CHANGED_BY_PEOPLE
from evaluation.judging.protocol import ExtractedClaim

Owner = tuple[int | None, int | None]
"""The key of a summary, or of a document set for its documents."""


class ActiveClaims(NamedTuple):
    """The active claims of a text.

    `maker` is the origin of all of them: a file, a judge's signature or a person; "" if people have changed the claims.
    """

    maker: str
    claims: Sequence[Claim]


class FoundClaims(NamedTuple):
    """The claims that a judge extracted from a summary, or from the documents of a set."""

    owner: Owner
    piece: TextToJudge
    claims: Sequence[ExtractedClaim]


def owner_of(text: Summary | DocumentSet) -> Owner:
    return (text.pk, None) if isinstance(text, Summary) else (None, text.pk)


def active_claims(owners: Iterable[Owner]) -> dict[Owner, ActiveClaims]:
    """Load the active claims of those texts that have a set of claims; the set may be empty."""
    changed = Claim.all_claims.filter(CHANGED_BY_PEOPLE, claim_set=OuterRef("pk"))
    sets = _sets_of(owners).filter(is_active=True).annotate(is_changed=Exists(changed))
    in_order = Prefetch("claims", queryset=Claim.objects.order_by("position"))
    return {
        (each.summary_id, each.document_set_id): ActiveClaims(
            "" if each.is_changed else each.origin_name, list(each.claims.all())
        )
        for each in sets.prefetch_related(in_order)
    }


def keep_claims(found: Sequence[FoundClaims], signature: str) -> dict[Owner, ActiveClaims]:
    """Store the claims that a judge extracted, and return the active claims of these texts.

    A text that has got claims meanwhile keeps those. The caller must be in a transaction.
    """
    # Lock in a fixed order, so that two workers cannot deadlock.
    for place, model in ((1, DocumentSet), (0, Summary)):
        if keys := [key for each in found if (key := each.owner[place])]:
            held = model.objects.filter(pk__in=keys).order_by("pk")
            list(held.select_for_update(of=("self",), no_key=True).values_list("pk"))
    owners = [each.owner for each in found]
    there = active_claims(owners)
    last = {
        (summary, document_set): version
        for summary, document_set, version in _sets_of(owners)
        .order_by()
        .values_list("summary_id", "document_set_id")
        .annotate(Max("version"))
    }
    new = [each for each in found if each.owner not in there]
    made = ClaimSet.objects.bulk_create(
        ClaimSet(
            summary_id=each.owner[0],
            document_set_id=each.owner[1],
            version=last.get(each.owner, 0) + 1,
            origin=ClaimOrigin.JUDGE,
            origin_name=signature,
        )
        for each in new
    )
    rows = [
        [_claim_row(one, place, claim, each.piece) for place, claim in enumerate(each.claims, start=1)]
        for one, each in zip(made, new, strict=True)
    ]
    Claim.objects.bulk_create(claim for claims in rows for claim in claims)
    kept = zip(new, rows, strict=True)
    return there | {each.owner: ActiveClaims(signature, claims) for each, claims in kept}


def _sets_of(owners: Iterable[Owner]) -> QuerySet[ClaimSet]:
    owners = list(owners)
    return ClaimSet.objects.filter(
        Q(summary_id__in=[summary for summary, _ in owners if summary])
        | Q(document_set_id__in=[document_set for _, document_set in owners if document_set]),
        kind=ClaimSet.Kind.CLAIMS,
    )


def _claim_row(claim_set: ClaimSet, position: int, claim: ExtractedClaim, piece: TextToJudge) -> Claim:
    unit = piece.unit(claim.unit)
    shift = piece.starts[claim.unit - 1] if unit is not None else 0
    return Claim(
        claim_set=claim_set,
        unit=unit,
        position=position,
        text=claim.text,
        start=None if claim.start is None else claim.start - shift,
        end=None if claim.end is None else claim.end - shift,
        origin=ClaimOrigin.JUDGE,
    )
