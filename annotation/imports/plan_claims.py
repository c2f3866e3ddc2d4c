"""What the claims of an import change: lists of claims, and people's answers to them.

A list of claims is one text's, and comes or goes whole: a document set's, a reference's, or a summary's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.imports.dataset import ClaimData, PeerKey, SetData, Side, Stretch, TargetWords, Votes
from annotation.imports.existing import Existing, OwnerOfClaims
from annotation.imports.planned import ImportedAnswer, ImportPlan, Replaced
from annotation.models import Claim, ClaimOrigin, ClaimSet, DocumentSet, Summary

MAX_CLAIM_ORIGIN_CHARACTERS = 190


def plan_claims(
    plan: ImportPlan,
    row: DocumentSet,
    one: SetData,
    existing: Existing,
    *,
    side: Side,
    peers: Mapping[PeerKey, Summary],
    models: Mapping[tuple[str, TargetWords], Summary],
) -> None:
    """Add to a plan, whose texts of this set are planned already, what the set's claims make.

    Claims of the reference side belong to the reference that they were taken from, else to the documents; each of
    the peer side to the summary that it alone was answered for.
    """
    planner = _ClaimPlanner(plan, side, one, existing, peers)
    if side == "reference":
        planner.plan_list(models.get(one.claims_of) or row, one.claims)
        return
    by_system: dict[str, list[ClaimData]] = defaultdict(list)
    for claim in one.claims:
        by_system[next(iter(claim.systems))].append(claim)
    for system, claims in by_system.items():
        planner.plan_list(peers[system, None], claims)


@dataclass(frozen=True, slots=True)
class _ClaimPlanner:
    plan: ImportPlan
    side: Side
    one: SetData
    existing: Existing
    peers: Mapping[PeerKey, Summary]

    def plan_list(self, owner: OwnerOfClaims, claims: Sequence[ClaimData]) -> None:
        """The claims of one text, and what the file answers to each."""
        rows = self._rows(owner, claims)
        target = self.one.claims_of[1]
        for row, claim in zip(rows, claims, strict=True):
            for system, label in claim.verdicts.items():
                places, votes = claim.places.get(system, ()), claim.votes.get(system, ())
                self._answer(row, self.peers[system, target], label, places, votes)

    def _rows(self, owner: OwnerOfClaims, claims: Sequence[ClaimData]) -> list[Claim]:
        count = self.plan.counts.claims
        # The claims of a text that is replaced go with it, even where the file has the same again.
        there = [] if self._is_replaced(owner) else self.existing.active_claims(owner)
        if [(row.text, row.weight) for row in there] == [(claim.text, claim.weight) for claim in claims]:
            count.unchanged += len(there)
            return there
        if there:
            count.changed += len(claims)
            name = f"the list of claims of {_owner_name(owner)}"
            self.plan.replaced_claim_sets.append(
                Replaced(there[0].claim_set_id, self.one.line, name, "document_id")
            )
        else:
            count.created += len(claims)
        claim_set = ClaimSet(
            summary=owner if isinstance(owner, Summary) else None,
            document_set=owner if isinstance(owner, DocumentSet) else None,
            origin=ClaimOrigin.IMPORTED,
            origin_name=self.plan.origin_name,
            version=self.existing.next_version(owner),
        )
        rows = [
            _claim_row(claim_set, claim, position, owner.text if isinstance(owner, Summary) else "")
            for position, claim in enumerate(claims, start=1)
        ]
        self.plan.claim_sets.append(claim_set)
        self.plan.claims.extend(rows)
        return rows

    def _is_replaced(self, owner: OwnerOfClaims) -> bool:
        rows = self.plan.replaced_summaries if isinstance(owner, Summary) else self.plan.replaced_documents
        return any(row.key == owner.pk for row in rows)

    def _answer(
        self,
        claim: Claim,
        peer: Summary,
        label: str,
        places: tuple[Stretch, ...],
        votes: Votes,
    ) -> None:
        checks, verdicts = self.plan.counts.checks, self.plan.counts.verdicts
        check_id = self.existing.checks.get((claim.id, peer.id)) if claim.id and peer.id else None
        checks.created += check_id is None
        checks.unchanged += check_id is not None
        if check_id is not None and self.existing.has_answer(check_id, self.plan.origin, label, votes):
            verdicts.unchanged += 1
            return
        verdicts.created += 1
        self.plan.answers.append(
            ImportedAnswer(
                claim=claim,
                peer=peer,
                side=self.side,
                label=label,
                check_id=check_id,
                places=places,
                votes=votes,
            )
        )


def _owner_name(owner: OwnerOfClaims) -> str:
    """What a message calls the text that claims were taken from."""
    if isinstance(owner, DocumentSet):
        return f"the documents of {owner.external_id!r}"
    who = f"by {owner.system.name!r}" if owner.is_peer and owner.system else "used as reference"
    return f"the summary of {owner.document_set.external_id!r} {who}"


def _claim_row(claim_set: ClaimSet, claim: ClaimData, position: int, text: str) -> Claim:
    start = text.find(claim.text) if text else -1
    return Claim(
        claim_set=claim_set,
        position=position,
        text=claim.text,
        start=start if start >= 0 else None,
        end=start + len(claim.text) if start >= 0 else None,
        weight=claim.weight,
        origin=ClaimOrigin.IMPORTED,
    )
