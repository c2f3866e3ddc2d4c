"""A scripted model that reads its examples: what it has learned from them decides its verdicts, and nothing else."""

import itertools
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.judging import OpenAIJudge, Side, Text, Verdict
from evaluation.judging.examples import Candidate, Example, choose_examples, passage, within
from evaluation.judging.prompts import PROMPTS, Step
from evaluation.statistics import JudgeComparison, JudgeReport, compare_judges, judge_report
from tests.llm_server import Call, Fault, LLMServer, faults

Array = NDArray[np.float64]

FOLDS = 5
# What it believes before it is told anything, of the features below, and how firmly (a standard deviation).
BELIEF = np.array([0.0, 6.0, 0.0, 0.0])
FIRMNESS = 1.0
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s")


class Asked(NamedTuple):
    """A check that people answered with `label`."""

    document: str
    claim: str
    text: str
    label: str


@dataclass(frozen=True)
class Gained:
    """A judge without examples and with them, each document judged by those of others; `comparison` has it first."""

    before: JudgeReport
    after: JudgeReport
    comparison: JudgeComparison


def features(claim: str, text: str) -> Array:
    """1, and how much of the claim's words, pairs of words, and words within one sentence the text has, about 0."""
    words, told = _words(claim), _words(text)
    pairs, told_pairs = list(itertools.pairwise(words)), set(itertools.pairwise(told))
    sentences = [set(_words(sentence)) for sentence in _SENTENCE.split(text)]
    best = max(_share(words, sentence) for sentence in sentences)
    return np.array([1.0, _share(words, set(told)) - 0.6, _share(pairs, told_pairs) - 0.4, best - 0.5])


def follows_examples(call: Call) -> Fault:
    """It answers by its belief, updated by the examples in the prompt: ridge logistic regression."""
    lines = str(call.body["messages"][0]["content"]).splitlines()
    told = [json.loads(line) for line in lines if line.startswith('{"text":')]
    weights = learned(
        np.array([features(each["claim"], each["text"]) for each in told]).reshape(len(told), len(BELIEF)),
        np.array([float(each["label"] == "yes") for each in told]),
    )
    text = " ".join(unit["text"] for unit in call.question["text"]["units"])
    chances = {
        each["id"]: float(_chance(features(each["claim"], passage(each["claim"], text)) @ weights))
        for each in call.question["claims"]
    }

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        return {
            "verdicts": [
                {
                    **entry,
                    "label": "yes" if chances[entry["id"]] >= 0.5 else "no",
                    "probability": chances[entry["id"]],
                }
                for entry in answer["verdicts"]
            ]
        }

    return faults.changed(change)


def learned(rows: Array, answers: Array) -> Array:
    """The weights that are likeliest by belief and examples, by Newton's method."""
    weights = BELIEF.copy()
    for _ in range(30):
        chance = _chance(rows @ weights)
        slope = rows.T @ (chance - answers) + (weights - BELIEF) / FIRMNESS**2
        curve = (rows.T * (chance * (1 - chance))) @ rows + np.eye(len(BELIEF)) / FIRMNESS**2
        weights = weights - np.linalg.solve(curve, slope)
    return weights


async def gained(asked: Sequence[Asked], labels: Sequence[str], side: Side) -> Gained:
    """What examples with these `labels` bring, measured by people's own."""
    step: Step = "check_covered" if side == "covered" else "check_supported"
    documents = sorted({each.document for each in asked})
    random.Random(0).shuffle(documents)
    folds = {document: place % FOLDS for place, document in enumerate(documents)}
    with LLMServer() as server:
        server.where(follows_examples)
        judge = OpenAIJudge("scripted", server.base_url)
        before = await _verdicts(judge, asked, side)
        after: list[Verdict] = [before[0]] * len(asked)
        for fold in range(FOLDS):
            pool = [place for place, each in enumerate(asked) if folds[each.document] != fold]
            candidates = [
                Candidate(asked[place].claim, _label(labels[place]), before[place].label != labels[place])
                for place in pool
            ]
            chosen = [pool[place] for place in choose_examples(candidates)]
            examples = within(
                [
                    Example(
                        asked[place].claim,
                        passage(asked[place].claim, asked[place].text),
                        _label(labels[place]),
                    )
                    for place in chosen
                ]
            )
            told = judge.reworded({step: PROMPTS[step].with_examples(examples)})
            held = [place for place, each in enumerate(asked) if folds[each.document] == fold]
            found = await _verdicts(told, [asked[place] for place in held], side)
            for place, verdict in zip(held, found, strict=True):
                after[place] = verdict
    people = [_label(each.label) for each in asked]
    clusters = [each.document for each in asked]
    reports = [
        judge_report(
            [each.label for each in said],
            people,
            clusters,
            probabilities=[each.probability for each in said],
        )
        for said in (before, after)
    ]
    comparison = compare_judges(
        [each.label for each in after], [each.label for each in before], people, clusters
    )
    return Gained(reports[0], reports[1], comparison)


async def _verdicts(judge: OpenAIJudge, asked: Sequence[Asked], side: Side) -> list[Verdict]:
    """One verdict for each, those on one text in one call."""
    by_text: dict[str, list[int]] = {}
    for place, each in enumerate(asked):
        by_text.setdefault(each.text, []).append(place)
    found: Mapping[int, Verdict] = {
        place: verdict
        for text, places in by_text.items()
        for place, verdict in zip(
            places,
            await judge.check([asked[place].claim for place in places], Text.of(text), side=side),
            strict=True,
        )
    }
    return [found[place] for place in range(len(asked))]


def _label(label: str) -> Any:
    return label


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _share(wanted: Sequence[Any], told: set[Any]) -> float:
    return sum(each in told for each in wanted) / max(1, len(wanted))


def _chance(odds: Any) -> Any:
    return 1 / (1 + np.exp(-odds))
