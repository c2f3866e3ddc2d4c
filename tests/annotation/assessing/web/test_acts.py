from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.assessing.queries.assessment import own_work
from annotation.assessing.services.assign import assign
from annotation.models import Assignment, CoverageJudgment, Rating
from evaluation.metrics import Criterion
from tests.annotation.rated import answers, ask, criterion

if TYPE_CHECKING:
    from django.http import HttpResponse

    from tests.annotation.cast import World

OWN = [Criterion(name, f"Is it {name}?", "yes_no") for name in ("clear", "new")]


@pytest.fixture
def assignment(world: World) -> Assignment:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=None, seed=1)


def post(client: Client, assignment: Assignment, door: str, body: object) -> Any:
    address = f"/p/harbour/work/sets/{assignment.public_id}/{door}/"
    return client.post(address, json.dumps(body), content_type="application/json")


def first(assignment: Assignment) -> str:
    return assignment.readings.order_by("position")[0].public_id


def on_unit(world: World, assignment: Assignment, unit: int = 1, **changes: object) -> dict[str, object]:
    public_id = world.units("port")[unit - 1].public_id
    act = {"follows": 0, "kind": "unit", "reading": first(assignment), "unit": public_id}
    return {**act, "percent": 60, "marks": [1], "note": "", "ms": 1500, **changes}


def send(client: Client, assignment: Assignment, *acts: object) -> Any:
    return post(client, assignment, "acts", {"acts": acts})


def test_acts_are_saved_and_what_stands_is_told(world: World, ana: Client, assignment: Assignment) -> None:
    answer = send(ana, assignment, on_unit(world, assignment), on_unit(world, assignment, 2, marks=[]))
    assert answer.status_code == 200
    one, two = (unit.public_id for unit in world.units("port"))
    saved = {"status": 200, "version": 1, "code": "", "message": "", "yours": None, "theirs": None}
    assert answer.json() == {
        "results": [saved, saved],
        "slips": {one: "", two: "Reference unit 2 has 60 % but no summary unit is marked for it."},
        "gates": {first(assignment): {"before": "none", "units": "done", "after": "open"}},
        "lease_until": None,
    }
    assert "no-store" in answer["Cache-Control"]
    assert CoverageJudgment.objects.filter(active_ms=1500).count() == 2


def test_somebody_signed_out_is_told_in_json(world: World, assignment: Assignment) -> None:
    answer = send(Client(), assignment, on_unit(world, assignment))
    assert (answer.status_code, answer.json()["code"]) == (401, "signed_out")


def test_only_posts_with_a_token_are_taken(world: World, ana: Client, assignment: Assignment) -> None:
    assert ana.get(f"/p/harbour/work/sets/{assignment.public_id}/acts/").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.ana)
    assert send(strict, assignment, on_unit(world, assignment)).status_code == 403
    assert not CoverageJudgment.objects.exists()


MALFORMED: list[tuple[object, str | None]] = [
    ([], None),
    ({"acts": []}, "acts"),
    ({"acts": [{}] * 201}, "acts"),
    ({"acts": ["unit"]}, "acts.0.kind"),
    ({"acts": [{"kind": "delete"}]}, "acts.0.kind"),
    ({"acts": [], "system": 1}, "system"),
]


@pytest.mark.parametrize(("body", "field"), MALFORMED)
def test_what_is_no_list_of_acts_is_refused(
    ana: Client, assignment: Assignment, body: object, field: str | None
) -> None:
    answer = post(ana, assignment, "acts", body)
    assert (answer.status_code, answer.json().get("field")) == (422, field)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"follows": None}, "follows"),
        ({"follows": True}, "follows"),
        ({"follows": 2**31}, "follows"),
        ({"percent": "60"}, "percent"),
        ({"percent": 2.5}, "percent"),
        ({"marks": "1"}, "marks"),
        ({"marks": [-1]}, "marks"),
        ({"marks": [1] * 2001}, "marks"),
        ({"note": None}, "note"),
        ({"unit": "A\0"}, "unit"),
        ({"reading": 7}, "reading"),
        ({"ms": -1}, "ms"),
        ({"answer": 1}, "answer"),
    ],
)
def test_a_malformed_act_is_refused_with_its_place(
    world: World, ana: Client, assignment: Assignment, changes: dict[str, object], field: str
) -> None:
    answer = send(ana, assignment, {**on_unit(world, assignment), **changes})
    assert (answer.status_code, answer.json()["field"]) == (422, f"acts.0.{field}")
    assert not CoverageJudgment.objects.exists()


