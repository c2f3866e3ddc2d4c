"""A judge made of words alone: deterministic, offline, quick, and always named as what it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import mul

from evaluation.judging._claims import is_worded
from evaluation.judging._lexical_questions import LexicalQuestions
from evaluation.judging._overlap import FEATURES, Overlap, Part, Prepared, overlap, parts, prepared
from evaluation.judging._statements import statements
from evaluation.judging.protocol import ExtractedClaim, Side, Text, Verdict, verdict_by_rule
from evaluation.text._splitting import Span

VERSION = 3
"""Raised whenever the same claim and text could get another verdict."""

# Ridge logistic regression on people's judgments within bounds that keep every feature on the side that it speaks
# for. Means over 20 seeded 5-fold cross-validations by document, yes from .5 on:
# covered, REALSumm (7,500 checks of 30 documents): kappa .576, accuracy .789, brier .156, calibration error
# .028, auc .844; with people, tau-b and Pearson .439 and .512 within documents, .724 and .895 among systems.
# supported, QAGS and FRANK (752 checks of 189 documents): kappa .578, accuracy .797, brier .143, calibration
# error .031, auc .867; QAGS alone (81) brier .167, auc .816; FRANK alone (671) brier .141, auc .864. Fitted to
# two of the corpora and compared with the third: docs/judges.md has the figures.
COVERED: Mapping[str, float] = {
    "recall": 0.0,
    "rare_recall": 0.6608,
    "best_unit": 0.0,
    "best_pair": 0.0,
    "sequence": 0.0,
    "every_word": 1.8444,
    "near": 0.563,
    "towards_end": 0.0,
    "last_word": 0.3933,
    "ends_together": 0.2209,
    "numbers_found": 0.8887,
    "sequence_to_end": 0.8387,
    "words_missing": -0.7146,
    "names_missing": 0.0,
    "number_contradicted": -2.5,
    "name_contradicted": -0.7279,
    "word_opposed": -1.0,
    "negation_flipped": -3.5,
    "claim_words": -0.239,
    "text_words": 0.0476,
    "intercept": -2.3144,
}
SUPPORTED: Mapping[str, float] = {
    "recall": 0.3851,
    "rare_recall": 0.2114,
    "best_unit": 1.1017,
    "best_pair": 0.0,
    "sequence": 1.3381,
    "every_word": 0.0,
    "near": 0.7999,
    "towards_end": 1.1906,
    "last_word": 0.0,
    "ends_together": 0.4418,
    "numbers_found": 0.0,
    "sequence_to_end": 1.0803,
    "words_missing": -0.7416,
    "names_missing": -0.0412,
    "number_contradicted": -2.5,
    "name_contradicted": -0.5,
    "word_opposed": -1.0,
    "negation_flipped": -3.5,
    "claim_words": 0.7989,
    "text_words": -0.2816,
    "intercept": -4.5533,
}

_MOST_WORDS_NAMED = 5
_NO_WORDS_REASON = "The claim holds no word that could be compared."


class LexicalJudge(LexicalQuestions):
    """Checks claims by the words that they share with a text, without any network or model.

    The same input always gets the same verdict, and a claim's verdict does not depend on the other claims
    asked with it. It answers yes or no, never unsure: its probability, fitted to people's judgments, already
    says how sure it is. It cannot see paraphrase beyond some everyday words that stand for one another, and it
    takes every word that is missing as evidence against the claim; numbers that the text replaces by others,
    words that it replaces by their opposites, and negations that it adds or drops count most.

    `language` overrides the language of the texts.
    Example: `LexicalJudge()`.
    """

    kind = "lexical"
    name = "lexical"

    def __init__(self, language: str | None = None) -> None:
        self._language = language
        self.signature = f"lexical:{VERSION}" + (f"|language:{language}" if language else "")

    async def extract(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """What each unit states: its clauses, and in English each predicate with the subject that it shares.

        A claim stands in the text word for word unless it takes over a subject. Pronouns stay as they are.
        """
        text = self._in_language(text)
        return tuple(
            chain.from_iterable(
                _claims(text, number, span) for number, span in enumerate(text.unit_spans, start=1)
            )
        )

    async def check(
        self, claims: Sequence[str], text: Text, *, side: Side = "covered"
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in the order of the claims.

        What a claim of several sentences comes to says `all_of`. One without a word that could be compared is unscored.
        """
        text = self._in_language(text)
        coefficients = _COVERED if side == "covered" else _SUPPORTED
        theirs = prepared(text)
        return tuple(
            verdict_by_rule(claim, text) or _verdict(parts(claim, text.language), theirs, coefficients)
            for claim in claims
        )

    async def aclose(self) -> None:
        """Nothing is held."""

    def _in_language(self, text: Text) -> Text:
        return replace(text, language=self._language) if self._language else text


