"""Planted verdicts are made after what the judge really said elsewhere, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import Project, Verdict
from annotation.queries.planted import label_to_plant, planted_verdict
from annotation.services.adjudicate import decide_check
from annotation.services.review import override

if TYPE_CHECKING:
    from tests.annotation.cast import World


def plant(world: World) -> None:
    Project.objects.filter(pk=world.project.pk).update(planted_share=1.0)


def says(world: World, system: str, position: int, **told: object) -> None:
    """The judge's verdict on that claim is told so."""
    Verdict.objects.filter(check_row=world.check(system, position), judge=world.judge).update(**told)


def test_its_words_are_those_on_the_same_claim_elsewhere(world: World) -> None:
    # The judge said no of all three claims for birch, and of the second for alder.
    says(world, "birch", 1, reason="nothing on April")
    planted = planted_verdict(world.check("alder", 1), "no")
    assert planted is not None
    assert (planted.label, planted.reason, planted.evidence) == ("no", "nothing on April", ())


def test_it_is_as_sure_as_the_judge_is_of_its_own(world: World) -> None:
    # The judge gave yes at .9 there: no at as much is .1 of yes.
    planted = planted_verdict(world.check("alder", 1), "no")
    assert planted is not None
    assert planted.probability is not None
    assert round(planted.probability, 6) == 0.1


def test_a_reason_that_names_another_claims_words_is_not_taken(world: World) -> None:
    # Two claims were found expressed for alder; the second, "its wall is weak", knows no harbour.
    says(world, "alder", 1, reason="the harbour closes, as it says")
    says(world, "alder", 3, reason="found, word by word")
    planted = planted_verdict(world.check("alder", 2), "yes")
    assert planted is not None
    assert planted.reason == "found, word by word"


def test_evidence_that_the_text_lacks_is_not_taken(world: World) -> None:
    # The peer has two units.
    says(world, "alder", 1, evidence=[3], reason="in a third unit")
    planted = planted_verdict(world.check("alder", 2), "yes")
    assert planted is not None
    assert planted.reason == ""


def test_where_the_judge_said_nothing_that_could_stand_there_nothing_is_planted(world: World) -> None:
    plant(world)
    assert label_to_plant(world.check("alder", 1), world.rex) == "no"
    Verdict.objects.filter(judge=world.judge, label="no").update(reason="neither wall nor quay")
    says(world, "birch", 1, label="yes")
    # What is left are other claims, whose words the reason names.
    assert label_to_plant(world.check("alder", 1), world.rex) is None


def test_what_an_adjudicator_settled_is_left_alone(world: World) -> None:
    plant(world)
    override(check=world.check("alder", 1), by=world.olga, label="yes")
    decide_check(check=world.check("alder", 1), by=world.cleo, label="yes", reason="It does.")
    assert label_to_plant(world.check("alder", 1), world.rex) is None


def test_it_is_the_same_at_every_sight(world: World) -> None:
    check = world.check("alder", 1)
    assert planted_verdict(check, "no") == planted_verdict(check, "no")
