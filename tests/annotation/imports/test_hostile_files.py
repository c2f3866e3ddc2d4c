from __future__ import annotations

import errno
import io
import json
import time
import zipfile
from io import StringIO
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from pyarrow import parquet

from annotation import perform_job
from annotation.models import Document, Import, Job, Summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

pytestmark = pytest.mark.usefixtures("kept_here")

UPLOAD = "/p/harbour/import/upload/"
API = "/api/v1/projects/harbour/imports/"
MILLION = 1_000_000
SECONDS = 60


def many_columns() -> bytes:
    columns = {name: pa.array([""]) for name in named(20_000)}
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


def one_row_often(count: int) -> bytes:
    row = {"document_id": "d", "document": "Rain fell. " * 500, "system": "alder", "summary": "Rain."}
    again = pa.array([0] * count, pa.int32())
    columns = {name: pa.DictionaryArray.from_arrays(again, pa.array([text])) for name, text in row.items()}
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream, store_schema=False)
    return stream.getvalue()


def named(count: int) -> list[str]:
    return [f"c{number}" for number in range(count)]


def bomb(name: str, size: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"0" * size)
    return stream.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "CSV with a million columns": ("a.csv", lambda: ",".join(named(MILLION)).encode() + b"\n1\n"),
    "JSONL with a million names": ("a.jsonl", lambda: json.dumps(dict.fromkeys(named(MILLION), "")).encode()),
    "JSON with a million names": ("a.json", lambda: json.dumps([dict.fromkeys(named(MILLION), "")]).encode()),
    "Parquet with 20,000 columns": ("a.parquet", many_columns),
    "JSON a million deep": ("a.json", lambda: b"[" * MILLION),
    "JSONL a million deep": ("a.jsonl", lambda: b'{"a":' * MILLION),
    "one line of 10 MB": ("a.jsonl", lambda: b"x" * (10 * 1024 * 1024)),
    "a cell of 10 MB": ("a.csv", lambda: b'document_id\n"' + b"x" * (10 * 1024 * 1024)),
    "Parquet with more than a million rows": ("a.parquet", lambda: one_row_often(MILLION + 1)),
    "Parquet that is none": ("a.parquet", lambda: b"PAR1" + b"\xff" * 1000 + b"PAR1"),
    "a zip bomb": ("a.zip", lambda: bomb("a.jsonl", 600 * 1024 * 1024)),
    "names with bytes of nobody": ("a.csv", lambda: b"\xff\xfe\x00document_id\x00,system\n" * 3),
}


BROKEN_ROWS = {"JSONL a million deep", "one line of 10 MB"}


def counted() -> tuple[int, ...]:
    return tuple(rows.objects.count() for rows in (Document, Summary))


@pytest.mark.parametrize("kind", FILES)
def test_a_hostile_file_is_refused_at_every_door(
    kind: str, world: World, client_of: ApiDoor, signed_in: Callable[[User], Client], tmp_path: Path
) -> None:
    name, make = FILES[kind]
    content = make()
    before = counted()
    path = tmp_path / name
    path.write_bytes(content)
    mona = signed_in(world.mona)

    started = time.monotonic()
    page = mona.post(UPLOAD, {"files": SimpleUploadedFile(name, content)})
    # A file is refused at once, or a row that cannot be read is listed as a problem when the columns are chosen.
    assert page.status_code in (302, 422)
    assert (page.status_code == 302) == (kind in BROKEN_ROWS)
    told = client_of("mona").post(API, {"files": [SimpleUploadedFile(name, content)]}, format="multipart")
    assert told.status_code in (202, 422), told.content
    if told.status_code == 202:
        # A worker reads large files.
        perform_job.work_on(Job.Kind.IMPORT)
        state = client_of("mona").get(told.json()["url"]).json()
        assert (state["state"], state["report"], state["sets_written"]) == ("failed", None, 0)
        assert state["error"]
    with pytest.raises(CommandError):
        call_command("import_dataset", "harbour", str(path), stdout=StringIO(), stderr=StringIO())
    assert time.monotonic() - started < SECONDS
    assert counted() == before


def test_a_small_parquet_file_of_many_rows_is_read_by_a_worker(world: World, client_of: ApiDoor) -> None:
    content = one_row_often(50_000)
    assert len(content) < 12_000
    answer = client_of("mona").post(
        API, {"files": [SimpleUploadedFile("a.parquet", content)]}, format="multipart"
    )
    assert answer.status_code == 202


def test_parquet_is_bounded_by_what_it_unpacks_to(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 1,000 rows of 5,500 characters have 5.5 MB.
    monkeypatch.setattr("annotation.imports.containers.MOST_PARQUET_BYTES", 5_000_000)
    path = tmp_path / "a.parquet"
    path.write_bytes(one_row_often(1_000))
    with pytest.raises(CommandError, match="Split it"):
        call_command("import_dataset", "harbour", str(path), stdout=StringIO(), stderr=StringIO())


class FullDisk(FileSystemStorage):
    def _save(self, name: str, content: Any) -> str:
        super()._save(name, ContentFile(content.read(10)))
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_refuses_an_upload_and_leaves_nothing(
    world: World, client_of: ApiDoor, signed_in: Callable[[User], Client], settings: Any, tmp_path: Path
) -> None:
    where = {"location": str(settings.VAR_DIR), "allow_overwrite": True}
    full = {"BACKEND": "tests.annotation.imports.test_hostile_files.FullDisk", "OPTIONS": where}
    settings.STORAGES = {**settings.STORAGES, "kept": full}
    mona = signed_in(world.mona)
    mona.raise_request_exception = False
    page = mona.post(UPLOAD, {"files": SimpleUploadedFile("a.csv", b"document_id\n1\n")})
    assert (page.status_code, "disk is full" in page.content.decode()) == (507, True)
    large = SimpleUploadedFile("a.parquet", one_row_often(50_000))
    told = client_of("mona").post(API, {"files": [large]}, format="multipart")
    assert (told.status_code, told.json()["error"]["code"]) == (507, "no_space")
    assert not Import.objects.exists()
    assert [path for path in settings.VAR_DIR.rglob("*") if path.is_file()] == []
