"""The claims of document sets' texts: those that stand, and keeping new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q

from annotation.judging.services.asked_texts import TextToJudge
from annotation.models import Claim, ClaimOrigin, ClaimSet, DocumentSet, Summary
from annotation.models.claim import CHANGED_BY_PEOPLE
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
        changed = Claim.all_claims.filter(CHANGED_BY_PEOPLE, claim_set=OuterRef("pk"))
        sets = ClaimSet.objects.filter(owned, kind=ClaimSet.Kind.CLAIMS, is_active=True).annotate(
            is_changed=Exists(changed)
        )
        for each in sets.prefetch_related(_IN_ORDER):
            self._take(each, list(each.claims.all()), maker="" if each.is_changed else each.origin_name)

    def take_kept(self, found: Sequence[FoundClaims], kept: Sequence[KeptClaims]) -> None:
        """Take in what `keep_claims` has kept of these, and read what it left as it found it."""
        made = {(each.claim_set.summary_id, each.claim_set.document_set_id) for each in kept}
        for each in kept:
            self._take(each.claim_set, each.claims, maker=each.claim_set.origin_name)
        others = [each.key for each in found if each.key not in made]
        if others:
            self.load(
                summaries=[summary for summary, _ in others if summary],
                document_sets=[document_set for _, document_set in others if document_set],
            )

    def _take(self, claim_set: ClaimSet, claims: list[Claim], *, maker: str) -> None:
        if claim_set.summary_id is None:
            self._of_documents[cast("int", claim_set.document_set_id)] = claims
        else:
            self._of_summary[claim_set.summary_id] = claims
            self._makers[claim_set.summary_id] = maker

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


class KeptClaims(NamedTuple):
    """A claim set just written, with its claims in order."""

    claim_set: ClaimSet
    claims: list[Claim]


def keep_claims(found: Sequence[FoundClaims], signature: str) -> list[KeptClaims]:
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
    owned = Q(summary_id__in=summaries) | Q(document_set_id__in=sets)
    there = ClaimSet.objects.filter(owned, kind=ClaimSet.Kind.CLAIMS)
    owners = there.order_by().values_list("summary_id", "document_set_id")
    versions = {
        (summary, document_set): (last, is_taken)
        for summary, document_set, last, is_taken in owners.annotate(
            last=Max("version"), active=Count("pk", filter=Q(is_active=True))
        )
    }
    new = [each for each in found if not versions.get(each.key, (0, 0))[1]]
    made = [
        ClaimSet(
            summary_id=each.key[0],
            document_set_id=each.key[1],
            version=versions.get(each.key, (0, 0))[0] + 1,
            origin=ClaimOrigin.JUDGE,
            origin_name=signature,
        )
        for each in new
    ]
    ClaimSet.objects.bulk_create(made)
    kept = [
        KeptClaims(
            claim_set,
            [
                _claim_row(claim_set, place, claim, each.piece)
                for place, claim in enumerate(each.claims, start=1)
            ],
        )
        for claim_set, each in zip(made, new, strict=True)
    ]
    Claim.objects.bulk_create(claim for each in kept for claim in each.claims)
    return kept


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
