from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.fixture
def answered(world: World) -> World:
    # If pytest gets this folder as its argument, it reads this module before it sets Django up.
    from annotation.models import Verdict
    from tests.annotation.answering import answer_fourteen

    Verdict.objects.bulk_create(
        Verdict(check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", label="no")
        for check in answer_fourteen(world)
    )
    return world
