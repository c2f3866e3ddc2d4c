from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.refusals import NotAllowed
from annotation.imports.problems import ImportRefused
from annotation.imports.services import push_rows
from annotation.models import (
    Comparison,
    DocumentSet,
    Event,
    Membership,
    Project,
    Role,
    Score,
    Summary,
    System,
)
from annotation.scoring.rescore import rescore
from tests.annotation.api.routes import PREFIX
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import ApiDoor

ADDRESS = f"{PREFIX}projects/harbour/push/"
DOCUMENT = "The mill closes in May. The river is low. Nobody was hurt."


def a_row(document_id: str = "mill", system: str = "alder", **others: Any) -> dict[str, Any]:
    return {
        "document_id": document_id,
        "document": DOCUMENT,
        "system": system,
        "summary": "The mill closes. The river is low.",
    } | others


def states(report: Any) -> list[str]:
    return [row.state for row in report.rows]


def test_a_row_is_a_set_a_system_and_a_summary_in_units(world: World) -> None:
    report = push_rows(project=world.project, rows=[a_row(system="cedar", target_words=50)], by=world.mona)
    assert states(report) == ["created"]
    summary = Summary.objects.get(public_id=report.rows[0].summary)
    assert (summary.document_set.external_id, summary.system and summary.system.name) == ("mill", "cedar")
    # There are two sentences; the first ends with its full stop after 16 characters.
    assert list(summary.units.order_by("position").values_list("start", "end")) == [(0, 16), (17, 34)]
    # 7 words of 50 give a brevity of (50 - 7) / 50.
    assert Score.objects.get(summary=summary).brevity == pytest.approx(0.86)


def test_the_same_rows_again_change_nothing(world: World) -> None:
    rows = [a_row(reference="The mill shuts."), a_row(system="birch")]
    first = push_rows(project=world.project, rows=rows, by=world.mona)
    events = Event.objects.count()
    again = push_rows(project=world.project, rows=rows, by=world.mona)
    assert (states(first), states(again)) == (["created"] * 2, ["unchanged"] * 2)
    assert [row.summary for row in again.rows] == [row.summary for row in first.rows]
    assert Event.objects.count() == events


def test_a_reference_may_come_later_and_is_compared_with_every_summary(world: World) -> None:
    push_rows(project=world.project, rows=[a_row(), a_row(system="birch")], by=world.mona)
    late = {"document_id": "mill", "reference": "The mill shuts in May. The river fell."}
    report = push_rows(project=world.project, rows=[late], by=world.mona)
    assert states(report) == ["created"]
    reference = Summary.objects.get(public_id=report.rows[0].reference)
    assert (reference.is_reference, reference.is_summary, reference.units.count()) == (True, False, 2)
    assert sorted(
        Comparison.objects.filter(reference=reference).values_list("summary__system__name", flat=True)
    ) == [*("alder", "birch")]
    # The third system needs no document and is compared with the reference too.
    third = {"document_id": "mill", "system": "cedar", "summary": "It rains."}
    assert states(push_rows(project=world.project, rows=[third], by=world.mona)) == ["created"]
    assert Comparison.objects.filter(reference=reference).count() == 3
    again = push_rows(project=world.project, rows=[late, third], by=world.mona)
    assert states(again) == ["unchanged"] * 2


def test_scores_after_a_push_are_those_of_a_rescore(world: World) -> None:
    push_rows(project=world.project, rows=[a_row("port", "cedar", document=None), a_row()], by=world.mona)
    push_rows(project=world.project, rows=[{"document_id": "mill", "reference": "Shut."}], by=world.mona)
    assert not Summary.objects.filter(
        is_summary=True, document_set__project=world.project, score=None
    ).exists()
    stored = dict(Score.objects.filter(project=world.project).values_list("summary_id", "signature"))
    rescore(project=world.project)
    assert dict(Score.objects.filter(project=world.project).values_list("summary_id", "signature")) == stored


