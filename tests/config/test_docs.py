from typing import TYPE_CHECKING

import pytest
from django.test import Client

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_schema_describes_our_version() -> None:
    import annotation

    answer = Client().get("/api/schema/?format=json")
    assert answer.status_code == 200
    assert answer.json()["info"]["version"].startswith(annotation.__version__)


@pytest.mark.django_db(transaction=True)
def test_the_docs_show_the_schema_and_load_nothing_from_elsewhere(page: "Page") -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/api/docs/")
    page.get_by_role("heading", name="Coverdict API").wait_for()
    own = page.evaluate("location.origin")
    assert [url for url in asked if not url.startswith((own, "data:"))] == []
