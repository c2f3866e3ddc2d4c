"""Lists of words in data files; function words, negations and small numbers by language."""

import re
from importlib.resources import files


def sections(package: str, name: str) -> dict[str, list[str]]:
    """Read the sections of a file of a package: the lines below each section's name.

    A blank line ends a section. Lines that begin with # are comments; the first other line of a section is its name.
    """
    blocks = files(package).joinpath(name).read_text("utf-8").split("\n\n")
    named = [[line for line in block.splitlines() if not line.startswith("#")] for block in blocks]
    return {lines[0]: lines[1:] for lines in named if lines}


def _of(kind: str) -> dict[str, list[str]]:
    return {
        name.removeprefix(f"{kind} "): " ".join(lines).split()
        for name, lines in SECTIONS.items()
        if name.startswith(f"{kind} ")
    }


SECTIONS = sections("evaluation.text", "words.txt")
FUNCTION_WORDS = {code: frozenset(words) for code, words in _of("function").items()}
NEGATIONS = {code: frozenset(words) for code, words in _of("negation").items()}
NUMBER_WORDS = {code: dict(pair.split(":") for pair in pairs) for code, pairs in _of("number").items()}
"""Small numbers written as words, as digits."""

# Chinese and Japanese negate with single characters and endings, which pairs of characters would hide.
NEGATION_MARKS = {
    "ja": re.compile("なかった|ない|ません|ぬ"),
    "zh": re.compile("没有|沒有|[不没沒未無无非]"),
}
