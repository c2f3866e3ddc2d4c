"""The lexical judge: a deterministic offline baseline that compares words."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from operator import mul

from evaluation.judging.lexical._overlap import (
    COVERED,
    SUPPORTED,
    Overlap,
    Prepared,
    Statement,
    overlap,
    prepared,
    sentences,
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
from evaluation.text._words import Token, tokens

# The weights in lexical.txt come from a ridge logistic regression on people's judgments, with bounds on their signs.
# Those of contradictions, and -.4 for the length of a source, are set by hand. The figures are means over 5 seeded
# 5-fold cross-validations; a document is in one fold only, and an answer is yes from a probability of .5.
# - covered: 7,500 checks of 30 documents of REALSumm. Kappa .568, accuracy .785, Brier .158, calibration error .032,
#   AUC .841.
# - supported: 752 checks of 189 documents of QAGS and FRANK. Kappa .578, accuracy .798, Brier .147, calibration error
#   .044, AUC .860.
# docs/judges.md has the figures of weights that were fitted to two of the corpora and tested on the third.
_MOST_WORDS_NAMED = 5
_MOST_TOPICS = 5
_QUOTED = re.compile(r'^Does the text say: "(.*)"\?$', re.DOTALL)


class LexicalJudge:
    """A judge that compares the words of claims with those of a text, without network or model.

    Equal inputs get equal verdicts, whatever the other claims of a request are. The label is yes, no or None, never
    unsure. Paraphrases and synonyms are not recognised. Missing words count against a claim; other numbers, and added
    or missing negations count against it most. Generated questions quote the statements with the most frequent words of
    the text. Ratings are unscored. Example: `LexicalJudge()`.
    """

    kind = "lexical"
    name = "lexical"
    signature = "lexical:5"
    """The number is the version of the verdicts."""
    concurrency = 25

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        """Return the requested claims, topics, and questions with their answers."""
        claims = self._claims(request.claims_text) if request.claims else ()
        asked = [*request.questions]
        if request.n_questions:
            stated = [claim.text for claim in self._claims(request.source)]
            quoted = _main(stated, request.source, request.n_questions)
            asked += [f'Does the text say: "{each}"?' for each in quoted]
        answers = self._answers(asked, request.source, SUPPORTED)
        topics = _topics(request.source) if request.topics else ()
        return DocumentReading(claims, tuple(map(Question, asked, answers)), topics)

    async def align_summary(
        self, source: Text, summary: Text, *, instruction: str = ""
    ) -> tuple[JudgedClaim, ...]:
        """Extract the summary's claims and check each against the source. The instruction is ignored."""
        claims = self._claims(summary)
        verdicts = self._check([claim.text for claim in claims], source, SUPPORTED)
        return tuple(map(JudgedClaim, claims, verdicts))

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        """Check whether the source supports each claim; one verdict per claim, in order. The instruction is ignored.

        `all_of` combines the probabilities of a claim's sentences.
        """
        return self._check(claims, source, SUPPORTED)

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        """Return verdicts on claims, questions and topics; ratings are unscored."""
        unrated = Rating(None, "A judge made of words alone cannot rate how a text reads.")
        return CoverReading(
            self._check(request.claims, request.summary, COVERED),
            self._answers(request.questions, request.summary, COVERED),
            self._check(request.topics, request.summary, COVERED),
            dict.fromkeys([each.name for each in request.criteria], unrated),
        )

    def again(self, token: str) -> "LexicalJudge":
        """Return the judge itself."""
        return self

    async def aclose(self) -> None:
        """Do nothing; this judge has no connections."""

    def _claims(self, text: Text) -> tuple[ExtractedClaim, ...]:
        """A claim has offsets unless the subject was added to it."""
        return tuple(
            ExtractedClaim(said, number)
            if start is None
            else ExtractedClaim(said, number, unit.start + start, unit.start + start + len(said))
            for number, unit in enumerate(text.unit_spans, start=1)
            for said, start in statements(unit.of(text.text), text.language)
            if is_worded(said)
        )

    def _check(self, claims: Sequence[str], text: Text, weights: Sequence[float]) -> tuple[Verdict, ...]:
        theirs = prepared(text)
        return tuple(
            verdict_by_rule(claim, text) or _verdict(sentences(claim, text.language), theirs, weights)
            for claim in claims
        )

    def _answers(self, questions: Sequence[str], text: Text, weights: Sequence[float]) -> tuple[Verdict, ...]:
        # A generated question quotes a claim, so check the quoted claim.
        stated = [_QUOTED.sub(r"\1", question).rstrip(" ?？؟") for question in questions]
        return self._check(stated, text, weights)


