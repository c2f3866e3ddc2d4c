from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.analysis.estimates.estimates import NO_SAMPLE, EstimateTable, estimate_table, estimates
from annotation.analysis.estimates.samples import SampleProgress
from annotation.analysis.leaderboard.averages import Average
from annotation.analysis.leaderboard.values import OF_THESE, RANKABLE, WITH_JUDGE, bases_of
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
    for check, label in list(zip(world.checks(system), ANSWERS[system], strict=True))[: 3 - but]:
        override(check=check, by=world.rex, label=label)


def test_without_a_sample_volunteered_answers_make_no_estimate(world: World) -> None:
    answer(world, "alder")
    found = estimates(world.project).at(20)
    assert (found.sentence, found.averages) == (NO_SAMPLE, {})
    assert found.average("alder").mean is None


def test_there_is_no_estimate_until_all_is_answered(world: World) -> None:
    sample_of(world)
    answer(world, "alder")
    answer(world, "birch", but=1)
    found = estimates(world.project).at(20)
    assert "has 5 of 6 answered; it counts once all are." in found.sentence


def test_below_fifteen_document_sets_there_is_no_estimate_and_it_says_why(world: World) -> None:
    sample = sample_of(world)
    answer(world, "alder")
    answer(world, "birch")
    found = estimates(world.project).at(20)
    assert (found.averages, found.answers, found.sample_id) == ({}, 6, sample.public_id)
    assert (
        found.sentence
        == "An estimate needs answers in 15 document sets of every system, and one system has only 1."
    )


def test_the_latest_complete_sample_counts_and_a_newer_one_is_told(world: World) -> None:
    first = sample_of(world)
    answer(world, "alder")
    answer(world, "birch")
    add_checks(world, 1)
    # Six of the seven checks keep their answers from the first sample.
    sample_of(world)
    assert SampledCheck.objects.filter(verdict=None).count() == 1
    found = estimates(world.project).at(20)
    assert found.sample_id == first.public_id
    assert "has 6 of 7 answered; it counts once all are." in found.sentence


def test_shares_are_parts_of_the_documents_coverage(world: World) -> None:
    items = framed_items(world.project, sample_of(world)).items[20]["alder"]
    # Both units weigh 1/2. The first has two claims, each with half of 1/2, and the second has one claim.
    assert [item.share for item in items] == [0.25, 0.25, 0.5]
    assert {item.document for item in items} == {"set port"}
    assert [item.probability for item in items] == [1.0, 1.0, 1.0]


def test_the_judge_is_the_one_of_the_sample(world: World) -> None:
    Check.objects.filter(summary=world.summaries["port", "alder"]).update(judge_probability=0.3)
    sample = sample_of(world)
    Check.objects.filter(summary=world.summaries["port", "alder"]).update(judge_probability=0.9)
    assert {item.judge for item in framed_items(world.project, sample).items[20]["alder"]} == {0.3}


def test_what_a_rule_decides_is_known_for_sure(world: World) -> None:
    Check.objects.filter(summary=world.summaries["port", "birch"]).update(
        final_source="rule", final_label="no"
    )
    items = framed_items(world.project, sample_of(world)).items[20]["birch"]
    assert {(item.is_sampled, item.probability, item.judge, item.answer) for item in items} == {
        (True, 1.0, 0.0, 0.0)
    }


def test_items_name_their_claims(world: World) -> None:
    Check.objects.filter(summary=world.summaries["port", "birch"], claim__position=1).update(
        final_source="rule", final_label="no"
    )
    sampled = sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=2)
    systems = framed_items(world.project, sampled).items[20]
    claims = {name: [item.claim for item in items] for name, items in systems.items()}
    # The rule's answer for birch's empty summary does not affect alder's items.
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


DRAW = SampleProgress(sample_id="d", method="uniform", sampled=18, answered=18, day="2026-05-04")


@pytest.mark.parametrize(
    ("answered", "is_made", "warns"),
    [(14, False, False), (15, True, True), (19, True, True), (20, True, False)],
)
def test_an_estimate_needs_fifteen_sets_and_goes_without_a_warning_from_twenty(
    answered: int, is_made: bool, warns: bool
) -> None:
    found = estimate_table(DRAW, framed(60, answered=answered), 20)
    assert (bool(found.averages), "may miss more often" in found.sentence) == (is_made, warns)
    assert (found.average("alder").low is not None) == is_made


def test_without_probabilities_only_peoples_answers_are_used() -> None:
    found = estimate_table(DRAW, framed(60, answered=30, judge=False), 20)
    assert not found.uses_judge
    assert "only people's answers are used" in found.sentence
    # Every second of the 30 documents has yes.
    assert found.average("alder").mean == pytest.approx(0.5)


def shifted(frame: SampleFrame, systems: int) -> SampleFrame:
    (items,) = frame.items[20].values()
    return SampleFrame(
        items={
            20: {
                f"system {place}": [
                    replace(
                        item, answer=None if item.answer is None else float((number * 7 + place) % 9 > place)
                    )
                    for number, item in enumerate(items)
                ]
                for place in range(systems)
            }
        }
    )


def test_a_system_that_does_not_fit_is_named(world: World) -> None:
    value = Average(0.5, 0.4, 0.6, n=30, left_out=0)
    names = {f"system {place}": value for place in range(6)}
    table = EstimateTable(sample=DRAW, answers=300, averages=names, pooled=names, misfits=("system 4",))
    scores = {system: dict.fromkeys((*RANKABLE, "human_share"), value) for system in names}
    bases = bases_of(world.project, 20, scores, {"coverage": table, "alignment": EstimateTable()})
    assert bases["coverage"].column == "coverage_pooled"
    assert bases["coverage"].caption.endswith("Too far from the judge's averages: system 4.")
    assert (bases["coverage"].direct, bases["alignment"].direct) == ("coverage_estimate", "")


def test_of_exactly_these_documents_intervals_are_narrower_and_the_caption_says_so(world: World) -> None:
    frame = shifted(framed(60, answered=45), 3)
    like, these = (estimate_table(DRAW, frame, 20, these_documents=each) for each in (False, True))
    for name, average in these.averages.items():
        other = like.averages[name]
        assert average.mean == other.mean
        # Each document has one claim, and 45 of 60 are answered. The error for exactly these documents is the error for
        # documents like these times sqrt(1 - 45 / 60). With a judge this is approximate.
        assert (average.high - average.low) / (other.high - other.low) == pytest.approx(0.5, abs=0.12)
    scores = {
        name: dict.fromkeys((*RANKABLE, "human_share"), average) for name, average in these.averages.items()
    }
    captions = [
        bases_of(world.project, 20, scores, {"coverage": table, "alignment": EstimateTable()})[
            "coverage"
        ].caption
        for table in (like, these)
    ]
    assert captions == [f"{WITH_JUDGE}.", f"{OF_THESE}."]
