"""Invented documents, summaries and claims."""

import random

TEXT = (
    "the of a and harbour wall council repair ferry winter budget crossing engineer storm market roof village bridge "
    "school patient dose clinic contract notice tenant payment server outage switch alarm meeting motion vote garden"
)
WORDS = TEXT.split()
NUMBER_SHARE = 0.05


def sentence(chance: random.Random, words: int, numbers: float = NUMBER_SHARE) -> str:
    made = [
        str(chance.randint(2, 3000)) if chance.random() < numbers else chance.choice(WORDS)
        for _ in range(words)
    ]
    return f"{' '.join(made).capitalize()}."


def document(number: int) -> str:
    chance = random.Random(1000 + number)
    return " ".join(sentence(chance, 20) for _ in range(30))


def summary(number: int, system: int = 0) -> str:
    chance = random.Random(f"{number} {system}")
    return " ".join(sentence(chance, 20) for _ in range(4))


def claims(number: int) -> list[str]:
    chance = random.Random(2000 + number)
    return [sentence(chance, 10) for _ in range(10)]
