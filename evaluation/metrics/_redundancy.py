"""Redundancy: repeated sentences of a summary."""

import re

from evaluation.text._lengths import has_word_breaks
from evaluation.text._splitting import split_sentences

SHARE_REPEATED = 0.8
_WORD = re.compile(r"\w+")


def repeated_sentences(summary: str, language: str = "en") -> list[str]:
    """List the sentences that repeat an earlier sentence, in order.

    A sentence is a repetition if an earlier sentence contains at least 80 % of its distinct words, including all its
    numbers. In scripts without spaces between words, pairs of characters replace words.
    Example: `repeated_sentences("It rained all day. We left. It rained all day.")` is `["It rained all day."]`.
    """
    seen: list[frozenset[str]] = []
    repeated: list[str] = []
    for sentence in split_sentences(summary, language):
        words = _words(sentence)
        if any(_is_within(words, earlier) for earlier in seen):
            repeated.append(sentence)
        seen.append(words)
    return repeated


def redundancy(summary: str, language: str = "en") -> float | None:
    """Compute freedom from repetition: 1 minus the share of sentences that repeat an earlier sentence.

    In [0, 1], higher is better: 1 if no sentence is repeated or if there is only one sentence. None for a blank
    summary. Only words are compared, so repetitions in other words are missed.
    Source: the redundancy metric of Assert LLM Tools, which asks an LLM which sentences are redundant.
    Example: `redundancy("It rained all day. We left. It rained all day.")` is 0.666667.
    """
    sentences = split_sentences(summary, language)
    if not sentences:
        return None
    return 1 - len(repeated_sentences(summary, language)) / len(sentences)


def _words(sentence: str) -> frozenset[str]:
    words = _WORD.findall(sentence.casefold())
    if has_word_breaks(sentence):
        return frozenset(words)
    run = "".join(words)
    return frozenset(run[place : place + 2] for place in range(max(1, len(run) - 1)))


def _is_within(words: frozenset[str], earlier: frozenset[str]) -> bool:
    numbers = {word for word in words if any(character.isdigit() for character in word)}
    return bool(words) and numbers <= earlier and len(words & earlier) >= SHARE_REPEATED * len(words)
