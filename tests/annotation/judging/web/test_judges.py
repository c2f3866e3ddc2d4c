from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.judging.services.save_judge import add_judge
from annotation.models import Judge, JudgeCall
from tests.says import says

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from annotation.models import Project
    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

AT = "/p/harbour/settings/judges/"


def profile(server: LLMServer, **changes: str) -> dict[str, str]:
    shown = {
        "name": "mine",
        "model": "scripted",
        "base_url": server.base_url,
        "prompt_price": "2",
        "completion_price": "8",
        "temperature": "0",
        "concurrency": "4",
        "timeout_seconds": "30",
        "max_tokens": "4000",
    }
    return {**shown, **changes}


def added(project: Project, by: User, name: str, server: LLMServer) -> Judge:
    return add_judge(project=project, by=by, name=name, kind="openai", model="m", base_url=server.base_url)


def test_a_connection_is_tested_before_the_judge_is_saved(
    mona: Client, world: World, llm_server: LLMServer
) -> None:
    page = mona.post(f"{AT}add/", {**profile(llm_server), "act": "test"}).content.decode()
    assert "The server answers." in page
    assert "It answers in the form that" in page
    assert not Judge.objects.filter(name="mine").exists()
    assert mona.post(f"{AT}add/", {**profile(llm_server), "act": "save"}).status_code == 302
    made = Judge.objects.get(name="mine")
    assert (made.project, made.kind, made.completion_price) == (world.project, "openai", 8.0)


def test_a_failed_connection_says_why_and_keeps_what_was_typed(mona: Client, llm_server: LLMServer) -> None:
    llm_server.api_key = "another"
    page = mona.post(f"{AT}add/", {**profile(llm_server), "act": "test"}).content.decode()
    assert "401" in page
    assert 'value="mine"' in page


def test_an_owner_tests_and_saves_a_key_and_never_sees_it_again(
    signed_in: Callable[[User], Client], world: World, llm_server: LLMServer
) -> None:
    olga = signed_in(world.olga)
    llm_server.api_key = "sk-typed"
    typed = {**profile(llm_server), "api_key": "sk-typed"}
    tested = olga.post(f"{AT}add/", {**typed, "act": "test"}, headers={"HX-Request": "true"}).content.decode()
    assert "The server answers." in tested
    assert "<form" not in tested
    assert olga.post(f"{AT}add/", {**typed, "act": "save"}).status_code == 302
    made = Judge.objects.get(name="mine")
    page = olga.get(f"{AT}{made.public_id}/").content.decode()
    assert "A key is stored." in page
    assert "sk-typed" not in page
    assert made.sealed_key not in page
    # An empty field keeps the key, and the checkbox removes it.
    olga.post(f"{AT}{made.public_id}/", {**profile(llm_server), "act": "save"})
    made.refresh_from_db()
    assert made.sealed_key
    olga.post(f"{AT}{made.public_id}/", {**profile(llm_server), "remove_key": "on", "act": "save"})
    made.refresh_from_db()
    assert made.sealed_key == ""


def test_a_manager_sees_no_field_for_a_key(mona: Client) -> None:
    page = mona.get(f"{AT}add/").content.decode()
    assert 'name="api_key"' not in page
    assert 'name="api_key_env"' not in page
    assert "An owner of the project enters the API key." in page


def test_another_server_deletes_the_key_and_says_so(
    signed_in: Callable[[User], Client], world: World, llm_server: LLMServer
) -> None:
    olga = signed_in(world.olga)
    olga.post(f"{AT}add/", {**profile(llm_server), "api_key": "sk-typed", "act": "save"})
    made = Judge.objects.get(name="mine")
    moved = profile(llm_server, base_url="http://localhost:9/v1")
    page = olga.post(f"{AT}{made.public_id}/", {**moved, "act": "save"}, follow=True).content.decode()
    assert "The stored key was deleted" in page


def test_all_that_is_wrong_is_named_at_once(mona: Client, llm_server: LLMServer) -> None:
    wrong = profile(llm_server, base_url="http://169.254.169.254/v1", concurrency="0", prompt_price="0")
    answer = mona.post(f"{AT}add/", {**wrong, "act": "save"})
    page = answer.content.decode()
    assert answer.status_code == 422
    for told in ("COVERDICT_JUDGE_URLS", "Enter at least 1.", "prompts would count as free"):
        assert told in page
    assert not Judge.objects.filter(name="mine").exists()


def test_a_form_shows_what_its_kind_needs_alone(mona: Client) -> None:
    model, panel = (mona.get(f"{AT}add/?kind={kind}").content.decode() for kind in ("openai", "panel"))
    assert ('name="base_url"' in model, 'name="members"' in model) == (True, False)
    assert ('name="base_url"' in panel, 'name="members"' in panel) == (False, True)
    assert 'value="gpt-5-mini"' in model
    azure = mona.get(f"{AT}add/?provider=Azure").content.decode()
    assert 'value="https://RESOURCE.openai.azure.com/openai/v1"' in azure
    assert mona.get(f"{AT}add/?kind=lexical").status_code == 422


