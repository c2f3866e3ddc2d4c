from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.estimates.estimates import estimates
from annotation.core.refusals import Conflict
from annotation.models import Check, Sample
from annotation.sampling.queries.extension import extension
from annotation.sampling.queries.sampled_items import framed_items
from annotation.sampling.services.extend_sample import extend_sample
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.planning import answer_sample, lay_sets, leave_cedar_behind

if TYPE_CHECKING:
    from tests.annotation.cast import World

SIDE = Check.Side.REFERENCE


@pytest.fixture
def finished(world: World) -> Sample:
    return leave_cedar_behind(world)


def test_only_systems_that_may_be_best_are_asked_about_again(world: World, finished: Sample) -> None:
    proposed = extension(world.project, SIDE)
    assert proposed is not None
    assert (proposed.systems, proposed.compared, proposed.share) == (("alder", "birch"), 3, 0.8)
    # Alder and birch have 24 sets of four claims and one set of three each, 198 claims; .8 of them is 158.
    assert proposed.size == 158
    # About 79 (.4) of the 198 claims are answered, so about .6 of 158 are left.
    assert proposed.awaited == pytest.approx(0.6 * 158, abs=2)
    assert proposed.then < proposed.now
    made = extend_sample(project=world.project, by=world.mona, side=SIDE)
    asked = made.sampled_checks.values_list("check_row__summary__system__name", flat=True)
    assert (made.extends, len(asked), set(asked)) == (finished, 158, {"alder", "birch"})
    # No further sample can be proposed until this one is finished.
    with pytest.raises(Conflict) as refused:
        extend_sample(project=world.project, by=world.mona, side=SIDE)
    assert refused.value.code == "nothing_to_extend"


def test_estimates_use_the_newest_sample_of_each_system(world: World, finished: Sample) -> None:
    before = estimates(world.project).at(20)
    of_cedar = framed_items(world.project, finished).items[20]["cedar"]
    made = extend_sample(project=world.project, by=world.mona, side=SIDE)
    assert estimates(world.project).at(20).answers == before.answers
    answer_sample(world, made)
    framed = framed_items(world.project, made)
    assert framed.items[20]["cedar"] == of_cedar
    assert {item.probability for item in framed.items[20]["alder"] if item.is_sampled} == {158 / 198}
    after = estimates(world.project).at(20)
    assert after.answers == 158 + sum(item.is_sampled and not item.is_settled for item in of_cedar)
    assert set(after.averages) == {"alder", "birch", "cedar"}
    assert ", extended on " in after.sentence


def test_a_sample_that_leaves_no_system_out_is_not_extended(world: World) -> None:
    assert extension(world.project, SIDE) is None
    lay_sets(world, 24)
    taken = sample_checks(
        project=world.project, by=world.mona, method="uniform", share=0.4, side="reference", seed=3
    )
    assert extension(world.project, SIDE) is None
    answer_sample(world, taken)
    assert extension(world.project, SIDE) is None
