from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from django.core.management import call_command

from annotation.core.tables.pseudonyms import pseudonym
from annotation.exports.services import write_export
from annotation.imports.problems import ImportRefused
from annotation.imports.read import FileReading, read_dataset
from annotation.models import Criterion, Project, Rating, Score, Verdict
from tests.annotation.exports.reading import exported
from tests.annotation.imports.files import claims_of, import_dataset, jsonl, problems_of, raw, row

if TYPE_CHECKING:
    from pathlib import Path

MILL = "The mill by the river closes in May. Forty people lose their work."
SUMMARY = "The mill closes in June. Forty people lose work."
EXPERTS = [{"coherence": 4, "consistency": 5}, {"coherence": 3, "consistency": 5}]
SPAN = {"start": 19, "end": 23, "text": "June"}


def result(kind: str, name: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "summary", "type": kind, "value": value}


LABEL_STUDIO = {
    "id": 5,
    "data": {"document": MILL, "summary": SUMMARY, "model": "m1"},
    "annotations": [
        {
            "completed_by": {"email": "a@example.org"},
            "result": [
                result("choices", "faithful", choices=["No"]),
                result("rating", "stars", rating=4),
                result("labels", "e", **SPAN, labels=["Wrong"]),
            ],
        },
        {"completed_by": 7, "result": [result("choices", "faithful", choices=["Yes"])]},
        {"completed_by": 8, "was_cancelled": True, "result": []},
    ],
}
REGION = [
    result("labels", "e", **SPAN, labels=["Error"]),
    result("choices", "grave", **SPAN, choices=["major"]),
    result("rating", "sure", **SPAN, rating=2),
    result("textarea", "why", **{**SPAN, "text": ["It is May."]}),
]
"""Answers about one mark; only the first one is the mark."""
ARGILLA = {
    "id": "a",
    "fields": {"text": MILL, "summary": SUMMARY},
    "metadata": {"model": "m1"},
    "responses": {
        "quality": [
            {"user_id": "u1", "value": 4, "status": "submitted"},
            {"user_id": "u2", "value": 1, "status": "draft"},
        ],
        "errors": [{"user_id": "u1", "value": [{"start": 19, "end": 23, "label": "hallucination"}]}],
    },
}
ARGILLA_1 = [{"user_id": "u1", "status": "submitted", "values": {"quality": {"value": 4}}}]
DISCARDED = {
    "quality": [
        {"user_id": "u1", "value": 4, "status": "submitted"},
        {"user_id": "u2", "status": "discarded"},
    ]
}
LABEL_STUDIO_MIN = {
    "id": 5,
    "document": MILL,
    "summary": SUMMARY,
    "annotator": "ann",
    "annotation_id": 1,
    "lead_time": 9.5,
    "stars": [{"rating": 4}],
    "faithful": {"choices": "no"},
    "errors": [{**SPAN, "labels": ["Wrong"]}],
}
PRODIGY = {
    "text": SUMMARY,
    "document": MILL,
    "system": "m1",
    "_task_hash": 1,
    "_annotator_id": "ann",
    "spans": [{"start": 19, "end": 23, "label": "ERROR"}],
    "answer": "accept",
}
QAGS = {
    "article": MILL,
    "summary_sentences": [
        {
            "sentence": "The mill closes in June.",
            "responses": [{"worker_id": 1, "response": "no"}, {"worker_id": 2, "response": "yes"}],
        },
        {"sentence": "Forty people lose work.", "responses": [{"worker_id": 1, "response": "yes"}]},
    ],
}
FRANK = {
    "hash": "h1",
    "article": MILL,
    "model_name": "m1",
    "summary": SUMMARY,
    "summary_sentences": ["The mill closes in June.", "Forty people lose work."],
    "summary_sentences_annotations": [
        {"annotator_0": ["CircE"], "annotator_1": ["NoE"], "annotator_2": ["CircE"]},
        {"annotator_0": ["NoE"], "annotator_1": ["NoE"], "annotator_2": ["NoE"]},
    ],
}
REALSUMM = {
    "0": {
        "doc_id": "cnn-0",
        "ref_summ": "<t> The mill shuts. </t>",
        "system_summaries": {"bart": {"system_summary": SUMMARY, "scores": {"litepyramid_recall": 0.5}}},
    },
    "1": {
        "doc_id": "cnn-1",
        "ref_summ": "A ferry sank.",
        "system_summaries": {"bart": {"system_summary": "It sank.", "scores": {"litepyramid_recall": 1.0}}},
    },
}
TOFUEVAL = (
    "doc_id,annotation_id,topic,model_name,sent_idx,summ_sent,sent_label,exp,type\n"
    "d1,1,work,Model-A,1,The mill closes in June.,no,It closes in May.,extrinsic\n"
    "d1,2,work,Model-A,2,Forty people lose work.,yes,,\n"
    "d1,3,river,Model-A,1,The mill is by the river.,yes,,\n"
)
XSUM = (
    "bbcid,system,summary,hallucination_type,hallucinated_span,hallucinated_span_start,hallucinated_span_end,worker_id\n"
    f"1,BERTS2S,{SUMMARY},extrinsic,June,19,23,wid_0\n"
    f"1,BERTS2S,{SUMMARY},NULL,NULL,NULL,NULL,wid_1\n"
)
XSUM_FACTS = f"bbcid,system,summary,is_factual,worker_id\n1,BERTS2S,{SUMMARY},no,wid_0\n1,BERTS2S,{SUMMARY},yes,wid_1\n"
MTURK = (
    "HITId,WorkerId,AssignmentStatus,Input.document,Input.summary,Answer.quality,Answer.comment\n"
    f"h1,w1,Approved,{MILL},{SUMMARY},4,ok\nh1,w2,Rejected,{MILL},{SUMMARY},1,\n"
)
PROMPTFOO = {
    "provider": "m1",
    "vars": {"document": MILL},
    "prompt": {"raw": "Summarise.", "label": "short"},
    "response": {"output": SUMMARY},
    "gradingResult": {"comment": "wrong month"},
}
PROMPTFOO_TABLE = f"article,[openai:m1] Sum up: {{{{article}}}}\n{MILL},[PASS] (1.00) {SUMMARY}\n"
TASK_ANSWERS = (
    '"[{""tone"":3,""fluency"":{""3"":false,""4"":true},""faithful"":{""on"":false},""lines"":{""at"":[1]}}]"'
)
"""A number, radio buttons, a single checkbox, and marked lines, which are no rating."""
MIN = {"coherence": 4, "fluency_1": 5, "fluency_2": 3, "relevance": [5, 4, 3]}


