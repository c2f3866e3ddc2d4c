from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.config.environment import judge_keys
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.judging.services.check_connection import check_connection
from annotation.judging.services.judges import at_work, judge_by_name
from annotation.judging.services.let_decide import let_decide
from annotation.judging.services.save_judge import (
    add_judge,
    archive_judge,
    change_judge,
    copy_judge,
)
from annotation.judging.services.start_run import start_run
from annotation.models import Event, Judge, JudgeCall, Run
from annotation.projects.services.change_project import change_project
from evaluation.judging.errors import JudgeSettings
from evaluation.judging.protocol import Text

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project
    from tests.annotation.cast import World
    from tests.llm_server import LLMServer

HERE, THERE = "http://127.0.0.1:9001/v1", "http://127.0.0.1:9002/v1"


@pytest.fixture
def _bound(settings: Any) -> None:
    settings.COVERDICT_JUDGE_URLS = [HERE, THERE]
    settings.COVERDICT_JUDGE_KEYS = judge_keys([f"HERE_KEY={HERE}", f"THERE_KEY = {THERE} "])


def added(project: Project | None, by: User | None, **profile: Any) -> Judge:
    return add_judge(
        project=project, by=by, **{"name": "own", "kind": "openai", "model": "m", "base_url": HERE, **profile}
    )


@pytest.mark.usefixtures("_bound")
def test_a_key_goes_to_its_own_address_and_nowhere_else(world: World) -> None:
    assert added(None, None, api_key_env="HERE_KEY").api_key_env == "HERE_KEY"
    for address, key in (
        (THERE, "HERE_KEY"),
        (f"{HERE}.evil.example", "HERE_KEY"),
        (HERE, "PATH"),
        (HERE, "SECRET_KEY"),
    ):
        with pytest.raises(Invalid, match="COVERDICT_JUDGE"):
            added(None, None, name="thief", base_url=address, api_key_env=key)
    assert not Judge.objects.filter(name="thief").exists()


@pytest.mark.usefixtures("_bound")
def test_a_key_that_was_pasted_is_not_repeated(world: World) -> None:
    with pytest.raises(Invalid, match="The key in this variable may not be sent") as refused:
        added(None, None, api_key_env="sk-pasted-by-mistake")
    assert "pasted" not in refused.value.message


@pytest.mark.usefixtures("_bound")
def test_only_a_shared_judge_takes_a_key_of_the_environment(world: World) -> None:
    for person in (world.mona, world.olga, None):
        with pytest.raises(Invalid, match="An owner of the project enters a key"):
            added(world.project, person, api_key_env="HERE_KEY")
    # A copy of a shared judge brings the variable along, until an owner enters a key or somebody removes it.
    shared = added(None, None, name="shared", api_key_env="HERE_KEY")
    judge = copy_judge(project=world.project, judge=shared, stem="own", by=world.mona)
    assert change_judge(judge=judge, by=world.mona, concurrency=3).api_key_env == "HERE_KEY"
    assert change_judge(judge=judge, by=world.olga, api_key="sk-typed").api_key_env == ""


def test_an_owner_enters_a_key_which_the_server_gets(world: World, llm_server: LLMServer) -> None:
    llm_server.api_key = "sk-typed"
    judge = added(world.project, world.olga, base_url=llm_server.base_url, api_key="sk-typed")
    assert "sk-typed" not in str(Judge.objects.filter(pk=judge.pk).values().get())
    assert check_connection(project=world.project, judge=judge, by=world.mona).format
    llm_server.api_key = "sk-other"
    with pytest.raises(Invalid, match="401") as refused:
        check_connection(project=world.project, judge=judge, by=world.mona)
    assert "sk-typed" not in refused.value.message


@pytest.mark.usefixtures("_bound")
def test_only_owners_and_administrators_enter_and_remove_a_key(world: World) -> None:
    with pytest.raises(NotAllowed):
        added(world.project, world.mona, api_key="sk-typed")
    judge = added(world.project, world.olga, api_key="sk-typed")
    for key in ("sk-another", ""):
        with pytest.raises(NotAllowed):
            change_judge(judge=judge, by=world.mona, api_key=key)
    assert change_judge(judge=judge, by=world.mona, concurrency=3).sealed_key == judge.sealed_key
    assert change_judge(judge=judge, by=world.olga, api_key="").sealed_key == ""


@pytest.mark.usefixtures("_bound")
def test_another_server_or_the_archive_deletes_the_key(world: World) -> None:
    judge = added(world.project, world.olga, api_key="sk-typed")
    same = change_judge(judge=judge, by=world.mona, base_url=f"{HERE}/models")
    assert same.sealed_key
    assert change_judge(judge=judge, by=world.mona, base_url=THERE).sealed_key == ""
    change_judge(judge=judge, by=world.olga, api_key="sk-typed")
    archive_judge(judge=judge, by=world.mona)
    judge.refresh_from_db()
    assert judge.sealed_key == ""


