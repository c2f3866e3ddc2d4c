from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from annotation.core import jobs
from annotation.judging.services.judges import judge_by_name
from annotation.judging.services.running import turn
from annotation.judging.services.running.turn import judge_run
from annotation.judging.services.start_run import cancel_run, resume_run, start_run
from annotation.models import (
    SCORES,
    Check,
    Claim,
    ClaimSet,
    Judge,
    JudgeCall,
    Project,
    Run,
    Score,
    Summary,
    Verdict,
)
from annotation.reviewing.services.review import override
from annotation.scoring.rescore import DERIVED, rescore
from evaluation.judging.lexical import LexicalJudge
from tests.annotation.judging.doing import add_document_set, claim_job, judge_claimed, perform_all, run_to_end
from tests.llm_server import faults

if TYPE_CHECKING:
    from tests.annotation.cast import World
    from tests.llm_server import Call, Fault, LLMServer


def lexical() -> Judge:
    return judge_by_name("lexical")


def lexical_signature() -> str:
    return LexicalJudge().signature


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(slug="mill", name="Mill study")


def labels(project: Project, side: str, system: str) -> list[str | None]:
    checks = Check.objects.filter(project=project, side=side, summary__system__name=system)
    return list(checks.order_by("claim__claim_set", "claim__position").values_list("final_label", flat=True))


def score_of(project: Project, system: str) -> Score:
    return Score.objects.get(project=project, summary__system__name=system)


def derived_rows(project: Project) -> list[object]:
    checks = Check.objects.filter(project=project).order_by("pk").values_list("pk", *DERIVED)
    return [
        *checks,
        *Score.objects.filter(project=project).order_by("summary").values_list("summary", *SCORES),
    ]


def test_every_claim_of_the_model_summary_is_held_against_every_summary(world: World) -> None:
    run = run_to_end(world.project, world.judge)
    assert run.state == "finished"
    # "port" has 3 claims already, and the run extracts the claims of "bridge". Each claim is checked against two
    # summaries.
    for external_id in ("port", "bridge"):
        claims = Claim.objects.filter(claim_set__summary=world.references[external_id]).count()
        checks = Check.objects.filter(summary__document_set=world.sets[external_id])
        assert checks.count() == 2 * claims
        assert checks.filter(verdicts__run=run).distinct().count() == 2 * claims


def test_claims_are_taken_from_a_model_summary_that_has_none_with_units_and_offsets(world: World) -> None:
    model = world.references["bridge"]
    run_to_end(world.project, world.judge)
    claim_set = ClaimSet.objects.get(summary=model)
    assert (claim_set.origin, claim_set.origin_name, claim_set.version) == ("judge", lexical_signature(), 1)
    claims = list(claim_set.claims.order_by("position").select_related("unit"))
    assert {claim.unit.position for claim in claims if claim.unit} == {1, 2}
    for claim in claims:
        assert claim.unit is not None
        assert claim.start is not None
        assert claim.end is not None
        assert model.text[claim.start : claim.end] == claim.text
        assert claim.unit.start <= claim.start < claim.end <= claim.unit.end


def test_claims_that_are_there_are_used_as_they_are(world: World) -> None:
    before = list(Claim.objects.filter(claim_set__summary=world.references["port"]).values())
    run_to_end(world.project, world.judge)
    assert list(Claim.objects.filter(claim_set__summary=world.references["port"]).values()) == before


def test_a_verdict_tells_its_judge_run_signature_and_evidence(project: Project) -> None:
    add_document_set(
        project,
        "The mill burned down at night.",
        reference="The mill burned down at night.",
        elm="It was a dry spring. The mill burned down at night.",
    )
    run = run_to_end(project, lexical())
    verdict = Verdict.objects.get()
    assert (verdict.role, verdict.judge, verdict.run, verdict.person) == ("judge", lexical(), run, None)
    assert verdict.origin_name == lexical_signature()
    assert (verdict.label, verdict.evidence) == ("yes", [2])
    assert verdict.probability is not None
    assert verdict.probability > 0.5
    assert verdict.reason