class Case(NamedTuple):
    name: str
    content: Any
    rated: dict[tuple[str, str], float] = {}
    verdicts: tuple[str, ...] = ()
    votes: dict[str, str] = {}


CASES = [
    Case(
        "summeval.jsonl",
        {"id": "1", "text": MILL, "decoded": SUMMARY, "model_id": "M1", "expert_annotations": EXPERTS}
        | {
            "turker_annotations": [{"coherence": 2, "consistency": 1}],
            "references": ["It shuts.", "Mill shuts."],
        },
        {
            ("coherence", "expert 1"): 4,
            ("consistency", "expert 1"): 5,
            ("coherence", "expert 2"): 3,
            ("consistency", "expert 2"): 5,
            ("coherence", "turker 1"): 2,
            ("consistency", "turker 1"): 1,
        },
    ),
    Case(
        "dialsummeval.jsonl",
        {"dialogue_id": "1", "dialogue": MILL, "model_id": "A", "summary": SUMMARY} | MIN,
        {
            ("coherence", "rater 1"): 4,
            ("fluency", "rater 1"): 5,
            ("fluency", "rater 2"): 3,
            ("relevance", "rater 1"): 5,
            ("relevance", "rater 2"): 4,
            ("relevance", "rater 3"): 3,
        },
    ),
    Case(
        "rows.csv",
        "document_id,document,system,summary,relevance,rater\n"
        f"d1,{MILL},m1,{SUMMARY},4,ann\nd1,{MILL},m1,{SUMMARY},5,ben\n",
        {("relevance", "ann"): 4, ("relevance", "ben"): 5},
    ),
    Case(
        "own.jsonl",
        row(rating={"tone": {"ann": 4}, "fluency": {"ann": 5}}),
        {("tone", "ann"): 4, ("fluency", "ann"): 5},
    ),
    Case(
        "label_studio.json",
        [LABEL_STUDIO],
        {("faithful", "a@example.org"): 0, ("stars", "a@example.org"): 4, ("faithful", "7"): 1},
        # One of two raters marks the first sentence, and nobody marks the second.
        ("unsure", "yes"),
        {"a@example.org": "no", "7": "yes"},
    ),
    Case(
        "label_studio_regions.json",
        [{**LABEL_STUDIO, "annotations": [{"completed_by": 7, "result": REGION}]}],
        {("sure", "7"): 2},
        ("no", "yes"),
        {"7": "no"},
    ),
    Case("argilla_discarded.json", [{**ARGILLA, "responses": DISCARDED}], {("quality", "u1"): 4}),
    Case("argilla.json", [ARGILLA], {("quality", "u1"): 4}, ("no", "yes"), {"u1": "no"}),
    Case("prodigy.jsonl", PRODIGY, {}, ("no", "yes"), {"ann": "no"}),
    Case("qags.jsonl", QAGS, {}, ("unsure", "yes"), {"1": "no", "2": "yes"}),
    Case(
        "frank.jsonl",
        FRANK,
        {},
        ("no", "yes"),
        {"annotator_0": "no", "annotator_1": "yes", "annotator_2": "no"},
    ),
    Case(
        "finesure.jsonl",
        {"doc_id": "a", "model": "m1", "transcript": MILL, "sentences": FRANK["summary_sentences"]}
        | {
            "raw_annotations": {
                f"r{n}": {"factuality_types": ["EntE" if n else "NoE", "NoE"]} for n in (0, 1)
            }
        },
        {},
        ("unsure", "yes"),
        {"r0": "yes", "r1": "no"},
    ),
    Case("promptfoo.json", [{**PROMPTFOO, "namedScores": {"fluency": 1}}]),
    Case("realsumm.json", REALSUMM),
    Case("tofueval.csv", TOFUEVAL, {}, ("no", "yes"), {"rater 1": "no"}),
    Case("xsum.csv", XSUM, {}, ("unsure", "yes"), {"wid_0": "no", "wid_1": "yes"}),
    Case("xsum_factuality.csv", XSUM_FACTS, {("is_factual", "wid_0"): 0, ("is_factual", "wid_1"): 1}),
    Case("mturk.csv", MTURK, {("quality", "w1"): 4}),
    Case(
        "mturk_boxes.csv",
        MTURK.replace("Answer.quality", "Answer.taskAnswers").replace(",4,ok", f",{TASK_ANSWERS},ok"),
        {("tone", "w1"): 3, ("fluency", "w1"): 4, ("faithful", "w1"): 0},
    ),
    Case(
        "one_rating_a_row.csv",
        "doc_id,source,system,summary,annotator,dimension,score\n"
        f"a,{MILL},x,{SUMMARY},kim,tone,2\na,{MILL},x,{SUMMARY},kim,fluency,4\na,{MILL},x,{SUMMARY},lee,fluency,5\n",
        {("tone", "kim"): 2, ("fluency", "kim"): 4, ("fluency", "lee"): 5},
    ),
    Case(
        "letters.csv",
        f"article,model,summary,fluency_A1,fluency_A2\n{MILL},x,{SUMMARY},4,5\n",
        {("fluency", "A1"): 4, ("fluency", "A2"): 5},
    ),
    Case(
        "inside.jsonl",
        {"article": MILL, "summary": SUMMARY, "model": "x"}
        | {
            "annotations": [
                {"annotator": "kim", "ratings": {"fluency": 4, "tone": 1}},
                {"ratings": {"fluency": 5}},
            ]
        },
        {("fluency", "kim"): 4, ("fluency", "rater 2"): 5},
    ),
    Case(
        "question_mark.csv",
        f"Document ID,Source Text,Summary,Model,Faithful?,Reviewer\n1,{MILL},{SUMMARY},x,Yes,kim\n",
        {("Faithful", "kim"): 1},
    ),
]


