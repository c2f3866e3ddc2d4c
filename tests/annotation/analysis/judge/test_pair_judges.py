"""A second opinion end to end, on a scripted pair of judges with known errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User

from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.analysis.judge.judge_quality import judge_quality
from annotation.analysis.judge.pair_judges import pair_judges
from annotation.analysis.judge.teach_judge import FOLDS
from annotation.analysis.judge.words import told
from annotation.core.refusals import Invalid
from annotation.judging.services.let_decide import let_decide
from annotation.judging.services.save_judge import add_judge, change_judge
from annotation.models import (
    DrawnCheck,
    Event,
    Judge,
    JudgeCascade,
    JudgeExamples,
    Membership,
    Project,
    Role,
    Verdict,
)
from annotation.reviewing.queries.review_queue import has_panel
from annotation.scoring.rescore import rescore
from tests.annotation.judging.doing import add_document_set, judge_all, judge_to_end
from tests.llm_server import Call, Fault, LLMServer, faults

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.test import Client

    from annotation.models import Run
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

SETS = 12


def hearsay(chance: float) -> Callable[[Call], Fault | None]:
    """Hearsay gets this probability, everything else .95."""

    def rule(call: Call) -> Fault | None:
        claims = {each["id"]: each["claim"] for each in call.question.get("claims", ())}
        if not claims:
            return None

        def change(answer: dict[str, Any]) -> dict[str, Any]:
            chances = {each: chance if "reportedly" in claim else 0.95 for each, claim in claims.items()}
            return {
                "verdicts": [
                    {**each, "probability": of, "label": "yes" if of > 0.5 else "no"}
                    for each in answer["verdicts"]
                    for of in [chances[each["id"]]]
                ]
            }

        return faults.changed(change)

    return rule


def add_sets(project: Project, first: int, *, both: bool = False) -> None:
    """Twelve sets of one claim, every other one hearsay; or of both kinds of claim each."""
    for number in range(first, first + SETS):
        fact, hearsay = f"The mill {number} burned down.", f"Somebody reportedly saw fire {number}."
        text = f"{fact} {hearsay}" if both else hearsay if number % 2 else fact
        add_document_set(
            project, external_id=f"set-{number}", documents=[text], reference=text, peers={"elm": text}
        )


@pytest.fixture
def pair(transactional_db: None) -> Iterator[tuple[Judge, Judge]]:
    """The cheap judge says a hesitant yes to hearsay, the dear one no; a call costs .001 and .01."""
    with LLMServer(usage=(1000, 0)) as low, LLMServer(usage=(1000, 0)) as high:
        low.where(hearsay(0.6))
        high.where(hearsay(0.05))
        yield tuple(
            Judge.objects.create(
                name=name,
                kind=Judge.Kind.OPENAI,
                model=name,
                base_url=server.base_url,
                prompt_price=price,
                completion_price=price,
            )
            for name, server, price in (("cheap", low, 1.0), ("dear", high, 10.0))
        )  # type: ignore[misc]


@pytest.fixture
def project(pair: tuple[Judge, Judge]) -> Project:
    """Both judges have answered twelve checks, and Ruth a sample of all of them: what is only said is no."""
    return judged_and_answered(pair, both=False)


def judged_and_answered(pair: tuple[Judge, Judge], *, both: bool) -> Project:
    made = Project.objects.create(slug="mill", name="Mill study")
    add_sets(made, 0, both=both)
    for judge in pair:
        judge_to_end(made, judge)
    ruth = User.objects.create_user("ruth")
    draw = sample_planned(project=made, by=None, size=SETS * (1 + both), design="uniform", seed=1)
    for row in DrawnCheck.objects.filter(draw=draw).select_related("check_row__claim"):
        row.verdict = Verdict.objects.create(
            check_row=row.check_row,
            source=Verdict.Source.REVIEWER,
            person=ruth,
            label="no" if "reportedly" in row.check_row.claim.text else "yes",
        )
        row.save(update_fields=["verdict"])
    rescore(project=made)
    made.refresh_from_db()
    return made


def frontier(project: Project) -> dict[str, Any]:
    found = told(judge_quality(project))["frontiers"]
    return dict(next(each for each in found if (each["cheap"], each["dear"]) == ("cheap", "dear")))


def point_at(found: dict[str, Any], share: float) -> dict[str, Any]:
    return next(point for point in found["points"] if point["share"] == share)


def paired(project: Project, pair: tuple[Judge, Judge]) -> Run:
    risk = point_at(frontier(project), 0.5)["risk"]
    cheap, dear = pair
    run = pair_judges(project=project, cheap=cheap, dear=dear, risk=risk, by=None)
    judge_all(run)
    return run


def test_spend_and_error_are_those_of_the_frontier_drawn_beforehand(
    project: Project, pair: tuple[Judge, Judge]
) -> None:
    before = frontier(project)
    # A claim is extracted and checked by the cheap judge for .001 a call, and checked by the dear one for .01.
    costs = [point_at(before, share)["cost"] for share in (0.0, 0.5, 1.0)]
    assert costs == pytest.approx([0.002, 0.007, 0.012])
    errors = [point_at(before, share)["error"]["value"] for share in (0.0, 0.5, 1.0)]
    assert errors == pytest.approx([0.5, 0.0, 0.0])
    add_sets(project, SETS)
    run = paired(project, pair)
    # What both had answered is free; twelve new checks cost what was told, and half of them two opinions.
    assert run.cost == pytest.approx(SETS * 0.007)
    labels = Verdict.objects.filter(judge=run.judge, check_row__claim__text__contains="reportedly")
    assert set(labels.values_list("label", flat=True)) == {"no"}
    assert labels.count() == SETS
    [tried] = frontier(project)["tried"]
    assert (tried["id"], tried["error"]["value"]) == ("cheap-then-dear", 0.0)
    # Its own run paid for half of the 24 checks that it answered.
    assert tried["cost"] == pytest.approx(0.007 / 2)
    assert Event.objects.get(verb="pair judges").data["answers"] == SETS


def test_a_call_for_one_of_two_claims_is_told_and_paid_for_whole(pair: tuple[Judge, Judge]) -> None:
    project = judged_and_answered(pair, both=True)
    before = frontier(project)
    # Of two claims each: .002 and .01 a set. Half of the checks lie in all of the calls.
    costs = [point_at(before, share)["cost"] for share in (0.0, 0.5, 1.0)]
    assert costs == pytest.approx([0.001, 0.006, 0.006])
    add_sets(project, SETS, both=True)
    # A call about one of two claims is new where both were asked about before.
    assert paired(project, pair).cost == pytest.approx(2 * SETS * 0.006 + SETS * 0.01)


def test_no_set_is_judged_by_what_its_own_answers_taught(project: Project, pair: tuple[Judge, Judge]) -> None:
    paired(project, pair)
    row = JudgeCascade.objects.get()
    assert set(row.folds.values()) == set(range(FOLDS))
    assert len(row.calibrators) == FOLDS + 1
    assert len({str(each["curve"]) for each in row.calibrators}) > 1
    names = Verdict.objects.filter(judge=row.judge).values_list("origin_name", flat=True)
    assert len(set(names)) == 1


def test_it_is_no_panel_whose_members_differ_and_they_stay(
    project: Project, pair: tuple[Judge, Judge]
) -> None:
    panel = paired(project, pair).judge
    let_decide(project=project, judge=panel, by=None)
    project.refresh_from_db()
    assert not has_panel(project)
    with pytest.raises(Invalid, match="asks two judges in turn"):
        change_judge(judge=panel, by=None, members=[pair[0]])


def test_a_judge_that_is_told_examples_is_asked_by_itself(
    project: Project, pair: tuple[Judge, Judge]
) -> None:
    own = add_judge(project=project, by=None, name="own", kind="openai", model="m", base_url=pair[0].base_url)
    JudgeExamples.objects.create(judge=own, base=pair[0])
    with pytest.raises(Invalid, match="judges with examples: own"):
        add_judge(project=project, by=None, name="both", kind="panel", members=[own, pair[1]])


def test_the_page_offers_it_and_shows_what_came_of_it(
    project: Project, pair: tuple[Judge, Judge], signed_in: Callable[[User], Client]
) -> None:
    olga = User.objects.create_user("olga")
    Membership.objects.create(project=project, user=olga, roles=[Role.OWNER])
    client = signed_in(olga)
    page = client.get("/p/mill/scores/judge/?judge=cheap").content.decode()
    assert "cheap alone is wrong on 50 % of checks, dear on 0 %." in page
    form = {"cheap": "cheap", "dear": "dear", "risk": str(point_at(frontier(project), 0.5)["risk"])}
    assert (
        "Ask dear for a second opinion?" in client.post("/p/mill/scores/judge/pair/", form).content.decode()
    )
    client.post("/p/mill/scores/judge/pair/", {**form, "confirmed": "1"})
    judge_all(JudgeCascade.objects.get().judge.runs.get())
    page = client.get("/p/mill/scores/judge/?judge=cheap").content.decode()
    assert "cheap-then-dear</bdi>, measured in its own runs" in page


def test_what_is_refused(
    world: World, client_of: ApiDoor, project: Project, pair: tuple[Judge, Judge]
) -> None:
    cheap, dear = pair
    for wanted in ({"dear": cheap, "risk": 0.2}, {"dear": dear, "risk": 1.5}):
        with pytest.raises(Invalid) as refused:
            pair_judges(project=project, cheap=cheap, by=None, **wanted)  # type: ignore[arg-type]
        assert refused.value.code == "no_pair"
    path = f"/api/v1/projects/harbour/judges/{world.judge.public_id}/second-opinion/"
    answer = client_of("mona").post(path, {"dear": "dear", "risk": 0.2}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "no_pair")
