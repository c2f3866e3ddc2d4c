"""Estimates from samples, and in words why there are none."""

from __future__ import annotations

import pytest

from annotation.analysis.estimates.estimates import ALL_ANSWERED, NO_SAMPLE, estimate_table, estimates
from annotation.analysis.estimates.samples import SampleProgress
from annotation.models import Check, Sample, SampledCheck
from annotation.reviewing.services.review import override
from annotation.sampling.queries.sampled_items import SampleFrame, framed_items
from annotation.sampling.services.sample_checks import sample_checks
from evaluation.statistics import SampledItem
from tests.annotation.answering import add_checks
from tests.annotation.cast import World

ANSWERS = {"alder": ("yes", "no", "yes"), "birch": ("no", "yes", "no")}


def sample_of(world: World, share: float = 1.0) -> Sample:
    return sample_checks(project=world.project, by=world.mona, method="uniform", share=share, seed=1)


def answer(world: World, system: str, *, but: int = 0) -> None:
    """Rex answers every check of the system's summary, but for the last ones."""
    for check, label in list(zip(world.checks(system), ANSWERS[system], strict=True))[: 3 - but]:
        override(check=check, by=world.rex, label=label)


def test_without_a_sample_volunteered_answers_make_no_estimate(world: World) -> None:
    answer(world, "alder")
    found = estimates(world.project).at(20)
    assert (found.state, found.sentence, found.systems) == ("none", NO_SAMPLE, None)
    assert found.average("alder").mean is None


def test_where_people_answered_every_check_no_estimate_is_needed(world: World) -> None:
    asked = Check.objects.filter(project=world.project, side=Check.Side.REFERENCE, is_current=True)
    last, *others = asked.exclude(final_source=Check.Decider.RULE)
    for check in others:
        override(check=check, by=world.rex, label="yes")
    assert estimates(world.project).at(20).sentence == NO_SAMPLE
    override(check=last, by=world.rex, label="no")
    assert estimates(world.project).at(20).sentence == ALL_ANSWERED


def test_there_is_no_estimate_until_all_is_answered(world: World) -> None:
    sample_of(world)
    answer(world, "alder")
    answer(world, "birch", but=1)
    found = estimates(world.project).at(20)
    assert found.state == "open"
    assert "has 5 of 6 answered. Estimates use it once all are answered." in found.sentence


def test_of_few_document_sets_people_stand_alone(world: World) -> None:
    sample_of(world)
    answer(world, "alder")
    answer(world, "birch")
    found = estimates(world.project).at(20)
    assert found.state == "people"
    # Alder: yes and no in the first unit, yes in the second: (.5 + 1) / 2. Birch: (.5 + 0) / 2.
    assert found.average("alder").mean == pytest.approx(0.75)
    assert found.average("birch").mean == pytest.approx(0.25)
    # One document set gives no interval.
    assert (found.average("alder").low, found.average("alder").n) == (None, 1)


def test_what_is_answered_after_the_sample_by_choice_does_not_enter(world: World) -> None:
    sample_of(world)
    answer(world, "alder")
    answer(world, "birch")
    override(check=world.check("alder", 2), by=world.cleo, label="yes")
    # The final answer to the second claim is yes now; the sampled answer was no.
    assert estimates(world.project).at(20).average("alder").mean == pytest.approx(0.75)


def test_the_latest_complete_sample_counts_and_a_newer_one_is_told(world: World) -> None:
    first = sample_of(world)
    answer(world, "alder")
    answer(world, "birch")
    add_checks(world, 1)
    # Six of its seven checks keep the answers of the first sample.
    sample_of(world)
    assert SampledCheck.objects.filter(verdict=None).count() == 1
    found = estimates(world.project).at(20)
    assert found.sample_id == first.public_id
    assert "has 6 of 7 answered. Estimates use it once all are answered." in found.sentence