UNREAD = [
    ("realsumm.json", REALSUMM, "`scores`"),
    ("tofueval.csv", TOFUEVAL.replace("type\n", "remark\n"), "`annotation_id`, `remark`"),
    ("mturk.csv", MTURK.replace("Answer.comment", "Answer.comment,mine").replace(",ok", ",ok,x"), "`mine`"),
    ("promptfoo.json", [PROMPTFOO], "`gradingResult`"),
]


@pytest.mark.parametrize(("name", "content", "named"), UNREAD)
def test_fields_that_a_tool_s_layout_leaves_out_are_named(
    tmp_path: Path, name: str, content: Any, named: str
) -> None:
    warnings = read(tmp_path, Case(name, content)).warnings.texts
    [unread] = [one for one in warnings if one.startswith("Not read: ")]
    assert named in unread


def test_the_tags_around_sentences_of_realsumm_are_no_words(tmp_path: Path) -> None:
    dataset = read(tmp_path, Case("realsumm.json", REALSUMM)).dataset
    assert dataset.sets["cnn-0"].references[""].text == "The mill shuts."


def test_a_column_for_each_choice_of_mechanical_turk_is_one_rating(tmp_path: Path) -> None:
    columns = MTURK.replace("Answer.quality,Answer.comment", "Answer.faithful.yes,Answer.faithful.no")
    content = columns.replace(",4,ok", ",true,false").replace(",1,\n", ",false,true\n")
    one = next(iter(read(tmp_path, Case("mturk.csv", content)).dataset.sets.values()))
    assert next(iter(one.summaries.values())).rated == {("faithful", "w1"): 1}


