"""Answers that agreement and the judges' figures are read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.models import Verdict
from tests.annotation.answering import answer_fourteen

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.fixture
def answered(world: World) -> World:
    """Rex and Cleo answered fourteen checks before they saw the judge's no to all of them."""
    Verdict.objects.bulk_create(
        Verdict(check_row=check, role="judge", judge=world.judge, origin_name="lexical|v:1", label="no")
        for check in answer_fourteen(world)
    )
    return world
