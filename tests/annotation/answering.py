"""Answers of people to checks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from annotation.models import Check, Claim, ClaimSet, CoverageJudgment, Dispute, Look, Verdict
from tests.annotation.exports.acts import assess_and_close

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from tests.annotation.cast import World


def decisions() -> list[Verdict | CoverageJudgment]:
    return [
        *Verdict.objects.filter(role="adjudicator"),
        *CoverageJudgment.objects.filter(role="adjudicator"),
    ]


def add_checks(world: World, number: int, *, judge: str | None = "no") -> list[Check]:
    claim_set = ClaimSet.objects.get(summary=world.references["port"], is_active=True)
    first = 1 + max(claim_set.claims.values_list("position", flat=True))
    claims = Claim.objects.bulk_create(
        Claim(
            claim_set=claim_set,
            unit=world.units("port")[0],
            position=position,
            text=f"Claim {position}",
            origin="judge",
        )
        for position in range(first, first + number)
    )
    summary = world.summaries["port", "alder"]
    return Check.objects.bulk_create(
        Check(
            project=world.project,
            claim=claim,
            summary=summary,
            document_set_id=summary.document_set_id,
            side="reference",
            judge_label=judge,
        )
        for claim in claims
    )


def look(check: Check, person: User) -> Look:
    revealed_at = timezone.now() - timedelta(hours=1)
    return Look.objects.create(check_row=check, person=person, revealed_at=revealed_at)


def say(
    check: Check,
    person: User,
    label: str,
    *,
    had_seen: bool = False,
    ms: int = 0,
    minutes_ago: int = 90,
    withdrawn: bool = False,
) -> Verdict:
    verdict = Verdict.objects.create(
        check_row=check,
        role=Verdict.Role.REVIEWER,
        person=person,
        label=label,
        had_seen=had_seen,
        active_ms=ms,
        withdrawn_at=timezone.now() if withdrawn else None,
    )
    verdict.created_at = timezone.now() - timedelta(minutes=minutes_ago)
    verdict.save(update_fields=["created_at"])
    return verdict


def answer_fourteen(world: World) -> list[Check]:
    """Add fourteen checks to which the judge says no. Rex answers all of them blind, and Cleo the first twelve.

    Rex: no to 1-4, yes to 5-14; afterwards he changes 5-8 to no. Cleo: no to 1-3, 5 and 6, yes to the others. Rex
    takes n seconds for check n, and half a second more for an answer that he changes.
    """
    checks = add_checks(world, 14)
    for number, check in enumerate(checks, start=1):
        look(check, world.rex)
        say(check, world.rex, "no" if number <= 4 else "yes", ms=1000 * number)
        if 5 <= number <= 8:
            say(check, world.rex, "no", had_seen=True, ms=500, minutes_ago=50)
        if number <= 12:
            look(check, world.cleo)
            say(check, world.cleo, "no" if number in {1, 2, 3, 5, 6} else "yes")
    return checks


def differ_on_a_unit(world: World, *, ana: int = 20, ben: int = 60) -> Dispute | None:
    for person, first in ((world.ana, ana), (world.ben, ben)):
        percents = {("alder", 1): first, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 0}
        assess_and_close(world, person, percents)
    return Dispute.objects.filter(comparison__isnull=False).first()
