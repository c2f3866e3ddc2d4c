"""An assessor's work, runs and exports through the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.exports.services import request_export
from annotation.models import (
    Assignment,
    CoverageJudgment,
    Event,
    Export,
    Run,
)
from evaluation.metrics import Criterion
from tests.annotation.cast import SUMMARIES, World
from tests.annotation.exports.doing import export_with_job, perform
from tests.annotation.laying import judge_all
from tests.annotation.rated import ask, criterion

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

HERE = "/api/v1/projects/harbour/"


@pytest.fixture
def assignment(world: World) -> Assignment:
    return assign(document_set=world.sets["port"], assessor=world.ana, by=world.mona, seed=1)


def readings(assignment: Assignment) -> list[str]:
    return list(assignment.readings.order_by("position").values_list("public_id", flat=True))


def send(client: Any, assignment: Assignment, *acts: dict[str, Any]) -> Any:
    address = f"{HERE}assignments/{assignment.public_id}/acts/"
    return client.post(address, {"acts": [{"follows": 0, **act} for act in acts]}, format="json")


def on_unit(world: World, assignment: Assignment, **changes: Any) -> dict[str, Any]:
    act = {"kind": "unit", "reading": readings(assignment)[0], "unit": world.units("port")[0].public_id}
    return {**act, "percent": 60, **changes}


def test_a_assignment_lists_what_there_is_to_judge(
    world: World, client_of: ApiDoor, assignment: Assignment
) -> None:
    (listed,) = client_of("ana").get(f"{HERE}own-work/").json()["open"]
    assert (listed["id"], listed["document_id"], listed["closed_at"]) == (assignment.public_id, "port", None)
    assert [row["id"] for row in listed["readings"]] == readings(assignment)
    assert [(row["judged"], row["total"]) for row in listed["readings"]] == [(0, 2), (0, 2)]
    assert client_of("ana").get(f"{HERE}assignments/{assignment.public_id}/").json() == listed


def test_an_assignment_shows_both_lists_of_units(
    world: World, client_of: ApiDoor, assignment: Assignment
) -> None:
    shown = client_of("ana").get(f"{HERE}readings/{readings(assignment)[0]}/").json()
    assert [unit["id"] for unit in shown["reference_units"]] == [
        unit.public_id for unit in world.units("port")
    ]
    assert " ".join(unit["text"] for unit in shown["summary_units"]) in SUMMARIES.values()
    assert shown["percents"] == [0, 20, 40, 60, 80, 100]


def test_a_judgment_is_kept_and_shown_again(world: World, client_of: ApiDoor, assignment: Assignment) -> None:
    client = client_of("ana")
    act = on_unit(world, assignment, marks=[2, 1], note="Nearly.", ms=900)
    for _ in range(2):
        sent = send(client, assignment, act)
        saved = {"status": 200, "version": 1, "code": "", "message": "", "yours": None, "theirs": None}
        assert (sent.status_code, sent.json()["results"]) == (200, [saved])
    assert sent.json()["gates"] == {act["reading"]: {"before": "none", "units": "open", "after": "shut"}}
    first = client.get(f"{HERE}readings/{act['reading']}/").json()["reference_units"][0]
    assert (first["percent"], first["marks"], first["note"], first["version"]) == (60, [1, 2], "Nearly.", 1)


@pytest.mark.parametrize(
    ("changes", "field"), [({"follows": "1"}, "acts.0.follows"), ({"system": "alder"}, "acts.0.system")]
)
def test_a_malformed_act_is_refused(
    world: World, client_of: ApiDoor, assignment: Assignment, changes: dict[str, Any], field: str
) -> None:
    sent = send(client_of("ana"), assignment, on_unit(world, assignment, **changes))
    assert (sent.status_code, sent.json()["error"]["field"]) == (422, field)
    assert not CoverageJudgment.objects.exists()


def test_criteria_come_before_the_model_summary(
    world: World, client_of: ApiDoor, assignment: Assignment
) -> None:
    ask(world.project, Criterion("clear", "Is it clear?", "yes_no"))
    client, one = client_of("ana"), readings(assignment)[0]
    shown = client.get(f"{HERE}readings/{one}/").json()
    assert (shown["stage"], shown["reference_units"]) == ("before", [])
    clear = criterion(one, "clear").public_id
    assert [(each["id"], each["gate"], each["version"]) for each in shown["criteria"]] == [(clear, "open", 0)]
    listed = client.get(f"{HERE}assignments/{assignment.public_id}/").json()
    assert [(row["stage"], row["total"]) for row in listed["readings"]] == [("before", None)] * 2
    (early,) = send(client, assignment, on_unit(world, assignment)).json()["results"]
    assert (early["status"], early["code"]) == (409, "ratings_first")
    send(client, assignment, {"kind": "rating", "reading": one, "criterion": clear, "value": 1})
    shown = client.get(f"{HERE}readings/{one}/").json()
    assert (shown["stage"], len(shown["reference_units"]), shown["criteria"][0]["value"]) == ("units", 2, 1)
    assert shown["gates"] == {"before": "done", "units": "open", "after": "shut"}


def test_an_incomplete_assignment_is_not_closed(
    world: World, client_of: ApiDoor, assignment: Assignment
) -> None:
    error = client_of("ana").post(f"{HERE}assignments/{assignment.public_id}/close/").json()["error"]
    assert error["code"] == "incomplete"
    missing = {key: {"stage": "units", "count": 2} for key in readings(assignment)}
    assert error["details"] == {"missing": missing, "go_to": readings(assignment)[0]}


def test_closing_submits_scores_and_logs(world: World, client_of: ApiDoor, assignment: Assignment) -> None:
    client = client_of("ana")
    judge_all(assignment, 40, marks=(1, 2))
    closed = client.post(f"{HERE}assignments/{assignment.public_id}/close/")
    assert closed.json()["closed_at"] is not None
    # Both units have 40 % from the one assessor, and people come first: coverage 0.4.
    assert world.summaries["port", "birch"].score.coverage == pytest.approx(0.4)
    assert Event.objects.get(verb="close assignment").actor == world.ana


def test_another_assessors_work_is_not_found(
    world: World, client_of: ApiDoor, assignment: Assignment
) -> None:
    client = client_of("ben")
    assert client.get(f"{HERE}own-work/").json()["open"] == []
    for address in (f"assignments/{assignment.public_id}/", f"readings/{readings(assignment)[0]}/"):
        assert client.get(HERE + address).status_code == 404


def test_a_run_is_started_shown_cancelled_and_resumed(world: World, client_of: ApiDoor) -> None:
    client = client_of("mona")
    started = client.post(f"{HERE}runs/", {"judge": "lexical"}, format="json")
    assert started.status_code == 201
    run = started.json()
    assert (run["judge"], run["metrics"], run["state"]) == ("lexical", ["coverage", "alignment"], "active")
    assert (run["progress"]["total_jobs"], run["progress"]["waiting"]) == (2, 2)
    assert run["is_worker_alive"] is False
    assert client.post(f"{HERE}runs/{run['id']}/cancel/").json()["state"] == "cancelled"
    assert client.get(f"{HERE}runs/{run['id']}/").json()["progress"]["cancelled"] == 2
    assert client.post(f"{HERE}runs/{run['id']}/resume/").json()["progress"]["waiting"] == 2
    assert list(Event.objects.filter(actor=world.mona).order_by("pk").values_list("verb", flat=True)) == [
        "start run",
        "cancel run",
        "resume run",
    ]


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"judge": "nobody"}, 422, "no_such_judge", "judge"),
        ({"judge": "lexical", "metrics": ["magic"]}, 422, "unknown_metric", "metrics"),
        ({}, 400, "invalid", "judge"),
    ],
)
def test_a_senseless_run_is_refused(
    world: World, client_of: ApiDoor, body: dict[str, Any], status: int, code: str, field: str
) -> None:
    sent = client_of("mona").post(f"{HERE}runs/", body, format="json")
    error = sent.json()["error"]
    assert (sent.status_code, error["code"], error["field"]) == (status, code, field)
    assert not Run.objects.exists()


def test_runs_are_listed_newest_first(world: World, client_of: ApiDoor) -> None:
    made = [Run.objects.create(project=world.project, judge=world.judge, state="finished") for _ in range(3)]
    listed = client_of("vic").get(f"{HERE}runs/").json()["results"]
    assert [row["id"] for row in listed] == [run.public_id for run in reversed(made)]


def test_an_export_is_requested_written_and_fetched(world: World, client_of: ApiDoor) -> None:
    client = client_of("vic")
    asked = client.post(f"{HERE}exports/", {"level": "scores", "format": "jsonl"}, format="json")
    assert (asked.status_code, asked.json()["state"]) == (201, "waiting")
    address = f"{HERE}exports/{asked.json()['id']}/"
    assert client.get(f"{address}file/").json()["error"]["code"] == "unfinished"
    assert client.get(f"{address}manifest/").status_code == 409
    perform(Export.objects.get(public_id=asked.json()["id"]))
    assert client.get(address).json()["state"] == "done"
    file = client.get(f"{address}file/", HTTP_ACCEPT="application/x-ndjson")
    lines = b"".join(file.streaming_content).splitlines()
    assert len(lines) == 4
    assert file.headers["Content-Disposition"].startswith("attachment")
    assert file.headers["X-Content-Type-Options"] == "nosniff"
    assert client.get(f"{address}manifest/").json()["project"] == "harbour"
    assert Event.objects.filter(verb="request export", actor=world.vic).exists()


def test_names_are_for_owners_alone_also_in_a_file_that_an_owner_asked_for(
    world: World, client_of: ApiDoor
) -> None:
    body = {"level": "answers", "format": "csv", "named_people": True}
    assert client_of("vic").post(f"{HERE}exports/", body, format="json").status_code == 403
    export = request_export(project=world.project, by=world.olga, **body)  # type: ignore[arg-type]
    perform(export)
    address = f"{HERE}exports/{export.public_id}/file/"
    assert client_of("vic").get(address).json()["error"]["code"] == "names_for_owners"
    assert client_of("olga").get(address).status_code == 200


def test_a_failed_export_says_why(world: World, client_of: ApiDoor) -> None:
    export = export_with_job(world.project, state="failed", error="No room left.")
    shown = client_of("vic").get(f"{HERE}exports/{export.public_id}/").json()
    assert (shown["state"], shown["error"]) == ("failed", "No room left.")


@pytest.mark.parametrize(
    ("body", "status"),
    [({"level": "scores"}, 400), ({"level": "../x", "format": "csv"}, 400)],
)
def test_a_senseless_export_is_refused(
    world: World, client_of: ApiDoor, body: dict[str, str], status: int
) -> None:
    assert client_of("vic").post(f"{HERE}exports/", body, format="json").status_code == status
    assert not Export.objects.exists()
