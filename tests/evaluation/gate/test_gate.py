from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evaluation import EvaluationError, LexicalJudge, OpenAIJudge, SummaryInput
from evaluation.gate import (
    FileCallStore,
    GateReport,
    GateSummary,
    assert_summary,
    gate_report_text,
    run_gate,
)
from evaluation.judging import Label
from evaluation.running import GivenClaim
from tests.llm_server import LLMServer, faults

SENTENCES = (
    "The bridge reopened.",
    "A storm flooded the harbour.",
    "Teachers received higher wages.",
    "Scientists discovered a comet.",
    "Parliament rejected the budget.",
)
REFERENCE = " ".join(SENTENCES)


def rows(counts: Sequence[int], system: str = "alder", **more: str) -> list[GateSummary]:
    return [
        GateSummary(
            f"d{place:02}",
            system,
            SummaryInput(f"Report {place}. {REFERENCE}", " ".join(SENTENCES[:count]), REFERENCE),
            **more,
        )
        for place, count in enumerate(counts)
    ]


def gated(counts: Sequence[int], before: Sequence[int] = (), **options: object) -> GateReport:
    chosen: dict[str, object] = {"metrics": ["coverage"], **options}
    return run_gate(rows(counts), judge=LexicalJudge(), baseline=rows(before), **chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bar", "answer", "code"), [(0.6, "pass", 0), (0.7, "fail", 3)], ids=["at the bar", "below it"]
)
def test_a_mean_is_held_against_its_bar(bar: float, answer: str, code: int) -> None:
    # The coverages are 1, .6, .6, .6 and .2, so the mean is .6.
    report = gated([5, 3, 3, 3, 1], fail_under={"coverage": bar})
    (check,) = report.checks
    (system,) = report.systems
    assert (check.answer, report.exit_code) == (answer, code)
    mean = system.means["coverage"]
    assert mean.mean == pytest.approx(0.6)
    assert 0.2 < (mean.low or 0.0) < 0.6 < (mean.high or 0.0) < 1.0
    assert (mean.documents, mean.unscored) == (5, 0)


def test_without_bars_nothing_can_fail() -> None:
    report = gated([5, 3])
    assert (report.checks, report.systems[0].differences, report.exit_code) == ((), {}, 0)


@pytest.mark.parametrize(
    ("bar", "answer", "code"),
    # The mean of 1, 1, 1, 1 and the missing score is between 0.8 and 1, whatever the missing score is.
    [(0.8, "pass", 0), (0.9, "cannot tell", 4)],
)
def test_what_is_unscored_may_be_anything(bar: float, answer: str, code: int) -> None:
    # An empty summary has no claims, so it has no alignment.
    report = gated([5, 5, 5, 5, 0], metrics=["alignment"], fail_under={"alignment": bar})
    (check,) = report.checks
    assert (check.answer, report.exit_code) == (answer, code)
    assert "1 of 5 unscored" in check.said
    assert report.remarks == ("1 of 5 summaries have no alignment. The first: The summary is empty.",)


def test_where_nothing_is_scored_the_gate_has_failed() -> None:
    report = gated([5], metrics=["brevity"], fail_under={"brevity": 0.1})
    assert report.exit_code == 1
    assert report.checks[0].answer == "cannot tell"


def test_what_no_judge_has_a_part_in_is_scored_without_one() -> None:
    report = gated([5, 3], metrics=["redundancy"], fail_under={"redundancy": 0.5})
    assert report.exit_code == 0


@pytest.mark.parametrize("counts", [[5, 3], [5, 0]], ids=["all", "one is empty, so its coverage is 0"])
def test_where_no_reply_was_usable_the_gate_has_failed_whatever_is_computed(
    judge: OpenAIJudge, llm_server: LLMServer, counts: list[int]
) -> None:
    llm_server.always(faults.text("Well, well."))
    report = run_gate(rows(counts), judge=judge, metrics=["coverage", "completeness", "redundancy"])
    assert report.systems[0].means["redundancy"].mean == 1.0
    assert report.exit_code == 1
    assert "Failed: nothing could be judged." in gate_report_text(report)


