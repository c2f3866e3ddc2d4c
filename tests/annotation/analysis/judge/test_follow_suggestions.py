"""A judge of suggested verdicts: what it says, what it costs, and that samples never record what it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from annotation.analysis.estimates.estimates import estimates
from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.analysis.judge.follow_suggestions import follow_suggestions
from annotation.analysis.judge.suggest_verdicts import suggest_verdicts
from annotation.core.refusals import Invalid
from annotation.judging.queries.runs import other_models
from annotation.judging.services.let_decide import let_decide
from annotation.judging.services.save_judge import change_judge
from annotation.models import Check, DrawnCheck, Judge, Membership, Project, Role, Verdict
from annotation.reviewing.queries.review_queue import has_panel
from annotation.scoring.rescore import rescore
from tests.annotation.judging.doing import add_document_set, judge_all, judge_to_end
from tests.llm_server import faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client

    from annotation.models import Run
    from tests.llm_server import LLMServer

SETS = 20


@pytest.fixture
def project(llm_judge: Judge) -> Project:
    """Twenty sets of two claims and two summaries that say the first alone; people say yes to both."""
    llm_judge.prompt_price = llm_judge.completion_price = 1.0
    llm_judge.save()
    made = Project.objects.create(slug="mill", name="Mill study")
    for number in range(SETS):
        first = f"The mill {number} burned down."
        text = f"{first} Its owner {number} heard of it late."
        add_document_set(
            made,
            external_id=f"set-{number}",
            documents=[text],
            reference=text,
            peers={"elm": first, "fir": first},
        )
    judge_to_end(made, llm_judge)
    made.refresh_from_db()
    return made


def answer(project: Project, *, size: int, seed: int) -> None:
    rex, _ = User.objects.get_or_create(username="rex")
    draw = sample_planned(project=project, by=None, size=size, design="uniform", seed=seed)
    for row in DrawnCheck.objects.filter(draw=draw, verdict=None):
        row.verdict = Verdict.objects.create(
            check_row_id=row.check_row_id, source=Verdict.Source.REVIEWER, person=rex, label="yes"
        )
        row.save(update_fields=["verdict"])
    rescore(project=project)
    suggest_verdicts(project=project)


def followed(project: Project) -> Run:
    run = follow_suggestions(project=project, by=None)
    judge_all(run)
    run.refresh_from_db()
    return run


def said_by(judge: Judge) -> dict[int, tuple[str | None, float | None]]:
    rows = Verdict.objects.filter(judge=judge).order_by("pk")
    return {
        key: (label, chance) for key, label, chance in rows.values_list("check_row", "label", "probability")
    }


def test_it_says_what_is_suggested_and_pays_for_no_call(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    answer(project, size=40, seed=1)
    before, calls = said_by(llm_judge), len(llm_server.calls)
    run = followed(project)
    assert (run.state, run.cost, len(llm_server.calls)) == ("finished", 0, calls)
    said = said_by(run.judge)
    suggested = dict(Check.objects.values_list("pk", "suggested_probability"))
    assert {key: chance for key, (_, chance) in said.items()} == suggested
    assert all(label == ("yes" if (chance or 0) >= 0.5 else "no") for label, chance in said.values())
    # What people say of the second claims elsewhere turns the judge's no.
    assert [label for label, _ in before.values()].count("no") == 2 * SETS
    assert [label for label, _ in said.values()].count("no") < 2 * SETS
    assert said_by(llm_judge) == before
    project.refresh_from_db()
    assert project.deciding_judge == llm_judge


def test_it_scores_once_it_is_chosen_and_estimates_stay(project: Project) -> None:
    answer(project, size=40, seed=1)
    judge = followed(project).judge
    before = estimates(project).at(None)
    let_decide(project=project, judge=judge, by=None)
    project.refresh_from_db()
    labels = dict(Check.objects.filter(human_label=None).values_list("pk", "final_label"))
    assert labels == {key: label for key, (label, _) in said_by(judge).items() if key in labels}
    assert estimates(project).at(None).systems == before.systems
    assert not has_panel(project)
    call_command("verify_scores", project.slug)


def test_a_further_sample_records_the_judge_without_suggestions(project: Project, llm_judge: Judge) -> None:
    answer(project, size=40, seed=1)
    let_decide(project=project, judge=followed(project).judge, by=None)
    project.refresh_from_db()
    draw = sample_planned(project=project, by=None, size=20, design="uniform", seed=2)
    plain = {key: chance for key, (_, chance) in said_by(llm_judge).items()}
    keys = dict(Check.objects.values_list("public_id", "pk"))
    assert {keys[name]: chance for name, chance in draw.frame} == plain


def test_later_answers_move_it_by_another_judge_alone(project: Project, llm_judge: Judge) -> None:
    answer(project, size=20, seed=1)
    first = followed(project)
    let_decide(project=project, judge=first.judge, by=None)
    project.refresh_from_db()
    said = said_by(first.judge)
    answer(project, size=60, seed=2)
    second = followed(project)
    assert said_by(first.judge) == said != said_by(second.judge)
    assert (second.judge.name, list(second.judge.members.all())) == ("scripted-suggested-2", [llm_judge])
    assert second.cost == 0


def test_what_the_judge_left_unscored_stays_so(
    project: Project, llm_judge: Judge, llm_server: LLMServer
) -> None:
    answer(project, size=40, seed=1)
    llm_judge.calls.all().delete()
    llm_server.always(faults.text("No JSON."))
    run = followed(project)
    labels = Verdict.objects.filter(judge=run.judge).values_list("label", flat=True)
    # A judge without any usable answer is not asked about all sets.
    assert (run.state, set(labels)) == ("stopped", {None})


def test_refuses(project: Project) -> None:
    with pytest.raises(Invalid, match="no suggested verdicts yet"):
        follow_suggestions(project=project, by=None)
    answer(project, size=40, seed=1)
    run = followed(project)
    assert other_models(run) == {}
    with pytest.raises(Invalid, match="so its member cannot change"):
        change_judge(judge=run.judge, by=None, members=[Judge.objects.create(name="x", kind="lexical")])
    panel = Judge.objects.create(project=project, name="both", kind="panel")
    project.deciding_judge = panel
    with pytest.raises(Invalid, match="which both is not"):
        follow_suggestions(project=project, by=None)


def test_the_page_offers_it_and_leads_to_the_run(
    project: Project, signed_in: Callable[[User], Client]
) -> None:
    olga = User.objects.create_user("olga")
    Membership.objects.create(project=project, user=olga, roles=[Role.OWNER])
    client = signed_in(olga)
    answer(project, size=40, seed=1)
    assert "Try suggested verdicts" in client.get("/p/mill/scores/judge/").content.decode()
    response = client.post("/p/mill/scores/judge/suggested/")
    run = Judge.objects.get(name="scripted-suggested").runs.get()
    assert response["Location"] == f"/p/mill/runs/{run.public_id}/"
