from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Look, Sample
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.planning import answer_sample

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


ASKS = "Review the random sample first?"


@pytest.fixture
def sample(world: World) -> Sample:
    return sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=1)


def addresses(world: World) -> list[str]:
    scores = "/p/harbour/scores"
    return [
        f"{scores}/summaries/{world.summaries['port', 'alder'].public_id}/",
        f"{scores}/sets/{world.sets['port'].public_id}/",
        f"{scores}/systems/{world.systems['alder'].public_id}/claims/?verdict=yes",
    ]


@pytest.mark.parametrize("place", range(3))
def test_it_is_asked_before_verdicts_are_shown(
    world: World, sample: Sample, signed_in: SignIn, place: int
) -> None:
    client, address = signed_in(world.cleo), addresses(world)[place]
    page = client.get(address).content.decode()
    assert ASKS in page
    assert not Look.objects.filter(person=world.cleo).exists()
    anyway = f"{address}{'&' if '?' in address else '?'}anyway=1"
    assert anyway.replace("&", "&amp;") in page
    assert ASKS not in client.get(anyway).content.decode()
    assert Look.objects.filter(person=world.cleo, revealed_at__isnull=False).exists()
    # There is no second warning about checks that the person has seen.
    if place < 2:
        client.get(f"{addresses(world)[1]}?anyway=1")
        assert ASKS not in client.get(address).content.decode()


def test_nobody_is_asked_who_cannot_answer_or_where_nothing_waits(
    world: World, sample: Sample, signed_in: SignIn
) -> None:
    assert all(ASKS not in signed_in(world.vic).get(each).content.decode() for each in addresses(world))
    answer_sample(world, sample)
    assert all(ASKS not in signed_in(world.cleo).get(each).content.decode() for each in addresses(world))
