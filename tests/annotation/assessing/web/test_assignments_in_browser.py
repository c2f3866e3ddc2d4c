"""A manager gives and takes away document sets in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Assignment
from tests.accessibility import violations
from tests.annotation.laying import add_sets
from tests.annotation.web.test_flow_in_browser import sign_in
from tests.browser import PHONE

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.browser import Desk

pytestmark = pytest.mark.django_db(transaction=True)


def test_sets_are_given_and_one_is_taken_away(world: World, desk: Desk) -> None:
    add_sets(world, ["quay", "mole"])
    page = sign_in(desk(viewport=PHONE), "mona")
    page.goto("/p/harbour/assignments/")
    page.get_by_role("checkbox", name="ana").check()
    page.get_by_label("Assessors per set", exact=True).fill("1")
    page.get_by_role("button", name="Assign sets").click()
    page.get_by_text("4 assignments created.").wait_for()
    page.get_by_role("button", name="Unassign").first.click()
    page.get_by_text("was unassigned").wait_for()
    assert violations(page) == []
    assert Assignment.objects.filter(unassigned_at=None).count() == 3
