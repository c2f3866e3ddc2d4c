from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import Event, Look, Rating, Sample, SampledRating
from annotation.projects.services.set_criteria import set_criteria
from annotation.reviewing.queries.ratings import next_to_rate
from annotation.reviewing.services.rate_summary import rate_summary
from annotation.sampling.queries.rating_samples import framed_ratings, rating_samples
from annotation.sampling.services.cancel_sample import cancel_sample
from annotation.sampling.services.sample_ratings import sample_ratings
from annotation.scoring.rescore import rescore
from evaluation.metrics import UNMARKED, Criterion
from tests.annotation.exports.reading import exported
from tests.annotation.laying import add_sets

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from annotation.models import Criterion as Row
    from annotation.models import Summary
    from tests.annotation.cast import World

PAGE = "/p/harbour/review/samples/"
TONE = Criterion("tone", "Is the tone neutral?", (1, 5), answered_by="both")


@pytest.fixture
def tone(world: World) -> Row:
    set_criteria(world.project, [TONE, UNMARKED])
    return world.project.criteria.get(name="tone")


def rate(world: World, who: str, summary: Summary, value: int) -> None:
    tone = world.project.criteria.get(name="tone", retired_at=None)
    rate_summary(summary=summary, by=getattr(world, who), values={tone.public_id: value})


def judge_rates(world: World, tone: Row, summary: Summary, value: float) -> None:
    Rating.objects.create(
        criterion=tone, summary=summary, role="judge", judge=world.judge, origin_name="lexical", value=value
    )


def progress(world: World) -> list[tuple[int, int, int]]:
    return [(each.answered, each.sampled, each.frame) for each in rating_samples(world.project)]


def test_sampled_summaries_come_first_and_the_first_blind_rating_counts(world: World, tone: Row) -> None:
    sample = sample_ratings(project=world.project, by=world.mona, criterion=tone, size=2, seed=3)
    assert progress(world) == [(0, 2, 4)]
    sampled = {row.summary.public_id: row.summary for row in sample.sampled_ratings.select_related("summary")}
    first = next_to_rate(world.project, world.rex)
    assert first is not None
    assert first.summary_id == min(sampled)
    one, other = sampled.values()
    Look.objects.create(summary=one, person=world.cleo, revealed_at=timezone.now())
    rate(world, "cleo", one, 5)
    assert progress(world) == [(0, 2, 4)]
    rate(world, "rex", one, 2)
    rate(world, "rex", one, 3)
    rate(world, "olga", one, 4)
    rate(world, "rex", other, 4)
    assert progress(world) == [(2, 2, 4)]
    kept = SampledRating.objects.filter(summary=one).values_list("rating__value", "rating__person__username")
    assert list(kept) == [(2, "rex")]
    assert Event.objects.filter(verb="finish sample").count() == 1
    after = next_to_rate(world.project, world.rex)
    assert after is not None
    assert after.summary_id not in sampled


def test_blind_ratings_from_before_count_and_the_same_seed_gives_the_same_sample(
    world: World, tone: Row
) -> None:
    for summary in world.summaries.values():
        rate(world, "rex", summary, 4)
    made = [
        sample_ratings(project=world.project, by=world.mona, criterion=tone, size=2, seed=9) for _ in range(2)
    ]
    assert progress(world) == [(2, 2, 4)] * 2
    first, second = (
        [row.summary_id for row in sample.sampled_ratings.order_by("summary_id")] for sample in made
    )
    assert first == second


def test_the_frame_has_shares_and_the_judge_s_ratings_of_before(world: World, tone: Row) -> None:
    alder = world.summaries["port", "alder"]
    judge_rates(world, tone, alder, 4)
    sample = sample_ratings(project=world.project, by=world.mona, criterion=tone, size=4)
    judge_rates(world, tone, alder, 1)
    rate(world, "rex", alder, 5)
    [items] = [of_system["alder"] for of_system in framed_ratings(world.project, sample).items.values()]
    # Each set has one summary of alder, so each share is 1. On a scale from 1 to 5, the judge's earlier 4 is .75 and
    # Rex's 5 is 1.
    assert sorted(
        (item.share, item.probability, item.judge or 0.0, item.answer or 0.0) for item in items
    ) == [(1, 1, 0.0, 0.0), (1, 1, 0.75, 1.0)]


