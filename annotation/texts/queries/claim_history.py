"""How the claims of a text came to read as they do: which wordings they had, who changed them and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from annotation.models import Claim, ClaimChange

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import ClaimSet, Unit


@dataclass(frozen=True, slots=True)
class ToldChange:
    """One act on the claims of a text, in words: what, by whom, why, when. `who` is empty for the program."""

    kind: str
    who: str
    reason: str
    at: datetime
    is_undone: bool


@dataclass(frozen=True, slots=True)
class ClaimHistory:
    """The claims of some claim sets that count no more, found from those that do.

    `by_change` holds those that a change took away, by its key, in order; what an undone one had made is not among
    them.
    """

    by_change: dict[int, tuple[Claim, ...]]
    retired: tuple[Claim, ...]

    @classmethod
    def load(cls, claim_sets: QuerySet[ClaimSet]) -> ClaimHistory:
        """One query."""
        rows = Claim.all_claims.filter(claim_set__in=claim_sets, retired_by__isnull=False)
        return cls.of(
            rows.select_related("claim_set", "made_by", "retired_by__by").order_by("position", "pk")
        )

    @classmethod
    def of(cls, claims: Iterable[Claim]) -> ClaimHistory:
        """As `load`, from claims that were read already, in order; those that are in force do not matter."""
        retired = tuple(claim for claim in claims if claim.retired_by_id is not None)
        by_change: dict[int, list[Claim]] = defaultdict(list)
        for claim in retired:
            if claim.retired_by_id is not None and claim.retired_by_id != claim.made_by_id:
                by_change[claim.retired_by_id].append(claim)
        return cls({change: tuple(gone) for change, gone in by_change.items()}, retired)

    def earlier(self, claim: Claim) -> tuple[Claim, ...]:
        """The wordings that a claim was made from, the nearest first; those of a join side by side."""
        return tuple(self._earlier(claim))

    def gone(self) -> tuple[Claim, ...]:
        """Claims that nothing took the place of: deleted ones, and those that an undone change had made."""
        return tuple(claim for claim in self.retired if _is_gone(claim))

    def deleted_from(self, unit: Unit) -> tuple[ToldChange, ...]:
        """The acts that deleted claims of a unit and stand, one for each such claim, in the order of the acts."""
        acts = (claim.retired_by for claim in self.retired if claim.unit_id == unit.pk and _is_gone(claim))
        standing = [act for act in acts if act is not None and act.undone_at is None]
        return tuple(told(act) for act in sorted(standing, key=lambda act: act.pk))

    def _earlier(self, claim: Claim) -> Iterator[Claim]:
        waiting, seen = [claim], {claim.pk}
        while waiting:
            before: Sequence[Claim] = self.by_change.get(waiting.pop(0).made_by_id or 0, ())
            for each in before:
                if each.pk not in seen:
                    seen.add(each.pk)
                    waiting.append(each)
                    yield each


def told(change: ClaimChange) -> ToldChange:
    """A change in words; its person must be loaded."""
    return ToldChange(
        kind=change.get_kind_display().lower(),
        who=change.by.username if change.by else "",
        reason=change.reason,
        at=change.created_at,
        is_undone=change.undone_at is not None,
    )


def _is_gone(claim: Claim) -> bool:
    assert claim.retired_by is not None, "asked for retired ones"
    return claim.retired_by_id == claim.made_by_id or claim.retired_by.kind == ClaimChange.Kind.DELETE