@pytest.mark.parametrize(
    ("before", "by", "answer", "code"),
    [
        # Coverage is lower by 0.2 in eight documents and by 0.4 in two, 0.24 on average: the margin 0.2 is reached,
        # 0.4 is not.
        ([4] * 8 + [5] * 2, 0.2, "fail", 3),
        ([4] * 8 + [5] * 2, 0.4, "pass", 0),
        # All differences are equal, so there is no interval and no answer about other documents.
        ([4] * 10, 0.1, "cannot tell", 4),
        ([4] * 10, 0.3, "cannot tell", 4),
        # Coverage alternates between 0.2 more and 0.2 less, so the mean difference is 0.
        ([4, 2] * 5, 0.02, "cannot tell", 4),
        ([4, 2] * 5, 0.2, "pass", 0),
        # Four documents are too few for an interval, but unchanged summaries pass.
        ([4] * 4, 0.02, "cannot tell", 4),
        ([3] * 4, 0.02, "pass", 0),
    ],
)
def test_worse_by_a_margin_is_fail_pass_or_cannot_tell(
    before: list[int], by: float, answer: str, code: int
) -> None:
    report = gated([3] * len(before), before, fail_if_worse={"coverage": by})
    (check,) = report.checks
    assert (check.answer, report.exit_code) == (answer, code)


def test_a_comparison_is_paired_with_an_interval() -> None:
    # Coverage is lower by 0.2 in 4 of 6 documents and equal in 2.
    report = gated([3, 3, 3, 3, 3, 3], [4, 4, 4, 4, 3, 3])
    compared = report.systems[0].differences["coverage"]
    assert compared.mean == pytest.approx(-0.8 / 6)
    assert -0.2001 < (compared.low or 0.0) < -0.8 / 6 < (compared.high or 0.0) < 0.0


def swapped(row: GateSummary) -> GateSummary:
    return replace(row, text=replace(row.text, summary=" ".join(reversed(SENTENCES[:3]))))


def test_other_texts_with_the_same_scores_have_no_interval_and_nobody_can_tell() -> None:
    report = run_gate(
        [swapped(row) for row in rows([3] * 10)],
        judge=LexicalJudge(),
        baseline=rows([3] * 10),
        fail_if_worse={"coverage": 0.02},
    )
    compared = report.systems[0].differences["coverage"]
    assert (compared.mean, compared.low, compared.high) == (0.0, None, None)
    (check,) = report.checks
    assert (check.answer, report.exit_code) == ("cannot tell", 4)
    assert check.said == (
        "+0.0000, 10 documents against the baseline, margin 0.02; no interval: few documents, or all differ by the same"
    )


def test_the_same_summaries_are_no_worse_and_have_no_interval_either() -> None:
    report = gated([3] * 10, [3] * 10, fail_if_worse={"coverage": 0.02})
    (check,) = report.checks
    low = report.systems[0].differences["coverage"].low
    assert (check.answer, report.exit_code, low) == ("pass", 0, None)
    assert check.said.endswith("; the summaries are the same")


def test_documents_of_a_group_are_resampled_together() -> None:
    """Ten documents in two groups are two clusters, which are too few for an interval."""
    some = rows([5, 3, 3, 2, 2], group="one") + [
        GateSummary(f"e{row.document_id}", row.system, row.text, "two") for row in rows([5, 3, 3, 2, 2])
    ]
    mean = run_gate(some, judge=LexicalJudge(), metrics=["coverage"]).systems[0].means["coverage"]
    assert (mean.mean, mean.low) == (pytest.approx(0.6), None)


def test_the_only_system_of_each_file_is_compared_whatever_it_is_called() -> None:
    report = run_gate(
        rows([3] * 6, "v2"), judge=LexicalJudge(), baseline=rows([4] * 6, "v1"), metrics=["coverage"]
    )
    (system,) = report.systems
    assert (system.system, system.baseline) == ("v2", "v1")


def test_what_has_no_counterpart_is_said_and_nobody_can_tell() -> None:
    report = run_gate(
        [*rows([3] * 6), *rows([3] * 6, "birch")],
        judge=LexicalJudge(),
        baseline=[*rows([3] * 6), *rows([3] * 6, "cedar")],
        fail_if_worse={"coverage": 0.1},
    )
    assert [(check.system, check.answer) for check in report.checks] == [
        ("alder", "pass"),
        ("birch", "cannot tell"),
    ]
    assert report.remarks == ("birch is not in the baseline.",)
    assert report.exit_code == 4