def test_scores_follow_the_verdicts(project: Project) -> None:
    add_document_set(
        project,
        "The mill burned down at night. Nobody was hurt.",
        reference="The mill burned down at night. Nobody was hurt.",
        elm="The mill burned down at night.",
        fir="Prices rose sharply.",
    )
    run_to_end(project, lexical())
    # The reference has two units of one claim each. Elm expresses only the first and fir none.
    assert labels(project, "reference", "elm") == ["yes", "no"]
    assert labels(project, "reference", "fir") == ["no", "no"]
    assert score_of(project, "elm").coverage == 0.5
    assert score_of(project, "fir").coverage == 0.0


def test_a_person_s_verdict_stands_above_a_later_judge(world: World) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    run_to_end(world.project, world.judge)
    check = world.check("alder", 2)
    assert (check.final_label, check.final_source, check.judge_label) == ("yes", "reviewer", "no")


def test_verdicts_of_another_judge_move_no_score(world: World) -> None:
    bystander = Judge.objects.create(name="bystander", kind="lexical")
    before = score_of_port(world)
    run_to_end(world.project, bystander)
    assert (
        Verdict.objects.filter(judge=bystander, check_row__summary__document_set=world.sets["port"]).count()
        == 6
    )
    assert score_of_port(world) == before


def score_of_port(world: World) -> list[float | None]:
    scores = Score.objects.filter(summary__document_set=world.sets["port"]).order_by("summary")
    return list(scores.values_list("coverage", flat=True))


def test_a_run_goes_on_where_an_earlier_one_stopped(world: World) -> None:
    first = run_to_end(world.project, world.judge)
    lost = Verdict.objects.filter(run=first, check_row__summary=world.summaries["bridge", "birch"])
    missing = lost.count()
    lost.delete()
    second = run_to_end(world.project, world.judge)
    assert set(Verdict.objects.filter(run=second).values_list("check_row__summary", flat=True)) == {
        world.summaries["bridge", "birch"].pk
    }
    assert Verdict.objects.filter(run=second).count() == missing


def test_a_judge_that_has_changed_is_asked_again(world: World) -> None:
    run_to_end(world.project, world.judge)
    Verdict.objects.filter(judge=world.judge).update(origin_name="lexical:0")
    again = run_to_end(world.project, world.judge)
    assert Verdict.objects.filter(run=again).count() == Check.objects.count()


def test_a_summary_without_a_score_gets_one(world: World) -> None:
    run_to_end(world.project, world.judge)
    before = derived_rows(world.project)
    Score.objects.all().delete()
    run_to_end(world.project, world.judge)
    assert derived_rows(world.project) == before


def test_how_much_is_written_at_once_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "CHECKS_A_TRANSACTION", 1)
    monkeypatch.setattr(LexicalJudge, "concurrency", 1)
    run = run_to_end(world.project, world.judge, ["factual_alignment"])
    assert set(run.jobs.values_list("state", "done")) == {("done", 2)}
    one_by_one = derived_rows(world.project)
    monkeypatch.undo()
    Verdict.objects.filter(run=run).delete()
    run_to_end(world.project, world.judge, ["factual_alignment"])
    assert derived_rows(world.project) == one_by_one


def test_two_judges_that_work_side_by_side_share_the_claims(transactional_db: None, world: World) -> None:
    judges = [world.judge, Judge.objects.create(name="other", kind="lexical")]
    runs = [
        start_run(project=world.project, judge=judge, metrics=["factual_alignment"], by=None)
        for judge in judges
    ]
    start = threading.Barrier(2)

    def work(run: Run) -> None:
        try:
            start.wait(60)
            perform_all(run)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for run in runs:
        run.refresh_from_db()
        assert set(run.jobs.values_list("state", "attempt", "error")) == {("done", 1, "")}
        # Both judges answered every check once.
        assert Verdict.objects.filter(run=run).count() == Check.objects.count()
    # Two references and four summaries have one claim set each.
    assert ClaimSet.objects.count() == 6
    before = derived_rows(world.project)
    rescore(project=world.project)
    assert derived_rows(world.project) == before