def probability_of_yes(features: Sequence[float], coefficients: Sequence[float]) -> float:
    """The logistic link: 1 / (1 + e^-z) with z the weighted features plus the intercept, which stands last."""
    z = coefficients[-1] + sum(map(mul, features, coefficients))
    return 1.0 / (1.0 + math.exp(-z))


def all_of(probabilities: Sequence[float]) -> float:
    """How probable it is that all are so: the geometric mean of their product and the least of them.

    The product takes them to be independent, so that many sure ones would make an unsure claim; the least takes them to
    go together. People's judgments of other corpora lie in between.
    Example: `all_of([0.5])` is 0.5, `all_of([0.81, 1.0])` is 0.81, `all_of([0.9, 0.9, 0.9])` is 0.81.
    """
    return math.sqrt(math.prod(probabilities) * min(probabilities))


def _in_order(coefficients: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(coefficients[name] for name in (*FEATURES, "intercept"))


_COVERED, _SUPPORTED = _in_order(COVERED), _in_order(SUPPORTED)


def _verdict(claim: Sequence[tuple[str, Part]], theirs: Prepared, coefficients: Sequence[float]) -> Verdict:
    if not claim:
        return Verdict(None, reason=_NO_WORDS_REASON)
    found = [overlap(sentence, part, theirs) for sentence, part in claim]
    probabilities = [probability_of_yes(one.features, coefficients) for one in found]
    probability, weakest, evidence = probabilities[0], found[0], found[0].evidence
    if len(found) > 1:
        probability = all_of(probabilities)
        weakest = found[probabilities.index(min(probabilities))]
        evidence = tuple(sorted({unit for one in found for unit in one.evidence}))
    return Verdict(
        "yes" if probability >= 0.5 else "no", probability, evidence, _reason(weakest, probability >= 0.5)
    )


def _reason(found: Overlap, is_yes: bool) -> str:
    where = f"unit{'s' if len(found.evidence) > 1 else ''} {' and '.join(map(str, found.evidence))}"
    if found.negation_flipped:
        return f"Nearly the same words in {where}, but one denies what the other affirms."
    if found.opposed and found.evidence:
        return f"Much of the same in {where}, but with the opposite of: {found.opposed}."
    if not found.missing:
        what = "Every word is found" if found.is_exact else "Every word, or a related one, is found"
        return f"{what}, most in {where}." if found.evidence else f"{what}, far apart."
    named = ", ".join(found.missing[:_MOST_WORDS_NAMED])
    more = len(found.missing) - _MOST_WORDS_NAMED
    listed = f"{named}{f' and {more} more' if more > 0 else ''}"
    return f"{'Most words are' if is_yes else 'Too little is'} found. Missing: {listed}."


def _claims(text: Text, number: int, unit: Span) -> list[ExtractedClaim]:
    claims: list[ExtractedClaim] = []
    for stated in statements(unit.of(text.text), text.language):
        if not is_worded(stated.text):
            continue
        if stated.start is None or stated.end is None:
            claims.append(ExtractedClaim(stated.text, number))
        else:
            claims.append(
                ExtractedClaim(stated.text, number, unit.start + stated.start, unit.start + stated.end)
            )
    return claims
