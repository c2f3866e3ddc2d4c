from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.analysis.explanation.explanation import explain
from annotation.judging.queries.run_metrics import OTHER_NAMES, RUN_METRICS
from annotation.judging.services.judges import judge_by_name
from annotation.models import SCORES, Check, Claim, Judge, Project, Rating, Score, Summary, System, Verdict
from annotation.scoring.records import score_rules, summary_records
from annotation.scoring.rescore import rescore
from evaluation.blend import score
from evaluation.metrics import completeness, conciseness
from evaluation.running import METRICS as METRICS_OF_LIBRARY
from tests.annotation.asking import answers, make_question, questions
from tests.annotation.judging.doing import add_document_set, run_to_end
from tests.llm_server import faults

if TYPE_CHECKING:
    from tests.llm_server import LLMServer

SOURCE = "The mill burned down at night. Nobody was hurt. A new one opens in June."
ELM = "The mill burned down at night. Nobody was hurt."
FIR = "Rain fell."
METRICS = ["question_coverage", "conciseness", "completeness"]


@pytest.fixture
def project(db: None) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_document_set(made, SOURCE, reference=ELM, elm=ELM, fir=FIR, oak=" ")
    return made


def score_of(project: Project, system: str) -> Score:
    return Score.objects.get(project=project, summary__system__name=system)


def computed(project: Project, system: str, name: str) -> tuple[float, str]:
    found = Summary.objects.get(document_set__project=project, system__name=system).computed[name]
    return found["value"], found["reason"]


def ask(project: Project, *texts: str) -> None:
    for position, text in enumerate(texts, start=1):
        make_question(project.document_sets.get(), text, position=position, origin="person")


def test_questions_are_made_up_where_there_are_none(project: Project, llm_judge: Judge) -> None:
    run_to_end(project, llm_judge, ["question_coverage"])
    asked = questions()
    # There is one question for each of the source's three sentences.
    assert [question.text for question in asked] == [
        "The mill burned down at night?",
        "Nobody was hurt?",
        "A new one opens in June?",
    ]
    assert {question.origin for question in asked} == {"judge"}
    assert score_of(project, "elm").question_coverage == pytest.approx(2 / 3)


def test_the_lexical_judge_makes_and_answers_questions_too(project: Project) -> None:
    run_to_end(project, judge_by_name("lexical"), ["question_coverage"])
    coverage = score_of(project, "elm").question_coverage
    assert coverage is not None
    assert coverage > (score_of(project, "fir").question_coverage or 0.0)


def test_questions_belong_to_the_documents_and_serve_every_judge(project: Project, llm_judge: Judge) -> None:
    run_to_end(project, llm_judge, ["question_coverage"])
    before = list(questions().values_list("pk", "text"))
    run_to_end(project, judge_by_name("lexical"), ["question_coverage"])
    assert list(questions().values_list("pk", "text")) == before
    assert answers().filter(judge__name="lexical", check_row__summary=None).count() == len(before)


@pytest.mark.parametrize("metric", ["conciseness", "topic_preservation"])
def test_a_rating_that_cannot_be_used_gives_no_score_and_is_kept_with_its_reason(
    project: Project, llm_judge: Judge, llm_server: LLMServer, metric: str
) -> None:
    llm_server.always(faults.refusal("Not this one."))
    run_to_end(project, llm_judge, [metric])
    assert getattr(score_of(project, "elm"), metric) is None
    rating = Rating.objects.get(summary__system__name="elm")
    assert rating.value is None
    assert "Not this one" in rating.reason


