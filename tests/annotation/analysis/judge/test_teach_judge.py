from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User

from annotation.analysis.judge.judge_quality import judge_quality
from annotation.analysis.judge.teach_judge import teach_judge
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.queries.examples import half_of
from annotation.judging.services.let_decide import let_decide
from annotation.models import (
    Check,
    DocumentSet,
    Event,
    Guideline,
    Judge,
    JudgeExamples,
    Membership,
    Project,
    Role,
    Run,
    SampledCheck,
    Verdict,
)
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from evaluation.statistics import JudgeReport
from tests.annotation.judging.doing import add_document_set, judge_all, judge_to_end
from tests.llm_server import Call, Fault, faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client

    from annotation.models import Run
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn
    from tests.llm_server import LLMServer

SETS = 12


def examples_in(call: Call) -> list[dict[str, str]]:
    lines = str(call.body["messages"][0]["content"]).splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"text":')]


def follows_examples(call: Call) -> Fault | None:
    labels = [each["label"] for each in examples_in(call) if "reportedly" in each["claim"]]
    if 2 * labels.count("no") <= len(labels):
        return None
    claims = call.question.get("claims", {})
    hearsay = {identity for identity, claim in claims.items() if "reportedly" in claim}

    def change(answer: dict[str, Any]) -> dict[str, Any]:
        return {
            name: [
                {**entry, "label": "no", "probability": 0.1} if entry.get("id") in hearsay else entry
                for entry in entries
            ]
            for name, entries in answer.items()
        }

    return faults.changed(change)


@pytest.fixture
def project(llm_judge: Judge, llm_server: LLMServer) -> Project:
    llm_judge.prompt_price, llm_judge.completion_price = 1.0, 2.0
    llm_judge.save()
    made = Project.objects.create(slug="mill", name="Mill study")
    for number in range(SETS):
        text = f"The mill {number} burned down. Somebody reportedly saw fire {number}."
        add_document_set(made, text, external_id=f"set-{number}", reference=text, elm=text, fir=text)
    llm_server.where(follows_examples)
    judge_to_end(made, llm_judge)
    made.refresh_from_db()
    return made


def answer_sample(project: Project, label_of: Callable[[Check], str], size: int = 40) -> None:
    rex = User.objects.create_user("rex")
    sample = sample_checks(
        project=project, by=None, method="uniform", share=size / 48, side=Check.Side.REFERENCE, seed=1
    )
    for row in SampledCheck.objects.filter(sample=sample).select_related(
        "check_row__claim__claim_set__summary"
    ):
        row.verdict = Verdict.objects.create(
            check_row=row.check_row, role=Verdict.Role.REVIEWER, person=rex, label=label_of(row.check_row)
        )
        row.save(update_fields=["verdict"])
    rescore(project=project)


def no_hearsay(check: Check) -> str:
    return "no" if "reportedly" in check.claim.text else "yes"


def reports(project: Project) -> dict[str, JudgeReport]:
    return {version.id: version.report for version in judge_quality(project).versions}


def teach(project: Project, judge: Judge) -> Run:
    run = teach_judge(project=project, judge=judge, by=None)
    judge_all(run)
    return run


def test_a_rule_that_people_go_by_is_learned(project: Project, llm_judge: Judge) -> None:
    answer_sample(project, no_hearsay)
    teach(project, llm_judge)
    found = reports(project)
    hearsay = Verdict.objects.filter(
        role="reviewer", check_row__claim__text__contains="reportedly", check_row__project=project
    ).count()
    assert found["scripted"].accuracy.value == pytest.approx(1 - hearsay / 40)
    assert (found["scripted-examples"].scored, found["scripted-examples"].accuracy.value) == (40, 1.0)
    event = Event.objects.get(verb="teach judge")
    assert (event.data["base"], event.data["answers"]) == ("scripted", 40)


