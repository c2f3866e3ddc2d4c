from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.analysis.agreement.agreement import agreement
from annotation.analysis.agreement.scales import scales_of
from annotation.analysis.judge.rating_bias import rating_bias
from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.core.refusals import Invalid, NotAllowed
from annotation.models import Look, Rating
from annotation.projects.services.set_criteria import set_criteria
from annotation.reviewing.queries.ratings import next_to_rate
from annotation.reviewing.services.rate_summary import rate_summary
from annotation.scoring.own_scores import own_inputs, own_scores
from evaluation.metrics import UNMARKED, Criterion
from tests.annotation.exports.reading import exported

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from tests.annotation.cast import World

PAGE = "/p/harbour/review/ratings/"
TONE = Criterion("tone", "Is the tone neutral?", (1, 5), answered_by="both")
NEAR = Criterion("near", "Is it near?", "yes_no", reads="reference", asked="after")


@pytest.fixture
def asked(world: World) -> dict[str, str]:
    set_criteria(world.project, [NEAR, TONE, UNMARKED])
    return dict(world.project.criteria.filter(retired_at=None).values_list("name", "public_id"))


def rate(world: World, who: str, asked: dict[str, str], place: tuple[str, str], **values: int) -> int:
    given = {asked[name]: value for name, value in values.items()}
    return rate_summary(summary=world.summaries[place], by=getattr(world, who), values=given)


def judge_rates(world: World, place: tuple[str, str], value: float | None) -> None:
    Rating.objects.create(
        criterion=world.project.criteria.get(name="tone", retired_at=None),
        summary=world.summaries[place],
        role="judge",
        judge=world.judge,
        origin_name="lexical",
        value=value,
    )


def test_questions_that_read_the_same_are_asked_together_the_reference_last(
    world: World, asked: dict[str, str], rex: Client
) -> None:
    judge_rates(world, ("port", "alder"), 5)
    rate(world, "cleo", asked, ("port", "alder"), tone=1)
    shown = next_to_rate(world.project, world.rex)
    assert shown is not None
    assert [each.name for each in shown.questions] == ["tone"]
    assert (shown.more, shown.left, shown.beside) == (1, 4, ())
    page = rex.get(PAGE).content.decode()
    assert "Is the tone neutral?" in page
    # The page hides the reference, the system and all answers.
    for hidden in (
        "Is it near?",
        "alder",
        "birch",
        "checked",
        "lexical",
        *world.references["port"].text.split(". "),
    ):
        assert hidden not in page
    saved = rex.post(f"{PAGE}{shown.summary_id}/", {f"value-{asked['tone']}": "4", "active_ms": "800"})
    assert saved["Location"] == PAGE
    after = next_to_rate(world.project, world.rex)
    assert after is not None
    assert (after.summary_id, after.heading) == (shown.summary_id, "Reference")
    assert [each.name for each in after.questions] == ["near"]
    row = Rating.objects.get(person=world.rex)
    assert (row.role, row.value, row.had_seen, row.active_ms) == ("reviewer", 4, False, 800)


def test_the_desk_ends_and_skips(world: World, asked: dict[str, str], rex: Client) -> None:
    first = next_to_rate(world.project, world.rex)
    assert first is not None
    skipped = next_to_rate(world.project, world.rex, after=first.summary_id)
    assert skipped is not None
    assert skipped.summary_id > first.summary_id
    for place in world.summaries:
        rate(world, "rex", asked, place, tone=3, near=1)
    assert next_to_rate(world.project, world.rex) is None
    assert "Nothing is left to rate" in rex.get(PAGE).content.decode()
    assert ">Ratings<" in rex.get("/p/harbour/review/").content.decode()


def test_an_equal_answer_changes_nothing_and_another_is_the_next_version(
    world: World, asked: dict[str, str]
) -> None:
    place = ("port", "alder")
    assert [rate(world, "rex", asked, place, tone=value) for value in (3, 3, 4)] == [1, 0, 1]
    rows = Rating.objects.filter(person=world.rex).order_by("pk")
    assert list(rows.values_list("value", "version")) == [(3, 1), (4, 2)]


def test_who_has_seen_the_answers_is_no_longer_blind(world: World, asked: dict[str, str]) -> None:
    place = ("port", "alder")
    Look.objects.create(summary=world.summaries[place], person=world.cleo, revealed_at=timezone.now())
    rate(world, "cleo", asked, place, tone=2)
    rate(world, "rex", asked, place, tone=4)
    assert Rating.objects.get(person=world.cleo).had_seen
    scale = next(each for each in scales_of(world.project) if each.key == "rating-tone")
    assert [each.rater for each in scale.ratings] == ["rex"]


