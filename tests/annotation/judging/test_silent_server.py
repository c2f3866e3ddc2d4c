from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from annotation.models import Judge, Run
from tests.annotation.judging.processes import start_manage
from tests.llm_server import faults

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.llm_server import LLMServer


def test_an_interrupt_does_not_wait_for_a_server_that_hangs(
    world: World, llm_judge: Judge, llm_server: LLMServer, subprocess_env: dict[str, str]
) -> None:
    llm_server.always(faults.hang())
    process = start_manage(subprocess_env, "evaluate", "harbour", "--judge", llm_judge.name, "--wait")
    llm_server.wait_for_calls(1)
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert Run.objects.get().state == "cancelled"
