"""Whatever can be done on a page can be done by a program, or it is said why not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.urls import URLPattern
from drf_spectacular.generators import SchemaGenerator

from annotation.config.web_urls import project_urls
from annotation.config.web_urls import urlpatterns as web_urls
from tests.annotation.api.doors import IN_API, ON_PAGES_ALONE

if TYPE_CHECKING:
    from django.test import Client


def path_of(pattern: URLPattern, before: str = "") -> str:
    """An address of nothing that there is."""
    return f"/{before}{re.sub('<[a-z]+:[a-z_]+>', '1', str(pattern.pattern))}"


@pytest.mark.django_db
def test_every_form_has_its_operation_or_a_reason_for_none(client: Client) -> None:
    outside = [pattern for pattern in web_urls if isinstance(pattern, URLPattern)]
    paths = {str(pattern.name): path_of(pattern) for pattern in outside}
    paths |= {str(pattern.name): path_of(pattern, "p/nothing/") for pattern in project_urls}
    # Whatever answers GET alone says so before it asks who is there.
    taken = {name for name, path in paths.items() if client.post(path).status_code != 405}
    assert taken == {*IN_API, *ON_PAGES_ALONE}
    assert not set(IN_API) & set(ON_PAGES_ALONE)


def test_the_operations_are_there_and_change_something() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    changing = {
        operation["operationId"]
        for methods in schema["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }
    assert set(IN_API.values()) - changing == set()
