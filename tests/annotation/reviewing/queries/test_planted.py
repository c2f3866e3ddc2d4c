"""Planted verdicts are made after what the judge really said elsewhere, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.adjudicating.services.adjudicate import decide_check
from annotation.models import Check, Project, Verdict
from annotation.reviewing.queries.planted import NEAR, label_to_plant, planted_verdict
from annotation.reviewing.services.review import override

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


def test_it_is_as_sure_as_the_verdict_whose_words_it_takes(world: World) -> None:
    # The judge gave yes at .9 there, so that no at .1 would be as sure; on the same claim for birch it said no at .2,
    # and on the third at .12, which is nearer and of another claim.
    says(world, "birch", 1, probability=0.2, reason="not a word of it")
    says(world, "birch", 3, probability=0.12, reason="nothing")
    planted = planted_verdict(world.check("alder", 1), "no")
    assert planted is not None
    assert (planted.probability, planted.reason) == (0.2, "not a word of it")


def test_where_no_verdict_is_about_as_sure_nothing_is_planted(world: World) -> None:
    # As sure as yes at .9 would be no at .1: up to .25 is near enough.
    says(world, "alder", 2, probability=0.26)
    for position in (1, 2, 3):
        says(world, "birch", position, probability=0.26)
    assert planted_verdict(world.check("alder", 1), "no") is None
    says(world, "birch", 3, probability=0.24)
    planted = planted_verdict(world.check("alder", 1), "no")
    assert planted is not None
    assert planted.probability == 0.24


def test_a_judge_that_says_how_sure_it_is_never_leaves_it_out(world: World) -> None:
    Verdict.objects.filter(judge=world.judge, label="no").update(probability=None)
    assert planted_verdict(world.check("alder", 1), "no") is None
    Check.objects.filter(pk=world.check("alder", 1).pk).update(judge_probability=None)
    planted = planted_verdict(world.check("alder", 1), "no")
    assert planted is not None
    assert planted.probability is None


@pytest.mark.parametrize(
    "reason",
    ["it says “in the spring” instead", 'the text has "rain"', "only 40 were there", "as unit 3 denies"],
)
def test_a_reason_that_speaks_of_another_text_is_not_taken(world: World, reason: str) -> None:
    # Neither the claim nor alder's two units hold these words or numbers.
    Verdict.objects.filter(judge=world.judge, label="no").update(reason=reason)
    assert planted_verdict(world.check("alder", 1), "no") is None


@pytest.mark.parametrize("reason", ["it lacks “Harbour closes”", "unit 2 says otherwise"])
def test_a_reason_that_speaks_of_this_claim_and_text_is(world: World, reason: str) -> None:
    says(world, "birch", 1, reason=reason)
    planted = planted_verdict(world.check("alder", 1), "no")
    assert planted is not None
    assert planted.reason == reason


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(
        st.tuples(st.sampled_from(["yes", "no"]), st.floats(0, 1), st.sampled_from(["a", "b", "c"])),
        min_size=6,
        max_size=6,
    )
)
def test_every_planted_triple_is_one_that_the_judge_really_gave(
    world: World, said: list[tuple[str, float, str]]
) -> None:
    """So how sure it is lies within what the judge says with that label and that reason."""
    checks = list(Check.objects.filter(project=world.project, peer__document_set=world.sets["port"]))
    for check, (label, probability, reason) in zip(checks, said, strict=True):
        Verdict.objects.filter(check_row=check, judge=world.judge).update(
            label=label, probability=probability, reason=reason
        )
        Check.objects.filter(pk=check.pk).update(judge_label=label, judge_probability=probability)
    for check in Check.objects.filter(pk__in=[check.pk for check in checks]):
        wrong = "no" if check.judge_label == "yes" else "yes"
        planted = planted_verdict(check, wrong)
        if planted is not None:
            assert (planted.label, planted.probability, planted.reason) in said
            assert check.judge_probability is not None
            assert planted.probability is not None
            assert abs(planted.probability - (1 - check.judge_probability)) <= NEAR or (
                # Where the judge's label and its probability disagree, it is as sure as the larger of both.
                abs(planted.probability - check.judge_probability) <= NEAR
            )


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


@pytest.mark.parametrize(
    ("reveal", "planted"), [("after_answer", "no"), ("on_request", None), ("shown", None)]
)
def test_before_ones_own_answer_nothing_is_planted_beside_another(
    world: World, reveal: str, planted: str | None
) -> None:
    plant(world)
    Project.objects.filter(pk=world.project.pk).update(reveal=reveal)
    assert label_to_plant(world.check("alder", 1), world.rex) == "no"
    override(check=world.check("alder", 1), by=world.cleo, label="yes")
    # A true verdict would stand beside cleo's answer there: a planted one could not, and would tell itself so.
    assert label_to_plant(world.check("alder", 1), world.rex) == planted
    # Of one's own answer alone nothing more can be seen.
    override(check=world.check("alder", 3), by=world.rex, label="unsure")
    assert label_to_plant(world.check("alder", 3), world.rex) == "no"


def test_it_is_the_same_at_every_sight(world: World) -> None:
    check = world.check("alder", 1)
    assert planted_verdict(check, "no") == planted_verdict(check, "no")