@pytest.mark.parametrize(
    ("typed", "said"),
    [({"tone": "6"}, "is no answer"), ({"tone": "x"}, "no whole number"), ({}, "at least one")],
)
def test_what_is_no_answer_is_refused(
    world: World, asked: dict[str, str], rex: Client, typed: dict[str, str], said: str
) -> None:
    summary = world.summaries["port", "alder"]
    answer = rex.post(
        f"{PAGE}{summary.public_id}/", {f"value-{asked[name]}": each for name, each in typed.items()}
    )
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Rating.objects.exists()


def test_only_reviewers_rate_and_only_what_is_asked(world: World, asked: dict[str, str]) -> None:
    with pytest.raises(NotAllowed):
        rate(world, "vic", asked, ("port", "alder"), tone=3)
    set_criteria(world.project, [Criterion("tone", "Is it calm?", (1, 5)), UNMARKED])
    with pytest.raises(Invalid, match="has changed"):
        rate(world, "rex", asked, ("port", "alder"), tone=3)


def test_the_final_answer_is_peoples_mean_else_the_judges(world: World, asked: dict[str, str]) -> None:
    alder, birch, bridge = ("port", "alder"), ("port", "birch"), ("bridge", "alder")
    before = own_inputs(world.project)
    rate(world, "rex", asked, alder, tone=4)
    rate(world, "rex", asked, alder, tone=2)
    rate(world, "cleo", asked, alder, tone=5)
    for place, value in ((alder, 1), (birch, 5), (birch, None), (bridge, 3)):
        judge_rates(world, place, value)
    assert own_inputs(world.project) != before
    found = own_scores(world.project)
    # On the scale from 1 to 5, alder has Rex's newest answer 2 and Cleo's 5: (1/4 + 4/4) / 2 = .625. Birch keeps its
    # answer 5, worth 1, after the judge's failure. A 3 of 1 to 5 is .5.
    assert {place: found.of(world.summaries[place].pk)[1] for place in (alder, birch, bridge)} == {
        alder: 0.625,
        birch: 1.0,
        bridge: 0.5,
    }
    assert found.sources["tone"] == {"people", "judge"}
    [table] = leaderboard(world.project, score="tone").tables
    by_system = {row.system: row for row in table.rows}
    # The mean of alder's two sets is that of .625 and .5.
    assert by_system["alder"].scores["tone"].mean == pytest.approx(0.5625, abs=1e-9)
    assert [row.rank for row in table.rows] == [1, 2]
    assert (table.bases["tone"].name, table.ranking.score) == ("judge + corrections", "tone")
    # A new version of the question has no answers.
    set_criteria(world.project, [NEAR, Criterion("tone", "Is it calm?", (1, 5)), UNMARKED])
    assert own_scores(world.project).values == {}


def test_the_judge_is_compared_with_blind_ratings(world: World, asked: dict[str, str], mona: Client) -> None:
    for who, place, value in (
        ("rex", ("port", "alder"), 4),
        ("cleo", ("port", "alder"), 5),
        ("rex", ("bridge", "alder"), 2),
        ("rex", ("port", "birch"), 1),
    ):
        rate(world, who, asked, place, tone=value)
    judge_rates(world, ("port", "alder"), 3)
    judge_rates(world, ("bridge", "alder"), 3)
    found = {row.system: row for row in rating_bias(world.project)}
    # Birch is not compared, because the judge has not rated it. For "port", the judge has .5 and people have (.75 + 1)
    # / 2 = .875; for "bridge", the judge has .5 and people have .25. The differences are -.375 and .25.
    assert found.keys() == {"", "alder"}
    alder = found["alder"]
    assert (alder.summaries, alder.people, alder.judge) == (2, pytest.approx(0.5625), 0.5)
    assert alder.error == pytest.approx((0.375 + 0.25) / 2)
    assert alder.bias.value == pytest.approx(-0.0625)
    assert alder.bias.low is None
    assert "Does the judge rate as people do?" in mona.get("/p/harbour/scores/judge/").content.decode()
    [pair] = next(each for each in agreement(world.project).scales if each.key == "rating-tone").pairs
    assert pair.items == 1


def test_scores_follow_from_the_exported_ratings(world: World, asked: dict[str, str], tmp_path: Path) -> None:
    for who, shift in (("rex", 0), ("cleo", 1)):
        for number, place in enumerate(sorted(world.summaries)):
            rate(world, who, asked, place, tone=1 + (number + shift) % 5)
    values: dict[str, dict[str, list[float]]] = {}
    for row in exported(world.project, "answers", tmp_path / "answers.jsonl"):
        if row["claim_id"] == "tone" and not row["superseded"]:
            of_system = values.setdefault(row["system"], {})
            of_system.setdefault(row["document_id"], []).append((float(row["value"]) - 1) / 4)
    [board] = leaderboard(world.project, score="tone").tables
    for row in board.rows:
        sets = [sum(each) / len(each) for each in values[row.system].values()]
        assert row.scores["tone"].mean == pytest.approx(sum(sets) / len(sets), abs=1e-9)
    assert board.bases["tone"].name == "people"
