from __future__ import annotations

import pytest

from annotation.core.paging import page_after
from annotation.core.refusals import Invalid
from annotation.models import DocumentSet, System
from tests.annotation.cast import World
from tests.annotation.laying import add_sets


def test_pages_follow_each_other_without_gap_or_overlap(world: World) -> None:
    add_sets(world, [f"set-{number}" for number in range(5)])
    sets = DocumentSet.objects.filter(project=world.project)
    seen: list[str] = []
    after = ""
    while True:
        rows, after = page_after(sets, order=("external_id",), after=after, size=3)
        seen += [row.external_id for row in rows]
        if not after:
            break
    assert seen == ["bridge", "port", "set-0", "set-1", "set-2", "set-3", "set-4"]


def test_a_page_that_is_not_there_is_refused(world: World) -> None:
    systems = System.objects.filter(project=world.project)
    with pytest.raises(Invalid, match="Start from the first page"):
        page_after(systems, order=("name",), after="nowhere", size=3)
