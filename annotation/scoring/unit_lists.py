"""The units that are judged and scored in a comparison."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from annotation.models import Claim, Summary, Unit


class Linked(Protocol):
    """A claim that has the key of its unit."""

    @property
    def unit_id(self) -> int | None: ...


def has_claims_as_units(claims: Iterable[Linked]) -> bool:
    """Return True if a reference's claims replace its units, because at least one claim has no unit."""
    return any(claim.unit_id is None for claim in claims)


def with_linked_claims(references: Collection[int]) -> set[int]:
    """Return the keys of those references that are scored over units: they have no active claim without a unit."""
    unlinked = Claim.objects.filter(
        claim_set__summary_id__in=references, claim_set__is_active=True, unit__isnull=True
    )
    return set(references) - set(unlinked.order_by().values_list("claim_set__summary_id", flat=True))


def unit_list(reference: Summary) -> list[Unit] | list[Claim]:
    """Return the reference's units, or its active claims if they replace the units."""
    claims = list(
        Claim.objects.filter(claim_set__summary=reference, claim_set__is_active=True).order_by("position")
    )
    return claims if has_claims_as_units(claims) else list(reference.units.order_by("position"))
