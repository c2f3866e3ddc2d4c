"""A judge made of words alone: deterministic, offline, quick, and always named as what it is."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import mul

from evaluation.judging.lexical._overlap import (
    COVERED,
    SUPPORTED,
    Overlap,
    Part,
    Prepared,
    overlap,
    parts,
    prepared,
)
from evaluation.judging.lexical._statements import statements
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    JudgedClaim,
    Question,
    Rating,
    Text,
    Verdict,
    is_worded,
    verdict_by_rule,
)
from evaluation.text._words import tokens

VERSION = 4
"""Raised whenever the same claim and text could get another verdict."""

# The weights in lexical.txt: ridge logistic regression on people's judgments within bounds that keep every feature
# on the side that it speaks for. Means over 5 seeded 5-fold cross-validations by document, yes from .5 on:
# covered, REALSumm (7,500 checks of 30 documents): kappa .579, accuracy .790, brier .156, calibration error
# .031, auc .844. supported, QAGS and FRANK (752 checks of 189 documents): kappa .579, accuracy .799, brier .146,
# calibration error .035, auc .862. Seven further features (words near each other, late words, rarity, names, other
# names, both ends in one unit, the claim's length) changed no figure by .01.
# Fitted to two of the corpora and compared with the third: docs/judges.md has the figures.
_MOST_WORDS_NAMED = 5
_MOST_TOPICS = 5
_NO_WORDS_REASON = "The claim holds no word that could be compared."
_NO_RATING = "A judge made of words alone cannot rate how a text reads."
_QUOTED = re.compile(r'^Does the text say: "(?P<statement>.*)"\?$', re.DOTALL)


class LexicalJudge:
    """Checks claims by the words that they share with a text, without any network or model.

    The same input always gets the same verdict, and a claim's verdict does not depend on the other claims
    asked with it. It answers yes or no, never unsure: its probability, fitted to people's judgments, already
    says how sure it is. It cannot see paraphrase beyond some everyday words that stand for one another, and it
    takes every word that is missing as evidence against the claim; numbers that the text replaces by others,
    words that it replaces by their opposites, and negations that it adds or drops count most. Its questions quote
    the statements whose words are the commonest in the text. Ratings stay unscored.

    `language` overrides the language of the texts.
    Example: `LexicalJudge()`.
    """

    kind = "lexical"
    name = "lexical"
    concurrency = 1

    def __init__(self, language: str | None = None) -> None:
        self._language = language
        self.signature = f"lexical:{VERSION}" + (f"|language:{language}" if language else "")

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Claims, questions with their answers, and topics, as far as they are wanted."""
        claims = self._claims(request.claims_text) if request.claims else ()
        asked = [*request.questions]
        if request.n_questions:
            stated = [claim.text for claim in self._claims(request.source)]
            asked += [
                f'Does the text say: "{each}"?' for each in _main(stated, request.source, request.n_questions)
            ]
        answers = self._answers(asked, request.source, SUPPORTED)
        topics = _topics(request.source) if request.topics else ()
        return DocumentReading(claims, tuple(map(Question, asked, answers)), topics)

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """The summary's claims, each checked against the source; an instruction changes nothing."""
        claims = self._claims(summary)
        return tuple(
            map(JudgedClaim, claims, self._check([claim.text for claim in claims], source, SUPPORTED))
        )

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """One verdict per claim, in order: does the source support it? An instruction changes nothing.

        `all_of` gives the probability of a claim of several sentences. A claim without a word that could be compared
        is unscored.
        """
        return self._check(claims, source, SUPPORTED)

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Claims, questions and topics looked for in the summary; ratings unscored."""
        return CoverReading(
            self._check(request.claims, request.summary, COVERED),
            self._answers(request.questions, request.summary, COVERED),
            self._check(request.topics, request.summary, COVERED),
            {name: Rating(None, _NO_RATING) for name in request.ratings},
        )

    def again(self, token: str) -> "LexicalJudge":
        """The judge itself, which always answers alike."""
        return self

    async def aclose(self) -> None:
        """Nothing is held."""

    def _claims(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """What each unit states: its clauses, and in English each predicate with the subject that it shares.

        A claim stands in the text word for word unless it takes over a subject. Pronouns stay as they are.
        """
        language = self._language or text.language
        return tuple(
            ExtractedClaim(stated.text, number)
            if stated.start is None or stated.end is None
            else ExtractedClaim(stated.text, number, unit.start + stated.start, unit.start + stated.end)
            for number, unit in enumerate(text.unit_spans, start=1)
            for stated in statements(unit.of(text.text), language)
            if is_worded(stated.text)
        )

    def _check(self, claims: Sequence[str], text: Text, weights: Sequence[float]) -> tuple[Verdict, ...]:
        if self._language:
            text = replace(text, language=self._language)
        theirs = prepared(text)
        return tuple(
            verdict_by_rule(claim, text) or _verdict(parts(claim, text.language), theirs, weights)
            for claim in claims
        )

    def _answers(self, questions: Sequence[str], text: Text, weights: Sequence[float]) -> tuple[Verdict, ...]:
        """What a closed question asks about is looked for as if it were a claim."""
        quoted = [_QUOTED.match(question) for question in questions]
        stated = [
            found["statement"] if found else question.rstrip(" ?？؟")
            for question, found in zip(questions, quoted, strict=True)
        ]
        return self._check(stated, text, weights)


def all_of(probabilities: Sequence[float]) -> float:
    """How probable it is that all are so: the geometric mean of their product and the least of them.

    The product takes them to be independent, so that many sure ones would make an unsure claim; the least takes them to
    go together. People's judgments of other corpora lie in between.
    Example: `all_of([0.5])` is 0.5, `all_of([0.81, 1.0])` is 0.81, `all_of([0.9, 0.9, 0.9])` is 0.81.
    """
    return math.sqrt(math.prod(probabilities) * min(probabilities))


def _verdict(claim: Sequence[tuple[str, Part]], theirs: Prepared, weights: Sequence[float]) -> Verdict:
    if not claim:
        return Verdict(None, reason=_NO_WORDS_REASON)
    found = [overlap(sentence, part, theirs) for sentence, part in claim]
    log_odds = [weights[-1] + sum(map(mul, one.features, weights)) for one in found]
    probabilities = [1.0 / (1.0 + math.exp(-each)) for each in log_odds]
    probability = all_of(probabilities) if len(found) > 1 else probabilities[0]
    weakest = found[probabilities.index(min(probabilities))]
    evidence = tuple(sorted({unit for one in found for unit in one.evidence}))
    is_yes = probability >= 0.5
    return Verdict("yes" if is_yes else "no", probability, evidence, _reason(weakest, is_yes))


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


def _main(stated: Sequence[str], text: Text, count: int) -> list[str]:
    """The statements that say most of what the text says most often, in their order."""
    counts = Counter(token.key for token in tokens(text.text, text.language))

    def weight(statement: str) -> float:
        keys = {token.key for token in tokens(statement, text.language)}
        return sum(counts[key] for key in keys) / (len(keys) + 3)

    distinct = list(dict.fromkeys(stated))
    best = sorted(range(len(distinct)), key=lambda place: -weight(distinct[place]))[:count]
    return [distinct[place] for place in sorted(best)]


def _topics(source: Text) -> tuple[str, ...]:
    """The words that the source uses most, as they first stand in it."""
    counts: Counter[str] = Counter()
    surfaces: dict[str, str] = {}
    for token in tokens(source.text, source.language):
        surface = source.text[token.start : token.end]
        # Two letters say little in an alphabet and much in a script of signs.
        if token.kind in ("name", "content") and len(surface) >= (3 if surface.isascii() else 2):
            counts[token.key] += 1
            surfaces.setdefault(token.key, surface)
    return tuple(surfaces[key] for key, _ in counts.most_common(_MOST_TOPICS))