def test_the_leaderboard_shows_the_estimate(world: World, tone: Row, tmp_path: Path) -> None:
    sets = add_sets(world, [f"set {number:02}" for number in range(20)])
    rescore(project=world.project)
    summaries = [
        row for each in sets for row in each.summaries.filter(is_summary=True).select_related("system")
    ]
    for number, summary in enumerate(summaries):
        # A person will rate alder 2 and 4 in turn, and birch 1. The judge's rating is one more.
        value = 1 if summary.system.name == "birch" else 2 + 2 * (number // 2 % 2)
        judge_rates(world, tone, summary, value + 1)
    sample = sample_ratings(project=world.project, by=world.mona, criterion=tone, size=44)
    for row in sample.sampled_ratings.select_related("summary__system"):
        judged = Rating.objects.filter(summary=row.summary, role="judge").first()
        value = int(judged.value or 0) - 1 if judged else 1 if row.summary.system.name == "birch" else 3
        rate(world, "rex", row.summary, value)
    [table] = [each for each in leaderboard(world.project, score="tone").tables if each.target_words == 20]
    basis = table.bases["tone"]
    assert (basis.column, basis.name) == ("tone_estimate", "estimated from 44 ratings")
    means = {row.system: row.scores["tone"] for row in table.rows}
    # All summaries were sampled. Alder's mean is that of .25 and .75 (.5 on "port" and "bridge"), birch's is 0, the
    # lowest value of the scale; the judge's means are .75 and .25.
    assert means["alder"].mean == pytest.approx(0.5)
    assert means["birch"].mean == pytest.approx(0.0)
    # None of birch's 22 answers is above the lowest value: 1 - .025^(1/22) = .154.
    assert means["birch"].high == pytest.approx(0.154, abs=5e-4)
    assert "estimated" in table.estimates["tone"].sentence.lower()
    systems = exported(world.project, "systems", tmp_path / "systems.jsonl")
    of_tone = [(row["system"], row["score"]) for row in systems if str(row["basis"]).endswith(" ratings")]
    assert of_tone == [("alder", "tone"), ("birch", "tone")]
    rows = exported(world.project, "answers", tmp_path / "answers.jsonl")
    assert {
        (row["selected_by"], row["inclusion_probability"]) for row in rows if row["rater_kind"] == "reviewer"
    } == {("uniform", 1)}


def test_a_changed_question_cancels_its_open_sample(world: World, tone: Row) -> None:
    sample_ratings(project=world.project, by=world.mona, criterion=tone, size=2)
    set_criteria(world.project, [Criterion("tone", "Is it calm?", (1, 5)), UNMARKED])
    assert Sample.objects.get().cancelled_at is not None
    assert next_to_rate(world.project, world.rex) is not None


def test_only_what_reviewers_are_asked_is_sampled_by_those_who_assign(world: World, tone: Row) -> None:
    unmarked = world.project.criteria.get(name="unmarked", retired_at=None)
    for wrong in ({"criterion": unmarked, "size": 2}, {"criterion": tone, "size": 5}):
        with pytest.raises(Invalid):
            sample_ratings(project=world.project, by=world.mona, **wrong)  # type: ignore[arg-type]
    with pytest.raises(NotAllowed):
        sample_ratings(project=world.project, by=world.rex, criterion=tone, size=2)


def test_the_page_samples_lists_and_cancels(world: World, tone: Row, mona: Client) -> None:
    assert "Is the tone" not in mona.get("/p/harbour/").content.decode()
    made = mona.post(f"{PAGE}ratings/", {"criterion": tone.public_id, "summaries": "2"}, follow=True)
    assert "2 summaries sampled" in made.content.decode()
    assert "2 of 4" in made.content.decode()
    assert mona.post(f"{PAGE}ratings/", {"criterion": tone.public_id, "summaries": "9"}).status_code == 422
    mona.post(f"{PAGE}{Sample.objects.get().public_id}/cancel/")
    assert rating_samples(world.project)[0].cancelled_at is not None
    cancel_sample(sample=Sample.objects.get(), by=world.mona)
