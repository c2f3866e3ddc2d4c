"""Estimates and the plan of alignment: what people would say of the claims of summaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from annotation.analysis.estimates.estimates import estimates
from annotation.analysis.estimates.plan import plan
from annotation.analysis.leaderboard.leaderboard import leaderboard
from annotation.models import Check, Draw, DrawnCheck, Score
from annotation.sampling.queries.check_samples import open_samples
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.judging.doing import judge_to_end
from tests.annotation.planning import answer_draw, lay_sets

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Project
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

    SignedIn = Callable[[User], Client]

PLAN = "/p/harbour/scores/plan/"


@pytest.fixture
def judged(world: World) -> World:
    """Eight document sets whose summaries the lexical judge compared with their sources too."""
    lay_sets(world, 6)
    judge_to_end(world.project, world.judge, ["coverage", "alignment"])
    return world


def sample(world: World, *, side: str = "peer", share: float = 1.0) -> Draw:
    return sample_checks(
        project=world.project, by=world.mona, method="uniform", share=share, side=side, seed=5
    )


def sides(draw: Draw) -> set[str]:
    return set(DrawnCheck.objects.filter(draw=draw).values_list("check_row__side", flat=True))


def means(project: Project, score: str) -> dict[str, float | None]:
    (table,) = leaderboard(project, score=score).tables
    return {row.system: row.scores[score].mean for row in table.rows}


@pytest.mark.django_db
def test_a_sample_of_everything_gives_what_people_said(judged: World) -> None:
    answer_draw(judged, sample(judged))
    # Everything is answered: the estimate is the mean of the summaries' own shares of yes.
    said = means(judged.project, "alignment")
    assert len(set(said.values())) == 2
    assert means(judged.project, "alignment_estimate") == pytest.approx(said)
    table = estimates(judged.project, Check.Side.PEER).at(20)
    assert (table.state, table.sample and table.sample.answered, table.learns_across) == ("people", 32, None)
    # Of coverage nobody has answered anything.
    assert estimates(judged.project).at(20).state == "none"


@pytest.mark.django_db
def test_one_sample_of_both_sides_gives_an_estimate_of_each(judged: World) -> None:
    drawn = sample(judged, side="", share=0.6)
    answer_draw(judged, drawn)
    assert sides(drawn) == {"reference", "peer"}
    coverage, alignment = (estimates(judged.project, side).at(20) for side in Check.Side)
    assert coverage.sample is not None
    assert alignment.sample is not None
    assert coverage.sample.draw_id == alignment.sample.draw_id
    of_side = {side: drawn.drawn_checks.filter(check_row__side=side).count() for side in Check.Side.values}
    assert coverage.sample is not None
    assert alignment.sample is not None
    assert (coverage.sample.answered, alignment.sample.answered) == (of_side["reference"], of_side["peer"])
    for system in ("alder", "birch"):
        shown = alignment.average(system)
        assert shown.low is not None
        assert shown.high is not None
        assert 0 <= shown.low < shown.high <= 1


@pytest.mark.django_db
def test_of_open_samples_the_oldest_is_answered_first(judged: World) -> None:
    first = sample(judged, side="reference", share=0.3)
    second = sample_checks(
        project=judged.project, by=judged.mona, method="uniform", share=0.3, side="peer", seed=6
    )
    found = open_samples(judged.project)
    assert [(each.draw_id, each.scores) for each in found] == [
        (first.public_id, ("coverage",)),
        (second.public_id, ("alignment",)),
    ]


@pytest.mark.django_db
def test_the_plan_foretells_widths_of_alignment(judged: World) -> None:
    (found,) = plan(judged.project, "alignment")["targets"]
    checks = Check.objects.filter(project=judged.project, side=Check.Side.PEER, is_current=True)
    assert found["checks"] == checks.exclude(final_source=Check.Decider.RULE).count()
    # The judge alone: of each summary the share of its claims that are supported, of those their mean.
    shares: dict[int, list[bool]] = {}
    for peer, label in checks.filter(peer__system__name="alder").values_list("peer", "judge_label"):
        shares.setdefault(peer, []).append(label == "yes")
    alder = next(each for each in found["systems"] if each["system"] == "alder")
    of_summaries = [sum(of_peer) / len(of_peer) for of_peer in shares.values()]
    assert alder["judge"]["mean"] == pytest.approx(sum(of_summaries) / len(of_summaries))


def test_the_page_draws_claims_of_summaries(judged: World, signed_in: SignedIn) -> None:
    client = signed_in(judged.mona)
    page = client.get(f"{PLAN}?score=alignment").content.decode()
    assert 'name="score" value="alignment"' in page
    unconfirmed = {"score": "alignment", "size": 10, "design": "uniform", "seed": 3}
    asked = client.post(f"{PLAN}draw/", unconfirmed).content.decode()
    assert "Create a random sample of 10 alignment checks?" in asked
    assert "All figures are alignment." in page
    form = {"score": "alignment", "size": 10, "design": "uniform", "seed": 3, "confirmed": 1}
    answer = client.post(f"{PLAN}draw/", form)
    assert (answer.status_code, answer["Location"]) == (302, f"{PLAN}?score=alignment")
    assert sides(Draw.objects.get()) == {"peer"}
    lines = client.get(f"{PLAN}known/file/?score=alignment").content.decode().splitlines()
    assert len(lines) == 3
    assert client.get(f"{PLAN}?score=brevity").status_code == 404
    assert '<td data-name="score">alignment</td>' in client.get("/p/harbour/review/draws/").content.decode()
    # It waits on the plan of its own score alone.
    assert "0 of 10 answered" in client.get(f"{PLAN}?score=alignment").content.decode()
    assert "0 of 10 answered" not in client.get(PLAN).content.decode()


def test_the_leaderboard_shows_the_estimate_beside_alignment(judged: World, signed_in: SignedIn) -> None:
    client = signed_in(judged.vic)
    page = client.get("/p/harbour/scores/?by=alignment").content.decode()
    assert "review a random sample first" in page
    assert "plan/?score=alignment" in page
    answer_draw(judged, sample(judged, share=0.6))
    client.get("/p/harbour/scores/?by=alignment_estimate")
    page = client.get("/p/harbour/scores/?by=alignment").content.decode()
    # The value of alignment that was chosen stands alone.
    assert 'data-name="estimated alignment"' not in page
    assert "According to the lexical judge (an offline baseline) and people, " in page
    assert "This leaves out the judge&#x27;s errors; the estimate includes them." in page
    page = client.get("/p/harbour/scores/?by=alignment_estimate").content.decode()
    assert "Which system would people say is most faithful to its source?" in page
    assert "According to the estimate of people&#x27;s answers" in page
    differences = client.get("/p/harbour/scores/differences/?by=alignment_estimate").content.decode()
    assert "Paired Student&#x27;s t" in differences or "Paired Student's t" in differences


@pytest.mark.django_db
def test_what_is_unsupported_goes_by_the_estimate_where_there_is_one(judged: World) -> None:
    def unsupported() -> list[float | None]:
        (table,) = leaderboard(judged.project).tables
        return [row.unsupported for row in table.rows]

    Score.objects.filter(project=judged.project).update(alignment=0.25)
    assert unsupported() == [0.75, 0.75]
    answer_draw(judged, sample(judged, share=0.5), label="yes")
    Score.objects.filter(project=judged.project).update(alignment=0.25)
    assert unsupported() == [None, None]


def test_the_last_answer_of_a_sample_leads_to_the_estimate_of_its_score(
    judged: World, signed_in: SignedIn
) -> None:
    drawn = sample(judged, share=0.3)
    answer_draw(judged, drawn)
    page = signed_in(judged.cleo).get(f"/p/harbour/review/?draw={drawn.public_id}").content.decode()
    assert f'"{PLAN}?score=alignment">View the estimate of alignment</a>' in page
    assert "estimate of coverage" not in page


def test_the_api_plans_for_alignment(judged: World, client_of: ApiDoor) -> None:
    here = "/api/v1/projects/harbour"
    told = client_of("vic").get(f"{here}/plan/?score=alignment").json()
    assert (told["score"], told["targets"][0]["systems"][0]["system"]) == ("alignment", "alder")
    assert client_of("vic").get(f"{here}/plan/").json()["score"] == "coverage"
    order = {"score": "alignment", "size": 10, "design": "stratified", "seed": 4}
    assert client_of("mona").post(f"{here}/plan/draws/", order, format="json").status_code == 201
    assert sides(Draw.objects.get()) == {"peer"}
    # The same seed draws of each score once.
    for _ in range(2):
        told = (
            client_of("mona").post(f"{here}/plan/draws/", order | {"score": "coverage"}, format="json").json()
        )
        assert told["scores"] == ["coverage"]
    assert Draw.objects.count() == 2
    row = client_of("mona").get(f"{here}/check-draws/").json()[-1]
    assert row["scores"] == ["alignment"]
    board = client_of("vic").get(f"{here}/leaderboard/?score=alignment").json()
    assert board["tables"][0]["alignment_estimate"]["state"] == "open"
