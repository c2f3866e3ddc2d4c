from pathlib import Path

import pytest
from django.conf import settings

from annotation.assessing.services.assign import assign
from annotation.core.refusals import Conflict, Invalid, NotAllowed, NotFound
from annotation.exports.services import open_export, request_export, write_export
from annotation.models import Event, Export, Job, Membership, Role
from annotation.reviewing.services.review import override
from tests.annotation.cast import World
from tests.annotation.exports.doing import perform


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


def write(world: World, path: Path, by: str | None, **changes: object) -> dict[str, object]:
    request = {"level": "scores", "format": "jsonl", **changes}
    person = None if by is None else world.users[by]
    return write_export(project=world.project, path=path, by=person, **request)  # type: ignore[arg-type]


def test_whoever_is_blind_gets_no_export(world: World, out: Path) -> None:
    Membership.objects.filter(user=world.mona).update(roles=[Role.MANAGER, Role.ASSESSOR])
    assign(document_set=world.sets["port"], assessor=world.mona, by=world.olga)
    with pytest.raises(NotAllowed) as refusal:
        write(world, out, "mona")
    assert refusal.value.code == "blind"


def test_names_are_for_owners(world: World, out: Path) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="no")
    with pytest.raises(NotAllowed) as refusal:
        write(world, out, "mona", level="claims", named_people=True)
    assert refusal.value.code == "names_for_owners"
    manifest = write(world, out, "olga", level="claims", named_people=True)
    assert manifest["people"] == "names"
    assert '"decided_by":"rex"' in out.read_text().replace(": ", ":")


@pytest.mark.parametrize(("field", "value"), [("level", "everything"), ("format", "xlsx")])
def test_an_unknown_choice_is_refused_with_those_there_are(
    world: World, out: Path, field: str, value: str
) -> None:
    with pytest.raises(Invalid, match="Take ") as refusal:
        write(world, out, None, **{field: value})
    assert refusal.value.field == field


def test_a_missing_folder_is_refused(world: World, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="a folder that exists"):
        write(world, tmp_path / "missing" / "out.jsonl", None)


def test_an_export_is_logged(world: World, out: Path) -> None:
    manifest = write(world, out, "vic")
    event = Event.objects.get(verb="export")
    assert (event.actor, event.target_id) == (world.vic, world.project.public_id)
    assert event.data == {
        "level": "scores",
        "format": "jsonl",
        "people": "pseudonyms",
        "file": "out.jsonl",
        "rows": 4,
        "sha256": manifest["sha256"],
    }


def test_a_request_waits_as_a_job(world: World) -> None:
    export = request_export(project=world.project, level="units", format="csv", by=world.mona)
    job = Job.objects.get(export=export)
    assert (job.state, job.finished_at, export.manifest) == (Job.State.WAITING, None, {})
    assert Event.objects.get(verb="request export").target_id == export.public_id


def test_a_refused_request_queues_nothing(world: World) -> None:
    with pytest.raises(NotAllowed):
        request_export(project=world.project, level="units", format="csv", by=world.rex)
    assert not Export.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("level", "format_name", "name"),
    [("scores", "parquet", "harbour-scores.parquet"), ("bundle", "csv", "harbour-bundle.zip")],
)
def test_a_requested_export_ends_in_a_download(world: World, level: str, format_name: str, name: str) -> None:
    export = request_export(project=world.project, level=level, format=format_name, by=world.mona)
    perform(export)
    assert export.job.finished_at is not None
    assert export.path == f"{export.public_id}/{name}"
    stream, shown_name = open_export(export, by=world.vic)
    with stream:
        content = stream.read()
    assert content
    assert shown_name == name
    written = Path(settings.VAR_DIR) / "exports" / export.path
    assert written.read_bytes() == content
    assert list((Path(settings.VAR_DIR) / "tmp").iterdir()) == []
    assert export.manifest["bytes"] == len(content)


def test_whoever_left_before_the_work_began_gets_nothing(world: World) -> None:
    export = request_export(project=world.project, level="scores", format="jsonl", by=world.mona)
    Membership.objects.filter(user=world.mona).delete()
    with pytest.raises(NotFound):
        perform(export)
    assert Export.objects.get().manifest == {}


def test_an_unfinished_export_cannot_be_opened(world: World) -> None:
    export = request_export(project=world.project, level="scores", format="jsonl", by=world.mona)
    with pytest.raises(Conflict) as refusal:
        open_export(export, by=world.mona)
    assert refusal.value.code == "unfinished"


def test_an_export_with_names_opens_for_owners_alone(world: World) -> None:
    export = request_export(
        project=world.project, level="scores", format="jsonl", by=world.olga, named_people=True
    )
    perform(export)
    open_export(export, by=world.olga)[0].close()
    with pytest.raises(NotAllowed):
        open_export(export, by=world.vic)


def test_a_path_in_the_row_opens_nothing_else(world: World, tmp_path: Path) -> None:
    export = request_export(project=world.project, level="scores", format="jsonl", by=world.olga)
    perform(export)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    export.path = str(secret)
    export.save()
    with open_export(export, by=world.olga)[0] as stream:
        assert b"secret" not in stream.read()


def test_a_file_that_is_gone_says_so(world: World) -> None:
    export = request_export(project=world.project, level="scores", format="jsonl", by=world.olga)
    perform(export)
    (Path(settings.VAR_DIR) / "exports" / export.path).unlink()
    with pytest.raises(NotFound, match="Export again"):
        open_export(export, by=world.olga)
