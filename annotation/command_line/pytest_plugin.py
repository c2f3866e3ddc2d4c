"""The pytest fixture `assert_summary`, which imports the numerical libraries on first use."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from evaluation.judging import Judge
    from evaluation.running import SummaryEvaluation


@pytest.fixture(scope="session")
def coverdict_judge() -> Judge:
    """Return the judge of `assert_summary`: the offline judge, unless your `conftest.py` overrides this fixture."""
    from evaluation.judging import LexicalJudge  # noqa: PLC0415 - half a second of every test run

    return LexicalJudge()


@pytest.fixture
def assert_summary(coverdict_judge: Judge) -> Callable[..., SummaryEvaluation]:
    """Return a function for tests: `assert_summary(document, summary, coverage=.7)` fails if a score is lower or
    missing.
    """
    from evaluation.gate import assert_summary as assert_one  # noqa: PLC0415

    return partial(assert_one, judge=coverdict_judge)
