from __future__ import annotations

import re
import signal
import time
from itertools import takewhile
from typing import TYPE_CHECKING

from annotation.judging.queries.runs import run_progress
from annotation.models import Judge, Run
from tests.annotation.judging.processes import start_manage
from tests.llm_server import faults

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

SILENT = r"server of {} has not answered for (\d+) s"


def test_a_server_that_hangs_is_reported_within_15_seconds(
    world: World, mona: Client, llm_judge: Judge, llm_server: LLMServer, subprocess_env: dict[str, str]
) -> None:
    llm_server.always(faults.hang())
    process = start_manage(subprocess_env, "evaluate", "harbour", "--judge", llm_judge.name, "--wait")
    assert process.stderr is not None
    told = re.compile(SILENT.format(llm_judge.name))
    try:
        llm_server.wait_for_calls(1)
        began = time.monotonic()
        # Lines appear every few seconds. Without the message, the command would continue until its calls time out.
        before = list(takewhile(lambda line: not told.search(line), process.stderr))
        waited = time.monotonic() - began
        page = mona.get(f"/p/harbour/runs/{Run.objects.get().public_id}/").content.decode()
    finally:
        # An interrupt does not wait for the server.
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert 8 <= waited <= 15, before
    found = told.search(page)
    assert found is not None
    assert 8 <= int(found[1]) <= waited + 3
    # The run has ended, so no call waits for the server.
    assert run_progress(Run.objects.get()).silent == []
