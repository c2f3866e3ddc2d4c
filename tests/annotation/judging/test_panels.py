from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User

from annotation.core.lists import Viewer
from annotation.judging.services.judges import judge_by_name
from annotation.models import Check, Event, Judge, JudgeCall, Project, Verdict
from annotation.reviewing.queries.review_queue import QUEUE
from tests.annotation.judging.doing import add_document_set, run_to_end
from tests.llm_server import LLMServer, faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.llm_server import Answer, Call, Fault

MILL, HURT, JUNE = "The mill burned down at night.", "Nobody was hurt.", "A new mill opens in June."
TEXT = f"{MILL} {HURT} {JUNE}"
KEY = "sk-a-key-that-nobody-may-see"
OTHERWISE = {("one", JUNE): "no", ("two", HURT): "no", ("two", JUNE): "unsure"}
"""The labels other than yes, by model and claim."""


def otherwise(call: Call) -> Fault | None:
    if "claims" not in call.question:
        return None
    said = {
        identity: OTHERWISE.get((call.body["model"], claim))
        for identity, claim in call.question["claims"].items()
    }

    def changed(answer: Answer) -> Answer:
        return {
            "answers": [{**each, "label": said[each["id"]] or each["label"]} for each in answer["answers"]]
        }

    return faults.changed(changed)


@pytest.fixture
def project(transactional_db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    summaries = {"elm": TEXT, "fir": MILL, "oak": f"{HURT} {JUNE}"}
    add_document_set(made, TEXT, reference=TEXT, **summaries)
    return made


@pytest.fixture
def panel(transactional_db: None, llm_server: LLMServer) -> Judge:
    made = Judge.objects.create(name="three", kind="panel")
    made.members.add(judge_by_name("lexical"))
    for name in ("one", "two"):
        made.members.create(
            name=name,
            kind="openai",
            model=name,
            base_url=llm_server.base_url,
            concurrency=1,
            max_tokens=100,
            prompt_price=2.0,
            completion_price=8.0,
        )
    return made


def test_every_member_s_vote_is_kept_and_the_split_is_the_check_s_doubt(
    project: Project, panel: Judge, llm_server: LLMServer
) -> None:
    llm_server.where(otherwise)
    run_to_end(project, panel)
    checks = Check.objects.filter(summary__system__name="elm").order_by("claim__position")
    # All three say yes; two of three say yes; all differ, which is a tie and gives unsure. The shares of other votes
    # are 0, 1/3 and 2/3; the uncertainty of a tie is 1.
    expected: list[tuple[str, str, float, float, dict[str, str]]] = [
        (MILL, "yes", 0.0, 0.0, {"lexical": "yes", "one": "yes", "two": "yes"}),
        (HURT, "yes", 1 / 3, 1 / 3, {"lexical": "yes", "one": "yes", "two": "no"}),
        (JUNE, "unsure", 2 / 3, 1.0, {"lexical": "yes", "one": "no", "two": "unsure"}),
    ]
    for check, (claim, label, spread, uncertainty, votes) in zip(checks, expected, strict=True):
        verdict = check.verdicts.get()
        assert (check.claim.text, check.final_label) == (claim, label)
        assert verdict.uncertainty == pytest.approx(spread)
        assert check.uncertainty == pytest.approx(uncertainty)
        assert dict(verdict.votes) == votes
        assert verdict.judge == panel


def test_the_review_queue_begins_with_what_the_panel_is_split_over(
    project: Project, panel: Judge, llm_server: LLMServer
) -> None:
    llm_server.where(otherwise)
    run_to_end(project, panel)
    Check.objects.exclude(summary__system__name="elm").delete()
    # The keys are in the opposite order, so only the uncertainty can give the right order.
    for key, claim in enumerate((MILL, HURT, JUNE)):
        Check.objects.filter(claim__text=claim).update(queue_key=key)
    project.refresh_from_db()
    viewer = Viewer(User(pk=0), project, frozenset())
    rows = QUEUE.look(viewer, {"sort": "uncertainty"}).page()[0]
    assert [row.claim.text for row in rows] == [JUNE, HURT, MILL]
    assert [row.uncertainty for row in rows] == [1.0, pytest.approx(1 / 3), 0.0]
    split = QUEUE.look(viewer, {"only": "split"}).page()[0]
    assert [row.claim.text for row in split] == [JUNE, HURT]


@pytest.fixture
def locked_server() -> Iterator[LLMServer]:
    with LLMServer(api_key="another") as server:
        yield server


def test_a_member_that_is_turned_away_stops_the_run_by_name_and_without_its_key(
    project: Project,
    panel: Judge,
    locked_server: LLMServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("TWO_KEY", KEY)
    Judge.objects.filter(name="two").update(base_url=locked_server.base_url, api_key_env="TWO_KEY")
    with caplog.at_level(logging.DEBUG):
        run = run_to_end(project, panel)
    assert locked_server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert run.state == "stopped"
    assert run.stop_reason.startswith("The judge 'two' at http://127.0.0.1")
    assert "401" in run.stop_reason
    job = run.jobs.get()
    assert (job.state, job.error) == ("failed", run.stop_reason)
    # Three summaries were in progress at the same time, and nothing was asked after that.
    assert len(locked_server.calls) <= 3
    kept = [*Event.objects.values_list("data", flat=True), *JudgeCall.objects.values_list("request", "reply")]
    assert KEY not in f"{run.stop_reason} {kept} {caplog.text}"
    assert not Verdict.objects.exists()