@pytest.mark.parametrize(
    "other",
    [
        {"document": "Another text."},
        {"reference": SENTENCES[0]},
        {"claims": [GivenClaim(SENTENCES[0])]},
        {"questions": ["Did the bridge reopen?"]},
    ],
)
def test_a_document_that_is_measured_otherwise_is_not_compared(other: dict[str, Any]) -> None:
    before = rows([4] * 6)
    before[0] = replace(before[0], text=replace(before[0].text, **other))
    report = run_gate(rows([3] * 6), judge=LexicalJudge(), baseline=before, metrics=["coverage"])
    assert report.systems[0].differences["coverage"].documents == 5
    assert report.remarks == (
        "1 documents differ from the baseline in their text, references, claims or questions and are not "
        "compared, 'd00' among them.",
    )


def test_neither_the_order_of_references_nor_what_people_answered_is_a_difference() -> None:
    def some(label: Label, order: int) -> list[GateSummary]:
        texts = [
            replace(rows([3])[0].text, reference=name, claims=[GivenClaim(SENTENCES[0], label)])
            for name in SENTENCES[:2][::order]
        ]
        return [GateSummary("d", "alder", text) for text in texts]

    report = run_gate(some("yes", 1), judge=LexicalJudge(), baseline=some("no", -1), metrics=["coverage"])
    assert (report.systems[0].differences["coverage"].mean, report.remarks) == (1.0, ())


def test_a_reference_without_claims_says_nothing_beside_one_that_has_some() -> None:
    text = rows([1])[0].text
    both = [GateSummary("d", "alder", each) for each in (replace(text, claims=[]), text)]
    report = run_gate(both, judge=LexicalJudge(), metrics=["coverage", "claim_coverage"])
    (row,) = report.summaries
    assert (row.scores, row.flags) == (pytest.approx({"coverage": 0.2, "claim_coverage": 0.2}), ())
    assert report.systems[0].means["coverage"].mean == pytest.approx(0.2)
    alone = run_gate(both[:1], judge=LexicalJudge(), metrics=["coverage"])
    assert (alone.summaries[0].flags, alone.systems[0].means["coverage"].mean) == (("no_claims",), None)


@pytest.mark.parametrize(("n_questions", "documents"), [(0, 0), (3, 1)])
def test_without_claims_only_a_summarization_by_questions_counts(n_questions: int, documents: int) -> None:
    one = [GateSummary("d", "alder", replace(rows([5])[0].text, claims=[]))]
    report = run_gate(one, judge=LexicalJudge(), metrics=["summarization"], n_questions=n_questions)
    assert report.systems[0].means["summarization"].documents == documents


def test_scores_are_not_averaged_across_target_lengths_and_those_of_references_are() -> None:
    text = SummaryInput(REFERENCE, SENTENCES[0], SENTENCES[0], target_words=10)
    other = SummaryInput(REFERENCE, SENTENCES[0], " ".join(SENTENCES[:2]), target_words=10)
    longer = SummaryInput(REFERENCE, SENTENCES[0], SENTENCES[1], target_words=20)
    report = run_gate(
        [GateSummary("d", "alder", each) for each in (text, other, longer)],
        judge=LexicalJudge(),
        metrics=["coverage"],
    )
    assert [(row.target_words, row.scores["coverage"]) for row in report.summaries] == [(10, 0.75), (20, 0.0)]
    assert [system.target_words for system in report.systems] == [10, 20]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fail_under": {"coverage": 1.5}}, "bar or margin of coverage"),
        ({"fail_under": {"summarization": 11}, "scale": 10}, "bar or margin of summarization"),
        ({"fail_if_worse": {"coverage": 0.1}}, "needs a baseline"),
        ({"metrics": ["beauty"]}, "Unknown metrics: beauty"),
    ],
)
def test_bars_that_cannot_be_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        gated([3], **options)


def test_a_margin_of_nothing_is_refused() -> None:
    with pytest.raises(EvaluationError, match="above 0"):
        gated([3], [3], fail_if_worse={"coverage": 0.0})


