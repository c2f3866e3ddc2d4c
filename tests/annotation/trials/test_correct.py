from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.estimates.estimates import estimates
from annotation.core.refusals import Conflict
from annotation.models import Check, GuidelineTrial, Sample, SampledCheck, Verdict
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.trials.services import decide_trial
from tests.annotation.trials.given import answer_all, answered, start

if TYPE_CHECKING:
    from tests.annotation.cast import World

SETS = 20


@pytest.fixture
def first(world: World) -> Sample:
    answered(world, sets=SETS)
    Check.objects.exclude(document_set__external_id__startswith="set-").update(is_current=False)
    return sample_checks(project=world.project, by=world.mona, method="uniform", share=0.75, seed=7)


def tried(world: World, *, size: int = 150, by_others: bool = True) -> GuidelineTrial:
    trial = start(world, size=size, by_others=by_others)
    answer_all(world, trial, new=size, old=size, by=world.cleo if by_others else None)
    return trial


def averages(world: World) -> dict[str, float | None]:
    table = estimates(world.project).at(20)
    return {name: average.mean for name, average in table.averages.items()}


def test_estimates_rest_on_the_answers_given_again(world: World, first: Sample) -> None:
    assert set(averages(world).values()) == {1.0}
    trial = tried(world)
    decide_trial(trial=trial, by=world.olga, decision="correct")
    assert set(averages(world).values()) == {0.0}
    rows = SampledCheck.objects.filter(sample__public_id=trial.public_id)
    again = trial.answers.filter(is_control=False, check_row__sampled__sample=first)
    assert {row.check_row_id for row in rows} == {row.check_row_id for row in again}
    # 120 of 160 claims were sampled first, and chance chose some of these 120 for the trial.
    assert {round(row.inclusion_probability, 12) for row in rows} == {round(0.75 * len(rows) / 120, 12)}
    assert {row.verdict.label for row in rows if row.verdict} == {"no"}


def test_another_decision_takes_the_sample_back(world: World, first: Sample) -> None:
    trial = tried(world)
    for decision, average in (("correct", 0.0), ("mix", 1.0), ("correct", 0.0)):
        decide_trial(trial=trial, by=world.olga, decision=decision)
        assert set(averages(world).values()) == {average}
    decide_trial(trial=trial, by=world.olga, decision="new")
    assert averages(world) == {}
    decide_trial(trial=trial, by=world.olga, decision="correct")
    assert set(averages(world).values()) == {0.0}
    assert Sample.objects.filter(public_id=trial.public_id).count() == 1


def test_an_answer_that_was_given_since_counts_in_the_blend_only(world: World, first: Sample) -> None:
    trial = tried(world)
    row = trial.answers.filter(is_control=False, check_row__sampled__sample=first)[0]
    check = Check.objects.select_related("project", "summary").get(pk=row.check_row_id)
    override(check=check, by=world.cleo, label="yes")
    decide_trial(trial=trial, by=world.olga, decision="correct")
    sampled = SampledCheck.objects.get(sample__public_id=trial.public_id, check_row=check)
    assert sampled.verdict is not None
    assert (sampled.verdict.label, sampled.verdict.withdrawn_at) == ("no", trial_time(trial))
    assert Verdict.objects.filter(check_row=check, person=world.cleo, withdrawn_at=None).get().label == "yes"


def trial_time(trial: GuidelineTrial) -> object:
    trial.refresh_from_db()
    return trial.decided_at


def test_what_cannot_correct_an_estimate_is_refused(world: World, first: Sample) -> None:
    def refused(trial: GuidelineTrial) -> str:
        with pytest.raises(Conflict) as found:
            decide_trial(trial=trial, by=world.olga, decision="correct")
        trial.refresh_from_db()
        assert trial.decision is None
        decide_trial(trial=trial, by=world.olga, decision="drop")
        return found.value.code

    assert refused(tried(world, by_others=False)) == "not_blind"
    # Two thirds of the 21 answers, 14, are given under the new version, but each system needs new answers in 15
    # document sets.
    assert refused(tried(world, size=21)) == "too_few"
    trial = tried(world)
    Sample.objects.update(cancelled_at=first.created_at)
    assert refused(trial) == "no_sample"
    assert not Sample.objects.exclude(pk=first.pk).exists()
