"""Agreement and the judges' figures over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Verdict
from tests.annotation.answering import answer_fourteen

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor


@pytest.fixture
def answered(world: World) -> World:
    Verdict.objects.bulk_create(
        Verdict(check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", label="no")
        for check in answer_fourteen(world)
    )
    return world


def test_agreement_holds_what_the_page_shows(answered: World, client_of: ApiDoor) -> None:
    told = client_of("vic").get("/api/v1/projects/harbour/agreement/").json()
    (scale,) = told["scales"]
    assert (scale["key"], scale["items"], scale["raters"]) == ("verdicts-reference", 12, ["cleo", "rex"])
    alpha = scale["alpha"]
    assert (alpha["value"], alpha["low"], alpha["clusters"]) == (pytest.approx(132 / 270), None, 1)
    assert scale["pairs"][0]["kappa"]["value"] == pytest.approx(8 / 17)
    assert (told["judge"], told["touched"], told["is_stale"]) == ("lexical", 4, False)


def test_judge_quality_holds_what_the_page_shows(answered: World, client_of: ApiDoor) -> None:
    told = client_of("vic").get("/api/v1/projects/harbour/judge-quality/").json()
    (version,) = told["versions"]
    # People are divided on three of fourteen; the judge's no is right on 1 to 3 of the eleven others.
    assert (told["checks"], told["ties"]) == (11, 3)
    assert version["report"]["accuracy"]["value"] == pytest.approx(3 / 11)
    assert (version["is_deciding"], told["basis"]["kind"]) == (True, "chosen")


def test_who_may_not_see_scores_gets_neither(answered: World, client_of: ApiDoor) -> None:
    for path in ("agreement", "judge-quality"):
        assert client_of("rex").get(f"/api/v1/projects/harbour/{path}/").status_code == 403