def test_what_is_no_json_is_refused(ana: Client, assignment: Assignment) -> None:
    address = f"/p/harbour/work/sets/{assignment.public_id}/acts/"
    for body in ("{", "[" * 100_000):
        assert ana.post(address, body, content_type="application/json").status_code == 422


@pytest.fixture
def questions(world: World) -> None:
    ask(world.project, *OWN)


def page(client: Client, assignment: Assignment) -> HttpResponse:
    return client.get(f"/p/harbour/work/{first(assignment)}/")


def rate(client: Client, assignment: Assignment, **answers: str) -> Any:
    here = first(assignment)
    fields = {f"value-{criterion(here, name).public_id}": value for name, value in answers.items()}
    return client.post(f"/p/harbour/work/{here}/ratings/", fields)


def answer_both(client: Client, assignment: Assignment) -> Any:
    return rate(client, assignment, clear="1", new="0")


def test_the_model_summary_is_nowhere_before_the_questions_are_answered(
    world: World, ana: Client, assignment: Assignment, questions: None
) -> None:
    hidden = [unit.public_id for unit in world.units("port")]
    reference = world.references["port"].text
    hidden += [reference[unit.start : unit.end].strip() for unit in world.units("port")]
    before = page(ana, assignment).content.decode()
    listed = ana.get("/p/harbour/work/").content.decode()
    assert [words for words in hidden if words in before + listed] == []
    assert "Is it clear?" in before
    assert answer_both(ana, assignment).status_code == 302
    after = page(ana, assignment)
    assert [words for words in hidden if words not in after.content.decode()] == []
    form = after.context["form"]  # type: ignore[attr-defined]
    assert (form.stage, [each.value for each in form.before]) == ("units", [1, 0])


def test_the_first_stage_tells_no_number_of_units(
    ana: Client, assignment: Assignment, questions: None
) -> None:
    form = page(ana, assignment).context["form"]  # type: ignore[attr-defined]
    assert (form.stage, form.units, form.after) == ("before", (), [])
    assert [summary.total for summary in form.here.summaries] == [None, None]


def test_a_plain_form_answers_some_questions_or_none(
    ana: Client, assignment: Assignment, questions: None
) -> None:
    assert rate(ana, assignment, clear="1").status_code == 302
    assert answers() == {"clear": 1}
    for wrong in ({}, {"new": "5"}, {"new": "yes"}):
        assert rate(ana, assignment, **wrong).status_code == 422
    # A form that does not name a version counts as the first answer.
    assert rate(ana, assignment, clear="0").status_code == 409
    assert Rating.objects.count() == 1


def test_a_plain_form_that_is_older_than_what_stands_is_refused_with_both_values(
    world: World, ana: Client, assignment: Assignment
) -> None:
    address = f"/p/harbour/work/{first(assignment)}/units/{world.units('port')[0].public_id}/"
    for _ in range(2):
        assert ana.post(address, {"percent": "60", "note": "So.", "follows": "0"}).status_code == 302
    late = ana.post(address, {"percent": "80", "follows": "0"})
    assert late.status_code == 409
    assert "There it is now: 60 %, note “So.”. Yours, not saved: 80 %." in late.content.decode()
    assert CoverageJudgment.objects.get().percent == 60


def test_opening_the_form_or_saving_renews_the_lease(
    world: World, ana: Client, assignment: Assignment
) -> None:
    for act in (lambda: page(ana, assignment), lambda: send(ana, assignment, on_unit(world, assignment))):
        now = timezone.now()
        Assignment.objects.update(lease_until=now)
        assert act().status_code == 200
        left = Assignment.objects.get().lease_until
        assert left > now


def test_unassigned_work_is_gone_from_the_list_and_the_form(
    world: World, ana: Client, assignment: Assignment
) -> None:
    Assignment.objects.update(unassigned_at=timezone.now())
    assert own_work(world.project, world.ana) == []
    assert page(ana, assignment).status_code == 404
