from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.explanation.system_claims import system_claims
from annotation.core.refusals import Invalid
from annotation.models import Check, Look, Verdict
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


def address(world: World, query: str = "") -> str:
    return f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/claims/{query}"


def listed(world: World, verdict: str, side: str = "reference") -> list[str | None]:
    claims, *_ = system_claims(world.project, world.systems["alder"], side=side, verdict=verdict)
    return [each.claim.check_id for each in claims]


def test_a_claim_stands_under_its_final_verdict_with_everything_said_of_it(
    world: World, signed_in: SignIn
) -> None:
    check = world.check("alder", 1)
    assert check.public_id in listed(world, "yes")
    Verdict.objects.filter(check_row=check).update(reason="The text says so.", evidence=[1])
    override(check=check, by=world.rex, label="no", reason="It does not.")
    assert check.public_id in listed(world, "no")
    assert check.public_id not in listed(world, "yes")
    assert check.public_id not in listed(world, "no", side="summary")
    page = " ".join(signed_in(world.vic).get(address(world)).content.decode().split())
    assert all(words in page for words in ("It does not.", "The text says so.", ">port</a>"))
    assert world.check("birch", 1).public_id not in page


def test_a_verdict_stands_with_how_sure_its_author_is(world: World, signed_in: SignIn) -> None:
    # A probability of yes of .46 means that the judge is sure of no to .54.
    check = world.check("alder", 2)
    Verdict.objects.filter(check_row=check).update(label="no", probability=0.46)
    page = " ".join(signed_in(world.vic).get(address(world)).content.decode().split())
    assert "1 claim of the references is missing from its summaries, says the judge." in page
    assert "54 % sure</span>" in page
    assert "46 %" not in page


def test_claims_without_a_verdict_have_a_list_of_their_own(world: World) -> None:
    Check.objects.filter(pk=world.check("alder", 2).pk).update(final_label=None, final_source=None)
    assert world.check("alder", 2).public_id in listed(world, "unscored")


@pytest.mark.parametrize("asked", [{"side": "top"}, {"verdict": "maybe"}, {"after": "nowhere"}])
def test_what_does_not_exist_is_refused(world: World, asked: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        system_claims(
            world.project, world.systems["alder"], **{"side": "reference", "verdict": "no", **asked}
        )


def test_whoever_may_answer_is_known_to_have_seen_what_is_listed(world: World, signed_in: SignIn) -> None:
    signed_in(world.vic).get(address(world, "?verdict=yes"))
    assert not Look.objects.exists()
    signed_in(world.cleo).get(address(world, "?verdict=yes"))
    looks = Look.objects.filter(person=world.cleo, revealed_at__isnull=False)
    assert {look.check_row.public_id for look in looks} == set(listed(world, "yes"))