def all_of(probabilities: Sequence[float]) -> float:
    """Estimate the probability that all statements are true: the geometric mean of the product and the minimum.

    The product assumes independent statements, the minimum fully dependent ones. Raises ValueError for an empty
    sequence. Example: `all_of([0.5])` is 0.5, `all_of([0.81, 1.0])` is 0.81, `all_of([0.9, 0.9, 0.9])` is 0.81.
    """
    return math.sqrt(math.prod(probabilities) * min(probabilities))


def _verdict(claim: Sequence[Statement], theirs: Prepared, weights: Sequence[float]) -> Verdict:
    if not claim:
        return Verdict(None, reason="The claim holds no word that could be compared.")
    found = [overlap(sentence, theirs) for sentence in claim]
    log_odds = [weights[-1] + sum(map(mul, one.features, weights)) for one in found]
    probabilities = [1.0 / (1.0 + math.exp(-each)) for each in log_odds]
    probability = all_of(probabilities)
    weakest = probabilities.index(min(probabilities))
    evidence = tuple(sorted({unit for one in found for unit in one.evidence}))
    is_yes = probability >= 0.5
    reason = _reason(claim[weakest].text, found[weakest], is_yes)
    return Verdict("yes" if is_yes else "no", probability, evidence, reason)


def _reason(sentence: str, found: Overlap, is_yes: bool) -> str:
    if found.missing and not found.negation_flipped:
        missing = _surfaces(sentence, found.missing)
        named = ", ".join(missing[:_MOST_WORDS_NAMED])
        more = len(missing) - _MOST_WORDS_NAMED
        found_share = "Most words are" if is_yes else "Too little is"
        return f"{found_share} found. Missing: {named}{f' and {more} more' if more > 0 else ''}."
    where = f"unit{'s' if len(found.evidence) > 1 else ''} {' and '.join(map(str, found.evidence))}"
    if found.negation_flipped:
        return f"Nearly the same words in {where}, but one denies what the other affirms."
    most = f", most in {where}" if found.evidence else ""
    return f"Every word is found{most}{'' if is_yes else ', but not together'}."


def _surfaces(sentence: str, tokens: Sequence[Token]) -> list[str]:
    """Read the words of tokens in a sentence; overlapping tokens are one word."""
    places: list[list[int]] = []
    for _, _, start, end in tokens:
        if places and start < places[-1][1]:
            places[-1][1] = end
        else:
            places.append([start, end])
    return [sentence[start:end] for start, end in places]


def _main(stated: Sequence[str], text: Text, count: int) -> list[str]:
    """Choose the `count` statements with the most frequent words of the text, in their order."""
    counts = Counter(token.key for token in tokens(text.text, text.language))

    def weight(statement: str) -> float:
        keys = {token.key for token in tokens(statement, text.language)}
        return sum(counts[key] for key in keys) / (len(keys) + 3)

    distinct = dict.fromkeys(stated)
    best = nlargest(count, distinct, key=weight)
    return [statement for statement in distinct if statement in best]


def _topics(source: Text) -> tuple[str, ...]:
    surfaces: dict[str, list[str]] = {}
    for token in tokens(source.text, source.language):
        surface = source.text[token.start : token.end]
        # Require three characters of a word in ASCII, and two of another word.
        if token.kind in ("name", "content") and len(surface) >= (3 if surface.isascii() else 2):
            surfaces.setdefault(token.key, []).append(surface)
    return tuple(same[0] for same in nlargest(_MOST_TOPICS, surfaces.values(), key=len))