@pytest.mark.parametrize(("ticked", "rated"), [("true", 1), ("false", 0)])
def test_a_single_box_of_mechanical_turk_is_yes_or_no(tmp_path: Path, ticked: str, rated: float) -> None:
    content = MTURK.replace("Answer.quality", "Answer.faithful.on").replace(",4,ok", f",{ticked},ok")
    one = next(iter(read(tmp_path, Case("mturk.csv", content)).dataset.sets.values()))
    assert next(iter(one.summaries.values())).rated == {("faithful", "w1"): rated}


def test_answers_of_mechanical_turk_that_are_no_json_are_a_problem(tmp_path: Path) -> None:
    content = MTURK.replace("Answer.comment", "Answer.taskAnswers").replace(",4,ok", ",4,{broken")
    [problem] = read(tmp_path, Case("mturk.csv", content)).problems.kept
    assert problem.line == 2
    assert problem.reason.startswith("is not laid out as Mechanical Turk writes it.")


def test_records_of_argilla_1_are_a_problem(tmp_path: Path) -> None:
    [problem] = read(tmp_path, Case("a.json", [{**ARGILLA, "responses": ARGILLA_1}])).problems.kept
    assert problem.reason.startswith("is not laid out as Argilla 2 writes it.")


def test_records_that_a_tool_marks_as_rejected_are_counted(tmp_path: Path) -> None:
    warnings = read(tmp_path, Case("mturk.csv", MTURK)).warnings.texts
    assert any(one.startswith("Records left out: 1. They are marked as rejected") for one in warnings)


def test_heads_with_line_breaks_and_no_break_spaces_are_read_as_words(tmp_path: Path) -> None:
    content = f'document_id,document,"system",summary,"my\n note\u00a0x"\nd1,{MILL},m1,{SUMMARY},1\n'
    assert "Not read: `my note x`." in read(tmp_path, Case("rows.csv", content)).warnings.texts


def read(folder: Path, case: Case) -> FileReading:
    content = case.content if isinstance(case.content, str) else json.dumps(case.content)
    return read_dataset(raw(folder, content, case.name))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_people_s_answers_are_read_with_their_raters(tmp_path: Path, case: Case) -> None:
    reading = read(tmp_path, case)
    assert reading.problems.shown == []
    one = next(iter(reading.dataset.sets.values()))
    (system, _), summary = next(iter(one.summaries.items()))
    assert len(one.summaries) == 1
    assert summary.rated == case.rated
    claims = claims_of(one) or summary.claims
    assert tuple(claim.verdicts[system] for claim in claims) == case.verdicts
    if case.votes:
        assert summary.claims[0].votes[system] == case.votes
        assert reading.dataset.claims_side == "summary"


TABLES = [
    ("label_studio_min.json", [LABEL_STUDIO_MIN], "Export the project as JSON, not as JSON-MIN or CSV."),
    ("argilla.csv", "text,summary,fluency.responses,fluency.responses.users\n", "by records.to_json(path)."),
    ("promptfoo.csv", PROMPTFOO_TABLE, "promptfoo eval --output results.json."),
    ("summeval.jsonl", {"text": MILL, "machine_summaries": [SUMMARY]}, "jq -c '. as $r"),
    ("rose.jsonl", {"source": MILL, "reference_acus": ["It shuts."]}, "jq -c '{doc_id: .example_id,"),
]


@pytest.mark.parametrize(("name", "content", "way_out"), TABLES)
def test_tables_of_tools_are_refused_with_the_way_out(
    tmp_path: Path, name: str, content: Any, way_out: str
) -> None:
    content = f"{content}{MILL},{SUMMARY},4,ann\n" if name == "argilla.csv" else content
    with pytest.raises(ImportRefused) as refused:
        read(tmp_path, Case(name, content))
    assert way_out in refused.value.message


def test_a_number_may_name_a_document_of_tofueval(tmp_path: Path) -> None:
    names = ("doc_id", "topic", "model_name", "summ_sent", "sent_label")
    record = dict(zip(names, (7, None, "m1", SUMMARY, "yes"), strict=True))
    [(name, one)] = read(tmp_path, Case("a.json", [record])).dataset.sets.items()
    assert (name, one.group) == ("7", "7")


