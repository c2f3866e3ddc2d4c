from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.models import Analysis, Sample, Worker
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.judging.doing import judge_to_end
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn


JUDGE, QUALITY = "/p/harbour/scores/judge/", "/api/v1/projects/harbour/judge-quality/"


@pytest.fixture
def answered(world: World) -> dict[str, Sample]:
    lay_sets(world, 4)
    judge_to_end(world.project, world.judge, ["coverage", "alignment"])
    samples = {}
    for seed, (score, side) in enumerate((("coverage", "reference"), ("alignment", "summary"))):
        samples[score] = sample_checks(
            project=world.project, by=world.mona, method="uniform", share=0.7, side=side, seed=seed
        )
        answer_sample(world, samples[score])
    return samples


@pytest.mark.parametrize("score", ["coverage", "alignment"])
def test_the_api_compares_with_answers_of_the_score(
    answered: dict[str, Sample], client_of: ApiDoor, score: str
) -> None:
    told = client_of("vic").get(f"{QUALITY}?score={score}").json()
    assert (told["score"], told["checks"]) == (score, answered[score].sampled_checks.count())


def test_the_page_turns_to_the_other_score(
    world: World, answered: dict[str, Sample], signed_in: SignIn
) -> None:
    client = signed_in(world.olga)
    assert "?score=alignment&amp;judge=" in client.get(JUDGE).content.decode()
    other = client.get(f"{JUDGE}?score=alignment").content.decode()
    # There are buttons only for the default score.
    assert "teach-judge" not in other
    assert f'<a href="{JUDGE}">default score</a>' in other
    assert client.get(f"{JUDGE}?score=brevity").status_code == 404
    # The figures for the default score are stored once.
    client.get(f"{JUDGE}?score=coverage")
    stored = Analysis.objects.filter(kind=Analysis.Kind.JUDGE).values_list("key", flat=True)
    assert sorted(stored) == ["", "alignment"]


def test_the_switch_leads_to_figures_that_are_still_to_be_made(
    world: World, answered: dict[str, Sample], signed_in: SignIn
) -> None:
    client = signed_in(world.olga)
    client.get(JUDGE)
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    # The figures for the other score do not exist yet.
    for judge in ("lexical", "nobody"):
        assert client.get(f"{JUDGE}?score=alignment&judge={judge}").status_code == 200
    assert client.get(f"{JUDGE}?judge=nobody").status_code == 404
