from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.core.refusals import Invalid
from annotation.models import Claim, ClaimSet, Summary
from annotation.texts.queries.unit_texts import current_units, words_of
from annotation.texts.services.change_units import join_units, split_unit
from tests.annotation.cast import add_units

if TYPE_CHECKING:
    from tests.annotation.cast import World

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

SOME = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

PIECES = st.sampled_from(
    [
        "Rain",
        "fell. ",
        "Trams\r\n\r\n",
        "e\u0301t\u0301 ",
        "סגור. ",
        "\U0001f1eb\U0001f1ee",
        " \u3000",
        "雨が降った。",
        "\t",
        "a — b; ",
    ]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(lambda text: text.strip() != "")
ACTS = st.lists(st.tuples(st.sampled_from(["join", "split"]), st.integers(0, 200)), max_size=12)


def links(summary: Summary) -> dict[int, int | None]:
    return dict(Claim.objects.filter(claim_set__summary=summary).values_list("pk", "unit_id"))


def act(world: World, summary: Summary, kind: str, number: int) -> None:
    units = current_units(summary)
    unit = units[number % len(units)]
    try:
        match kind:
            case "join":
                join_units(summary=summary, by=world.mona, unit_id=unit.public_id)
            case "split":
                place = unit.start + number % (unit.end - unit.start + 1)
                split_unit(summary=summary, by=world.mona, unit_id=unit.public_id, at=place)
    except Invalid:
        return


@SOME
@given(text=TEXTS, acts=ACTS)
def test_units_stay_in_order_apart_and_whole(world: World, text: str, acts: list[tuple[str, int]]) -> None:
    with transaction.atomic():
        summary = Summary.objects.create(
            document_set=world.sets["bridge"], is_reference=True, external_id="own", text=text
        )
        add_units(text, summary=summary)
        claim_set = ClaimSet.objects.create(summary=summary, origin="judge", origin_name="lexical")
        for position, unit in enumerate(current_units(summary), start=1):
            Claim.objects.create(
                claim_set=claim_set, unit=unit, position=position, text="Rain fell", origin="judge"
            )
        for kind, number in acts:
            act(world, summary, kind, number)
            units = current_units(summary)
            assert [unit.position for unit in units] == list(range(1, len(units) + 1))
            assert all(one.end <= other.start for one, other in pairwise(units))
            assert "".join("".join(text[unit.start : unit.end].split()) for unit in units) == "".join(
                text.split()
            )
            assert all(text[unit.start : unit.end].strip() == text[unit.start : unit.end] for unit in units)
            assert set(links(summary).values()) <= {unit.pk for unit in units}
        transaction.set_rollback(True)


@given(text=TEXTS)
def test_the_words_of_a_unit_are_its_text_without_white_space(text: str) -> None:
    words = list(words_of(text, 0, len(text)))
    assert "".join(word.text for word in words) == "".join(text.split())
    assert all(text[word.at : word.at + len(word.text)] == word.text for word in words)