def test_an_empty_summary_has_checks_but_asks_nobody(project: Project) -> None:
    add_document_set(
        project, "The mill burned.", reference="The mill burned. Nobody was hurt.", target_words=10, elm="  "
    )
    run_to_end(project, lexical(), ["factual_alignment"])
    assert not Verdict.objects.exists()
    assert list(Check.objects.values_list("side", "final_label", "final_source")) == [
        ("reference", "no", "rule"),
        ("reference", "no", "rule"),
    ]
    score = score_of(project, "elm")
    assert (score.coverage, score.brevity, score.alignment) == (0.0, 1.0, None)
    assert "empty_summary" in score.flags


def test_without_a_model_summary_claims_are_those_of_the_documents(project: Project) -> None:
    second = "A new one opens soon."
    add_document_set(
        project,
        "The mill burned down at night. Nobody was hurt.",
        second,
        elm="The mill burned down at night. A new one opens soon.",
    )
    run_to_end(project, lexical())
    claims = list(Claim.objects.order_by("position").select_related("unit__document", "claim_set"))
    assert [claim.text.rstrip(".") for claim in claims] == [
        "The mill burned down at night",
        "Nobody was hurt",
        "A new one opens soon",
    ]
    last = claims[-1]
    assert last.unit is not None
    # Units are numbered over the whole set, but offsets count within the unit's own document.
    assert (last.unit.position, last.unit.document.position) == (3, 2)
    assert second[last.start : last.end] == last.text
    assert labels(project, "reference", "elm") == ["yes", "no", "yes"]
    assert score_of(project, "elm").coverage == pytest.approx(2 / 3)


def test_alignment_holds_a_summary_s_own_claims_against_all_documents(project: Project) -> None:
    add_document_set(
        project,
        "The mill burned down at night. Nobody was hurt.",
        "A new mill opens in June.",
        elm="A new mill opens in June. Prices rose sharply.",
    )
    run_to_end(project, lexical(), ["alignment"])
    checks = list(Check.objects.order_by("claim__position"))
    assert [(check.side, check.final_label) for check in checks] == [("summary", "yes"), ("summary", "no")]
    verdict = checks[0].verdicts.get()
    assert verdict.evidence == [3]
    assert score_of(project, "elm").alignment == 0.5
    assert score_of(project, "elm").coverage is None


def test_without_a_source_text_alignment_stays_unscored(project: Project) -> None:
    add_document_set(project, " ", elm="The mill burned.")
    run = run_to_end(project, lexical(), ["alignment"])
    check = Check.objects.get()
    assert (check.final_label, check.unscored_reason) == (None, "The document set has no source text.")
    assert run.jobs.get().unscored == 1


def test_a_summary_is_never_held_against_itself(project: Project) -> None:
    document_set = add_document_set(project, "D.", reference="The mill burned.", elm="The mill burned.")
    both = Summary.objects.get(document_set=document_set, is_summary=True)
    Summary.objects.filter(pk=both.pk).update(is_reference=True, external_id="elm's")
    run_to_end(project, lexical())
    assert {
        check.claim.claim_set.summary_id for check in Check.objects.select_related("claim__claim_set")
    } == {Summary.objects.get(is_summary=False).pk}


