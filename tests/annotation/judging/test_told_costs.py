from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command

from annotation.judging.queries.runs import run_progress
from annotation.judging.services.judges import judge_by_name
from annotation.models import Judge, Run
from tests.annotation.judging.doing import run_to_end

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

# The set "port" has claims, so each of its two summaries needs one call. Extracting the claims of "bridge" needs one
# more call, and each of its two summaries one. A call has 1,200 prompt tokens and 300 reply tokens, at 2 and 8 per
# million: 5 x 1,200 = 6,000 and 5 x 300 = 1,500 tokens; 6,000 x 2 / 10^6 + 1,500 x 8 / 10^6 = 0.012 + 0.012 = 0.024.
CALLS, PROMPT, REPLIES, COST = 5, 6_000, 1_500, 0.024


@pytest.fixture
def priced(llm_judge: Judge, llm_server: LLMServer) -> Judge:
    llm_server.usage = (1_200, 300)
    Judge.objects.filter(pk=llm_judge.pk).update(prompt_price=2.0, completion_price=8.0)
    llm_judge.refresh_from_db()
    return llm_judge


def test_every_door_tells_what_a_run_paid(
    world: World, priced: Judge, colleague: None, client: Client, tmp_path: Path
) -> None:
    stdout = StringIO()
    call_command(
        "evaluate",
        "harbour",
        "--judge",
        priced.name,
        "--metrics=coverage",
        "--wait",
        stdout=stdout,
        stderr=StringIO(),
    )
    told = stdout.getvalue().splitlines()[-1]
    assert told == "5 calls, 6,000 prompt tokens, 1,500 reply tokens, cost 0.0240."

    run = Run.objects.get(judge=priced)
    progress = run_progress(run)
    assert (progress.calls, progress.prompt_tokens, progress.completion_tokens) == (CALLS, PROMPT, REPLIES)
    assert progress.cost == run.cost == pytest.approx(COST)

    client.force_login(world.mona)
    page = " ".join(client.get(f"/p/harbour/runs/{run.public_id}/").content.decode().split())
    assert "5 calls</a> paid · 6,000 tokens sent, 1,500 received · cost 0.0240" in page

    row = client.get(f"/api/v1/projects/harbour/runs/{run.public_id}/").json()
    assert row["cost"] == row["progress"]["cost"] == pytest.approx(COST)
    names = ("calls", "prompt_tokens", "completion_tokens")
    assert [row["progress"][name] for name in names] == [CALLS, PROMPT, REPLIES]

    path = tmp_path / "scores.csv"
    call_command("export_dataset", "harbour", level="scores", format="csv", output=path, verbosity=0)
    [paid] = json.loads((tmp_path / "scores.csv.manifest.json").read_text())["judging"]
    assert paid.pop("cost") == pytest.approx(COST)
    assert paid == {
        "judge": "scripted",
        "runs": 1,
        "calls": CALLS,
        "prompt_tokens": PROMPT,
        "completion_tokens": REPLIES,
    }


def test_a_panel_costs_what_its_members_take(world: World, priced: Judge, llm_server: LLMServer) -> None:
    panel = Judge.objects.create(name="three", kind="panel")
    cheaper = Judge.objects.create(
        name="cheaper",
        kind="openai",
        model="cheaper",
        base_url=llm_server.base_url,
        prompt_price=1.0,
        completion_price=4.0,
    )
    # The offline judge is second by name, so the cheaper judge extracts the claims of "bridge".
    panel.members.set([judge_by_name("lexical"), cheaper, priced])
    progress = run_progress(run_to_end(world.project, panel))
    # The cheaper judge has 5 calls at 1,200 x 1 / 10^6 + 300 x 4 / 10^6 = 0.0024. The other judge has 4 calls, which
    # check claims against the four summaries, at 0.0048. Together they cost 0.012 + 0.0192.
    assert (progress.calls, progress.prompt_tokens, progress.completion_tokens) == (9, 10_800, 2_700)
    assert progress.cost == pytest.approx(0.0312)
