from __future__ import annotations

from typing import Any

import pytest

from annotation.core.refusals import NotFound
from annotation.judging.services.judges import (
    build,
    is_allowed_url,
    judge_by_name,
    key_fault,
)
from annotation.models import Judge
from annotation.workers import report_alive
from evaluation.judging.errors import JudgeSettings
from evaluation.judging.openai import OpenAIJudge
from evaluation.judging.prompts import PROMPTS


def openai_row(**columns: Any) -> Judge:
    return Judge(
        **{"name": "gpt", "kind": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1", **columns}
    )


def test_the_lexical_judge_is_made_when_it_is_first_asked_for(db: None) -> None:
    first = judge_by_name("lexical")
    assert (first.kind, judge_by_name("lexical")) == ("lexical", first)


def test_an_unknown_judge_is_refused_with_those_that_are(db: None) -> None:
    Judge.objects.create(name="abc", kind="lexical")
    with pytest.raises(NotFound, match="Known judges: abc, lexical") as refused:
        judge_by_name("gpt")
    assert refused.value.code == "no_such_judge"


def test_each_worker_keeps_its_part_of_the_limits(db: None) -> None:
    row = openai_row(concurrency=5, calls_per_minute=60, tokens_per_minute=None)
    row.save()
    alone = build(row)
    assert isinstance(alone, OpenAIJudge)
    assert (alone.concurrency, alone._limits.calls_per_minute) == (5, 60)
    for name in ("ada:1", "bob:1"):
        report_alive(name)
    one_of_two = build(row)
    assert isinstance(one_of_two, OpenAIJudge)
    assert (one_of_two.concurrency, one_of_two._limits.calls_per_minute) == (2, 30)
    # Both objects of the judge share one pace.
    pace = alone._settings.pace
    assert one_of_two._settings.pace is pace
    assert pace is not None
    assert (pace.calls, pace.tokens) == (30, None)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.example.org/v1", ["https://api.example.org"]),
        ("https://api.example.org:443/v1", ["https://api.example.org"]),
        ("http://127.0.0.1:8000/v1", ["http://127.0.0.1:*"]),
        ("https://api.example.org/v1", ["https://api.example.org:443"]),
        ("https://api.example.org/v1/", ["https://api.example.org/v1"]),
        ("https://api.example.org/v1/llm", ["https://api.example.org/v1/"]),
        ("HTTPS://API.example.org/v1", ["https://api.example.org"]),
        ("http://[::1]:11434/v1", ["http://127.0.0.1", "http://[::1]:*"]),
    ],
)
def test_addresses_that_are_covered_by_an_entry_are_allowed(url: str, allowed: list[str]) -> None:
    assert is_allowed_url(url, allowed)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.example.org/v1", []),
        ("http://api.example.org/v1", ["https://api.example.org"]),
        ("https://api.example.org.evil.net/v1", ["https://api.example.org"]),
        ("https://api.example.org@evil.net/v1", ["https://api.example.org"]),
        ("https://evil.net/https://api.example.org", ["https://api.example.org"]),
        ("https://api.example.org:8443/v1", ["https://api.example.org:443"]),
        ("https://api.example.org:8443/v1", ["https://api.example.org"]),
        ("http://api.example.org:443/v1", ["https://api.example.org"]),
        ("https://api.example.org/v10", ["https://api.example.org/v1"]),
        ("https://api.example.org/v1/../admin", ["https://api.example.org/v1"]),
        ("https://api.example.org/v1/%2e%2e/admin", ["https://api.example.org/v1"]),
        ("https://api.example.org:many/v1", ["https://api.example.org:443"]),
        ("https://[api", ["https://api.example.org"]),
        ("https://user:pw@api.example.org/v1", ["https://api.example.org"]),
        ("https://api.example.org/v1", ["https://user:pw@api.example.org"]),
        ("https://api.example.org/v1?to=evil", ["https://api.example.org"]),
        ("https://api.example.org/v1?", ["https://api.example.org"]),
        ("https://api.example.org/v1#there", ["https://api.example.org"]),
        ("https://api.example.org/v1\r\nHost: evil.net", ["https://api.example.org"]),
        ("https://api.example.org/v1 ", ["https://api.example.org"]),
        ("api.example.org", ["api.example.org"]),
        ("", [""]),
    ],
)
def test_all_other_addresses_are_not(url: str, allowed: list[str]) -> None:
    assert not is_allowed_url(url, allowed)


def test_a_key_goes_to_its_own_port_alone(settings: Any) -> None:
    settings.COVERDICT_JUDGE_KEYS = {"A_KEY": ["https://llm.example.org"]}
    assert key_fault("A_KEY", "https://llm.example.org/v1") == ""
    assert "may not be sent to https://llm.example.org:8443/v1" in key_fault(
        "A_KEY", "https://llm.example.org:8443/v1"
    )


def test_a_judge_without_an_address_would_call_openai_and_needs_leave_too(db: None, settings: Any) -> None:
    settings.COVERDICT_JUDGE_URLS = ["http://127.0.0.1"]
    with pytest.raises(JudgeSettings, match="which is not allowed here"):
        build(openai_row(base_url=""))


def test_a_judge_answers_under_its_row_s_name_and_model(db: None) -> None:
    judge = build(openai_row(seed=7))
    assert (judge.name, judge.kind) == ("gpt", "openai")
    assert judge.signature.startswith("openai:m|")
    assert judge.signature != build(openai_row(seed=8)).signature


def test_a_missing_key_names_the_variable(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    with pytest.raises(JudgeSettings, match="the environment variable A_KEY, which is not set"):
        build(openai_row(api_key_env="A_KEY"))


def test_the_longest_signatures_fit_their_column_and_differ(db: None) -> None:
    own = {step: prompt.reworded(f"{prompt.text} Be strict.") for step, prompt in PROMPTS.items()}
    signatures = {build(openai_row(model="m" * 199 + end), told=own).signature for end in "ab"}
    assert len(signatures) == 2
    assert max(map(len, signatures)) <= 200
