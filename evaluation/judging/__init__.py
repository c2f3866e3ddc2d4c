"""Automatic judges, and functions that ask a judge about claims."""

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from evaluation._labels import LABEL_VALUES, LABEL_VALUES_IN_WORDS, LABELS, LABELS_IN_WORDS, Label
from evaluation.judging import _sync
from evaluation.judging.errors import JudgeSettings
from evaluation.judging.lexical import LexicalJudge
from evaluation.judging.money import MoneyCap
from evaluation.judging.openai import OpenAIJudge
from evaluation.judging.orchestration import claims_of
from evaluation.judging.panel import JudgePanel
from evaluation.judging.protocol import (
    CoverRequest,
    DocumentRequest,
    ExtractedClaim,
    Judge,
    Limits,
    Price,
    Side,
    Text,
    Usage,
    Verdict,
    checked_judge,
)

_R = TypeVar("_R")

__all__ = [
    "LABELS",
    "LABELS_IN_WORDS",
    "LABEL_VALUES",
    "LABEL_VALUES_IN_WORDS",
    "Judge",
    "JudgePanel",
    "JudgeSettings",
    "Label",
    "LexicalJudge",
    "Limits",
    "MoneyCap",
    "OpenAIJudge",
    "Price",
    "Usage",
    "Verdict",
    "check_claims",
    "extract_claims",
]


def extract_claims(text: str | Text, *, judge: Judge, language: str = "en") -> tuple[ExtractedClaim, ...]:
    """Extract the atomic claims of a text, in the order of its units.

    The units of a string are its sentences, split by the rules of `language`; a Text has its own units and language.
    A blank text has no claims. The call blocks until the result is ready, and works inside a running event loop too.
    Raises UnusableReply if the claims of a unit are missing, and the other errors of evaluation.judging.errors.
    Example: `extract_claims("It rained, but the match went on.", judge=LexicalJudge())`.
    """
    request = DocumentRequest(_as_text(text, language), claims=True)
    return _run(judge, claims_of(checked_judge(judge), request))


def check_claims(
    claims: Sequence[str], text: str | Text, *, judge: Judge, side: Side = "covered", language: str = "en"
) -> tuple[Verdict, ...]:
    """Check whether a text expresses ("covered") or supports ("supported") each claim. Returns one verdict per claim,
    in order.

    A claim without a usable answer has the label None and a reason. The evidence has unit numbers from 1; the units of
    a string are its sentences, split by the rules of `language`. The call blocks until the result is ready, and works
    inside a running event loop too. Raises the errors of evaluation.judging.errors. Example: `check_claims(["It
    rained."], "It rained all day.", judge=LexicalJudge())[0].label` is "yes".
    """
    if isinstance(claims, str):
        raise JudgeSettings("check_claims takes a list of claims, got one string; write [claim].")
    given, asked = _as_text(text, language), checked_judge(judge)
    if side == "supported":
        return _run(judge, asked.check_source(tuple(claims), given))

    async def covered() -> tuple[Verdict, ...]:
        return (await asked.cover_summary(CoverRequest(given, tuple(claims)))).claims

    return _run(judge, covered())


def _run(judge: Judge, work: Coroutine[Any, Any, _R]) -> _R:
    return _sync.run(_sync.closing(judge, work))


def _as_text(text: str | Text, language: str) -> Text:
    return text if isinstance(text, Text) else Text.of(text, language)
