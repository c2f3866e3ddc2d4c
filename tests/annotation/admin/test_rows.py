"""The admin of every row: it opens, is limited to one's projects, tells the blind nothing, stays quick."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.core.paginator import Paginator
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.admin import rows as admin_rows
from annotation.assessing.services.assign import assign
from annotation.models import Check, CheckLook, Comment, Judge, Membership, Project, Role, Verdict
from annotation.reviewing.services.review import override
from tests.annotation.admin.rows import EDITABLE, MODELS, OF_MACHINE, address, fill
from tests.annotation.api.routes import grow
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import StaffDoor


def test_a_superuser_opens_every_list_and_every_row(world: World, staff: StaffDoor) -> None:
    fill(world)
    client = staff("root")
    for model in MODELS:
        row = model._default_manager.first()
        assert row is not None, model
        assert client.get(address(model)).status_code == 200, model
        for page in ("change", "history"):
            assert client.get(address(model, f"{row.pk}/{page}/")).status_code == 200, (model, page)


def test_every_list_can_be_searched_and_filtered(world: World, staff: StaffDoor) -> None:
    fill(world)
    client = staff("root")
    for model in MODELS:
        searched = client.get(address(model), {"q": "no such word anywhere"})
        assert searched.status_code == 200, model
        assert searched.context["cl"].result_count == 0, model
        filtered = client.get(address(model), {"project": "quarry"})
        has_filter = filtered.status_code == 200
        assert has_filter or model.__name__ in (*EDITABLE, *OF_MACHINE), model
        if has_filter and model is not Membership:
            assert filtered.context["cl"].result_count == 0, model


def test_append_only_and_derived_rows_cannot_be_added_changed_or_deleted(
    world: World, staff: StaffDoor
) -> None:
    fill(world)
    client = staff("root")
    for model in MODELS:
        if model.__name__ in EDITABLE:
            continue
        row = model._default_manager.first()
        assert row is not None
        assert client.get(address(model, "add/")).status_code == 403, model
        assert client.post(address(model, "add/"), {}).status_code == 403, model
        for act in ("change", "delete"):
            sent = client.post(address(model, f"{row.pk}/{act}/"), {"label": "yes", "post": "yes"})
            assert sent.status_code == 403, (model, act)
        bulk = {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"}
        client.post(address(model), bulk)
        assert model._default_manager.filter(pk=row.pk).exists(), model


def test_a_refused_post_leaves_the_verdict_as_it_was(world: World, staff: StaffDoor) -> None:
    verdict = Verdict.objects.first()
    assert verdict is not None
    staff("root").post(address(Verdict, f"{verdict.pk}/change/"), {"label": "unsure"})
    verdict.refresh_from_db()
    assert verdict.label == "yes"


def test_staff_see_their_own_projects_alone(world: World, staff: StaffDoor) -> None:
    """Which rows an owner opens, and what else is closed to whom, is in `test_permission_matrix`."""
    fill(world)
    owner, outsider = staff("olga"), staff("dan")
    # Rows of no project: judges are seen by whoever may start runs, calls and workers by superusers.
    for model in MODELS:
        if model.__name__ not in OF_MACHINE:
            assert owner.get(address(model)).context["cl"].result_count > 0, model
        if model not in (Judge, Project, Membership):
            row = model._default_manager.first()
            assert row is not None
            assert outsider.get(address(model, f"{row.pk}/change/")).status_code in (403, 404), model
            listed = outsider.get(address(model))
            assert listed.status_code == 403 or listed.context["cl"].result_count == 0, model


def test_a_row_outside_is_not_found_and_not_named(world: World, staff: StaffDoor) -> None:
    check = world.check("alder", 1)
    there = staff("dan").get(address(Check, f"{check.pk}/change/"))
    nowhere = staff("dan").get(address(Check, "999999/change/"))
    assert there.status_code == nowhere.status_code == 404
    history = staff("dan").get(address(Check, f"{check.pk}/history/"))
    assert history.status_code == 404


def test_filters_name_no_project_of_others(world: World, staff: StaffDoor) -> None:
    assert b"Harbour study" not in staff("dan").get(address(Check)).content
    assert b"Quarry study" not in staff("olga").get(address(Check)).content


def test_staff_without_a_project_see_no_rows_and_no_menu(world: World, staff: StaffDoor) -> None:
    Membership.objects.filter(user=world.dan).delete()
    client = staff("dan")
    assert {model for model in MODELS if client.get(address(model)).status_code != 403} == set()
    assert b"/admin/annotation/" not in client.get("/admin/").content


def test_blindness_in_one_project_holds_while_another_is_open(world: World, staff: StaffDoor) -> None:
    fill(world)
    Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    Membership.objects.create(project=world.other_project, user=world.ana, roles=[Role.VIEWER])
    client = staff("ana")
    listed = client.get(address(Check))
    assert (listed.status_code, listed.context["cl"].result_count) == (200, 0)
    assert client.get(address(Check, f"{world.check('alder', 1).pk}/change/")).status_code == 404


def test_autocomplete_offers_the_blind_nothing(world: World, staff: StaffDoor) -> None:
    fill(world)
    Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    fields = {"app_label": "annotation", "model_name": "project", "field_name": "deciding_judge"}
    answer = staff("ana").get("/admin/autocomplete/", {**fields, "term": "lex"})
    assert [row["text"] for row in answer.json()["results"]] == ["lexical"]
    fields = {"app_label": "annotation", "model_name": "summary", "field_name": "system"}
    assert staff("ana").get("/admin/autocomplete/", {**fields, "term": "a"}).status_code == 403


def test_a_superuser_with_open_work_is_warned(world: World, staff: StaffDoor) -> None:
    from annotation.assessing.services.assign import assign

    client = staff("root")
    root = client.get("/admin/").wsgi_request.user
    assert [str(m) for m in get_messages(client.get(address(Check)).wsgi_request)] == []
    assign(document_set=world.sets["port"], assessor=root, by=None)
    for page in (address(Check), address(Check, f"{world.check('alder', 1).pk}/change/")):
        assert b"You have open assessor work in Harbour study" in client.get(page).content
    assert b"You have open assessor work" not in client.get(address(Project)).content


def test_a_workers_token_is_not_shown(world: World, staff: StaffDoor) -> None:
    from annotation.models import Job

    fill(world)
    job = Job.objects.get()
    page = staff("root").get(address(Job, f"{job.pk}/change/")).content
    assert b"attempt" in page.lower()
    assert b"secret-token" not in page


def queries_of(client: Any, page: str) -> list[str]:
    with CaptureQueriesContext(connection) as seen:
        assert client.get(page).status_code == 200
    return [query["sql"] for query in seen.captured_queries]


def reading_of(client: Any, page: str) -> list[str]:
    """All but the statement that keeps the first sight of checks, however many they are."""
    return [sql for sql in queries_of(client, page) if not sql.startswith("INSERT")]


@pytest.mark.parametrize("name", ["root", "olga"])
def test_lists_cost_the_same_whether_few_rows_or_many(world: World, staff: StaffDoor, name: str) -> None:
    fill(world)
    client = staff(name)
    pages = [address(model) for model in MODELS if name == "root" or model.__name__ not in OF_MACHINE]
    grow(world, 2)
    few = {page: len(reading_of(client, page)) for page in pages}
    grow(world, 28, first=2)
    many = {page: len(reading_of(client, page)) for page in pages}
    # Of a list of several pages the keys of one are read first.
    assert {page: count - few[page] for page, count in many.items() if count - few[page] not in (0, 1)} == {}
    assert max(few.values()) <= 20


def test_no_list_counts_all_its_rows(world: World, staff: StaffDoor) -> None:
    fill(world)
    client = staff("root")
    for model in MODELS:
        counts = [sql for sql in queries_of(client, address(model)) if "COUNT(" in sql]
        assert all("LIMIT" in sql for sql in counts), model


def test_a_list_stops_counting_at_its_cap(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin_rows, "ROWS_COUNTED_UP_TO", 4)
    assert Paginator(Check.objects.order_by("pk"), 2).count == 6
    assert admin_rows.CappedPaginator(Check.objects.order_by("pk"), 2).count == 4


def test_a_list_cannot_be_filtered_by_what_lies_behind_a_relation(world: World, staff: StaffDoor) -> None:
    for lookup in ("person__password__startswith", "check_row__project__memberships__user__password"):
        answer = staff("olga").get(address(Verdict), {lookup: "a"})
        assert answer.status_code == 400


def test_moments_are_told_in_24_hours(world: World, staff: StaffDoor) -> None:
    claim = world.check("alder", 1).claim
    comment = Comment.objects.create(project=world.project, claim=claim, author=world.rex, text="Hm.")
    Comment.objects.filter(pk=comment.pk).update(created_at=datetime(2026, 1, 31, 14, 5, tzinfo=UTC))
    page = staff("root").get(address(Comment, f"{comment.pk}/change/")).content.decode()
    assert "31 Jan 2026, 14:05" in page


@pytest.mark.parametrize("model", [Check, Verdict])
@pytest.mark.parametrize("place", ["", "{}/change/", "{}/history/"])
def test_whoever_may_review_knows_what_the_admin_told_them_of_checks(
    world: World, staff: StaffDoor, model: Any, place: str
) -> None:
    first = model._default_manager.earliest("pk")
    page = address(model, place.format(first.pk) if place else "")
    for name in ("mona", "cleo", "root"):
        assert staff(name).get(page).status_code == 200
    # A manager may not review; the six checks of the list, or the one of the page.
    looks = CheckLook.objects.filter(revealed_at__isnull=False)
    known = {name: looks.filter(person__username=name).count() for name in ("mona", "cleo", "root")}
    number = 1 if place else 6
    assert known == {"mona": 0, "cleo": number, "root": number}
    check = world.check("alder", 1)
    assert override(check=check, by=world.cleo, label="no").verdict.had_seen


def test_a_superuser_with_open_work_knows_what_they_were_warned_of(world: World, staff: StaffDoor) -> None:
    client = staff("root")
    root = User.objects.get(username="root")
    assign(document_set=world.sets["bridge"], assessor=root, by=None)
    client.get(address(Check))
    assert CheckLook.objects.filter(person=root, revealed_at__isnull=False).count() == 6
