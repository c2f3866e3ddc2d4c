"""Conciseness: a summary that is short compared with its source, in short sentences."""

from dataclasses import dataclass

from evaluation._guards import checked_share
from evaluation.text._lengths import count_words, has_word_breaks
from evaluation.text._splitting import sentence_spans

BEST_RATIO = 0.3
SHORT_SENTENCE_WORDS = 20
LONG_SENTENCE_WORDS = 40


@dataclass(frozen=True, slots=True)
class ConcisenessTerms:
    """The parts of conciseness that need only lengths; both are in [0, 1], higher is better.

    `compression` is 1 if the summary has 30 % of the source's words; it falls linearly to 0 at no words and at 60 %.
    `sentences` is 1 if sentences have at most 20 words on average; it falls linearly to 0 at 40 words.
    """

    compression: float
    sentences: float

    def with_rating(self, rating: float) -> float:
        """Combine the terms with a judge's rating in [0, 1]. Example: terms of 1 and 1 with 0.5 give 0.85."""
        return 0.7 * (0.6 * self.compression + 0.4 * self.sentences) + 0.3 * rating


def conciseness_terms(document: str, summary: str, language: str = "en") -> ConcisenessTerms | None:
    """Compute the parts of conciseness that need no judge.

    None if the document or the summary is blank, or if its script has no spaces between words. Source: the conciseness
    metric of Assert LLM Tools. Example: 30 words in two sentences, of a document of 100 words, give 1 and 1.
    """
    words, source_words = count_words(summary), count_words(document)
    if not (words and source_words) or not (has_word_breaks(summary) and has_word_breaks(document)):
        return None
    sentence_words = words / max(1, len(sentence_spans(summary, language)))
    beyond = (sentence_words - SHORT_SENTENCE_WORDS) / (LONG_SENTENCE_WORDS - SHORT_SENTENCE_WORDS)
    return ConcisenessTerms(
        compression=max(0.0, 1 - abs(BEST_RATIO - words / source_words) / BEST_RATIO),
        sentences=min(1.0, max(0.0, 1 - beyond)),
    )


def conciseness(document: str, summary: str, rating: float | None, language: str = "en") -> float | None:
    """Compute conciseness: .7 · (.6 · compression + .4 · sentence term) + .3 · a judge's rating.

    In [0, 1], higher is better. `conciseness_terms` defines the compression and the sentence term. None if the rating
    or one of these terms is missing. Raises InvalidPercent if the rating is outside 0 to 1.
    Source: the conciseness metric of Assert LLM Tools. Unlike that metric, an unreadable rating gives no score
    instead of .5.
    Example: 30 words in two sentences, of a document of 100 words, with the rating 0.5 give 0.85.
    """
    if rating is None:
        return None
    checked_share("The rating", rating)
    terms = conciseness_terms(document, summary, language)
    return None if terms is None else terms.with_rating(rating)
