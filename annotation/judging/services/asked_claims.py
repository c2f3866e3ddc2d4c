"""The claims of a document set's texts: those that stand, and keeping new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from django.db.models import Exists, Max, OuterRef, Prefetch

from annotation.judging.services.asked_texts import TextToJudge
from annotation.models import Claim, ClaimChange, ClaimOrigin, ClaimSet, DocumentSet, Summary
from evaluation.judging.protocol import ExtractedClaim

_IN_ORDER = Prefetch("claims", queryset=Claim.objects.order_by("position"))


class ActiveClaims:
    """The active claims of a document set's texts, as far as they have been loaded."""

    def __init__(self, document_set: DocumentSet) -> None:
        self._document_set = document_set
        self._of_summary: dict[int, list[Claim]] = {}
        self._makers: dict[int, str] = {}
        self._of_documents: list[Claim] | None = None

    def load_summaries(self, summaries: Sequence[int]) -> None:
        sets = ClaimSet.objects.filter(is_active=True, summary_id__in=summaries)
        changes = ClaimChange.objects.filter(claim_set=OuterRef("pk"), undone_at=None)
        for each in sets.annotate(is_changed=Exists(changes)).prefetch_related(_IN_ORDER):
            self._of_summary[cast("int", each.summary_id)] = list(each.claims.all())
            self._makers[cast("int", each.summary_id)] = "" if each.is_changed else each.origin_name

    def load_documents(self) -> None:
        sets = ClaimSet.objects.filter(is_active=True, document_set=self._document_set)
        for each in sets.prefetch_related(_IN_ORDER):
            self._of_documents = list(each.claims.all())

    def has_summary(self, summary: int) -> bool:
        return summary in self._of_summary

    def of_summary(self, summary: int) -> list[Claim]:
        return self._of_summary.get(summary, [])

    def maker_of(self, summary: int) -> str:
        """The file, the judge's signature or the person that the summary's claims come from.

        Empty where people have changed them since: they are nobody's alone then.
        """
        return self._makers.get(summary, "")

    def has_documents(self) -> bool:
        return self._of_documents is not None

    def of_documents(self) -> list[Claim]:
        return self._of_documents or []


def keep_claims(
    owner: Summary | DocumentSet, piece: TextToJudge, claims: Sequence[ExtractedClaim], signature: str
) -> None:
    """Write extracted claims as the owner's active set, unless it has got one meanwhile."""
    if isinstance(owner, Summary):
        list(Summary.objects.select_for_update(of=("self",), no_key=True).filter(pk=owner.pk))
        sets, claim_set = ClaimSet.objects.filter(summary=owner), ClaimSet(summary=owner)
    else:
        list(DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=owner.pk))
        sets, claim_set = ClaimSet.objects.filter(document_set=owner), ClaimSet(document_set=owner)
    if sets.filter(is_active=True).exists():
        return
    claim_set.version = (sets.aggregate(Max("version"))["version__max"] or 0) + 1
    claim_set.origin = ClaimOrigin.JUDGE
    claim_set.origin_name = signature
    claim_set.save()
    Claim.objects.bulk_create(
        _claim_row(claim_set, position, claim, piece) for position, claim in enumerate(claims, start=1)
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
