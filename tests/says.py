"""Searching a page for a word; random ids and tokens may contain its letters."""

import re


def says(text: str, word: str) -> bool:
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(word)}(?![0-9A-Za-z])", text) is not None
