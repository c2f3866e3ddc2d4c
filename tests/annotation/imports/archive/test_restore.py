"""Archives: what is in them, that all of it comes back, and which files are refused with their place."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.accounts.own_account import reset_path
from annotation.accounts.services import issue_setup_link
from annotation.core.events import log
from annotation.core.project_rows import remove_rows
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.exports.archive.kinds import KINDS, PEOPLE, VERSION
from annotation.imports.archive import read, restore
from annotation.imports.archive.cells import Ids
from annotation.imports.archive.restore import NOT_FINISHED, RestoreReport, restore_project
from annotation.imports.packages import NamedFile
from annotation.imports.problems import ImportRefused
from annotation.imports.services import import_files
from annotation.management.commands.verify_scores import differences
from annotation.models import (
    Assignment,
    Event,
    ImportedPerson,
    Judge,
    Membership,
    Project,
    Role,
    Run,
    accounts,
)
from annotation.projects.services.change_members import set_roles
from tests.annotation.cast import World
from tests.annotation.imports.archive.round_trip import (
    MANIFEST,
    archived,
    files_of,
    filled,
    names_after,
    packed_again,
    rows_in,
    same_rows,
    with_row,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.conftest import StaffDoor

CHANGED = {
    ("project", "slug"),
    ("judges", "archived_at"),
    ("runs", "state"),
    ("runs", "stop_reason"),
}


@pytest.fixture
def full(world: World) -> World:
    """A project with a row of nearly every kind, submitted percents among them."""
    return filled(world)


def restored(world: World, path: Path, **changes: Any) -> RestoreReport:
    return restore_project(slug="again", path=archived(world.project, path / "a.zip", **changes), by=None)


def test_every_row_comes_back_with_every_field(full: World, tmp_path: Path) -> None:
    """An archive of what was restored is the same as the first one, but for ids, names of people and slug."""
    report = restored(full, tmp_path)
    first, second = tmp_path / "a.zip", archived(report.project, tmp_path / "b.zip")
    ids, people = Ids(report.project.public_id), names_after(report.project)

    def mapped(text: str, *, is_told: bool) -> str:
        # Ids stand in fields, inside of JSON and in the log. What was written of people stays as written.
        text = re.sub(r"(?<![\w])[a-z2-7]{16}(?![\w])", lambda hit: ids.mapped(hit[0]), text)
        return text if is_told else re.sub("|".join(people), lambda hit: people[hit[0]], text)

    for kind in KINDS:
        wanted, came = rows_in(first, kind.name), rows_in(second, kind.name)
        # What was logged since: the export of the first archive came after it, the import is the last.
        came = came[:-1] if kind.name == "events" else came
        assert len(wanted) == len(came) > 0, kind.name
        assert report.rows[kind.name] == len(wanted)
        skip = {cell.name for cell in kind.cells if (kind.name, cell.name) in CHANGED}
        if kind.name == "project":
            skip |= {"id"}
        told = {cell.name for cell in kind.cells if cell.holds_names}
        for one, other in zip(wanted, came, strict=True):
            for name in one.keys() - skip:
                value = one[name]
                if isinstance(value, str | list):
                    value = json.loads(mapped(json.dumps(value), is_told=name in told))
                assert other[name] == value, (kind.name, name)
    assert list(differences(report.project)) == []
    same_rows(full.project, report.project, tmp_path)


def test_every_line_is_as_its_schema_says(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    files = files_of(path)
    for name in (*(kind.name for kind in KINDS), PEOPLE):
        schema = json.loads(files[f"schemas/{name}.schema.json"])
        jsonschema.Draft202012Validator.check_schema(schema)
        for row in rows_in(path, name):
            jsonschema.validate(row, schema)
            assert list(row) == schema["required"]


def test_the_card_names_licence_provenance_and_files(full: World, tmp_path: Path) -> None:
    card = files_of(archived(full.project, tmp_path / "a.zip"))["README.md"].decode()
    assert 'license: "cc-by-4.0"' in card.partition("\n---\n")[0]
    assert "Made up for tests." in card
    assert "- config_name: verdicts\n  data_files: verdicts.jsonl" in card


def test_people_are_pseudonyms_and_nothing_secret_is_in_it(full: World, tmp_path: Path) -> None:
    full.judge.api_key_env, full.judge.base_url = "SECRET_ENV_NAME", "http://inside.example/v1"
    full.judge.save()
    text = b"\n".join(files_of(archived(full.project, tmp_path / "a.zip")).values()).decode()
    assert "SECRET_ENV_NAME" not in text
    assert "inside.example" not in text
    for user in User.objects.all():
        assert re.search(rf'["@ ]{user.username}["., ]', text) is None, user.username
        assert user.password not in text or not user.password


def test_a_word_of_the_log_that_is_also_a_username_stays(full: World, tmp_path: Path) -> None:
    data = {"labels": {"yes": 1}, "filters": {"label": "yes", "reviewer": "rex"}, "assessor": "yes"}
    User.objects.create(username="yes")
    log(project=full.project, actor=full.olga, verb="marked", target=full.project, data=data)
    [told] = [
        json.loads(row["data"])
        for row in rows_in(archived(full.project, tmp_path / "a.zip"), "events")
        if row["verb"] == "marked"
    ]
    assert told["labels"] == {"yes": 1}
    assert told["filters"]["label"] == "yes"
    assert told["filters"]["reviewer"].startswith("person-")
    assert told["assessor"].startswith("person-")


def test_the_owner_may_have_names(full: World, tmp_path: Path) -> None:
    report = restored(full, tmp_path, named_people=True)
    assert {"rex", "cleo", "ana"} <= {row["name"] for row in rows_in(tmp_path / "a.zip", PEOPLE)}
    # Still names and no accounts: those who are called so here have nothing to do with them.
    came = ImportedPerson.objects.get(project=report.project, name="rex")
    assert (came.user.username, came.user_id == full.rex.pk) == ("rex@again", False)


def test_nobody_comes_in_by_an_archive(full: World, tmp_path: Path, client: Client) -> None:
    before = set(accounts().values_list("pk", flat=True))
    report = restored(full, tmp_path)
    assert set(accounts().values_list("pk", flat=True)) == before
    assert not Membership.objects.filter(project=report.project).exists()
    person = ImportedPerson.objects.filter(project=report.project)[0].user
    assert not person.is_active
    assert not person.has_usable_password()
    assert authenticate(None, username=person.username, password="") is None
    client.post("/sign-in/", {"username": person.username, "password": person.password})
    assert "_auth_user_id" not in client.session
    with pytest.raises(Conflict):
        reset_path(person=person, by=None)
    with pytest.raises(Invalid, match="closed"):
        set_roles(project=full.project, person=person, roles=[Role.VIEWER], by=None)
    with pytest.raises(CommandError, match="closed"):
        call_command("add_member", full.project.slug, person.username, "viewer")


def test_people_of_archives_are_in_no_list_of_accounts(full: World, tmp_path: Path, staff: StaffDoor) -> None:
    person = ImportedPerson.objects.filter(project=restored(full, tmp_path).project)[0].user
    root = staff("root")
    assert person.username not in root.get("/admin/auth/user/?all=").content.decode()
    # Nor can one be made active there by hand.
    assert root.get(f"/admin/auth/user/{person.pk}/change/").status_code == 302


def test_an_installation_with_nothing_but_an_archive_has_no_account_yet(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    for project in Project.objects.all():
        remove_rows(project)
    User.objects.create_superuser("boss")
    assert issue_setup_link() is None
    User.objects.all().delete()
    report = restore_project(slug="again", path=path, by=None)
    assert User.objects.count() == report.people > 0
    assert issue_setup_link() is not None


def test_what_needs_a_server_waits_until_somebody_sets_it_up(full: World, tmp_path: Path) -> None:
    report = restored(full, tmp_path)
    judges = {judge.name: judge for judge in Judge.objects.filter(project=report.project)}
    assert judges["lexical"].archived_at is None
    assert judges["own"].archived_at is not None
    assert {(judge.base_url, judge.api_key_env) for judge in judges.values()} == {("", "")}
    run = Run.objects.get(project=report.project)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, NOT_FINISHED)


def test_whoever_restores_it_owns_it(full: World, tmp_path: Path, settings: Any) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    with pytest.raises(NotAllowed):
        restore_project(slug="again", path=path, by=full.mona)
    full.mona.is_staff = True
    full.mona.save()
    project = restore_project(slug="again", path=path, by=full.mona).project
    assert [(each.user, each.roles) for each in project.memberships.all()] == [(full.mona, ["owner"])]
    assert Event.objects.filter(project=project, verb="import", actor=full.mona).count() == 1
    with pytest.raises(Conflict, match="already a project"):
        restore_project(slug="again", path=path, by=full.mona)


def refusal(path: Path) -> tuple[str, int | None, str]:
    """File, line and column that a refusal names; nothing is left behind by then."""
    kept = (Project.all_projects.count(), User.objects.count(), Assignment.objects.count())
    with pytest.raises(ImportRefused) as refused:
        restore_project(slug="again", path=path, by=None)
    assert (Project.all_projects.count(), User.objects.count(), Assignment.objects.count()) == kept
    (problem,) = refused.value.problems
    return problem.file, problem.line, problem.column


def test_an_archive_that_is_cut_is_refused(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    path.write_bytes(path.read_bytes()[:-1000])
    assert refusal(path) == ("a.zip", None, "")


def test_a_flipped_byte_is_found(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    # Behind the head of the first file, whose name is 13 characters long: 30 + 13 + 20 of its size field.
    content[90] ^= 0xFF
    path.write_bytes(bytes(content))
    assert refusal(path) == ("project.jsonl", None, "")


def test_an_edited_file_is_named(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    files = files_of(path)
    files["verdicts.jsonl"] = files["verdicts.jsonl"].replace(b'"no"', b'"yes"', 1)
    assert refusal(packed_again(path, files, signed=False)) == ("verdicts.jsonl", None, "")
    files = files_of(path)
    assert refusal(packed_again(path, {**files, "more.jsonl": b"{}\n"}, signed=False))[0] == "more.jsonl"
    del files["claims.jsonl"]
    assert refusal(packed_again(path, files, signed=False))[0] == "claims.jsonl"


def test_files_that_do_not_belong_there_are_refused_before_they_are_read(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    files = files_of(path)
    # Listed with its checksum, as somebody would who edits with care.
    listed = json.loads(files[MANIFEST])
    listed["files"].append({"file": "../../evil.jsonl"})
    signed = {**files, "../../evil.jsonl": b"{}\n", MANIFEST: json.dumps(listed).encode()}
    assert refusal(packed_again(path, signed, signed=True))[0] == "../../evil.jsonl"
    swollen = packed_again(path, {**files, "events.jsonl": bytes(20 * 1024**2)}, signed=False)
    assert swollen.stat().st_size < 1024**2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "_digest", None)
        assert refusal(swollen)[0] == "events.jsonl"
        patch.setattr(read, "_MOST_SWOLLEN", 10)
        assert refusal(packed_again(path, files_of(swollen), signed=True))[0] == "events.jsonl"


@pytest.mark.parametrize("file", [MANIFEST, "claims.jsonl"])
def test_a_file_that_is_there_twice_is_refused(full: World, tmp_path: Path, file: str) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as packed, pytest.warns(UserWarning, match="Duplicate name"):
        packed.writestr(file, packed.read(file))
    assert refusal(path)[0] == file


def test_a_newer_version_is_refused(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    files = files_of(path)
    newer = {**json.loads(files[MANIFEST]), "version": VERSION + 1}
    files[MANIFEST] = json.dumps(newer).encode()
    assert refusal(packed_again(path, files, signed=False)) == (MANIFEST, None, "version")


def test_an_older_version_lacks_what_came_later(
    full: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    files = files_of(path)
    [about] = rows_in(path, "project")
    del about["licence"]
    files["project.jsonl"] = f"{json.dumps(about)}\n".encode()
    manifest = json.loads(files.pop(MANIFEST))
    manifest["files"] = [each for each in manifest["files"] if each["file"] != "comments.jsonl"]
    del files["comments.jsonl"]
    older = packed_again(path, {**files, MANIFEST: json.dumps(manifest).encode()}, signed=True)
    # As long as nothing says that these came later they are missing.
    assert refusal(older)[0] == "comments.jsonl"
    later = {"project": {"added": {"licence": VERSION + 1}}, "comments": {"since": VERSION + 1}}
    kinds = tuple(replace(kind, **later.get(kind.name, {})) for kind in KINDS)
    for module in (read, restore):
        monkeypatch.setattr(module, "KINDS", kinds)
        monkeypatch.setattr(module, "VERSION", VERSION + 1)
    report = restore_project(slug="again", path=older, by=None)
    assert (report.project.licence, report.project.provenance) == ("", "Made up for tests.")
    assert (report.rows["comments"], report.rows["verdicts"] > 0) == (0, True)
    assert list(differences(report.project)) == []


def test_what_an_archive_holds_changes_with_its_version_alone() -> None:
    """Whoever adds a field or a kind raises VERSION, and says there since when it is there."""
    held = [
        [kind.name, [cell.name for cell in kind.cells if cell.since == 1]]
        for kind in KINDS
        if kind.since == 1
    ]
    assert hashlib.sha256(json.dumps(held).encode()).hexdigest()[:12] == "c7b3d79ea529"
    assert max(cell.since for kind in KINDS for cell in kind.cells) == VERSION


@pytest.mark.parametrize(
    ("kind", "line", "changes", "column"),
    [
        ("verdicts", 2, {"label": "maybe"}, "label"),
        ("verdicts", 3, {"check_row": "a" * 16}, "check_row"),
        ("verdicts", 1, {"person": "somebody"}, "person"),
        ("claims", 2, {"weight": "heavy"}, "weight"),
        ("claims", 2, {"weight": -1.0}, ""),
        ("claims", 2, {"weight": 10**400}, "weight"),
        ("units", 2, {"start": -5}, "start"),
        ("summaries", 1, {"created_at": "yesterday"}, "created_at"),
        ("summaries", 1, {"created_at": "0001-01-01T00:00:00+12:00"}, "created_at"),
        ("documents", 1, {"added": 1}, "added"),
        ("drawn_checks", 1, {"inclusion_probability": 0.0}, ""),
        ("draws", 1, {"frame": "{}"}, "frame"),
        ("project", 1, {"composite_weight": 7.0}, ""),
        ("scores", 1, {"flags": [1]}, "flags"),
    ],
)
def test_an_edited_line_is_named_even_where_checksums_were_edited_too(
    full: World, tmp_path: Path, kind: str, line: int, changes: dict[str, Any], column: str
) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    assert refusal(with_row(path, kind, line, **changes)) == (f"{kind}.jsonl", line, column)


def test_a_row_that_is_there_twice_is_named(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    twin = rows_in(path, "claims")[0]["id"]
    assert refusal(with_row(path, "claims", 3, id=twin))[:2] == ("claims.jsonl", 3)


def test_the_command_restores_and_tells(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    with pytest.raises(CommandError, match="--map, --dry-run: not for an archive"):
        call_command("import_dataset", "again", str(path), "--create", "--dry-run", "--map", "system=m")
    assert not Project.objects.filter(slug="again").exists()
    out = io.StringIO()
    call_command("import_dataset", "again", str(path), create=True, stdout=out)
    assert "a.zip: archive, restored as again" in out.getvalue()
    assert re.search(r"verdicts +\d+\n", out.getvalue())
    with pytest.raises(CommandError, match="already a project"):
        call_command("import_dataset", "again", str(path), create=True)


def test_an_archive_comes_alone(full: World, tmp_path: Path) -> None:
    path = archived(full.project, tmp_path / "a.zip")
    with pytest.raises(ImportRefused, match="Import it alone"):
        import_files(project=full.other_project, files=[NamedFile("a.zip", path)] * 2, by=None)