def test_where_texts_are_cut_to_their_target_only_what_is_left_is_judged(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(over_length="truncate")
    add_document_set(
        project,
        "D.",
        reference="The mill burned down at night. Nobody was hurt.",
        target_words=6,
        elm="The mill burned down at night. Nobody was hurt.",
    )
    run_to_end(project, lexical())
    assert labels(project, "reference", "elm") == ["yes", "no"]


def claimed_job(world: World) -> tuple[Run, jobs.Claimed]:
    run = start_run(project=world.project, judge=world.judge, by=None)
    claimed = claim_job(run.jobs.get(document_set=world.sets["bridge"]))
    assert claimed is not None
    return run, claimed


def test_a_worker_whose_job_was_given_away_writes_nothing(world: World) -> None:
    run, claimed = claimed_job(world)
    run.jobs.update(token="somebody else's")
    judge_claimed(claimed)
    assert set(run.jobs.values_list("state", "token")) >= {("waiting", "somebody else's")}
    assert not Verdict.objects.filter(run=run).exists()


def test_a_cancelled_run_s_job_writes_nothing_more(world: World) -> None:
    run, claimed = claimed_job(world)
    cancel_run(run=run, by=None)
    judge_claimed(claimed)
    assert set(run.jobs.values_list("state", flat=True)) == {"cancelled"}
    assert not Verdict.objects.filter(run=run).exists()


def test_answers_of_a_server_become_verdicts_with_their_calls_kept(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    run = run_to_end(world.project, llm_judge)
    assert run.state == "finished"
    verdict = Verdict.objects.get(run=run, check_row=world.check("alder", 1))
    # The server finds a claim if the text contains all its words, and alder's first unit does.
    assert (verdict.label, verdict.probability, verdict.evidence) == ("yes", 0.9, [1])
    assert verdict.origin_name.startswith("openai:scripted|")
    # One call extracts claims from the reference of bridge, and each of the four summaries costs one call.
    assert len(llm_server.calls) == 5
    assert list(llm_judge.calls.order_by("pk").values_list("step", flat=True)) == [
        "cover_summary",
        "cover_summary",
        "read_document",
        "cover_summary",
        "cover_summary",
    ]
    assert llm_judge.calls.filter(prompt_tokens=0).count() == 0


def test_a_server_that_refuses_stops_the_run_and_the_key_stays_secret(
    world: World, llm_judge: Judge, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm_server.api_key = "the right key"
    monkeypatch.setenv("SCRIPTED_KEY", "sk-a-wrong-key")
    Judge.objects.filter(pk=llm_judge.pk).update(api_key_env="SCRIPTED_KEY")
    run = run_to_end(world.project, llm_judge)
    assert run.state == "stopped"
    assert "'scripted'" in run.stop_reason
    assert "401" in run.stop_reason
    assert [job.state for job in run.jobs.order_by("pk")] == ["failed", "cancelled"]
    told = [run.stop_reason, *run.jobs.values_list("error", flat=True)]
    assert "sk-a-wrong-key" not in " ".join(told)
    # Only the two summaries of the first set are asked about, each at most once.
    assert len(llm_server.calls) <= 2


def test_a_stopped_run_goes_on_once_the_fault_is_mended(
    world: World, llm_judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    Judge.objects.filter(pk=llm_judge.pk).update(api_key_env="SCRIPTED_KEY")
    run = run_to_end(world.project, llm_judge)
    assert (run.state, "SCRIPTED_KEY" in run.stop_reason) == ("stopped", True)
    monkeypatch.setenv("SCRIPTED_KEY", "any")
    perform_all(resume_run(run=run, by=None))
    run.refresh_from_db()
    assert run.state == "finished"
    assert set(run.jobs.values_list("state", "error")) == {("done", "")}


def test_a_server_that_is_away_leaves_the_job_waiting_and_keeps_what_was_answered(
    world: World, llm_judge: Judge, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails_on_birch(call: Call) -> Fault | None:
        return faults.status(503) if "repair is planned" in str(call.question) else None

    only_once(monkeypatch)
    llm_server.where(fails_on_birch)
    run = start_run(project=world.project, judge=llm_judge, by=None)
    job = run.jobs.get(document_set=world.sets["port"])
    judge_run(run, most=1)
    job.refresh_from_db()
    assert (job.state, job.attempt, job.done) == ("waiting", 1, 1)
    assert "could not be asked" in job.error
    judged = Verdict.objects.filter(run=run).values_list("check_row__summary__system__name", flat=True)
    assert set(judged) == {"alder"}


def only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from annotation.judging.services import judges
    from evaluation.judging.protocol import Limits

    monkeypatch.setattr(judges, "Limits", lambda **given: Limits(**given, max_attempts=1))


def test_an_answer_that_cannot_be_used_is_kept_as_unscored_with_its_reason(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=llm_judge)
    llm_server.where(
        lambda call: faults.refusal("Not this one.") if "repair is planned" in str(call.question) else None
    )
    run = start_run(project=world.project, judge=llm_judge, by=None)
    job = run.jobs.get(document_set=world.sets["port"])
    judge_run(run, most=1)
    job.refresh_from_db()
    assert (job.state, job.done, job.unscored) == ("done", 2, 3)
    check = world.check("birch", 1)
    assert (check.judge_label, check.final_label) == (None, None)
    assert "Not this one" in check.unscored_reason
    score = Score.objects.get(summary=world.summaries["port", "birch"])
    assert (score.coverage, score.claims_unscored) == (None, 3)


ALL = ["coverage", "alignment", "question_coverage", "conciseness"]


def test_a_bad_spell_of_the_provider_spoils_no_later_run(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    Project.objects.filter(pk=world.project.pk).update(deciding_judge=llm_judge)
    llm_server.always(faults.text("rubbish"))
    run_to_end(world.project, llm_judge, ALL)
    kept = JudgeCall.objects.filter(reply="rubbish").count()
    assert kept
    llm_server.always(None)
    healed = run_to_end(world.project, llm_judge, ALL)
    assert set(healed.jobs.values_list("state", "unscored", "error")) == {("done", 0, "")}
    assert not Check.objects.filter(project=world.project, final_label=None).exists()
    assert JudgeCall.objects.filter(reply="rubbish").count() == kept
    paid = len(llm_server.calls)
    run_to_end(world.project, llm_judge, ALL)
    assert len(llm_server.calls) == paid


def test_a_reference_that_cannot_be_cut_into_claims_fails_its_job_alone(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.where(lambda call: faults.text("garbage") if "reference" in call.question else None)
    run = run_to_end(world.project, llm_judge)
    bridge = run.jobs.get(document_set=world.sets["bridge"])
    assert bridge.state == "failed"
    assert "No claims could be extracted" in bridge.error
    assert run.jobs.get(document_set=world.sets["port"]).state == "done"
    assert run.state == "finished"


def test_texts_that_fail_alike_are_told_by_name_in_one_sentence(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    llm_server.always(faults.text("garbage"))
    error = (
        run_to_end(world.project, llm_judge, ["alignment"]).jobs.get(document_set=world.sets["bridge"]).error
    )
    assert error.startswith("No claims could be extracted from the summary of alder, the summary of birch. ")
    assert error.count("No claims could be extracted") == 1
    assert world.summaries["bridge", "alder"].public_id not in error


def test_a_summary_that_cannot_be_cut_into_claims_costs_the_others_nothing(
    world: World, llm_judge: Judge, llm_server: LLMServer
) -> None:
    def garbles_birch(call: Call) -> Fault | None:
        is_birch = "repair is planned" in str(call.question)
        return faults.text("garbage") if "summary" in call.question and is_birch else None

    llm_server.where(garbles_birch)
    run = run_to_end(world.project, llm_judge, ["factual_alignment"])
    job = run.jobs.get(document_set=world.sets["port"])
    assert (job.state, job.attempt) == ("failed", 1)
    assert "from the summary of birch." in job.error
    # Alder's two sentences are one claim each, and both summaries are covered.
    checks = Check.objects.filter(summary__document_set=world.sets["port"], verdicts__run=run)
    by_summary = {
        (name, side): checks.filter(summary=world.summaries["port", name], side=side).count()
        for name in ("alder", "birch")
        for side in ("reference", "summary")
    }
    assert by_summary == {
        ("alder", "reference"): 3,
        ("alder", "summary"): 2,
        ("birch", "reference"): 3,
        ("birch", "summary"): 0,
    }


def test_an_unexpected_error_is_told_and_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any) -> None:
        raise ValueError("a number too large")

    monkeypatch.setattr(turn.RowDesk, "of_documents", breaks)
    run = start_run(project=world.project, judge=world.judge, by=None)
    job = run.jobs.get(document_set=world.sets["port"])
    judge_run(run, most=1)
    job.refresh_from_db()
    assert (job.state, job.attempt, job.error) == ("waiting", 1, "ValueError: a number too large")
