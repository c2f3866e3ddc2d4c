"""Queues by what was answered, for a reader who takes a planted verdict for the judge's."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from annotation.core.readers import CheckReader
from annotation.models import Check, CheckLook, Project
from annotation.reviewing.queries.review_queue import Filter, waiting_checks
from annotation.reviewing.queries.sight import as_seen
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from tests.annotation.cast import World

BY_ANSWERS = [
    (only, label)
    for only, label in product(
        ["waiting", "disputed", "against", "answered", "all"], ["", "yes", "no", "unsure"]
    )
    if label or only in ("disputed", "against")
]


@pytest.fixture
def fooled(world: World) -> World:
    """Rex said yes where the judge did, and was shown a planted no; elsewhere he was shown what was true."""
    Project.objects.update(planted_share=1)
    world.project.refresh_from_db()
    override(check=world.check("alder", 2), by=world.olga, label="yes")
    override(check=world.check("alder", 2), by=world.rex, label="no")
    override(check=world.check("birch", 1), by=world.olga, label="unsure")
    CheckLook.objects.filter(person=world.rex).update(planted_label=None)
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    assert CheckLook.objects.get(person=world.rex, check_row=world.check("alder", 1)).planted_label == "no"
    return world


def queued(world: World, only: str, label: str) -> set[int]:
    filters = Filter.read({"only": only, "label": label})
    return {check.pk for check in waiting_checks(world.project, CheckReader(world.rex), filters)}


def test_their_yes_stands_against_the_planted_no(fooled: World) -> None:
    # The second holds the judge's no against Olga's yes, which Rex contradicted last: with the judge.
    assert queued(fooled, "against", "") == {fooled.check("alder", 1).pk}


def test_nobody_else_disputes_where_a_verdict_was_planted(fooled: World) -> None:
    override(check=fooled.check("alder", 1), by=fooled.olga, label="no")
    assert Check.objects.get(pk=fooled.check("alder", 1).pk).is_disputed
    assert queued(fooled, "disputed", "") == {fooled.check("alder", 2).pk}


@pytest.mark.parametrize(("only", "label"), BY_ANSWERS)
def test_a_queue_holds_what_its_reader_takes_to_be_so(fooled: World, only: str, label: str) -> None:
    seen = as_seen(Check.objects.filter(project=fooled.project), fooled.rex).filter(is_known=True)
    fits = {
        "waiting": lambda check: check.seen_human is None,
        "disputed": lambda check: check.seen_disputed,
        "against": lambda check: (
            None not in (check.seen_human, check.seen_judge) and check.seen_human != check.seen_judge
        ),
        "answered": lambda check: check.seen_human is not None,
        "all": lambda check: True,
    }
    expected = {check.pk for check in seen if fits[only](check) and (not label or check.seen_human == label)}
    assert queued(fooled, only, label) == expected


def test_pages_and_places_hold_among_them(fooled: World) -> None:
    filters = Filter.read({"only": "all", "label": "yes"})
    found = waiting_checks(fooled.project, CheckReader(fooled.rex), filters)
    assert [check.pk for check in found] == [fooled.check("alder", 1).pk]
