"""Fixtures of the Django side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.fixture
def world(db: None) -> World:
    """The shared cast and small world; see tests/annotation/cast.py."""
    # Imported here: this file is read before Django is set up.
    from tests.annotation.cast import make_world

    return make_world()
