"""Summaries to evaluate, each with its own document."""

from evaluation import SummaryInput


def corpus(count: int, first: int = 0) -> list[SummaryInput]:
    return [
        SummaryInput(
            f"Dam {number} was finished. The mayor of town {number} left. Crew {number} stayed.",
            f"The mayor of town {number} left. Dam {number} burst.",
            key=str(number),
        )
        for number in range(first, first + count)
    ]
