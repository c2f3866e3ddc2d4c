"""Invented documents, summaries and claims of the lengths that the benchmark speaks of."""

import random
from functools import cache

DOCUMENTS = 20
SYSTEMS = 25

_SYLLABLES = "bar del for gan hol mer nid pos rel sam tur vel wen yar zon ber cor dan fil gre"
_GLUE = "the of a in and to for on with at by from that was has been will which after"
_ENDINGS = ("", "", "s", "ed", "ing", "er", "ly")


@cache
def _words() -> tuple[str, ...]:
    chance = random.Random(11)
    made = {
        "".join(chance.choices(_SYLLABLES.split(), k=chance.randint(1, 3))) + chance.choice(_ENDINGS)
        for _ in range(4000)
    }
    return tuple(sorted(made))


def _sentence(chance: random.Random, known: list[str], length: int) -> str:
    words = [
        chance.choice(_GLUE.split())
        if chance.random() < 0.4
        else str(chance.randint(2, 3000))
        if chance.random() < 0.05
        else chance.choice(known)
        for _ in range(length)
    ]
    return f"{' '.join(words).capitalize()}."


def _known(number: int) -> list[str]:
    return random.Random(number).sample(_words(), 220)


def document(number: int) -> str:
    """600 words in 30 sentences."""
    chance = random.Random(1000 + number)
    return " ".join(_sentence(chance, _known(number), 20) for _ in range(30))


def summary(number: int, system: int = 0) -> str:
    """80 words in 4 sentences about the same things as the document of this number."""
    chance = random.Random(f"{number} {system}")
    return " ".join(_sentence(chance, _known(number), 20) for _ in range(4))


def claims(number: int) -> list[str]:
    """Ten claims of ten words."""
    chance = random.Random(2000 + number)
    return [_sentence(chance, _known(number), 10) for _ in range(10)]
