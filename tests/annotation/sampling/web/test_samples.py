from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from annotation.models import Sample
from annotation.sampling.queries.forecast import forecast
from annotation.sampling.services.sample_checks import sample_checks
from tests.annotation.planning import answer_sample, lay_sets, leave_cedar_behind

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

PAGE = "/p/harbour/review/samples/"
FORM = {"score": "coverage", "method": "active", "minutes": "60"}


@pytest.fixture
def mona(world: World, signed_in: SignIn) -> Client:
    lay_sets(world, 28)
    return signed_in(world.mona)


def fields(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(\w+)" value="([^"]*)"', page))


def test_the_form_takes_as_many_answers_as_fit_into_the_minutes(world: World, mona: Client) -> None:
    assert "Minutes you can spend" in mona.get(PAGE).content.decode()
    asked = mona.post(f"{PAGE}sample/", FORM)
    page = asked.content.decode()
    sent = fields(page)
    size = int(sent["size"])
    # No answer has been timed, so each is assumed to take 30 seconds: 3,600 / 30.
    assert size == 120
    expected = forecast(world.project, "reference", "active").margin(120)
    assert "About 1 hour of work: 120 answers at" in page
    assert f"Each average would be within about ±{expected:.2f}." in page
    assert not Sample.objects.exists()
    assert mona.post(f"{PAGE}sample/", sent)["Location"] == PAGE
    sample = Sample.objects.get()
    assert (sample.method, sample.sampled_checks.count(), str(sample.seed)) == ("active", size, sent["seed"])
    assert f"{size} of 230" in mona.get(PAGE).content.decode()


def test_a_finished_sample_changes_the_forecast(world: World, mona: Client) -> None:
    before = forecast(world.project, "reference", "uniform").margin(200)
    sample = sample_checks(
        project=world.project, by=world.mona, method="uniform", share=0.5, side="reference", seed=1
    )
    assert forecast(world.project, "reference", "uniform").margin(200) == before
    answer_sample(world, sample)
    after = forecast(world.project, "reference", "uniform").margin(200)
    assert after is not None
    assert after != before


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"size": "0"}, "Between 1 and 230 claims"),
        ({"size": "some"}, "Between 1 and 230 claims"),
        ({"minutes": "0"}, "between 1 and 100,000 minutes"),
        ({"minutes": "an hour"}, "between 1 and 100,000 minutes"),
        ({"method": "stratified"}, "The method is one of uniform, active"),
    ],
)
def test_what_cannot_be_sampled_is_refused(mona: Client, changed: dict[str, str], told: str) -> None:
    refused = mona.post(f"{PAGE}sample/", FORM | changed)
    assert refused.status_code == 422
    assert told in refused.content.decode()


def test_a_precision_that_is_unknown_has_its_reason(world: World, signed_in: SignIn) -> None:
    # There are two sets of the cast, of which "bridge" has no checks, and two more; an interval needs 5.
    lay_sets(world, 2)
    page = signed_in(world.mona).post(f"{PAGE}sample/", FORM).content.decode()
    assert "this needs 5 documents of every system, and one has only 3" in page


def test_one_click_extends_a_sample_for_the_systems_that_may_be_best(world: World, mona: Client) -> None:
    button = "Extend the sample for these systems"
    assert button not in mona.get(PAGE).text
    assert mona.post(f"{PAGE}extend/", {"score": "coverage"}).status_code == 409
    leave_cedar_behind(world, first=28)
    page = mona.get(PAGE).text
    assert "2 of 3 systems may still have the best coverage" in page
    assert button in page
    assert mona.post(f"{PAGE}extend/", {"score": "coverage"})["Location"] == PAGE
    page = mona.get(PAGE).text
    assert (button in page, "extends an earlier sample" in page) == (False, True)
