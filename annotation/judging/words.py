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
        "Asked once for each document set: its claims, those of a model summary, closed questions with the "
        "answers that the source gives, and topics, as far as a run needs them.",
        {
            "claims": "where claims of the documents are wanted",
            "reference_claims": "where claims of a model summary are wanted",
            "wanted": "where claims of some units alone are wanted",
            "questions": "where there are questions to answer",
            "n_questions": "where questions are to be made up",
            "topics": "where topics are wanted",
        },
    ),
    "extract": StepWords(
        "Take claims from a text",
        "Asked for each text whose claims are wanted and nothing else of it, such as a model summary.",
        {},
    ),
    "align_summary": StepWords(
        "Align a summary with its source",
        "Asked once for each peer summary where alignment is measured: its claims, each compared with the source.",
        {"wanted": "where claims of some units alone are wanted"},
    ),
    "cover_summary": StepWords(
        "Cover a summary",
        "Asked once for each peer summary where questions or ratings are wanted: all of it is answered from "
        "the summary alone, without its source.",
        {
            "claims": "where claims are compared with the summary",
            "questions": "where there are questions to answer",
            "topics": "where topics are looked for",
            "ratings": "where the summary is rated",
        },
    ),
    "check_covered": StepWords(
        "Check claims against a summary",
        "Asked where claims alone are compared with a summary, and for those that had no usable answer.",
        {},
    ),
    "check_supported": StepWords(
        "Check claims against the source",
        "Asked where a summary's claims are there already, and for those that had no usable answer.",
        {},
    ),
}


class MetricWords(NamedTuple):
    """A metric that a run can be asked for, and what it tells."""

    name: str
    meaning: str


RUN_METRIC_WORDS: Mapping[str, MetricWords] = {
    "coverage": MetricWords("coverage", "How much of what matters does the summary say?"),
    "alignment": MetricWords("alignment", "Is what the summary says supported by its source?"),
    "factual_alignment": MetricWords("factual alignment", "Coverage and alignment as one number (F1)."),
    "question_coverage": MetricWords(
        "question coverage", "Does the summary answer questions that its source answers?"
    ),
    "topic_preservation": MetricWords(
        "topic preservation", "Does the summary deal with the main topics of its source?"
    ),
    "summarization": MetricWords("summarization", "Coverage or alignment, whichever is lower."),
    "conciseness": MetricWords("conciseness", "Does the summary get to the point?"),
    "coherence": MetricWords("coherence", "Do the sentences follow from each other, in a clear order?"),
    "completeness": MetricWords(
        "completeness", "How many of the source's content words recur in the summary? Needs no call."
    ),
    "redundancy": MetricWords(
        "redundancy", "How much of the summary is said once only? Compares its sentences. Needs no call."
    ),
    "brevity": MetricWords("brevity", "How much of the target length is left unused? Needs no call."),
}

_ADVICE: Sequence[tuple[str, str]] = (
    (
        "cut off before its end",
        "Replies are cut off: raise the judge's longest reply, or use a model that thinks less.",
    ),
    (
        "not a chat completion",
        "The address answers, but not as a chat completions service: check the judge's base URL.",
    ),
    (
        "server rejected",
        "The server turns the request down: read its message, and check the model's name and its limits.",
    ),
    (
        "content filter",
        "The provider withholds replies on these texts: ask for its filter to be changed, or use another model.",
    ),
    ("refused", "The model refuses these texts: use another model, or reword the prompt."),
    ("empty", "The model says nothing: check its name, and whether it is a chat model."),
    (
        "repl",
        "The model does not answer in the form asked for: use one that supports JSON schemas, or a larger one.",
    ),
)


def advice_on(reasons: Sequence[str]) -> list[str]:
    """What may help where answers could not be used for these reasons; each advice once."""
    found = (next((advice for part, advice in _ADVICE if part in reason), "") for reason in reasons)
    return list(dict.fromkeys(filter(None, found)))


_PROMPT_PLACEHOLDERS: Mapping[str, str] = {
    "$custom_instruction": "the judge's own instruction, where it has one. Left out, it is put at the end",
    "$parts": "what this call asks for, put together from the parts below. It must stay",
    "$$": "a dollar sign",
}

_FORMATS = {
    "json_schema": "answers by JSON schema",
    "json_object": "answers in JSON, but not by a schema",
    "text": "plain text only; JSON is found in it",
}


def placeholders_of(prompt: Prompt) -> dict[str, str]:
    """What a prompt may hold in the place of other words, and what it stands for."""
    return {
        name: meaning for name, meaning in _PROMPT_PLACEHOLDERS.items() if name != "$parts" or prompt.parts
    }


def format_in_words(reply_format: str) -> str:
    """How a server answers."""
    return _FORMATS.get(reply_format, "without a server's answer")


def completeness_in_words(source: str, summary: str, language: str) -> tuple[float, str]:
    """Completeness and what it is made of, such as "2 of 4 elements are covered. Missing: quick, lazy."."""
    found = completeness(source, summary, language)
    elements, missing = len(found.input_elements), found.missing_elements
    if not elements:
        return found.score, "The source holds no elements that could be covered."
    told = f"{elements - len(missing)} of {elements} elements are covered."
    if not missing:
        return found.score, told
    more = len(missing) - MISSING_NAMED
    named = ", ".join(missing[:MISSING_NAMED])
    return found.score, f"{told} Missing: {named}{f' and {more} more' if more > 0 else ''}."


def topics_in_words(
    topics: Sequence[str], answers: Sequence[Verdict], *, least_scored: float
) -> tuple[float | None, str]:
    """Topic preservation and what it is made of, such as "2 of 3 topics are dealt with. Missing: rain.".

    None where a smaller share than `least_scored` has a usable answer.
    """
    labels = [answer.label for answer in answers]
    scored = sum(label is not None for label in labels)
    if not scored:
        return None, next((answer.reason for answer in answers if answer.reason), "")
    if scored < least_scored * len(labels):
        return None, f"Only {scored} of {len(labels)} topics have a usable answer."
    missing = [topic for topic, label in zip(topics, labels, strict=True) if label not in ("yes", None)]
    told = f"{scored - len(missing)} of {scored} topics are dealt with."
    return topic_preservation(labels), f"{told} Missing: {', '.join(missing)}." if missing else told


def redundancy_in_words(_source: str, summary: str, language: str) -> tuple[float, str]:
    """Freedom from repetition and which sentences say again what an earlier one says."""
    repeated = repeated_sentences(summary, language)
    value = redundancy(summary, language)
    told = " ".join(["Said again:", *repeated]) if repeated else "Nothing is said twice."
    return 1.0 if value is None else value, told


def named_in_set(summary: Summary) -> str:
    """A summary as a person knows it, within its document set."""
    system = summary.system.name if summary.system else ""
    if summary.is_peer:
        return f"the summary of {system}"
    return f"the model summary {summary.external_id or system}".rstrip()
