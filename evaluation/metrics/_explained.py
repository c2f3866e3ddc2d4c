"""Scores of texts, each with a reason in words."""

from collections.abc import Sequence

from evaluation._labels import Label
from evaluation.metrics._completeness import completeness
from evaluation.metrics._questions import topic_preservation
from evaluation.metrics._redundancy import redundancy, repeated_sentences

MOST_NAMED = 12


def explained_completeness(source: str, summary: str, language: str = "en") -> tuple[float, str]:
    """Compute completeness and its reason, such as "2 of 4 elements are covered. Missing: quick, lazy."."""
    found = completeness(source, summary, language)
    elements = len(found.input_elements)
    if not elements:
        return found.score, "The source has no elements to cover."
    return found.score, _counted(elements, "elements", found.missing_elements)


def explained_redundancy(summary: str, language: str = "en") -> tuple[float, str]:
    """Compute freedom from repetition; the reason names repeated sentences. An empty summary scores 1."""
    value, repeated = redundancy(summary, language), repeated_sentences(summary, language)
    return 1.0 if value is None else value, _named("Repeated", repeated) or "No repeated sentences."


def explained_topics(
    topics: Sequence[str], labels: Sequence[Label | None], *, least_scored: float, why: str
) -> tuple[float | None, str]:
    """Compute topic preservation and its reason, such as "2 of 3 topics are covered. Missing: rain.".

    The score is None if the share of topics with a label is smaller than `least_scored`, or if no topic has a label; in
    the second case `why` is the reason.
    """
    scored = sum(label is not None for label in labels)
    if not scored:
        return None, why
    if scored < least_scored * len(labels):
        return None, f"Only {scored} of {len(labels)} topics have a usable answer."
    missing = [topic for topic, label in zip(topics, labels, strict=True) if label not in ("yes", None)]
    return topic_preservation(labels), _counted(scored, "topics", missing)


def _counted(count: int, what: str, missing: Sequence[str]) -> str:
    return f"{count - len(missing)} of {count} {what} are covered. {_named('Missing', missing)}".strip()


def _named(heading: str, texts: Sequence[str]) -> str:
    if not texts:
        return ""
    more = len(texts) - MOST_NAMED
    named = f"{', '.join(texts[:MOST_NAMED])}{f' and {more} more' if more > 0 else ''}".rstrip(".")
    return f"{heading}: {named}."
