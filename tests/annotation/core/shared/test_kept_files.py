from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from annotation import perform_job
from annotation.config.environment import kept_files
from annotation.core.shared import kept_files as files
from annotation.exports.services import request_export
from annotation.imports.containers import NamedFile
from annotation.imports.work import import_kept, keep_upload
from annotation.models import DocumentSet, Import, Job
from tests.annotation.exports.doing import perform
from tests.annotation.imports.files import jsonl, nested

if TYPE_CHECKING:
    from tests.annotation.cast import World


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import boto3

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "for-tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "for-tests")
    boto3.client("s3", endpoint_url=s3, region_name="us-east-1").create_bucket(Bucket="coverdict")
    place = f"s3://coverdict/{tmp_path.name}?endpoint={quote(s3)}&region=us-east-1"
    settings.STORAGES = {**settings.STORAGES, "kept": kept_files(place)}


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    place = tmp_path / "shared"
    settings.STORAGES = {**settings.STORAGES, "kept": kept_files(str(place))}
    return place


@pytest.fixture(params=["folder", "bucket"])
def _either(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(request.param)


@pytest.mark.usefixtures("_either")
def test_a_file_is_kept_replaced_fetched_and_forgotten(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"first")
    files.keep("imports/a/1", source)
    source.write_bytes(b"second")
    files.keep("imports/a/1", source)
    files.keep("imports/b/1", source, moved=True)
    assert files.size_of("imports/a/1") == len(b"second")
    with files.opened("imports/b/1") as stream:
        assert stream.read() == b"second"
    with files.at_hand(["imports/a/1", "imports/b/1"]) as paths:
        assert [path.read_bytes() for path in paths] == [b"second", b"second"]
    found = dict(files.folders_in("imports"))
    assert set(found) == {"a", "b"}
    assert all(abs(kept_at - timezone.now()) < timedelta(minutes=5) for kept_at in found.values())
    files.forget("imports/a")
    files.forget("imports/a")
    assert files.size_of("imports/a/1") is None
    assert set(dict(files.folders_in("imports"))) == {"b"}
    with pytest.raises(FileNotFoundError):
        files.opened("imports/a/1")
    files.forget("imports/b")


@pytest.mark.usefixtures("_either")
def test_a_folder_that_is_not_there_holds_nothing() -> None:
    assert list(files.folders_in("nowhere")) == []
    files.forget("nowhere")


def test_in_a_folder_a_file_is_for_its_owner_alone_and_nothing_of_one_that_is_forgotten_stays(
    folder: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"text")
    files.keep("exports/a/one.csv", source, moved=True)
    assert stat.S_IMODE((folder / "exports" / "a" / "one.csv").stat().st_mode) == 0o600
    assert not source.exists()
    files.forget("exports/a")
    assert list((folder / "exports").iterdir()) == []


@pytest.mark.usefixtures("bucket")
def test_an_export_written_on_one_host_is_downloaded_from_another_by_those_who_may(
    world: World, client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path / "host of the worker"
    export = request_export(project=world.project, level="claims", format="csv", by=world.mona)
    perform(export)
    settings.VAR_DIR = tmp_path / "host of the web server"
    address = f"/p/harbour/exports/{export.public_id}/download/"
    client.force_login(world.mona)
    answer = client.get(address)
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert (len(content), int(answer["Content-Length"])) == (export.manifest["bytes"],) * 2
    client.force_login(world.ana)
    assert client.get(address).status_code == 403
    client.force_login(world.users["dan"])
    assert client.get(address).status_code == 404
    files.forget(f"exports/{export.public_id}")
    client.force_login(world.mona)
    assert client.get(address).status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("bucket")
def test_files_sent_to_one_host_are_imported_by_another(world: World, settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "host of the web server"
    file = NamedFile("sets.jsonl", jsonl(tmp_path, nested(doc_id="new-1")))
    settings.IMPORT_BACKGROUND_BYTES = 0
    asked = keep_upload(project=world.project, files=[file], by=world.mona)
    import_kept(asked=asked, by=world.mona)
    file.path.unlink()
    settings.VAR_DIR = tmp_path / "host of the worker"
    perform_job.work_on(Job.Kind.IMPORT)
    assert Import.objects.get(pk=asked.pk).refusal is None
    assert DocumentSet.objects.filter(project=world.project, external_id="new-1").exists()
    assert dict(files.folders_in("imports")) == {}


@pytest.mark.parametrize(
    "place", ["gs://bucket", "s3://", "s3://bucket?key=k", "https://bucket.example.org/x"]
)
def test_another_kind_of_place_is_refused(place: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="COVERDICT_FILES is a folder, or s3://"):
        kept_files(place)
