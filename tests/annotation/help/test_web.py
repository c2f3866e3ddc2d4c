from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_help_is_there_for_strangers() -> None:
    answer = Client().get("/help/")
    assert answer.status_code == 200
    assert b'href="/help/tutorial/"' in answer.content
    assert "private" in answer["Cache-Control"]
    tutorial = Client().get("/help/tutorial/").content.decode()
    assert '<a href="#3-import-the-file">3. Import the file</a>' in tutorial
    assert 'href="/help/files/example.csv"' in tutorial


def test_pages_and_files_that_there_are_not_are_404() -> None:
    for path in ("/help/nothing/", "/help/..%2fREADME/", "/help/files/words.md", "/help/files/none.png"):
        assert (path, Client().get(path).status_code) == (path, 404)


def test_a_picture_is_shown_and_an_example_downloaded() -> None:
    picture = Client().get("/help/files/see-form.png")
    assert picture["Content-Type"] == "image/png"
    assert "attachment" not in picture["Content-Disposition"]
    example = Client().get("/help/files/example.csv")
    assert example["Content-Disposition"] == 'attachment; filename="example.csv"'
    assert example["X-Content-Type-Options"] == "nosniff"
    assert b"".join(example).startswith(b"document_id,")  # type: ignore[attr-defined]
