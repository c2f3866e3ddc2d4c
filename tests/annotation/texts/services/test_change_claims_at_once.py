"""Two people at the same claim at the same instant: one of them wins, and the other loses nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.current_checks import not_as_their_claims
from annotation.models import Check, Claim, ClaimSet, Verdict
from annotation.reviewing.services.review import override
from annotation.texts.queries.claims import claims_of
from annotation.texts.services.change_claims import add_claim, delete_claim, reword_claim, split_claim
from tests.annotation.texts.services.test_change_units_at_once import at_once

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_a_rewording_and_a_split_of_the_same_claim_one_is_done(world: World) -> None:
    claim = world.check("alder", 2).claim
    said = at_once(
        lambda: reword_claim(claim=claim, by=world.rex, text="The wall is weak"),
        lambda: split_claim(claim=claim, by=world.cleo, texts=["A wall is there", "It is weak"]),
    )
    assert sorted(said) == ["", "newer_claims"]
    claims = claims_of(ClaimSet.objects.get(summary=world.models["port"]))
    assert [claim.position for claim in claims] in ([1, 2, 3], [1, 2, 3, 4])


def test_changes_of_two_claims_are_both_done(world: World) -> None:
    first, last = world.check("alder", 1).claim, world.check("alder", 3).claim
    said = at_once(
        lambda: split_claim(claim=first, by=world.rex, texts=["The harbour closes", "It does in April"]),
        lambda: delete_claim(claim=last, by=world.cleo),
        lambda: add_claim(owner=world.models["port"], by=world.olga, text="It costs money", unit=1),
    )
    assert said == ["", "", ""]
    claims = claims_of(ClaimSet.objects.get(summary=world.models["port"]))
    assert [claim.position for claim in claims] == [1, 2, 3, 4]
    assert [claim.unit.position for claim in claims if claim.unit] == [1, 1, 1, 1]


def test_a_claim_is_answered_before_it_is_changed_or_the_answer_is_refused(world: World) -> None:
    check = world.check("alder", 2)
    said = at_once(
        lambda: reword_claim(claim=check.claim, by=world.cleo, text="The wall is weak"),
        lambda: override(check=check, by=world.rex, label="yes"),
    )
    assert tuple(said) in {("", ""), ("", "claim_changed")}
    answered = Verdict.objects.filter(source="reviewer")
    assert list(answered.values_list("check_row", flat=True)) == [check.pk] * (said[1] == "")
    assert not not_as_their_claims(Check.objects.all()).exists()
    assert Claim.objects.filter(text="The wall is weak").count() == 1