def test_sentences_of_several_rows_are_one_summary(tmp_path: Path) -> None:
    sets = read(tmp_path, next(case for case in CASES if case.name == "tofueval.csv")).dataset.sets
    texts = {name: one.summaries["Model-A", None].summary for name, one in sets.items()}
    assert texts == {"d1: work": SUMMARY, "d1: river": "The mill is by the river."}
    assert sets["d1: work"].summaries["Model-A", None].claims[0].reasons == {
        "Model-A": "extrinsic: It closes in May."
    }


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"faithfulness": "0.83"}, "figures of a metric"),
        ({"faithfulness": 1.0}, "a float of a metric"),
        ({"quality": "good"}, "words without a number"),
        ({"hours": 4}, "a number that is about something else"),
    ],
)
def test_what_may_not_be_people_s_ratings_is_not_read(
    tmp_path: Path, columns: dict[str, Any], what: str
) -> None:
    reading = read_dataset(jsonl(tmp_path, row(**columns)))
    assert next(iter(reading.dataset.sets["d1"].summaries.values())).rated == {}, what
    assert any(f"Not read: `{next(iter(columns))}`" in remark for remark in reading.warnings.texts)


def test_a_label_that_names_no_error_makes_no_mark(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 8, "label": "SUPPORTED"}]
    reading = read_dataset(jsonl(tmp_path, {**PRODIGY, "spans": spans}))
    assert reading.dataset.claims_side is None
    assert (
        "Line 1: A mark labelled `SUPPORTED` is not read: no label names an error." in reading.warnings.texts
    )


def votes_in(reading: FileReading) -> list[list[tuple[str, str]]]:
    [one] = reading.dataset.sets.values()
    [summary] = one.summaries.values()
    return [[*claim.votes.get(summary.system, {}).items()] for claim in summary.claims]


@pytest.mark.parametrize(
    ("span", "told"),
    [
        ({"start": 19, "end": 23, "text": "July", "labels": ["Wrong"]}, "The mark “July” is left out"),
        ({"start": 500, "end": 510, "labels": ["Wrong"]}, "The mark from 500 to 510 is left out"),
        ({"start": 0, "end": 0, "labels": ["Wrong"]}, "The mark from 0 to 0 is left out"),
        ({**SPAN, "labels": ["EntE"]}, "A mark labelled `EntE` is not read"),
    ],
)
def test_a_rater_with_a_mark_that_is_left_out_has_no_vote(tmp_path: Path, span: Any, told: str) -> None:
    """Rater ann marks June and something that cannot be read, ben marks nothing, and cleo marks June."""

    marks = [result("labels", "e", **SPAN, labels=["Wrong"]), result("labels", "e", **span)]
    other = marks[:1]
    annotations = [
        {"completed_by": "ann", "result": marks},
        {"completed_by": "ben", "result": []},
        {"completed_by": "cleo", "result": other},
    ]
    reading = read(tmp_path, Case("a.json", [{**LABEL_STUDIO, "annotations": annotations}]))
    assert votes_in(reading) == [[("ben", "yes"), ("cleo", "no")], [("ben", "yes"), ("cleo", "yes")]]
    [remark] = [one for one in reading.warnings.texts if told in one]
    assert remark.endswith("Its rater gives no vote on this summary.")


def test_a_summary_all_of_whose_raters_are_left_out_has_no_claims(tmp_path: Path) -> None:
    lost = {**PRODIGY, "spans": [{"start": 500, "end": 510, "label": "ERROR"}], "system": "m2"}
    reading = read_dataset(jsonl(tmp_path, PRODIGY, lost))
    [one] = reading.dataset.sets.values()
    assert [len(summary.claims) for summary in one.summaries.values()] == [2, 0]


def test_workers_who_mark_nothing_in_the_whole_file_of_xsum_say_yes(tmp_path: Path) -> None:
    rows = XSUM.replace("extrinsic,June,19,23", "NULL,NULL,NULL,NULL")
    both = [("wid_0", "yes"), ("wid_1", "yes")]
    assert votes_in(read(tmp_path, Case("xsum.csv", rows))) == [both, both]


def test_both_files_of_xsum_have_the_same_texts(project: Project, tmp_path: Path) -> None:
    texts = SUMMARY.replace("June", "June's end")
    marks = XSUM.replace(SUMMARY, texts.replace("'", "\\'")).replace("June,19,23", "June\\'s,,")
    import_dataset(project=project, path=raw(tmp_path, marks, "a.csv"), by=None)
    path = raw(tmp_path, XSUM_FACTS.replace(SUMMARY, texts), "b.csv")
    report = import_dataset(project=project, path=path, by=None)
    assert (report.counts["ratings"].created, report.counts["summaries"].unchanged) == (2, 1)
    assert Verdict.objects.filter(reason__startswith="“June's”").count() == 1


