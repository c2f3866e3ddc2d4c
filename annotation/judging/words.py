"""What people are told of judges, their prompts and questions, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotation.models import Summary
from evaluation.judging.prompts import Prompt, Step
from evaluation.judging.protocol import Verdict
from evaluation.metrics import completeness, redundancy, repeated_sentences, topic_preservation

MISSING_NAMED = 12


class StepWords(NamedTuple):
    """A step in plain words: its name, when it is asked, and what its parts are for."""

    name: str
    purpose: str
    parts: Mapping[str, str]


STEP_WORDS: Mapping[Step, StepWords] = {
    "read_document": StepWords(
        "Read the documents",
        "Asked once per document set. Extracts what the run needs: claims of the documents or a "
        "reference, closed questions with the source's answers, and topics.",
        {
            "claims": "if claims of the documents are needed",
            "reference_claims": "if claims of a reference are needed",
            "wanted": "if claims of only some units are needed",
            "questions": "if there are questions to answer",
            "n_questions": "if questions are to be generated",
            "topics": "if topics are needed",
        },
    ),
    "extract": StepWords(
        "Extract claims from a text",
        "Asked for each text that only needs claims, such as a reference.",
        {},
    ),
    "align_summary": StepWords(
        "Align a summary with its source",
        "Asked once per summary if alignment is measured. Extracts its claims and compares each with "
        "the source.",
        {"wanted": "if claims of only some units are needed"},
    ),
    "cover_summary": StepWords(
        "Cover a summary",
        "Asked once per summary if questions or ratings are needed. Everything is answered from the "
        "summary alone, without its source.",
        {
            "claims": "if claims are compared with the summary",
            "questions": "if there are questions to answer",
            "topics": "if topics are checked",
            "ratings": "if the summary is rated",
        },
    ),
    "check_covered": StepWords(
        "Check claims against a summary",
        "Asked if only claims are compared with a summary, and for claims without a usable answer.",
        {},
    ),
    "check_supported": StepWords(
        "Check claims against the source",
        "Asked if a summary's claims already exist, and for claims without a usable answer.",
        {},
    ),
}


class MetricWords(NamedTuple):
    """A metric that a run can be asked for, and what it tells."""

    name: str
    meaning: str


RUN_METRIC_WORDS: Mapping[str, MetricWords] = {
    "coverage": MetricWords("coverage", "How much of the important content does the summary express?"),
    "alignment": MetricWords("alignment", "Does the source support what the summary says?"),
    "factual_alignment": MetricWords("factual alignment", "Coverage and alignment as one number (F1)."),
    "question_coverage": MetricWords(
        "question coverage", "Does the summary answer questions that its source answers?"
    ),
    "topic_preservation": MetricWords(
        "topic preservation", "Does the summary cover the main topics of its source?"
    ),
    "summarization": MetricWords("summarization", "Coverage or alignment, whichever is lower."),
    "conciseness": MetricWords("conciseness", "Does the summary get to the point?"),
    "coherence": MetricWords("coherence", "Do the sentences build on each other in a clear order?"),
    "completeness": MetricWords(
        "completeness", "How many of the source's content words appear in the summary? No calls."
    ),
    "redundancy": MetricWords(
        "redundancy", "How much of the summary is not repeated? Compares its sentences. No calls."
    ),
    "brevity": MetricWords("brevity", "How much of the target length is unused? No calls."),
}

_ADVICE: Sequence[tuple[str, str]] = (
    (
        "cut off before its end",
        "Replies are cut off. Raise the judge's maximum reply length, or use a model with less reasoning.",
    ),
    (
        "not a chat completion",
        "The address is not a chat completions service. Check the judge's base URL.",
    ),
    (
        "server rejected",
        "The server rejects the request. Read its message, and check the model's name and limits.",
    ),
    (
        "content filter",
        "The provider's content filter blocks these texts. Ask the provider to change it, or use another "
        "model.",
    ),
    ("refused", "The model refuses these texts. Use another model, or change the prompt."),
    ("empty", "The model's replies are empty. Check its name, and whether it is a chat model."),
    (
        "repl",
        "The model does not use the required format. Use one that supports JSON schemas, or a larger one.",
    ),
)


def advice_on(reasons: Sequence[str]) -> list[str]:
    """What may help where answers could not be used for these reasons; each advice once."""
    found = (next((advice for part, advice in _ADVICE if part in reason), "") for reason in reasons)
    return list(dict.fromkeys(filter(None, found)))


_PROMPT_PLACEHOLDERS: Mapping[str, str] = {
    "$custom_instruction": "the judge's own instruction, if it has one. Without this placeholder, it is "
    "added at the end",
    "$parts": "the parts below that this call needs. Required",
    "$$": "a dollar sign",
}

_FORMATS = {
    "json_schema": "answers by JSON schema",
    "json_object": "answers in JSON, but not by a schema",
    "text": "plain text only; JSON is extracted from it",
}


def placeholders_of(prompt: Prompt) -> dict[str, str]:
    """What a prompt may hold in the place of other words, and what it stands for."""
    return {
        name: meaning for name, meaning in _PROMPT_PLACEHOLDERS.items() if name != "$parts" or prompt.parts
    }


def format_in_words(reply_format: str) -> str:
    """How a server answers."""
    return _FORMATS.get(reply_format, "")


def completeness_in_words(source: str, summary: str, language: str) -> tuple[float, str]:
    """Completeness and what it is made of, such as "2 of 4 elements are covered. Missing: quick, lazy."."""
    found = completeness(source, summary, language)
    elements, missing = len(found.input_elements), found.missing_elements
    if not elements:
        return found.score, "The source has no elements to cover."
    told = f"{elements - len(missing)} of {elements} elements are covered."
    if not missing:
        return found.score, told
    more = len(missing) - MISSING_NAMED
    named = ", ".join(missing[:MISSING_NAMED])
    return found.score, f"{told} Missing: {named}{f' and {more} more' if more > 0 else ''}."


def topics_in_words(
    topics: Sequence[str], answers: Sequence[Verdict], *, least_scored: float
) -> tuple[float | None, str]:
    """Topic preservation and what it is made of, such as "2 of 3 topics are covered. Missing: rain.".

    None where a smaller share than `least_scored` has a usable answer.
    """
    labels = [answer.label for answer in answers]
    scored = sum(label is not None for label in labels)
    if not scored:
        return None, next((answer.reason for answer in answers if answer.reason), "")
    if scored < least_scored * len(labels):
        return None, f"Only {scored} of {len(labels)} topics have a usable answer."
    missing = [topic for topic, label in zip(topics, labels, strict=True) if label not in ("yes", None)]
    told = f"{scored - len(missing)} of {scored} topics are covered."
    return topic_preservation(labels), f"{told} Missing: {', '.join(missing)}." if missing else told


def redundancy_in_words(_source: str, summary: str, language: str) -> tuple[float, str]:
    """Freedom from repetition and which sentences say again what an earlier one says."""
    repeated = repeated_sentences(summary, language)
    value = redundancy(summary, language)
    told = " ".join(["Repeated:", *repeated]) if repeated else "No repeated sentences."
    return 1.0 if value is None else value, told


def named_in_set(summary: Summary) -> str:
    """A summary as a person knows it, within its document set."""
    system = summary.system.name if summary.system else ""
    if summary.is_peer:
        return f"the summary of {system}"
    return f"the reference {summary.external_id or system}".rstrip()
