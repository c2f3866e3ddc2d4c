from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor


def test_agreement_holds_what_the_page_shows(answered: World, client_of: ApiDoor) -> None:
    told = client_of("vic").get("/api/v1/projects/harbour/agreement/").json()
    (scale,) = told["scales"]
    assert (scale["key"], scale["items"], scale["raters"]) == ("verdicts-reference", 12, ["cleo", "rex"])
    alpha = scale["alpha"]
    assert (alpha["value"], alpha["low"], alpha["clusters"]) == (pytest.approx(132 / 270), None, 1)
    assert scale["pairs"][0]["kappa"]["value"] == pytest.approx(8 / 17)
    assert (told["judge"], told["touched"], told["is_stale"]) == ("lexical", 4, False)
