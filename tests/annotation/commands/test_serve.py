from __future__ import annotations

import os
from io import StringIO

import pytest
from django.core.management import call_command


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("out", "told"),
    [
        (Terminal(), "Coverdict is served at http://127.0.0.1:8000/ Ctrl-C stops it.\n"),
        # There is no hint about keys if the output is no terminal.
        (StringIO(), "Coverdict is served at http://127.0.0.1:8000/\n"),
    ],
    ids=["terminal", "service"],
)
@pytest.mark.django_db
def test_keys_are_told_of_where_there_are_some(
    out: StringIO, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.management.commands.serve.call_command", lambda *_, **__: None)
    monkeypatch.setattr(os, "execv", lambda *_: None)
    call_command("serve", stdout=out)
    assert out.getvalue().endswith(told)
