from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.models import Check, Claim, Judge, Project, Score, Verdict
from tests.annotation.judging.doing import add_document_set, run_to_end
from tests.llm_server import faults

if TYPE_CHECKING:
    from tests.llm_server import Answer, Call, Fault, LLMServer

METRICS = ["factual_alignment", "question_coverage", "conciseness"]
ODD_TEXTS = {
    "NUL": "a\x00b",
    "half of a surrogate pair": "a\ud800b",
    "controls": "a\x1b[31m\x07\x85b",
    "another direction": "a\u202eb\u2066c",
    "several lines": "a\r\n\tb\u2028c",
    "not a valid character": "a\uffffb",
    "emoji": "👩‍🚒 ate 🍰",
    "very long": "word " * 20_000,
    "markup": "<script>alert(1)</script>{{ 7*7 }}{% load x %}",
    "white space": " \n ",
}


@pytest.fixture
def project(transactional_db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_document_set(
        made,
        "The mill burned down at night. Nobody was hurt.",
        reference="The mill burned down at night.",
        elm="The mill burned down at night. Rain fell.",
        fir="Nobody was hurt.",
    )
    return made


def scores(project: Project) -> list[tuple[object, ...]]:
    rows = Score.objects.filter(project=project).order_by("summary")
    return list(
        rows.values_list("coverage", "alignment", "question_coverage", "conciseness", "claims_unscored")
    )


def changed(change: Any) -> Fault:
    def each(entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        nested = entry.get("claims", [])
        if nested and isinstance(nested[0], dict):
            entry = {**entry, "claims": [change(claim) for claim in nested]}
        return change(entry)

    def answer(given: Answer) -> Answer:
        return {name: [each(entry) for entry in entries] for name, entries in given.items()}

    return faults.changed(answer)


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_odd_reasons_move_no_score(
    project: Project, llm_judge: Judge, llm_server: LLMServer, name: str
) -> None:
    odd = ODD_TEXTS[name]
    llm_server.always(changed(lambda entry: {**entry, "reason": odd}))
    run = run_to_end(project, llm_judge, METRICS)
    assert (run.state, run.stop_reason) == ("finished", "")
    # Elm expresses the reference's one claim, and the source supports half of elm's claims. Fir does not express the
    # reference's claim, and the source supports all of fir's claims.
    found = scores(project)
    assert [row[:2] for row in found] == [(1.0, 0.5), (0.0, 1.0)]
    assert all(row[4] == 0 for row in found)
    for reason in Verdict.objects.values_list("reason", flat=True):
        assert len(reason) <= 500
        assert reason == reason.strip()
        assert not set(reason) & set("\x00\n\x1b\ud800")


@pytest.mark.parametrize("name", [name for name in ODD_TEXTS if name != "white space"])
def test_odd_claims_and_questions_are_kept_as_one_line_each(
    project: Project, llm_judge: Judge, llm_server: LLMServer, name: str
) -> None:
    odd = ODD_TEXTS[name]

    def with_odd(entry: Answer) -> Answer:
        entry = dict(entry)
        for field in ("claim", "question"):
            if field in entry:
                entry[field] = f"{entry[field]} {odd}"
        if entry.get("claims") and isinstance(entry["claims"][0], str):
            entry["claims"] = [f"{claim} {odd}" for claim in entry["claims"]]
        return entry

    def rule(call: Call) -> Fault | None:
        return changed(with_odd)

    llm_server.where(rule)
    run = run_to_end(project, llm_judge, METRICS)
    assert run.state == "finished"
    texts = list(Claim.objects.values_list("text", flat=True))
    assert len(texts) >= 4
    assert all(0 < len(text) <= 2000 and text == " ".join(text.split()) for text in texts)
    # There are 2 + 3 claims, and two questions with answers from the source and from both summaries.
    assert Check.objects.count() == Verdict.objects.values("check_row").distinct().count() == 2 + 3 + 2 * 3


ODD_NUMBERS = {
    "units that are not there": {"evidence": [0, -1, 99, 10**30], "probability": 7},
    "numbers as words": {"evidence": "one", "probability": "high"},
    "nothing": {"evidence": None, "probability": None},
    "infinity": {"evidence": [float("inf")], "probability": float("nan")},
    "against the label": {"evidence": [1], "probability": 0.5000001},
}


@pytest.mark.parametrize("name", ODD_NUMBERS)
def test_odd_numbers_are_left_out_and_move_no_score(
    project: Project, llm_judge: Judge, llm_server: LLMServer, name: str
) -> None:
    llm_server.always(changed(lambda entry: {**entry, **ODD_NUMBERS[name]} if "label" in entry else entry))
    assert run_to_end(project, llm_judge, METRICS).state == "finished"
    assert [row[:2] for row in scores(project)] == [(1.0, 0.5), (0.0, 1.0)]
    for verdict in Verdict.objects.all():
        assert verdict.probability is None or 0 <= verdict.probability <= 1
        assert set(verdict.evidence) <= {1, 2}