def test_spans_of_rejected_answers_are_counted(tmp_path: Path) -> None:
    told = read_dataset(jsonl(tmp_path, PRODIGY, {**PRODIGY, "answer": "reject"})).warnings.texts
    assert any(one.startswith("Records left out: 1. They are marked as rejected") for one in told)


def test_results_of_promptfoo_with_an_id_each_share_their_document(tmp_path: Path) -> None:
    results = [{**PROMPTFOO, "id": f"r{name}", "provider": name} for name in ("m1", "m2")]
    [one] = read(tmp_path, Case("promptfoo.json", results)).dataset.sets.values()
    assert [name for name, _ in one.summaries] == ["m1", "m2"]


@pytest.mark.parametrize(
    "record",
    [
        {"topic": "Mills", "subtopics": [{"subtopic": "work"}], "documents": [{"document_text": MILL}]},
        {"topic": "Mills", "summary": ["- It shuts."], "reference_insights": [{"insight": "It shuts."}]},
    ],
)
def test_files_of_summhay_are_refused_with_the_conversion(tmp_path: Path, record: Any) -> None:
    with pytest.raises(ImportRefused) as refused:
        read(tmp_path, Case("a.json", [record]))
    assert "Convert them to nested JSONL, one line per subtopic" in refused.value.message
    assert not any(problem.pair for problem in refused.value.problems)


def test_marks_are_found_near_their_offsets(tmp_path: Path) -> None:
    """The second "in June" is nearer to offset 50 than the first one, at 16."""
    text = "The mill closes in June. Forty people lose work in June."
    spans = [{"start": 50, "end": 57, "text": "in June", "label": "ERROR"}]
    reading = read_dataset(jsonl(tmp_path, {**PRODIGY, "text": text, "spans": spans}))
    assert votes_in(reading) == [[("ann", "yes")], [("ann", "no")]]


def test_two_ratings_of_one_rater_are_a_problem(tmp_path: Path) -> None:
    for first in (4, 0):
        path = jsonl(tmp_path, *(row(relevance=value, rater="ann") for value in (first, 5)))
        [(line, _, reason)] = problems_of(path)
        assert line == 2
        assert f"the same rater, 'ann', has rated it as {first} before" in reason


def bring(project: Project, folder: Path, content: Any, name: str = "a.json") -> Any:
    return import_dataset(project=project, path=raw(folder, json.dumps(content), name), by=None)


def test_ratings_are_rows_with_a_criterion_as_data(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, [LABEL_STUDIO])
    assert (report.counts["criteria"].created, report.counts["ratings"].created) == (2, 3)
    given = Rating.objects.order_by("pk").values_list("criterion__name", "origin_name", "value", "role")
    assert list(given) == [
        ("faithful", "a@example.org", 0, "reviewer"),
        ("stars", "a@example.org", 4, "reviewer"),
        ("faithful", "7", 1, "reviewer"),
    ]
    faithful, stars = Criterion.objects.order_by("position")
    # The answers no and yes give a yes-or-no scale; the answer 4 gives a scale to 5, because hardly any ends at 4.
    assert (faithful.scale, stars.fact.values) == ("yes_no", (1, 2, 3, 4, 5))
    again = bring(project, tmp_path, [LABEL_STUDIO])
    assert not again.has_changes


def test_a_mark_is_a_no_with_its_words_as_the_reason(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, [ARGILLA])
    first, second = Verdict.objects.order_by("check_row__claim__position")
    assert (first.label, first.reason, first.votes) == ("no", "“June”: hallucination", [["u1", "no"]])
    assert (second.label, second.reason) == ("yes", "")
    # One of the two claims is supported.
    assert Score.objects.get().alignment == 0.5


def test_published_criteria_are_known_by_name(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, CASES[0].content, "summeval.jsonl")
    names = set(Criterion.objects.values_list("name", flat=True))
    assert names == {"summeval_coherence", "summeval_consistency"}
    assert Rating.objects.filter(criterion__name="summeval_coherence").count() == 3


def test_a_rating_beyond_the_project_s_scale_is_refused(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(rating={"tone": {"ann": 2}}), "a.jsonl")
    with pytest.raises(ImportRefused) as refused:
        bring(project, tmp_path, row(system="birch", rating={"tone": {"ann": 9}}), "b.jsonl")
    assert "the project's criterion tone goes from 1 to 3" in refused.value.problems[0].reason
    assert Rating.objects.count() == 1


