import json

import pytest

from evaluation.judging.parsing import criterion_fault, parse_criteria, read_value
from evaluation.metrics import JUDGED, Criterion

TONE = Criterion("tone", "Is the tone neutral?", (1, 5), ((1, "biased"), (5, "neutral")))
SAFE = Criterion("safe", "Is it safe?", "yes_no")
PART = Criterion("part", "Which part is clear?", "percent")
ASKED = {"r1": TONE, "r2": SAFE}


@pytest.mark.parametrize(
    ("value", "criterion", "meant"),
    [
        (4, TONE, 4),
        ("4", TONE, 4),
        (4.0, TONE, 4),
        ("Neutral.", TONE, 5),
        (0, TONE, None),
        (6, TONE, None),
        (3.5, TONE, None),
        ("4/5", TONE, None),
        ("400%", TONE, None),
        (True, TONE, None),
        ([4], TONE, None),
        ("Yes.", SAFE, 1),
        (False, SAFE, 0),
        ("unsure", SAFE, None),
        (80, PART, 80),
        ("80 %", PART, 80),
        (0.8, PART, None),
        (101, PART, None),
        ("0.7", JUDGED["coherence"], 0.7),
        ("70%", JUDGED["coherence"], 0.7),
        (7, JUDGED["coherence"], None),
        ("4/5", JUDGED["coherence"], None),
    ],
)
def test_a_value_counts_only_on_the_scale(value: object, criterion: Criterion, meant: float | None) -> None:
    assert read_value(value, criterion) == meant


def reply(*entries: dict[str, object]) -> str:
    return json.dumps({"criteria": entries})


def test_a_value_comes_with_reason_evidence_and_confidence() -> None:
    said = reply({"id": "R1", "value": 4, "reason": "calm\nwords", "evidence": [2, 9], "confidence": 0.7})
    assert parse_criteria(said, ASKED, 3) == {"r1": (4, "calm words", (2,), 0.7)}


@pytest.mark.parametrize(
    ("entries", "answered", "fault"),
    [
        ([{"id": "r1", "value": 9}, {"id": "r2", "value": "no"}], {"r2": 0}, "off its scale"),
        ([{"id": "r1", "value": 4}, {"id": "r1", "value": 2}], {}, "several values"),
        ([{"id": "r1", "value": 4}, {"id": "r1", "value": 7}], {}, "off its scale"),
        ([{"id": "r2", "value": 1}, {"id": "r3", "value": 4}], {}, "not asked about"),
        ([{"id": "r2", "value": 1}], {"r2": 1}, "leaves it out"),
        ([], {}, "lists nothing usable"),
    ],
)
def test_an_unclear_value_is_unscored_with_its_reason(
    entries: list[dict[str, object]], answered: dict[str, int], fault: str
) -> None:
    said = reply(*entries)
    assert {key: each.value for key, each in parse_criteria(said, ASKED, 1).items()} == answered
    assert fault in criterion_fault(said, ASKED, "r1")


@pytest.mark.parametrize("value", ["4/5", -0.5, 3])
def test_one_share_off_the_scale_makes_all_uncertain(value: object) -> None:
    asked = {"r1": TONE, "r2": JUDGED["coherence"], "r3": JUDGED["conciseness"]}
    said = reply({"id": "r1", "value": 4}, {"id": "r2", "value": value}, {"id": "r3", "value": 1})
    assert parse_criteria(said, asked, 1).keys() == {"r1"}
    assert "has a scale of its own" in criterion_fault(said, asked, "r3")
