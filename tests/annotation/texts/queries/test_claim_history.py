"""The wordings that a claim was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Claim, ClaimSet
from annotation.texts.queries.claim_history import ClaimHistory
from annotation.texts.queries.claims import claim_text
from annotation.texts.services.change_claims import join_claims, reword_claim, split_claim, undo_claim_change

if TYPE_CHECKING:
    from tests.annotation.cast import World

PARTS = ["The wall is weak", "It is old"]


@pytest.fixture
def joined(world: World) -> Claim:
    """The claim "its wall is weak" was split in two, and these were joined."""
    split_claim(claim=world.check("alder", 2).claim, by=world.cleo, texts=PARTS)
    parts = list(Claim.objects.filter(text__in=PARTS).order_by("position"))
    join_claims(claims=parts, by=world.cleo, text="The wall is weak and old")
    return Claim.objects.get(text="The wall is weak and old")


def wordings_of(world: World, claim: Claim) -> list[str]:
    """As the page of the text's claims tells them."""
    text = claim_text(world.models["port"], names_systems=False)
    (line,) = (line for group in text.groups for line in group.claims if line.claim_id == claim.public_id)
    return [wording.text for wording in line.before]


def test_split_and_joined_again_a_claim_has_three_wordings_before_it(world: World, joined: Claim) -> None:
    history = ClaimHistory.load(ClaimSet.objects.filter(pk=joined.claim_set_id))
    assert [claim.text for claim in history.earlier(joined)] == [*PARTS, "its wall is weak"]
    assert wordings_of(world, joined) == [*PARTS, "its wall is weak"]


def test_a_wording_that_was_undone_is_none_of_those_before(world: World) -> None:
    reword_claim(claim=world.check("alder", 2).claim, by=world.cleo, text="The wall is old")
    undone = Claim.objects.get(text="The wall is old").made_by
    assert undone is not None
    undo_claim_change(change=undone, by=world.cleo)
    claim = Claim.objects.get(text="its wall is weak")
    assert wordings_of(world, claim) == []
    history = ClaimHistory.load(ClaimSet.objects.filter(pk=claim.claim_set_id))
    assert [gone.text for gone in history.gone()] == ["The wall is old"]
