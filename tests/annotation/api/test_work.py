from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.assessing.services.assign import assign
from annotation.exports.services import request_export
from annotation.models import Assignment, Event, Export
from evaluation.metrics import Criterion
from tests.annotation.cast import World
from tests.annotation.exports.doing import perform
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


def test_closing_submits_scores_and_logs(world: World, client_of: ApiDoor, assignment: Assignment) -> None:
    client = client_of("ana")
    judge_all(assignment, 40, marks=(1, 2))
    closed = client.post(f"{HERE}assignments/{assignment.public_id}/close/")
    assert closed.json()["closed_at"] is not None
    # Both units have 40 % from the one assessor, and people outrank the judge, so coverage is 0.4.
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