def test_raters_are_pseudonyms_in_exports(project: Project, tmp_path: Path) -> None:
    bring(project, tmp_path, row(rating={"tone": {"ann.berg": 2, "rater 2": 3}}), "a.jsonl")
    rows = exported(project, "answers", tmp_path / "answers.jsonl")
    assert {(each["rater"], each["value"]) for each in rows} == {
        (pseudonym(project, "ann.berg"), "2"),
        ("rater 2", "3"),
    }
    named = exported(project, "answers", tmp_path / "named.jsonl", named=True)
    assert {each["rater"] for each in named} == {"ann.berg", "rater 2"}


def test_a_file_without_documents_has_no_alignment(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, REALSUMM)
    assert "documents" not in report.counts
    assert report.counts["comparisons"].created == 2
    assert set(Score.objects.values_list("alignment", flat=True)) == {None}


def test_a_nested_line_holds_claims_of_both_sides_with_ratings_and_units(
    project: Project, tmp_path: Path
) -> None:
    line = {
        "doc_id": "d1",
        "source_text": MILL,
        "reference_text": "The mill shuts. Forty lose work.",
        "reference_id": "A",
        "target_words": 20,
        "systems": [
            {
                "system": "m1",
                "summary_text": SUMMARY,
                "ratings": [{"criterion": "tone", "rater": "ann", "value": 3.0, "reason": None}],
                "claims": [{"claim_text": "It closes in June.", "weight": 1.0, "verdicts": {"m1": "no"}}],
            }
        ],
        "claims": [
            {
                "claim_text": "Forty lose work.",
                "weight": 1.0,
                "unit": 2,
                "verdicts": {"m1": "yes"},
                "raw_votes": {"m1": {"ann": "yes"}},
                "reasons": {"m1": "It says so."},
                "judge_verdicts": {"m1": "no"},
            }
        ],
    }
    report = bring(project, tmp_path, line, "a.jsonl")
    assert "Not read: `claims[].judge_verdicts`." in report.warnings
    said = Verdict.objects.order_by("check_row__side").values_list(
        "check_row__side",
        "label",
        "reason",
        "check_row__claim__unit__position",
        "check_row__summary__target_words",
    )
    assert list(said) == [("reference", "yes", "It says so.", 2, 20), ("summary", "no", "", None, 20)]
    assert Rating.objects.get().value == 3
    score = Score.objects.get()
    # The one claim of the summary is not supported. Of two units, the second is covered and the first has no claim.
    assert (score.alignment, score.coverage) == (0.0, 1.0)
    call_command("verify_scores", project.slug, stdout=StringIO())
    assert not bring(project, tmp_path, line, "a.jsonl").has_changes


def exported_twice(project: Project, folder: Path) -> Project:
    twin = Project.objects.create(slug="twin", name="Twin")
    files = [folder / "first.jsonl", folder / "second.jsonl"]
    write_export(project=project, level="nested", format="jsonl", path=files[0], by=None)
    import_dataset(project=twin, path=files[0], by=None)
    write_export(project=twin, level="nested", format="jsonl", path=files[1], by=None)
    assert files[0].read_bytes() == files[1].read_bytes()
    return twin


def test_what_is_exported_comes_in_elsewhere_with_equal_scores(project: Project, tmp_path: Path) -> None:
    systems = [
        {"system": "m1", "summary_text": SUMMARY, "ratings": {"tone": {"rater 1": 3, "rater 2": 5}}},
        {"system": "m2", "summary_text": "The mill shuts."},
    ]
    claims = [
        {"claim_text": "It shuts.", "weight": 2, "raw_votes": {"m1": [1, 0], "m2": [1, 1]}},
        {"claim_text": "Forty lose work.", "verdicts": {"m1": 1, "m2": 0}, "reasons": {"m2": "Not there."}},
    ]
    line = {"doc_id": "d1", "source_text": MILL, "reference_text": "The mill shuts.", "group": "g"}
    bring(project, tmp_path, {**line, "systems": systems, "claims": claims, "metadata": {"a": 1}}, "a.jsonl")
    import_dataset(
        project=project,
        path=jsonl(tmp_path, row(document_id="d2", questions=["Did it rain?"]), name="b.jsonl"),
        by=None,
    )
    twin = exported_twice(project, tmp_path)
    scores = [
        list(
            one.scores.order_by("summary__document_set__external_id", "summary__system__name").values_list(
                "coverage", "coverage_human", "alignment", "claims", "brevity"
            )
        )
        for one in (project, twin)
    ]
    assert scores[0] == scores[1]
    assert len(scores[0]) == 3


