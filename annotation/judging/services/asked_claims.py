"""The claims of document sets' texts: those that stand, and keeping new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q

from annotation.judging.services.asked_texts import TextToJudge
from annotation.models import Claim, ClaimChange, ClaimOrigin, ClaimSet, DocumentSet, Summary
from evaluation.judging.protocol import ExtractedClaim

_IN_ORDER = Prefetch("claims", queryset=Claim.objects.order_by("position"))


class ActiveClaims:
    """The active claims of some document sets' texts, as far as they have been loaded."""

    def __init__(self) -> None:
        self._of_summary: dict[int, list[Claim]] = {}
        self._makers: dict[int, str] = {}
        self._of_documents: dict[int, list[Claim]] = {}

    def load(self, *, summaries: Sequence[int] = (), document_sets: Sequence[int] = ()) -> None:
        """Read the claims of these summaries, and of the documents of these sets, as they are now."""
        for key in summaries:
            self._of_summary.pop(key, None)
        for key in document_sets:
            self._of_documents.pop(key, None)
        owned = Q(summary_id__in=summaries) | Q(document_set_id__in=document_sets)
        changes = ClaimChange.objects.filter(claim_set=OuterRef("pk"), undone_at=None)
        sets = ClaimSet.objects.filter(owned, is_active=True).annotate(is_changed=Exists(changes))
        for each in sets.prefetch_related(_IN_ORDER):
            claims = list(each.claims.all())
            if each.summary_id is None:
                self._of_documents[cast("int", each.document_set_id)] = claims
            else:
                self._of_summary[each.summary_id] = claims
                self._makers[each.summary_id] = "" if each.is_changed else each.origin_name

    def has_summary(self, summary: int) -> bool:
        return summary in self._of_summary

    def of_summary(self, summary: int) -> list[Claim]:
        return self._of_summary.get(summary, [])

    def maker_of(self, summary: int) -> str:
        """The file, the judge's signature or the person that the summary's claims come from.

        Empty where people have changed them since: they are nobody's alone then.
        """
        return self._makers.get(summary, "")

    def has_documents(self, document_set: int) -> bool:
        return document_set in self._of_documents

    def of_documents(self, document_set: int) -> list[Claim]:
        return self._of_documents.get(document_set, [])


@dataclass(frozen=True, slots=True)
class FoundClaims:
    """What a judge took from a text: a summary, or the documents of a set."""

    owner: Summary | DocumentSet
    piece: TextToJudge
    claims: Sequence[ExtractedClaim]

    @property
    def key(self) -> tuple[int | None, int | None]:
        """Summary and document set of a claim set."""
        return (self.owner.pk, None) if isinstance(self.owner, Summary) else (None, self.owner.pk)


def keep_claims(found: Sequence[FoundClaims], signature: str) -> None:
    """Write extracted claims as their owners' active sets, but for owners that have got one meanwhile.

    Inside the caller's transaction; a number of statements that does not grow with the texts.
    """
    sets = [document_set for each in found if (document_set := each.key[1])]
    summaries = [summary for each in found if (summary := each.key[0])]
    # Locked in one order, so that two workers never deadlock.
    for model, keys in ((DocumentSet, sets), (Summary, summaries)):
        rows = model.objects.filter(pk__in=keys).order_by("pk")
        if keys:
            list(rows.select_for_update(of=("self",), no_key=True).values_list("pk"))
    there = ClaimSet.objects.filter(Q(summary_id__in=summaries) | Q(document_set_id__in=sets))
    owners = there.order_by().values_list("summary_id", "document_set_id")
    versions = {
        (summary, document_set): (last, is_taken)
        for summary, document_set, last, is_taken in owners.annotate(
            last=Max("version"), active=Count("pk", filter=Q(is_active=True))
        )
    }
    new = [each for each in found if not versions.get(each.key, (0, 0))[1]]
    made = ClaimSet.objects.bulk_create(
        ClaimSet(
            summary_id=each.key[0],
            document_set_id=each.key[1],
            version=versions.get(each.key, (0, 0))[0] + 1,
            origin=ClaimOrigin.JUDGE,
            origin_name=signature,
        )
        for each in new
    )
    Claim.objects.bulk_create(
        _claim_row(claim_set, position, claim, each.piece)
        for claim_set, each in zip(made, new, strict=True)
        for position, claim in enumerate(each.claims, start=1)
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
