"""The scripted server and judges that call it."""

from tests.evaluation.judging.conftest import judge, judge_of
from tests.llm_server import llm_server

__all__ = ["judge", "judge_of", "llm_server"]