def test_claims_of_several_references_and_summaries_come_back(project: Project, tmp_path: Path) -> None:
    def line(words: int) -> dict[str, Any]:
        own = [{"claim_text": "It closes in June.", "verdicts": {"m1": 0}}]
        return {
            "doc_id": "d1",
            "source_text": MILL,
            "reference_text": ["The mill shuts.", "Forty lose work."],
            "reference_id": ["A", "B"],
            "target_words": words,
            "systems": [{"system": "m1", "summary_text": SUMMARY, "claims": own}],
            "claims": [
                {"claim_text": "It shuts.", "reference_id": "A", "verdicts": {"m1": 1}},
                {"claim_text": "Forty lose work.", "reference_id": "B", "verdicts": {"m1": words == 20}},
            ],
        }

    import_dataset(project=project, path=jsonl(tmp_path, line(10), line(20), name="a.jsonl"), by=None)
    said = Verdict.objects.order_by("check_row__summary__target_words", "check_row__claim__text")
    columns = ("check_row__claim__claim_set__summary__external_id", "check_row__claim__text", "label")
    assert list(said.values_list("check_row__summary__target_words", *columns)) == [
        (10, "B", "Forty lose work.", "no"),
        (10, "", "It closes in June.", "no"),
        (10, "A", "It shuts.", "yes"),
        (20, "B", "Forty lose work.", "yes"),
        (20, "", "It closes in June.", "no"),
        (20, "A", "It shuts.", "yes"),
    ]
    exported_twice(project, tmp_path)
    call_command("verify_scores", "twin", stdout=StringIO())
    other = [*line(20)["claims"], {"claim_text": "More.", "reference_id": "A"}]
    path = jsonl(tmp_path, line(10), {**line(20), "claims": other}, name="b.jsonl")
    third = Project.objects.create(slug="third", name="Third")
    with pytest.raises(ImportRefused):
        import_dataset(project=third, path=path, by=None)


SPANS = {
    "document": MILL,
    "text": SUMMARY,
    "system": "m1",
    "annotations": [
        {"annotator": "ann", "spans": [{"start": 19, "end": 23, "label": "wrong"}]},
        {"spans": []},
    ],
}


@pytest.mark.parametrize(
    ("content", "documents"),
    [
        ({"d1": {"document": MILL, "summary": SUMMARY, "system": "m1"}}, (MILL,)),
        ([{"documents": [MILL, "Snow fell."], "summary": SUMMARY, "model": "m1"}], (MILL, "Snow fell.")),
        (
            [{"article_text.0": MILL, "article_text.1": "Snow fell.", "output": SUMMARY}],
            (f"{MILL} Snow fell.",),
        ),
        ([{"documents.0": MILL, "documents.1": "Snow fell.", "output": SUMMARY}], (MILL, "Snow fell.")),
        ([SPANS], (MILL,)),
    ],
)
def test_less_common_shapes_are_read(tmp_path: Path, content: Any, documents: tuple[str, ...]) -> None:
    reading = read(tmp_path, Case("a.json", content))
    assert reading.problems.shown == []
    [one] = reading.dataset.sets.values()
    assert one.documents == documents
    [summary] = one.summaries.values()
    assert summary.summary == SUMMARY
    votes = [claim.votes["m1"] for claim in summary.claims]
    assert votes == (
        [{"ann": "no", "rater 2": "yes"}, {"ann": "yes", "rater 2": "yes"}] if content == [SPANS] else []
    )


@pytest.mark.parametrize(
    "line",
    [
        row(relevance=4, rater="a\x00b"),
        {**PRODIGY, "_annotator_id": "a\x00b"},
        {
            "doc_id": "d1",
            "source_text": MILL,
            "systems": [{"system": "m1", "summary_text": SUMMARY}],
            "claims": [{"claim_text": "It closes.", "raw_votes": {"m1": {"a\x00b": 1}}}],
        },
    ],
)
def test_raters_whose_names_cannot_be_stored_are_refused(tmp_path: Path, line: Any) -> None:
    assert [number for number, *_ in problems_of(jsonl(tmp_path, line))] == [1]


def test_percents_in_place_of_verdicts_say_where_they_belong(tmp_path: Path) -> None:
    systems = [{"system": "m1", "summary_text": SUMMARY}]
    line = {"doc_id": "d1", "source_text": MILL, "systems": systems}
    path = jsonl(tmp_path, {**line, "claims": [{"claim_text": "It closes.", "verdicts": {"m1": 80}}]})
    [(_, column, reason)] = problems_of(path)
    assert column == "claims[1].verdicts.m1"
    assert "Percents belong to assessors with an account" in reason