@pytest.mark.usefixtures("_bound")
def test_a_stored_key_opens_for_its_server_and_this_secret_only(world: World, settings: Any) -> None:
    judge = added(world.project, world.olga, api_key="sk-typed")
    # This row was written without the service, so the key must not be sent to the other address.
    Judge.objects.filter(pk=judge.pk).update(base_url=THERE)
    with pytest.raises(JudgeSettings, match="Enter it again"), at_work(Judge.objects.get(pk=judge.pk)):
        pass
    Judge.objects.filter(pk=judge.pk).update(base_url=HERE)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret of this installation"
    with at_work(Judge.objects.get(pk=judge.pk)):
        pass
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(JudgeSettings, match="Enter it again"), at_work(Judge.objects.get(pk=judge.pk)):
        pass


@pytest.mark.usefixtures("_bound")
def test_the_log_says_that_a_key_was_entered_not_which(world: World) -> None:
    judge = added(world.project, world.olga, api_key="sk-typed")
    change_judge(judge=judge, by=world.olga, api_key="sk-other")
    change_judge(judge=judge, by=world.olga, api_key="")
    logged = [event.data for event in Event.objects.filter(verb__endswith="judge").order_by("pk")]
    assert [each.get("api_key") or each["changed"]["api_key"] for each in logged] == [
        "entered",
        "entered",
        "removed",
    ]
    assert "sk-" not in str(logged)


@pytest.mark.usefixtures("_bound")
@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"api_key": "sk typed"}, "no spaces"),
        ({"api_key": "sk-é"}, "letters, digits and signs"),
        ({"api_key": "k" * 1001}, "at most 1000"),
        ({"api_key": "sk-typed", "kind": "panel", "model": "", "base_url": ""}, "Only a project's own"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused(world: World, profile: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message) as refused:
        added(world.project, None, **profile)
    assert refused.value.field == "api_key"
    assert not Judge.objects.filter(name="own").exists()


@pytest.mark.usefixtures("_bound")
def test_a_row_that_was_written_past_the_service_sends_no_key_either(
    world: World, settings: Any, llm_server: LLMServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERE_KEY", "sk-secret")
    settings.COVERDICT_JUDGE_URLS.append(llm_server.base_url)
    thief = Judge.objects.create(
        project=world.project,
        name="thief",
        kind="openai",
        model="m",
        base_url=llm_server.base_url,
        api_key_env="HERE_KEY",
    )
    with pytest.raises(Invalid, match="HERE_KEY may not be sent"):
        check_connection(project=world.project, judge=thief, by=world.mona)
    with pytest.raises(JudgeSettings, match="HERE_KEY may not be sent"), at_work(thief):
        pass
    assert llm_server.connections == 0


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("OPENAI_API_KEY", "binds no variable"),
        ("OPENAI_API_KEY=api.openai.com", "binds no variable"),
        ("sk-secret=https://api.openai.com/v1", "an entry binds no variable"),
        ("SECRET_KEY=https://api.openai.com/v1", "a secret of this installation"),
    ],
)
def test_a_binding_that_makes_no_sense_is_refused_at_the_start(entry: str, told: str) -> None:
    with pytest.raises(Exception, match=told) as refused:
        judge_keys([entry])
    assert "sk-secret" not in str(refused.value)


def test_owners_and_managers_add_and_change_their_projects_judges(world: World) -> None:
    for name, person in (("olgas", world.olga), ("monas", world.mona)):
        judge = added(world.project, person, name=name)
        changed = change_judge(judge=judge, by=person, prompt_price=1.0, completion_price=2.0)
        assert (changed.project, changed.has_price) == (world.project, True)
    assert Event.objects.get(verb="change judge", actor=world.olga).data == {
        "judge": "olgas",
        "changed": {"prompt_price": [0.0, 1.0], "completion_price": [0.0, 2.0]},
    }


def test_a_shared_judge_is_the_administrators(world: World) -> None:
    for act in (
        lambda: add_judge(project=None, by=world.olga, name="all", kind="openai", model="m", base_url=HERE),
        lambda: change_judge(judge=world.judge, by=world.olga, concurrency=1),
        lambda: archive_judge(judge=world.judge, by=world.olga),
    ):
        with pytest.raises(NotAllowed, match="shared"):
            act()
    world.olga.is_superuser = True
    assert change_judge(judge=world.judge, by=world.olga, concurrency=1).concurrency == 1