def test_each_half_is_judged_with_examples_of_the_other(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    # The first six sets are one group, which must not be divided.
    first = [f"set-{number}" for number in range(6)]
    DocumentSet.objects.filter(project=project, external_id__in=first).update(group="early")
    answer_sample(project, no_hearsay)
    before = len(llm_server.calls)
    run = teach(project, llm_judge)
    halves = [half_of("group early" if number < 6 else f"set set-{number}") for number in range(SETS)]
    checks = [call for call in llm_server.calls[before:] if "claims" in call.question]
    # Both summaries of a set have the same words, so one call answers both.
    assert len(checks) == SETS
    for call in checks:
        told = {int(number) for each in examples_in(call) for number in re.findall(r"\d+", each["claim"])}
        [own] = {int(number) for number in re.findall(r"\d+", " ".join(call.question["text"].values()))}
        assert told
        assert {halves[number] for number in told} == {1 - halves[own]}
    names = Verdict.objects.filter(judge=run.judge).values_list("origin_name", flat=True)
    assert len(set(names)) == 1


def test_the_guideline_in_force_goes_with_them(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    answer_sample(project, no_hearsay)
    Guideline.objects.create(project=project, version=1, text="What is only said counts as no.")
    teach(project, llm_judge)
    assert "What is only said counts as no." in llm_server.calls[-1].body["messages"][0]["content"]


def owner_at(project: Project, signed_in: SignIn) -> Client:
    olga = User.objects.create_user("olga")
    Membership.objects.create(project=project, user=olga, roles=[Role.OWNER])
    return signed_in(olga)


def test_a_trial_judges_what_is_measured_and_then_the_rest(
    project: Project, llm_judge: Judge, llm_server: LLMServer, signed_in: SignIn
) -> None:
    answer_sample(project, no_hearsay, size=12)
    sampled = set(Check.objects.filter(sampled__isnull=False).values_list("summary", flat=True))
    assert 5 < len(sampled) <= 12
    client = owner_at(project, signed_in)
    form = {"judge": "scripted"}
    asked = client.post("/p/mill/scores/judge/teach/", form).content.decode()
    # A summary needs one call, because its claims exist already.
    assert f"judges the {len(sampled)} summaries with sampled answers: about {len(sampled)} calls" in asked
    assert not JudgeExamples.objects.exists()

    client.post("/p/mill/scores/judge/teach/", {**form, "confirmed": "1"})
    own = JudgeExamples.objects.get().judge
    trial = own.runs.get()
    judge_all(trial)
    assert (trial.is_trial, trial.state) == (True, "finished")
    judged = Verdict.objects.filter(judge=own).values_list("check_row__summary", flat=True)
    assert set(judged) == sampled
    assert reports(project)["scripted-examples"].scored == 12
    project.refresh_from_db()
    assert project.deciding_judge == llm_judge

    calls = len(llm_server.calls)
    # The judge has judged only a sample, so it cannot decide yet.
    form = {"judge": own.name}
    assert client.post("/p/mill/settings/judges/decide/", form).status_code == 409
    rest = judge_to_end(project, own)
    assert client.post("/p/mill/settings/judges/decide/", form).status_code == 302
    project.refresh_from_db()
    assert (project.deciding_judge, rest.state) == (own, "finished")
    # Both summaries of a set have the same words, so one call answers both.
    assert len(llm_server.calls) - calls <= 24 - len(sampled)
    # By chance, the few sampled claims of one half may contain no hearsay to learn from.
    chosen = JudgeExamples.objects.get().chosen
    taught = [any("reportedly" in each["claim"] for each in half) for half in chosen]
    assert any(taught)
    for check in Check.objects.filter(claim__text__contains="reportedly").select_related("document_set"):
        assert check.judge_label == ("no" if taught[half_of(check.document_set.cluster)] else "yes")


def test_it_is_taught_again_from_its_base(project: Project, llm_judge: Judge) -> None:
    answer_sample(project, no_hearsay)
    first = teach(project, llm_judge).judge
    with pytest.raises(Conflict, match="has judged a sample only"):
        let_decide(project=project, judge=first, by=None)
    judge_to_end(project, first)
    let_decide(project=project, judge=first, by=None)
    second = teach(project, first).judge
    assert (second.name, second.examples.base) == ("scripted-examples-2", llm_judge)


def test_too_little_to_learn_from(world: World, project: Project, llm_judge: Judge) -> None:
    with pytest.raises(Invalid, match="Only a language model"):
        teach_judge(project=world.project, judge=world.judge, by=None)
    with pytest.raises(
        Invalid, match="answered by both scripted and people in at least 5 document sets"
    ) as refused:
        teach_judge(project=project, judge=llm_judge, by=None)
    assert refused.value.code == "no_examples"
