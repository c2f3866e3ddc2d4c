"""What the tests of runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.llm_server import llm_server

if TYPE_CHECKING:
    from annotation.models import Judge
    from tests.llm_server import LLMServer

__all__ = ["llm_server"]


@pytest.fixture
def llm_judge(transactional_db: None, llm_server: LLMServer) -> Judge:
    """A judge behind the scripted server; its calls are kept by a thread that sees what is committed."""
    from annotation.models import Judge

    return Judge.objects.create(
        name="scripted", kind=Judge.Kind.OPENAI, model="scripted", base_url=llm_server.base_url, concurrency=4
    )
