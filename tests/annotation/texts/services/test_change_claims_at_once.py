from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.current_checks import not_as_their_claims
from annotation.models import Check, Claim, ClaimSet, Verdict
from annotation.reviewing.services.review import override
from annotation.texts.queries.claims import claims_of
from annotation.texts.services.change_claims import add_claim, remove_claim, reword_claim
from tests.annotation.at_once import codes_of

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_a_rewording_and_a_removal_of_the_same_claim_one_is_done(world: World) -> None:
    claim = world.check("alder", 2).claim
    said = codes_of(
        lambda: reword_claim(claim=claim, by=world.rex, text="The wall is weak"),
        lambda: remove_claim(claim=claim, by=world.cleo),
    )
    assert sorted(said) == ["", "newer_claims"]


def test_changes_of_two_claims_are_both_done(world: World) -> None:
    first, last = world.check("alder", 1).claim, world.check("alder", 3).claim
    said = codes_of(
        lambda: reword_claim(claim=first, by=world.rex, text="The harbour closes"),
        lambda: remove_claim(claim=last, by=world.cleo),
        lambda: add_claim(owner=world.references["port"], by=world.olga, text="It costs money", unit=1),
        lambda: add_claim(owner=world.references["port"], by=world.olga, text="It costs time", unit=1),
    )
    assert said == [""] * 4
    claims = claims_of(ClaimSet.objects.get(summary=world.references["port"]))
    assert {claim.text for claim in claims} == {
        "The harbour closes",
        "its wall is weak",
        "It costs money",
        "It costs time",
    }


def test_a_claim_is_answered_before_it_is_changed_or_the_answer_is_refused(world: World) -> None:
    check = world.check("alder", 2)
    said = codes_of(
        lambda: reword_claim(claim=check.claim, by=world.cleo, text="The wall is weak"),
        lambda: override(check=check, by=world.rex, label="yes"),
    )
    assert tuple(said) in {("", ""), ("", "claim_changed")}
    answered = Verdict.objects.filter(role="reviewer")
    assert list(answered.values_list("check_row", flat=True)) == [check.pk] * (said[1] == "")
    assert not not_as_their_claims(Check.objects.all()).exists()
    assert Claim.objects.filter(text="The wall is weak").count() == 1
