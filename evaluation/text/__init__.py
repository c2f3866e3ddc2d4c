"""Words, lengths and sentences of texts."""

from evaluation.text._lengths import LengthUnit, count_length, count_words, has_word_breaks, truncate
from evaluation.text._splitting import DOCUMENT_BREAK, Span, sentence_spans, split_sentences

__all__ = [
    "DOCUMENT_BREAK",
    "LengthUnit",
    "Span",
    "count_length",
    "count_words",
    "has_word_breaks",
    "sentence_spans",
    "split_sentences",
    "truncate",
]
