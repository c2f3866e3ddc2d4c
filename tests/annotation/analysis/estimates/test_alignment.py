from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.estimates.estimates import estimates
from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.models import SIDE_SCORES, Check, Sample, SampledCheck, Score
from annotation.sampling.queries.check_samples import open_samples
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.judging.doing import judge_to_end
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from annotation.models import Project
    from tests.annotation.cast import World


@pytest.fixture
def judged(world: World) -> World:
    lay_sets(world, 15)
    judge_to_end(world.project, world.judge, ["coverage", "alignment"])
    return world


def sample(world: World, *, side: str = "summary", share: float = 1.0) -> Sample:
    return sample_checks(
        project=world.project, by=world.mona, method="uniform", share=share, side=side, seed=5
    )


def sides(sample: Sample) -> set[str]:
    return set(SampledCheck.objects.filter(sample=sample).values_list("check_row__side", flat=True))


def values(project: Project) -> tuple[str, dict[str, float | None]]:
    (table,) = leaderboard(project).tables
    scores = {row.system: row.scores["alignment"].mean for row in table.rows}
    return table.bases["alignment"].column, scores


def test_a_sample_of_everything_gives_what_people_said(judged: World) -> None:
    assert values(judged.project)[0] == "alignment"
    answer_sample(judged, sample(judged))
    # All checks are answered, so the estimate is the mean of the summaries' shares of yes.
    column, said = values(judged.project)
    assert (column, len(set(said.values()))) == ("alignment", 2)
    table = estimates(judged.project, Check.Side.SUMMARY).at(20)
    assert {system: table.average(system).mean for system in said} == pytest.approx(said)
    # Nobody has answered a check of coverage.
    assert not estimates(judged.project).at(20).averages


def test_one_sample_of_both_sides_gives_an_estimate_of_each(judged: World) -> None:
    sampled = sample(judged, side="", share=0.9)
    answer_sample(judged, sampled)
    assert sides(sampled) == {"reference", "summary"}
    coverage, alignment = (estimates(judged.project, side).at(20) for side in SIDE_SCORES)
    assert coverage.sample.sample_id == alignment.sample.sample_id
    of_side = {side: sampled.sampled_checks.filter(check_row__side=side).count() for side in SIDE_SCORES}
    assert (coverage.sample.answered, alignment.sample.answered) == (of_side["reference"], of_side["summary"])
    for system in ("alder", "birch"):
        shown = alignment.average(system)
        assert 0 <= shown.low < shown.high <= 1


def test_of_open_samples_the_oldest_is_answered_first(judged: World) -> None:
    first = sample(judged, side="reference", share=0.3)
    second = sample_checks(
        project=judged.project, by=judged.mona, method="uniform", share=0.3, side="summary", seed=6
    )
    found = open_samples(judged.project)
    assert [(each.sample_id, each.scores) for each in found] == [
        (first.public_id, ("coverage",)),
        (second.public_id, ("alignment",)),
    ]


def test_what_is_unsupported_goes_by_the_estimate_where_there_is_one(judged: World) -> None:
    def unsupported() -> list[float | None]:
        (table,) = leaderboard(judged.project).tables
        return [row.unsupported for row in table.rows]

    Score.objects.filter(project=judged.project).update(alignment=0.25)
    assert unsupported() == [0.75, 0.75]
    answer_sample(judged, sample(judged, share=0.9), label="yes")
    Score.objects.filter(project=judged.project).update(alignment=0.25)
    assert unsupported() == [None, None]
