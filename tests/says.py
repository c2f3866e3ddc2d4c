"""Whether a page says a word: random ids and tokens in it may hold the same letters."""

import re


def says(text: str, word: str) -> bool:
    """Whether the word stands in the text with neither a letter nor a digit beside it."""
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(word)}(?![0-9A-Za-z])", text) is not None
