"""Skips and failures for parts of the machine that are missing."""

import pytest

from tests import parts


def test_a_missing_part_skips_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="missing part browser: none here"):
        parts.missing("browser", "none here")


@pytest.mark.parametrize("value", ["", "0"])
def test_a_part_required_with_nothing_is_not_required(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("REQUIRE_REDIS", value)
    assert not parts.is_required("redis")


def test_a_missing_part_that_is_required_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="none here"):
        parts.missing("browser", "none here")


def test_the_summary_counts_skips_by_part_and_reason() -> None:
    reasons = [
        "Skipped: missing part browser: no Chromium",
        "Skipped: missing part redis: no server",
        "Skipped: missing part browser: no Chromium",
        "Skipped: another reason",
    ]
    assert parts.summary_lines(reasons) == [
        "skipped parts: browser (2): no Chromium",
        "skipped parts: redis (1): no server",
    ]