def test_a_scale_multiplies_summarization_and_passed_goes_by_the_threshold() -> None:
    # Three of five sentences give coverage 0.6 and alignment 1.
    asked: dict[str, Any] = {"n_questions": 0, "scale": 10, "fail_under": {"summarization": 6}}
    report = gated([3] * 5, metrics=["summarization"], threshold=0.7, **asked)
    assert report.systems[0].means["summarization"].mean == pytest.approx(6.0)
    assert ({row.passed for row in report.summaries}, report.exit_code) == ({False}, 0)
    assert {row.passed for row in gated([3] * 5, metrics=["summarization"], **asked).summaries} == {True}


def test_another_served_model_is_told_from_the_stored_calls(tmp_path: Path, llm_server: LLMServer) -> None:
    def asked(counts: list[int], model: str, **options: Any) -> GateReport:
        llm_server.served_model = model
        store = FileCallStore(tmp_path / "calls.sqlite3")
        judge = OpenAIJudge("scripted", llm_server.base_url, store=store)
        return run_gate(rows(counts), judge=judge, metrics=["alignment"], store=store, **options)

    assert (asked([3], "one").model_changes, asked([3], "one").exit_code) == ((), 0)
    # Another model answers the next release. The model change is also found if only stored calls are read.
    changed = asked([3, 4], "two")
    assert changed.exit_code == 4
    assert "answered as one, then as two" in changed.model_changes[0]
    assert "answered as one, then as two" in gate_report_text(changed)
    assert asked([3, 4], "two", accept_model_change=True).exit_code == 0


@pytest.fixture(scope="module")
def report() -> GateReport:
    odd = "a|b <i>\x01"
    return run_gate(
        [*rows([3] * 6), *rows([4] * 6, odd)],
        judge=LexicalJudge(),
        baseline=[*rows([4] * 5 + [5]), *rows([4] * 6, odd)],
        fail_under={"coverage": 0.7},
        fail_if_worse={"coverage": 0.05, "brevity": 0.05},
    )


def test_junit_has_a_case_for_each_question(report: GateReport) -> None:
    gate = ElementTree.fromstring(gate_report_text(report, "junit"))
    # alder is below .7 and worse by .05; both systems lack brevity, because there is no target length.
    assert {name: gate.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "6",
        "failures": "2",
        "errors": "2",
    }
    assert {
        (case.get("classname"), case.get("name")) for case in gate if case.find("failure") is not None
    } == {
        ("alder", "coverage below 0.7"),
        ("alder", "coverage worse 0.05"),
    }


def test_the_table_answers_line_by_line(report: GateReport) -> None:
    lines = gate_report_text(report).splitlines()
    assert "FAIL alder coverage 0.60 < 0.70" in lines
    assert "PASS a|b <i>\x01 coverage 0.80 >= 0.70" in lines
    assert any(line.startswith("CANNOT TELL alder brevity") for line in lines)


def test_a_bar_is_shown_with_as_many_digits_as_tell_it_apart() -> None:
    # The mean 0.6 and the bar 0.6004 are equal in the first three digits.
    assert gated([3] * 5, fail_under={"coverage": 0.6004}).checks[0].said == "0.6000 < 0.6004"


def test_no_name_of_a_file_is_a_command_of_a_log() -> None:
    odd = run_gate(rows([3], "::error::x"), judge=LexicalJudge(), metrics=["coverage"])
    assert "::" not in gate_report_text(odd)
    assert "::" not in gate_report_text(odd, "markdown")


def test_a_summary_that_is_good_enough_gives_its_scores() -> None:
    assert assert_summary(REFERENCE, SENTENCES[0], coverage=0.2, alignment=1.0)["coverage"] == pytest.approx(
        0.2
    )


def test_one_that_is_not_says_every_reason() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_summary(REFERENCE, SENTENCES[0], coverage=0.7, brevity=0.1)
    low, unscored = str(failure.value).splitlines()
    assert low.startswith("coverage is 0.2000, not 0.7 or more. 1 of 5 claims")
    assert unscored == "brevity is unscored, not 0.1 or more. No target length was given."