def test_one_bad_row_refuses_all_and_is_named(world: World) -> None:
    rows = [a_row(), {"document_id": "mill", "system": "birch"}, a_row(system="cedar", colour="red")]
    with pytest.raises(ImportRefused) as refused:
        push_rows(project=world.project, rows=rows, by=world.mona)
    assert [(problem.line, problem.column) for problem in refused.value.problems] == [
        (2, "summary"),
        (3, "colour"),
    ]
    assert not DocumentSet.objects.filter(external_id="mill").exists()


def test_each_bad_row_is_left_out_with_its_reason(world: World) -> None:
    rows = [a_row(), a_row(system=""), a_row(system="birch")]
    report = push_rows(project=world.project, rows=rows, by=world.mona, skip_invalid=True)
    assert states(report) == ["created", "refused", "created"]
    assert "has no value" in report.rows[1].problems[0].reason


def test_rows_that_contradict_the_project_refuse_those_of_their_set(world: World) -> None:
    known = world.summaries["port", "alder"]
    rows = [
        a_row(),
        {"document_id": "nowhere", "system": "alder", "summary": "It rains."},
        a_row("port", "alder", document=None, summary="Another text.", target_words=known.target_words),
        a_row("port", "cedar", document=None, summary="It rains."),
    ]
    with pytest.raises(ImportRefused, match="contradict the project's data") as refusal:
        push_rows(project=world.project, rows=rows, by=world.mona)
    assert [problem.line for problem in refusal.value.problems] == [2, 3]
    assert not DocumentSet.objects.filter(external_id="mill").exists()
    report = push_rows(project=world.project, rows=rows, by=world.mona, skip_invalid=True)
    assert states(report) == ["created", "refused", "refused", "refused"]
    reasons = ["has no document 'nowhere'", *["has another text in the project"] * 2]
    for row, reason in zip(report.rows[1:], reasons, strict=True):
        assert reason in row.problems[0].reason
    assert Summary.objects.get(pk=known.pk).text == known.text


def test_only_who_may_import_pushes(world: World) -> None:
    with pytest.raises(NotAllowed):
        push_rows(project=world.project, rows=[a_row()], by=world.vic)


def test_statements_do_not_grow_with_rows(world: World) -> None:
    push_rows(project=world.project, rows=[a_row("warm", "birch")], by=world.mona)
    counts = []
    # SQLite limits the values of a statement, and ten rows fit into one.
    for size in (2, 10):
        rows = [a_row(f"set-{size}-{n}", reference="Shut.") for n in range(size)]
        with CaptureQueriesContext(connection) as asked:
            push_rows(project=world.project, rows=rows, by=world.mona)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_the_door_answers_row_by_row(world: World, client_of: ApiDoor) -> None:
    answer = client_of("mona").post(ADDRESS, {"rows": [a_row(), a_row(system="")], "skip_invalid": True})
    assert answer.status_code == 200
    first, second = answer.json()["rows"]
    assert (first["state"], second["state"], second["summary"]) == ("created", "refused", None)
    [problem] = second["problems"]
    assert (problem["line"], problem["column"], problem["reason"]) == (2, "system", "has no value.")
    refused = client_of("mona").post(ADDRESS, {"rows": [a_row(system="")]})
    assert (refused.status_code, refused.json()["error"]["details"]["problems"][0]["line"]) == (422, 1)
    assert client_of("mona").post(ADDRESS, {"rows": "none"}).status_code == 400
    assert client_of("mona").post(ADDRESS, {"rows": []}).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_clients_that_push_at_once_and_again_lose_and_double_nothing() -> None:
    project = Project.objects.create(slug="news", name="News")
    mona = User.objects.create(username="mona")
    Membership.objects.create(project=project, user=mona, roles=[Role.MANAGER])
    rows = [a_row(f"doc-{n // 4}", f"system-{n % 4}") for n in range(160)]

    def push(first: int) -> list[str]:
        try:
            return states(push_rows(project=project, rows=rows[first : first + 20], by=mona))
        finally:
            connection.close()

    # Each batch is sent twice, as by a client that got no answer.
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(push, [*range(0, 160, 20)] * 2))
    assert sum(each.count("created") for each in told) == sum(each.count("unchanged") for each in told) == 160
    assert (Summary.objects.count(), DocumentSet.objects.count(), System.objects.count()) == (160, 40, 4)
    assert Score.objects.count() == 160