def test_another_projects_judge_is_not_there(world: World) -> None:
    theirs = added(world.other_project, world.dan)
    with pytest.raises(NotFound, match="no judge 'own'") as refused:
        judge_by_name("own", world.project)
    assert "own" not in refused.value.message.partition("Known judges")[2].split(".")[0].split(", ")
    for act in (
        lambda: start_run(project=world.project, judge=theirs, by=world.olga),
        lambda: start_run(project=world.project, judge=theirs, by=None),
        lambda: let_decide(project=world.project, judge=theirs, by=world.olga),
        lambda: change_judge(judge=theirs, by=world.olga, concurrency=1),
        lambda: check_connection(project=world.project, judge=theirs, by=world.olga),
    ):
        with pytest.raises(NotFound):
            act()
    with pytest.raises(Invalid, match="no such judge"):
        change_project(project=world.project, by=world.olga, deciding_judge=theirs)
    with pytest.raises(Invalid, match="of its own project"):
        add_judge(project=world.project, by=world.olga, name="mix", kind="panel", members=[theirs])
    assert not Run.objects.exists()
    # Two projects may use the same name.
    mine = added(world.project, world.olga)
    assert judge_by_name("own", world.project) == mine


def test_a_run_that_was_written_past_the_services_asks_no_foreign_judge(
    world: World, llm_server: LLMServer
) -> None:
    theirs = added(world.other_project, world.dan, base_url=llm_server.base_url)
    run = Run.objects.create(project=world.project, judge=theirs, metrics=["coverage"])
    with pytest.raises(JudgeSettings, match="no such judge"), at_work(theirs, run=run):
        pass
    assert llm_server.connections == 0


@pytest.mark.parametrize("name", ["lexical", "shared-one", "own"])
def test_a_name_means_one_judge_in_a_project(world: World, name: str) -> None:
    Judge.objects.create(name="shared-one", kind="openai", model="m")
    added(world.project, world.olga)
    with pytest.raises(Invalid) as refused:
        added(world.project, world.mona, name=name)
    assert refused.value.field == "name"


def test_calls_of_a_projects_own_judge_serve_that_project_alone(
    transactional_db: None, llm_server: LLMServer, world: World
) -> None:
    other = Judge.objects.create(
        project=world.other_project, name="own", kind="openai", model="m", base_url=llm_server.base_url
    )
    mine = added(world.project, world.olga, base_url=llm_server.base_url)
    question = ["The wall is weak."]
    for judge in (mine, mine, other):
        with at_work(judge) as working:
            working.begin(working.judge.check_source(question, Text.of("The wall is weak."))).result()
    assert [call.judge for call in JudgeCall.objects.order_by("pk")] == [mine, other]


def test_name_and_model_of_a_judge_that_has_answered_stay(world: World) -> None:
    judge = added(world.project, world.olga)
    change_judge(judge=judge, by=world.olga, model="another", name="renamed")
    Run.objects.create(project=world.project, judge=judge, metrics=["coverage"])
    for change in ({"model": "third"}, {"name": "again"}):
        with pytest.raises(Conflict, match="Add another judge"):
            change_judge(judge=judge, by=world.olga, **change)
    assert change_judge(judge=judge, by=world.olga, concurrency=2).concurrency == 2


def test_what_the_server_takes_is_forgotten_with_the_server(world: World) -> None:
    judge = added(world.project, world.olga)
    Judge.objects.update(reply_format="text")
    assert change_judge(judge=judge, by=world.olga, concurrency=2).reply_format == "text"
    assert change_judge(judge=judge, by=world.olga, base_url=THERE).reply_format == ""


def test_the_archive_takes_a_judge_out_of_use_and_gives_it_back(world: World) -> None:
    judge = added(world.project, world.olga)
    judge = archive_judge(judge=judge, by=world.olga)
    with pytest.raises(Invalid, match="archived"):
        start_run(project=world.project, judge=judge, by=world.olga)
    judge = archive_judge(judge=judge, by=world.olga, restore=True)
    let_decide(project=world.project, judge=judge, by=world.olga)
    with pytest.raises(Conflict, match="Choose another deciding judge first"):
        archive_judge(judge=judge, by=world.olga)
    let_decide(project=world.project, judge=world.judge, by=world.olga)
    start_run(project=world.project, judge=judge, by=world.olga)
    with pytest.raises(Conflict, match="own is running"):
        archive_judge(judge=judge, by=world.olga)


@pytest.mark.parametrize("url", ["http://user:pw-of-mine@127.0.0.1/v1", "http://127.0.0.1/v1?key=pw-of-mine"])
def test_an_address_that_holds_a_secret_is_refused_and_not_repeated(world: World, url: str) -> None:
    with pytest.raises(Invalid) as refused:
        add_judge(project=world.project, by=world.olga, name="leaky", kind="openai", model="m", base_url=url)
    assert (refused.value.field, refused.value.code) == ("base_url", "invalid_judge")
    assert "pw-of-mine" not in refused.value.message
