"""A judge made of words alone: deterministic, offline, quick, and always named as what it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from evaluation._text import Span, clause_spans
from evaluation.judging._overlap import FEATURES, Overlap, overlap
from evaluation.judging.protocol import ExtractedClaim, Side, Text, Verdict, verdict_by_rule

VERSION = 1
"""Raised whenever the same claim and text could get another verdict."""

# Ridge logistic regression on people's judgments by `python -m evaluation.judging._fit FOLDER`, within the
# bounds that that module explains. Means over 20 seeded 5-fold cross-validations by document, yes from .5 on.
# Covered (REALSumm, 7,500 checks of 30 documents):
# kappa .5519, accuracy .7765, brier .1648, calibration error .0350, auc .8305.
# Supported (QAGS and FRANK, 752 checks of 189 documents):
# kappa .5593, accuracy .7842, brier .1569, calibration error .0388, auc .8388.
COVERED: Mapping[str, float] = {
    "recall": 1.5922,
    "best_unit": 0.8433,
    "best_pair": 1.3611,
    "adjacent": 0.0,
    "near": 1.0244,
    "order": 0.0,
    "all_found": 0.0512,
    "words_missing": -0.6836,
    "numbers_missing": -0.3321,
    "names_missing": 0.0,
    "number_contradicted": -1.5,
    "name_contradicted": -0.926,
    "negation_flipped": -3.5,
    "claim_words": -0.2347,
    "text_words": 0.1183,
    "intercept": -2.2804,
}
SUPPORTED: Mapping[str, float] = {
    "recall": 0.8964,
    "best_unit": 0.7037,
    "best_pair": 0.0,
    "adjacent": 0.7802,
    "near": 1.9917,
    "order": 0.6122,
    "all_found": 0.3902,
    "words_missing": -0.9348,
    "numbers_missing": -0.2182,
    "names_missing": 0.0,
    "number_contradicted": -1.5,
    "name_contradicted": -0.5,
    "negation_flipped": -3.5,
    "claim_words": 0.1,
    "text_words": -0.2708,
    "intercept": -2.1897,
}

_MOST_WORDS_NAMED = 5
_NO_WORDS_REASON = "The claim holds no word that could be compared."


class LexicalJudge:
    """Checks claims by the words that they share with a text, without any network or model.

    The same input always gets the same verdict, and a claim's verdict does not depend on the other claims
    asked with it. It answers yes or no, never unsure: its probability, fitted to people's judgments, already
    says how sure it is. It cannot see paraphrase, and it takes every word that is missing as evidence against
    the claim; numbers that the text replaces by others and negations that it adds or drops count most.

    `language` overrides the language of the texts.
    Example: `LexicalJudge()`.
    """

    kind = "lexical"
    name = "lexical"

    def __init__(self, language: str | None = None) -> None:
        self._language = language
        self.signature = f"lexical:{VERSION}" + (f"|language:{language}" if language else "")

    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """The clauses of each unit, word for word, without the comma or dash that ends them."""
        text = self._in_language(text)
        return tuple(
            chain.from_iterable(
                _clauses(text, number, span) for number, span in enumerate(text.unit_spans, start=1)
            )
        )

    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims.

        A claim without a word that could be compared is unscored.
        """
        text = self._in_language(text)
        coefficients = COVERED if side == "covered" else SUPPORTED
        return tuple(
            verdict_by_rule(claim, text) or _verdict(overlap(claim, text), coefficients) for claim in claims
        )

    async def aclose(self) -> None:
        """Nothing is held."""

    def _in_language(self, text: Text) -> Text:
        return replace(text, language=self._language) if self._language else text


def probability_of_yes(features: Sequence[float], coefficients: Mapping[str, float]) -> float:
    """The logistic link: 1 / (1 + e^-z) with z the intercept plus the weighted features."""
    z = coefficients["intercept"]
    for name, value in zip(FEATURES, features, strict=True):
        z += coefficients[name] * value
    return 1.0 / (1.0 + math.exp(-z))


def _verdict(found: Overlap | None, coefficients: Mapping[str, float]) -> Verdict:
    if found is None:
        return Verdict(None, reason=_NO_WORDS_REASON)
    probability = probability_of_yes(found.features, coefficients)
    return Verdict("yes" if probability >= 0.5 else "no", probability, found.evidence, _reason(found))


def _reason(found: Overlap) -> str:
    where = f"unit{'s' if len(found.evidence) > 1 else ''} {' and '.join(map(str, found.evidence))}"
    if found.negation_flipped:
        return f"Nearly the same words in {where}, but one denies what the other affirms."
    if not found.missing:
        return (
            f"Every word is found, most in {where}." if found.evidence else "Every word is found, far apart."
        )
    named = ", ".join(found.missing[:_MOST_WORDS_NAMED])
    more = len(found.missing) - _MOST_WORDS_NAMED
    return f"No mention of: {named}{f' and {more} more' if more > 0 else ''}."


def _clauses(text: Text, number: int, unit: Span) -> list[ExtractedClaim]:
    content = unit.of(text.text)
    claims: list[ExtractedClaim] = []
    for clause in clause_spans(content, text.language):
        words = clause.of(content).rstrip(" \t,;:—–-，；、")
        if any(character.isalnum() for character in words):
            start = unit.start + clause.start
            claims.append(ExtractedClaim(words, number, start, start + len(words)))
    return claims