def test_a_panel_is_saved(mona: Client, world: World) -> None:
    asked = {"name": "several", "members": [str(world.judge.pk)]}
    assert mona.post(f"{AT}add/?kind=panel", {**asked, "act": "save"}).status_code == 302
    assert list(Judge.objects.get(name="several").members.all()) == [world.judge]


def test_a_judge_is_changed_archived_and_taken_back(
    mona: Client, world: World, llm_server: LLMServer
) -> None:
    made = added(world.project, world.olga, "mine", llm_server)
    page = f"{AT}{made.public_id}/"
    assert mona.post(page, {**profile(llm_server, concurrency="2"), "act": "save"}).status_code == 302
    mona.post(f"{page}archive/")
    made.refresh_from_db()
    assert (made.concurrency, made.archived_at is None) == (2, False)
    assert "Unarchive" in mona.get(AT).content.decode()
    mona.post(f"{page}archive/", {"restore": "1"})
    assert "Unarchive" not in mona.get(AT).content.decode()


def test_one_click_chooses_the_built_in_judge(world: World, signed_in: Callable[[User], Client]) -> None:
    dan = signed_in(world.dan)
    assert "No judge yet?" in dan.get("/p/quarry/settings/judges/").content.decode()
    dan.post("/p/quarry/settings/judges/decide/", {"judge": "lexical"})
    world.other_project.refresh_from_db()
    assert world.other_project.deciding_judge == world.judge
    assert "No judge yet?" not in dan.get("/p/quarry/settings/judges/").content.decode()


def test_a_shared_judge_is_shown_and_tested_and_not_changed(
    mona: Client, world: World, llm_server: LLMServer
) -> None:
    page = f"{AT}{world.judge.public_id}/"
    remote = Judge.objects.create(name="remote", kind="openai", model="m", base_url=llm_server.base_url)
    assert "The built-in offline judge" in mona.get(page).content.decode()
    tested = mona.post(f"{AT}{remote.public_id}/", {"act": "test"})
    assert "The server answers." in tested.content.decode()
    assert mona.post(page, {"act": "save", "name": "mine-now"}).status_code == 403


def test_an_administrator_changes_a_shared_judge_but_not_the_built_in_one(
    world: World, signed_in: Callable[[User], Client], llm_server: LLMServer
) -> None:
    world.olga.is_superuser = True
    world.olga.save()
    olga = signed_in(world.olga)
    shared = Judge.objects.create(name="remote", kind="openai", model="m", base_url=llm_server.base_url)
    typed = {**profile(llm_server, name="remote", model="m"), "act": "save"}
    assert olga.post(f"{AT}{shared.public_id}/", typed).status_code == 302
    shared.refresh_from_db()
    assert (shared.project, shared.completion_price) == (None, 8.0)
    olga.post(f"{AT}{world.judge.public_id}/", {"name": "mine-now", "act": "save"})
    assert Judge.objects.get(pk=world.judge.pk).name == "lexical"


def test_addresses_are_told_to_those_who_may_run_judges(
    world: World, signed_in: Callable[[User], Client], llm_server: LLMServer
) -> None:
    added(world.project, world.olga, "mine", llm_server)
    assert llm_server.base_url in signed_in(world.mona).get(AT).content.decode()
    assert llm_server.base_url not in signed_in(world.vic).get(AT).content.decode()


def test_another_projects_judge_is_on_no_page(mona: Client, world: World, llm_server: LLMServer) -> None:
    theirs = added(world.other_project, world.dan, "dans", llm_server)
    for page in (AT, "/p/harbour/runs/", "/p/harbour/settings/", f"{AT}add/?kind=panel"):
        assert not says(mona.get(page).content.decode(), "dans")
    for path in ("", "archive/"):
        assert mona.post(f"{AT}{theirs.public_id}/{path}", {"act": "test"}).status_code == 404
    assert mona.post(f"{AT}decide/", {"judge": "dans"}).status_code == 404
    assert mona.post("/p/harbour/runs/start/", {"judge": "dans", "metrics": ["coverage"]}).status_code == 404
    panel = mona.post(f"{AT}add/?kind=panel", {"name": "p", "members": [str(theirs.pk)], "act": "save"})
    assert panel.status_code == 422


def test_a_temperature_may_be_left_empty(mona: Client, llm_server: LLMServer) -> None:
    assert mona.post(f"{AT}add/", {**profile(llm_server, temperature=""), "act": "save"}).status_code == 302
    assert Judge.objects.get(name="mine").temperature is None


def test_a_change_of_the_served_model_is_shown(mona: Client, world: World, llm_server: LLMServer) -> None:
    shared = Judge.objects.create(name="remote", kind="openai", model="m", base_url=llm_server.base_url)
    page = f"{AT}{shared.public_id}/"
    for model in ("gpt-may", "gpt-may", "gpt-june", ""):
        key = f"{model} {JudgeCall.objects.count()}"
        JudgeCall.objects.create(judge=shared, key=key, step="extract", served_model=model)
    assert "several models: gpt-may, then gpt-june." in mona.get(page).content.decode()
