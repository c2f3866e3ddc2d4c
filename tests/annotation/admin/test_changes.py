"""What may be changed in the admin goes the way of the services: the same rules, events and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.forms.models import model_to_dict

from annotation.judging.services.start_run import start_run
from annotation.models import Event, Judge, Membership, Project, Role, Run, System
from annotation.projects.services.change_members import set_roles
from annotation.projects.services.change_project import RULES, change_project
from tests.annotation.admin.rows import address
from tests.annotation.cast import World

if TYPE_CHECKING:
    from tests.annotation.conftest import StaffDoor


def rules(project: Project, **changes: object) -> dict[str, Any]:
    fields = {name: value for name, value in model_to_dict(project, RULES).items() if value is not None}
    return {**fields, **changes}


def save(client: Any, world: World, **changes: object) -> Any:
    page = address(Project, f"{world.project.pk}/change/")
    return client.post(page, rules(world.project, **changes), follow=True)


@pytest.mark.parametrize("name", ["root", "olga", "mona"])
def test_a_changed_rule_is_logged_and_the_scores_follow(world: World, staff: StaffDoor, name: str) -> None:
    answer = save(staff(name), world, composite_weight=1.0)
    assert answer.status_code == 200
    event = Event.objects.get(verb="change project")
    assert event.actor is not None
    assert (event.actor.username, event.data["changed"]["composite_weight"][1]) == (name, 1.0)
    # With a = 1 the composite is the coverage, 0.75 (see the cast).
    assert world.peers["port", "alder"].score.composite_custom == pytest.approx(0.75)


def test_saving_without_a_change_logs_nothing(world: World, staff: StaffDoor) -> None:
    save(staff("olga"), world)
    assert not Event.objects.exists()


def test_a_refusal_of_the_service_is_told_and_changes_nothing(world: World, staff: StaffDoor) -> None:
    answer = save(staff("olga"), world, over_length="truncate")
    assert b"have been judged" in answer.content
    world.project.refresh_from_db()
    assert world.project.over_length == "zero"
    assert not Event.objects.exists()


def test_the_address_of_a_project_stays(world: World, staff: StaffDoor) -> None:
    save(staff("root"), world, slug="elsewhere", name="Renamed")
    world.project.refresh_from_db()
    assert (world.project.slug, world.project.name) == ("harbour", "Renamed")


def test_an_old_page_undoes_nothing_and_tells_who_was_quicker(world: World, staff: StaffDoor) -> None:
    shown = {f"initial-{name}": value for name, value in rules(world.project).items()}
    typed = rules(world.project, **shown, name="Mine")
    change_project(project=world.project, by=world.mona, reveal="on_request")
    page = address(Project, f"{world.project.pk}/change/")
    assert "initial-reveal" in staff("olga").get(page).content.decode()
    staff("olga").post(page, typed)
    world.project.refresh_from_db()
    assert (world.project.name, world.project.reveal) == ("Mine", "on_request")
    answer = staff("olga").post(page, {**typed, "name": "Again"}, follow=True)
    assert "“Name” was changed to “Mine” by olga after you opened this page." in answer.content.decode()
    world.project.refresh_from_db()
    assert world.project.name == "Mine"


@pytest.mark.parametrize("name", ["rex", "cleo", "vic", "ana", "dan"])
def test_others_cannot_change_rules(world: World, staff: StaffDoor, name: str) -> None:
    assert save(staff(name), world, name="Taken").status_code in (403, 404)
    world.project.refresh_from_db()
    assert world.project.name == "Harbour study"


def test_a_superuser_makes_a_project_and_owns_it(world: World, staff: StaffDoor) -> None:
    client = staff("root")
    client.post(address(Project, "add/"), rules(Project(slug="x", name="New"), slug="new-one"))
    made = Project.objects.get(slug="new-one")
    membership = made.memberships.get()
    assert (membership.user.username, membership.roles) == ("root", ["owner"])
    assert Event.objects.get(verb="create project").project == made


def test_an_owner_cannot_make_projects_here(world: World, staff: StaffDoor) -> None:
    assert staff("olga").get(address(Project, "add/")).status_code == 403


class TestMembers:
    def test_an_owner_adds_a_member(self, world: World, staff: StaffDoor) -> None:
        data = {"project": world.project.pk, "username": "dan", "roles": ["viewer", "assessor"]}
        answer = staff("olga").post(address(Membership, "add/"), data)
        assert answer.status_code == 302
        assert Membership.objects.get(project=world.project, user=world.dan).roles == ["assessor", "viewer"]
        event = Event.objects.get(verb="add member")
        assert (event.actor, event.data["person"]) == (world.olga, "dan")
        assert event.data["roles"] == [[], ["assessor", "viewer"]]

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"username": "nobody"}, b"There is no user with that username"),
            ({"username": ""}, b"There is no user with that username"),
            ({"username": "rex"}, b"a member of Harbour study already"),
            ({"roles": []}, b"This field is required"),
            ({"roles": ["king"]}, b"not one of the available choices"),
        ],
    )
    def test_a_senseless_member_is_refused(
        self, world: World, staff: StaffDoor, changes: dict[str, Any], told: bytes
    ) -> None:
        data = {"project": world.project.pk, "username": "dan", "roles": ["viewer"], **changes}
        answer = staff("olga").post(address(Membership, "add/"), data)
        assert told in answer.content
        assert Membership.objects.filter(project=world.project).count() == 7

    def test_an_owner_adds_nobody_to_another_project(self, world: World, staff: StaffDoor) -> None:
        data = {"project": world.other_project.pk, "username": "rex", "roles": ["owner"]}
        answer = staff("olga").post(address(Membership, "add/"), data)
        assert answer.status_code == 200
        assert not Membership.objects.filter(project=world.other_project, user=world.rex).exists()

    def test_changed_roles_are_logged(self, world: World, staff: StaffDoor) -> None:
        membership = Membership.objects.get(user=world.rex)
        page = address(Membership, f"{membership.pk}/change/")
        staff("olga").post(page, {"roles": ["reviewer", "assessor"]})
        membership.refresh_from_db()
        assert membership.roles == ["assessor", "reviewer"]
        assert Event.objects.get(verb="change member").data["roles"] == [
            ["reviewer"],
            ["assessor", "reviewer"],
        ]

    def test_roles_that_somebody_changed_meanwhile_stay(self, world: World, staff: StaffDoor) -> None:
        membership = Membership.objects.get(user=world.rex)
        page = address(Membership, f"{membership.pk}/change/")
        set_roles(project=world.project, person=world.rex, roles=["viewer"], by=world.olga)
        for roles in (["reviewer"], ["reviewer", "assessor"]):
            answer = staff("olga").post(page, {"initial-roles": ["reviewer"], "roles": roles}, follow=True)
            membership.refresh_from_db()
            assert membership.roles == ["viewer"]
            assert (b"Someone changed the roles of rex" in answer.content) is (len(roles) == 2)

    def test_a_member_is_removed(self, world: World, staff: StaffDoor) -> None:
        membership = Membership.objects.get(user=world.vic)
        staff("olga").post(address(Membership, f"{membership.pk}/delete/"), {"post": "yes"})
        assert not Membership.objects.filter(pk=membership.pk).exists()
        assert Event.objects.get(verb="remove member").data["person"] == "vic"

    def test_a_project_keeps_an_owner(self, world: World, staff: StaffDoor) -> None:
        membership = Membership.objects.get(user=world.olga)
        client, page = staff("olga"), address(Membership, f"{membership.pk}/")
        assert b"needs an owner" in client.post(f"{page}change/", {"roles": ["viewer"]}).content
        assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403
        membership.refresh_from_db()
        assert membership.role_set == {Role.OWNER}

    @pytest.mark.parametrize("name", ["mona", "rex", "ana", "dan"])
    def test_others_cannot_give_roles(self, world: World, staff: StaffDoor, name: str) -> None:
        membership = Membership.objects.get(user=world.users[name])
        page = address(Membership, f"{membership.pk}/change/")
        if name == "dan":
            membership = Membership.objects.get(user=world.rex)
            page = address(Membership, f"{membership.pk}/change/")
        before = membership.roles
        assert staff(name).post(page, {"roles": ["owner"]}).status_code in (403, 404)
        membership.refresh_from_db()
        assert membership.roles == before


class TestJudges:
    PROFILE = {
        "name": "remote",
        "kind": "openai",
        "model": "some-model",
        "base_url": "http://127.0.0.1:9000/v1",
        "api_key_env": "REMOTE_KEY",
        "temperature": "0",
        "concurrency": "8",
        "timeout_seconds": "60",
        "max_tokens": "4000",
        "prompt_price": "0.15",
        "completion_price": "0.6",
    }

    def test_a_superuser_makes_a_profile(self, world: World, staff: StaffDoor) -> None:
        assert staff("root").post(address(Judge, "add/"), self.PROFILE).status_code == 302
        assert Judge.objects.get(name="remote").api_key_env == "REMOTE_KEY"

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"base_url": "http://169.254.169.254/latest"}, "COVERDICT_JUDGE_URLS"),
            ({"base_url": "http://127.0.0.1.evil.example/v1"}, "COVERDICT_JUDGE_URLS"),
            ({"base_url": "http://127.0.0.1@evil.example/v1"}, "neither user, password"),
            ({"base_url": "file:///etc/passwd"}, "starts with http:// or https://"),
            ({"base_url": ""}, "COVERDICT_JUDGE_URLS"),
            ({"api_key_env": "sk-abc123"}, "not the name of an environment variable"),
            ({"api_key_env": "SECRET_KEY"}, "may not be sent to http://127.0.0.1:9000/v1"),
            ({"model": ""}, "Name the model"),
            ({"kind": "lexical"}, "Only an OpenAI-compatible judge"),
            ({"concurrency": "0"}, "at least 1 concurrent call"),
            ({"timeout_seconds": "0"}, "above 0 seconds"),
            ({"max_tokens": "0"}, "at least 1 token"),
            ({"prompt_price": "-1"}, "The price must be 0 or more"),
            ({"prompt_price": "nan"}, "Enter a number"),
            ({"context_tokens": "4000"}, "larger than a reply&#x27;s 4000 tokens"),
            ({"calls_per_minute": "0"}, "Enter at least 1, or leave it empty"),
            ({"tokens_per_minute": "0"}, "Enter at least 1, or leave it empty"),
            ({"temperature": "-0.1"}, "between 0 and 2"),
            ({"temperature": "2.5"}, "between 0 and 2"),
            ({"prompt_price": "0"}, "prompts would count as free"),
            ({"completion_price": "0"}, "replies would count as free"),
            ({"kind": "panel", "base_url": "", "api_key_env": ""}, "Choose the panel"),
        ],
    )
    def test_a_profile_that_would_leak_or_fail_is_refused(
        self, world: World, staff: StaffDoor, changes: dict[str, str], told: str
    ) -> None:
        answer = staff("root").post(address(Judge, "add/"), {**self.PROFILE, **changes})
        assert answer.status_code == 200
        assert told in answer.content.decode()
        assert "Constraint" not in answer.content.decode()
        assert not Judge.objects.filter(name="remote").exists()

    def test_a_panel_of_judges_is_saved_and_one_of_panels_is_not(
        self, world: World, staff: StaffDoor
    ) -> None:
        profile = {**self.PROFILE, "kind": "panel", "base_url": "", "api_key_env": "", "model": ""}
        panel = {**profile, "name": "three", "members": [world.judge.pk]}
        assert staff("root").post(address(Judge, "add/"), panel).status_code == 302
        made = Judge.objects.get(name="three")
        assert list(made.members.all()) == [world.judge]
        answer = staff("root").post(address(Judge, "add/"), {**profile, "members": [made.pk]})
        assert "A panel cannot ask panels: three" in answer.content.decode()

    @pytest.mark.parametrize("temperature", ["0", "2"])
    def test_the_ends_of_the_temperatures_are_taken(
        self, world: World, staff: StaffDoor, temperature: str
    ) -> None:
        profile = {**self.PROFILE, "temperature": temperature}
        assert staff("root").post(address(Judge, "add/"), profile).status_code == 302

    def test_the_keys_value_is_never_shown(
        self, world: World, staff: StaffDoor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REMOTE_KEY", "sk-very-secret")
        judge = Judge.objects.create(
            name="remote", kind="openai", model="m", base_url="http://localhost", api_key_env="REMOTE_KEY"
        )
        for page in (address(Judge), address(Judge, f"{judge.pk}/change/")):
            content = staff("root").get(page).content
            assert b"REMOTE_KEY" in content
            assert b"sk-very-secret" not in content

    def test_what_verdicts_were_given_as_stays(self, world: World, staff: StaffDoor) -> None:
        page = address(Judge, f"{world.judge.pk}/change/")
        data = {
            "name": "renamed",
            "kind": "panel",
            "temperature": "0",
            "concurrency": "4",
            "timeout_seconds": "9",
            "max_tokens": "4000",
            "prompt_price": "0",
            "completion_price": "0",
        }
        assert staff("root").post(page, data).status_code == 302
        world.judge.refresh_from_db()
        assert (world.judge.name, world.judge.kind, world.judge.concurrency) == ("lexical", "lexical", 4)

    @pytest.mark.parametrize(
        ("changes", "kept"),
        [
            ({"concurrency": "2"}, "text"),
            ({"model": "other"}, ""),
            ({"base_url": "http://localhost/v2"}, ""),
        ],
        ids=["limit", "model", "address"],
    )
    def test_what_its_server_takes_is_shown_and_forgotten_with_the_server(
        self, world: World, staff: StaffDoor, changes: dict[str, str], kept: str
    ) -> None:
        columns = {"kind": "openai", "model": "m", "base_url": "http://localhost/v1"}
        judge = Judge.objects.create(name="remote", reply_format="text", **columns)
        client, page = staff("root"), address(Judge, f"{judge.pk}/change/")
        shown = client.get(page).content.decode()
        assert "Plain text" in shown
        assert 'name="reply_format"' not in shown
        data = {**self.PROFILE, "name": "remote", **columns, **changes, "reply_format": "json_object"}
        assert client.post(page, data).status_code == 302
        judge.refresh_from_db()
        assert judge.reply_format == kept

    def test_a_manager_sees_profiles_and_changes_none(self, world: World, staff: StaffDoor) -> None:
        client = staff("mona")
        page = address(Judge, f"{world.judge.pk}/change/")
        assert client.get(page).status_code == 200
        assert client.post(page, self.PROFILE).status_code == 403
        assert client.get(address(Judge, "add/")).status_code == 403


class TestRuns:
    def act(self, client: Any, run: Run, action: str) -> Any:
        return client.post(address(Run), {"action": action, "_selected_action": [run.pk]}, follow=True)

    def test_runs_are_cancelled_and_resumed_by_their_services(self, world: World, staff: StaffDoor) -> None:
        run = start_run(project=world.project, judge=world.judge, by=world.mona)
        client = staff("mona")
        self.act(client, run, "cancel")
        run.refresh_from_db()
        assert run.state == Run.State.CANCELLED
        self.act(client, run, "resume")
        run.refresh_from_db()
        assert run.state == Run.State.ACTIVE
        assert Event.objects.filter(actor=world.mona, verb__in=("cancel run", "resume run")).count() == 2

    def test_a_refusal_is_told(self, world: World, staff: StaffDoor) -> None:
        run = start_run(project=world.project, judge=world.judge, by=world.mona)
        answer = self.act(staff("root"), run, "resume")
        assert b"finished or in progress" in answer.content

    def test_a_viewer_is_offered_no_action(self, world: World, staff: StaffDoor) -> None:
        run = start_run(project=world.project, judge=world.judge, by=world.mona)
        self.act(staff("vic"), run, "cancel")
        run.refresh_from_db()
        assert run.state == Run.State.ACTIVE


class TestSystems:
    def test_systems_come_and_go_with_imports_alone(self, world: World, staff: StaffDoor) -> None:
        system = world.systems["alder"]
        for path in ("add/", f"{system.pk}/delete/"):
            assert (
                staff("root").post(address(System, path), {"name": "new", "post": "yes"}).status_code == 403
            )
        staff("mona").post(address(System, f"{system.pk}/change/"), {"name": "new", "written_by": ""})
        system.refresh_from_db()
        assert system.name == "alder"