def test_a_sample_that_is_not_finished_shows_no_value(world: World) -> None:
    add_checks(world, 30)
    checks = [
        row.check_row for row in sample_of(world).sampled_checks.order_by("pk").select_related("check_row")
    ]
    for check in checks[:-1]:
        override(check=check, by=world.rex, label="yes")
    found = estimates(world.project).at(20)
    assert (found.state, found.average("alder").mean, found.has_estimates) == ("open", None, False)
    override(check=checks[-1], by=world.rex, label="yes")
    found = estimates(world.project).at(20)
    assert (found.average("alder").mean, found.confidence) == (1.0, 0.95)


def test_shares_are_parts_of_the_documents_coverage(world: World) -> None:
    items = framed_items(world.project, sample_of(world)).items[20]["alder"]
    # Two units of weight 1; two claims in the first, one in the second.
    assert [item.share for item in items] == [0.25, 0.25, 0.5]
    assert {item.document for item in items} == {"set port"}
    assert [item.probability for item in items] == [1.0, 1.0, 1.0]


def test_the_judge_is_the_one_of_the_sample(world: World) -> None:
    Check.objects.filter(peer=world.peers["port", "alder"]).update(judge_probability=0.3)
    sample = sample_of(world)
    Check.objects.filter(peer=world.peers["port", "alder"]).update(judge_probability=0.9)
    assert {item.judge for item in framed_items(world.project, sample).items[20]["alder"]} == {0.3}


def test_what_a_rule_decides_is_known_for_sure(world: World) -> None:
    Check.objects.filter(peer=world.peers["port", "birch"]).update(final_source="rule", final_label="no")
    items = framed_items(world.project, sample_of(world)).items[20]["birch"]
    assert {(item.is_sampled, item.probability, item.judge, item.answer) for item in items} == {
        (True, 1.0, 0.0, 0.0)
    }


def test_items_name_their_claims(world: World) -> None:
    Check.objects.filter(peer=world.peers["port", "birch"], claim__position=1).update(
        final_source="rule", final_label="no"
    )
    sampled = sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=2)
    systems = framed_items(world.project, sampled).items[20]
    claims = {name: [item.claim for item in items] for name, items in systems.items()}
    # What a rule decides of birch's summary says nothing of alder's.
    assert None not in claims["alder"]
    assert claims["birch"] == [None, *claims["alder"][1:]]


def test_checks_that_came_after_the_sample_are_counted(world: World) -> None:
    sample = sample_of(world)
    sample.frame = sample.frame[1:]
    sample.save()
    assert framed_items(world.project, sample).came_after == 1


def framed(
    documents: int, *, answered: int, judge: bool = True, systems: tuple[str, ...] = ("alder",)
) -> SampleFrame:
    """A claim for each document, answered in the first of them; the judge is right in four of five."""
    items = [
        SampledItem(
            document=f"set {number}",
            share=1.0,
            judge=(0.9 if (number % 2 == 0) ^ (number % 5 == 0) else 0.1) if judge else None,
            probability=answered / documents,
            is_sampled=number < answered,
            answer=float(number % 2 == 0) if number < answered else None,
        )
        for number in range(documents)
    ]
    return SampleFrame(items={20: dict.fromkeys(systems, items)})


DRAW = SampleProgress(
    sample_id="d",
    method="uniform",
    sampled=18,
    answered=18,
    day="2026-05-04",
)


@pytest.mark.parametrize(("answered", "state"), [(14, "people"), (15, "few"), (19, "few"), (20, "fine")])
def test_the_judge_is_leant_on_from_fifteen_sets_and_without_a_warning_from_twenty(
    answered: int, state: str
) -> None:
    found = estimate_table(DRAW, framed(60, answered=answered), 20)
    assert found.state == state
    shown, people = (found.systems or {})["alder"].shown, (found.systems or {})["alder"].people
    assert (shown == people) is (state == "people")
    assert ("may miss more often" in found.sentence) is (state == "few")


def test_without_probabilities_people_stand_alone() -> None:
    found = estimate_table(DRAW, framed(60, answered=30, judge=False), 20)
    assert found.state == "people"
    assert "because the judge recorded no probabilities" in found.sentence


def test_a_good_judge_narrows_the_interval_and_says_what_it_saves() -> None:
    found = estimate_table(DRAW, framed(200, answered=60), 20)
    each = (found.systems or {})["alder"]
    assert each.shown.low > each.people.low
    assert each.labels_saved > 0