def test_topics_are_named_once_and_looked_for_in_every_summary(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.always(
        faults.changed(lambda said: {**said, "topics": ["mill", "June"]} if "topics" in said else said)
    )
    run_to_end(project, llm_judge, ["topic_preservation"])
    # Elm mentions the mill but not June, and fir mentions neither. The empty summary is not asked about.
    assert score_of(project, "elm").topic_preservation == 0.5
    assert Rating.objects.get(summary__system__name="elm").reason == (
        "1 of 2 topics are covered. Missing: June."
    )
    assert score_of(project, "fir").topic_preservation == 0.0
    assert score_of(project, "oak").topic_preservation == 0.0
    asked = len(llm_server.calls)
    assert asked == 3
    run_to_end(project, llm_judge, ["topic_preservation"])
    assert len(llm_server.calls) == asked
    # A later summary is asked about the same topics, which are not generated again.
    document_set = project.document_sets.get()
    Summary.objects.create(
        document_set=document_set,
        system=System.objects.create(project=project, name="yew"),
        is_summary=True,
        text="It opens in June.",
    )
    run_to_end(project, llm_judge, ["topic_preservation"])
    assert len(llm_server.calls) == asked + 1
    assert score_of(project, "yew").topic_preservation == 0.5


def test_every_metric_of_the_library_can_be_run() -> None:
    assert set(METRICS_OF_LIBRARY) <= {*RUN_METRICS, *OTHER_NAMES}


def test_completeness_is_computed_without_asking_anybody(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    run_to_end(project, llm_judge, ["completeness"])
    assert not llm_server.calls
    assert score_of(project, "elm").completeness == completeness(SOURCE, ELM).score
    assert score_of(project, "oak").completeness == 0.0


def test_completeness_says_what_is_missing(project: Project, llm_judge: Judge) -> None:
    run_to_end(project, llm_judge, ["completeness"])
    # The elements are mill, burn, down, night, nobody, hurt, new, one, open, june; elm lacks the last four.
    assert computed(project, "elm", "completeness") == (
        0.6,
        "6 of 10 elements are covered. Missing: new, one, open, june.",
    )


def test_redundancy_names_the_sentences_that_repeat(project: Project, llm_judge: Judge) -> None:
    twice = "The mill burned down. Nobody was hurt. The mill burned down."
    add_document_set(project, SOURCE, external_id="b", reference=ELM, yew=twice)
    run_to_end(project, llm_judge, ["redundancy"])
    # One of three sentences repeats another. The empty summary of oak has no sentences and no score.
    assert score_of(project, "yew").redundancy == pytest.approx(2 / 3)
    assert computed(project, "yew", "redundancy")[1] == "Repeated: The mill burned down."
    assert (score_of(project, "elm").redundancy, score_of(project, "oak").redundancy) == (1.0, None)


def test_coherence_and_conciseness_are_rated_in_one_call(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    run_to_end(project, llm_judge, ["conciseness", "coherence"])
    # Elm and fir have words. The scripted server gives each of these ratings the value .8.
    assert len(llm_server.calls) == 2
    assert (score_of(project, "elm").coherence, score_of(project, "oak").coherence) == (0.8, None)
    assert score_of(project, "elm").conciseness == conciseness(SOURCE, ELM, 0.8)
    assert score_of(project, "oak").conciseness is None


def test_completeness_of_a_source_without_elements_says_so(project: Project, llm_judge: Judge) -> None:
    add_document_set(project, "?! ...", external_id="b", reference=ELM, yew=ELM)
    run_to_end(project, llm_judge, ["completeness"])
    assert computed(project, "yew", "completeness") == (0.0, "The source has no elements to cover.")


def test_conciseness_that_cannot_be_computed_says_why(project: Project, llm_judge: Judge) -> None:
    add_document_set(
        project,
        "工厂昨夜起火。没有人受伤。",
        external_id="b",
        reference="工厂昨夜起火。",
        yew="工厂昨夜起火。",
    )
    run_to_end(project, llm_judge, ["conciseness"])
    project.refresh_from_db()
    summary = Summary.objects.get(system__name="yew")
    (record,) = summary_records(project, [summary.pk])
    result = score(record.value, score_rules(project))
    made = explain(project, summary, record.value, result, record.conciseness_terms)
    (formula,) = [each for each in made.formulas if each.column == "conciseness"]
    assert (formula.value, formula.text) == (None, "Words cannot be counted in this script.")


def test_a_second_run_asks_and_writes_nothing(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    kinds, metrics = (Claim, Verdict, Rating, Check), [*METRICS, "summarization"]
    run_to_end(project, llm_judge, metrics)
    before = [kind.objects.count() for kind in kinds], len(llm_server.calls)
    again = run_to_end(project, llm_judge, metrics)
    assert ([kind.objects.count() for kind in kinds], len(llm_server.calls)) == before
    assert list(again.jobs.values_list("run__state", "total", "done")) == [("finished", 3, 3)]


def test_what_failed_is_not_written_twice(project: Project, llm_judge: Judge, llm_server: LLMServer) -> None:
    ask(project, "Nobody was hurt?")
    llm_server.always(faults.refusal("No."))
    run_to_end(project, llm_judge, METRICS)
    before = answers().count(), Rating.objects.count()
    run_to_end(project, llm_judge, METRICS)
    assert (answers().count(), Rating.objects.count()) == before


def test_what_a_run_derives_is_what_rebuilding_derives(project: Project, llm_judge: Judge) -> None:
    run_to_end(project, llm_judge, [*METRICS, "summarization"])
    before = list(Score.objects.order_by("summary").values("summary", *SCORES, "flags"))
    assert all(before[0][name] is not None for name in ("question_coverage", "summarization", "completeness"))
    project.refresh_from_db()
    rescore(project=project)
    assert list(Score.objects.order_by("summary").values("summary", *SCORES, "flags")) == before


@pytest.mark.parametrize(("members", "told"), [([], "needs members"), (["panel"], "that are no panels")])
def test_a_panel_that_cannot_be_asked_is_refused(project: Project, members: list[str], told: str) -> None:
    from annotation.core.refusals import Invalid
    from annotation.judging.services.judges import require_usable

    panel = Judge.objects.create(name="three", kind="panel")
    panel.members.set([Judge.objects.create(name=f"m{n}", kind=kind) for n, kind in enumerate(members)])
    with pytest.raises(Invalid, match=told):
        require_usable(panel)
