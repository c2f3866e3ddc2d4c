"""Clients that speak JSON, and rows to ask about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rest_framework.test import APIClient

    from tests.annotation.cast import World

Client = Callable[[str], "APIClient"]


@pytest.fixture
def client_of(world: World) -> Client:
    """A client signed in as the person of that name."""
    from rest_framework.test import APIClient

    def sign_in(name: str) -> APIClient:
        client = APIClient()
        client.force_login(getattr(world, name))
        return client

    return sign_in


@pytest.fixture
def ids(world: World) -> dict[str, str]:
    """Public ids of one row of each kind in the project, for addresses."""
    from tests.annotation.api.routes import ids_of

    return ids_of(world)


@pytest.fixture(autouse=True)
def _forget_attempts() -> Any:
    """The counts behind rate limits outlive a test."""
    from django.core.cache import cache

    cache.clear()
