from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import Invalid
from annotation.web.numbers import MOST, need_whole_number, whole_number

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

MANY = "9" * 5000
"""More digits than Python reads."""


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), (" 12 ", 12), (str(MOST), MOST), (str(MOST + 1), None), (MANY, None)]
    + [(text, None) for text in ("", "-1", "1.0", "x", "\u0661\u0662", "²")],
)
def test_a_whole_number_is_read_or_none(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_one_that_is_needed_is_refused_by_its_field() -> None:
    assert need_whole_number("100", "Say it.", field="percent", most=100) == 100
    with pytest.raises(Invalid, match="Say it") as refused:
        need_whole_number("101", "Say it.", field="percent", most=100)
    assert refused.value.field == "percent"


def test_no_form_breaks_on_many_digits(world: World, signed_in: SignIn) -> None:
    check = world.check("alder", 1)
    forms = (
        (world.rex, f"/p/harbour/review/{check.public_id}/answer/", {"label": "yes", "evidence": MANY}),
        (world.olga, "/p/harbour/settings/guidelines/write/", {"text": "Be brief.", "seen": MANY}),
        (world.mona, "/p/harbour/review/samples/sample/", {"size": MANY, "seed": MANY}),
    )
    for person, address, sent in forms:
        assert signed_in(person).post(address, sent).status_code in (302, 403, 409, 422), address
