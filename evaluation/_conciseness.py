"""Conciseness: whether a summary is short for its source and says it in short sentences."""

from evaluation._guards import checked_share
from evaluation._text import count_words, has_word_breaks, sentence_spans

BEST_RATIO = 0.3
SHORT_SENTENCE_WORDS = 20
LONG_SENTENCE_WORDS = 40


def conciseness(document: str, summary: str, rating: float | None, language: str = "en") -> float | None:
    """How concise a summary is: .7 · (.6 · compression + .4 · sentence term) + .3 · a judge's rating.

    In [0, 1], higher is better. Compression is 1 where the summary has 30 % of the source's words and falls
    to 0 at none and at 60 %; the sentence term is 1 for sentences of up to 20 words on average and falls to 0
    at 40. None where there is no rating, where document or summary is blank, and in scripts without spaces
    between words, whose words cannot be counted.
    Raises InvalidPercent if the rating lies outside 0 to 1.
    Source: the conciseness metric of Assert LLM Tools; unlike there, a rating that could not be read gives no
    score instead of counting .5.
    Example: 30 words in two sentences, of a document of 100 words, with the rating 0.5 give 0.85.
    """
    if rating is None:
        return None
    checked_share("The rating", rating)
    words, source_words = count_words(summary), count_words(document)
    if not (words and source_words) or not (has_word_breaks(summary) and has_word_breaks(document)):
        return None
    compression = max(0.0, 1 - abs(BEST_RATIO - words / source_words) / BEST_RATIO)
    sentence_words = words / max(1, len(sentence_spans(summary, language)))
    beyond = (sentence_words - SHORT_SENTENCE_WORDS) / (LONG_SENTENCE_WORDS - SHORT_SENTENCE_WORDS)
    sentence_term = min(1.0, max(0.0, 1 - beyond))
    return 0.7 * (0.6 * compression + 0.4 * sentence_term) + 0.3 * rating
