"""How far an export is, and what is left of one that is cancelled."""

from __future__ import annotations

import signal
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.db import connection, transaction

from annotation import perform_job
from annotation.core import jobs
from annotation.core.refusals import Conflict, NotAllowed
from annotation.core.tables.formats import FORMAT_NAMES
from annotation.core.tables.pseudonyms import People
from annotation.exports.background import perform_claimed
from annotation.exports.levels import BUNDLE, LEVELS
from annotation.exports.progress import ExportProgress
from annotation.exports.queries import rows_of, state_of
from annotation.exports.services import cancel_export, request_export
from annotation.exports.write import write_file
from annotation.models import Event, Export, Job, Score
from tests.annotation.conftest import HTMX
from tests.annotation.judging.processes import start_manage, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

ROOM = "/p/harbour/exports/"
API = "/api/v1/projects/harbour/exports/"


def asked_for(world: World, level: str = "scores", format_name: str = "csv") -> Export:
    return request_export(project=world.project, level=level, format=format_name, by=world.mona)


def files(export: Export) -> list[str]:
    """What is kept of it, and what lies where it was being written."""
    folders = (Path(settings.VAR_DIR) / "exports" / export.public_id, Path(settings.VAR_DIR) / "tmp")
    return [path.name for folder in folders for path in folder.rglob("*")]


def again(export: Export) -> Export:
    return Export.objects.get(pk=export.pk)


class Stop(Exception):
    pass


class AfterWrites(ExportProgress):
    """Ends the export at the n-th time that something is written."""

    def __init__(self, writes: int) -> None:
        super().__init__()
        self.left = writes

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stop


def test_the_rows_that_will_be_follow_from_the_document_sets_that_are_done() -> None:
    progress = ExportProgress()
    # Of 4 sets the first has 2 rows, the second 4, the third none and the fourth 1.
    rows = [("p", name) for name in ("a", "a", "b", "b", "b", "b", "d")]
    told = [(progress.rows, progress.expected) for _ in progress.counted(rows, sets=4)]
    # Before "b": 2 rows of a quarter of the sets are 8; before "d": 6 of the half, as far as is known, are 12.
    assert told == [(1, 0), (2, 0), (3, 8), (4, 8), (5, 8), (6, 8), (7, 12)]


def test_parts_of_a_bundle_count_together() -> None:
    progress = ExportProgress()
    list(progress.counted([("p", "a"), ("p", "b")], sets=2, part=0, parts=2))
    # 1 row of the first of 4 halves of a part.
    assert (progress.rows, progress.expected) == (2, 4)
    list(progress.counted([("p", None)], sets=2, part=1, parts=2))
    assert (progress.rows, progress.expected) == (3, 4)


@pytest.mark.django_db
@pytest.mark.parametrize("level", [*LEVELS, BUNDLE])
def test_the_rows_counted_are_the_rows_written(world: World, tmp_path: Path, level: str) -> None:
    progress = ExportProgress()
    manifest = write_file(
        project=world.project,
        people=People(world.project),
        level=level,
        format_name="jsonl",
        path=tmp_path / "out",
        progress=progress,
    )
    assert manifest["rows"] == progress.rows


@pytest.mark.django_db
@pytest.mark.parametrize("writes", [0, 1, 5])
@pytest.mark.parametrize(
    ("level", "format_name"),
    [
        *(("claims", name) for name in FORMAT_NAMES),
        (BUNDLE, "csv"),
    ],
)
def test_one_that_is_stopped_amid_leaves_nothing(
    world: World, tmp_path: Path, level: str, format_name: str, writes: int
) -> None:
    try:
        write_file(
            project=world.project,
            people=People(world.project),
            level=level,
            format_name=format_name,
            path=tmp_path / "out",
            progress=AfterWrites(writes),
        )
    except Stop:
        assert list(tmp_path.iterdir()) == []
    else:
        # So small a file is written at once.
        assert writes > 0


@pytest.mark.django_db
def test_one_that_waits_is_cancelled_at_once(world: World, signed_in: Callable[[User], Client]) -> None:
    export, mona = asked_for(world), signed_in(world.mona)
    answer = mona.post(f"{ROOM}{export.public_id}/cancel/", headers=HTMX).content.decode()
    assert answer.lstrip().startswith('<section id="export-list"')
    assert ("cancelled" in answer, "every 2s" in answer) == (True, False)
    assert state_of(again(export)) == "cancelled"
    assert Event.objects.get(verb="cancel export").actor == world.mona
    assert jobs.take() == []
    with pytest.raises(Conflict):
        cancel_export(export=export, by=world.mona)


@pytest.mark.django_db
def test_the_api_cancels_and_tells(world: World, client_of: ApiDoor) -> None:
    export, vic = asked_for(world), client_of("vic")
    Job.objects.filter(export=export).update(done=1200, total=5000)
    shown = vic.get(f"{API}{export.public_id}/").json()
    assert (shown["rows_written"], shown["rows_expected"]) == (1200, 5000)
    told = vic.post(f"{API}{export.public_id}/cancel/")
    assert (told.status_code, told.json()["state"]) == (200, "cancelled")
    assert vic.post(f"{API}{export.public_id}/cancel/").json()["error"]["code"] == "over"
    told = vic.get(f"{API}{export.public_id}/file/").json()["error"]
    assert (told["code"], "it is cancelled. Export again." in told["message"]) == ("over", True)


@pytest.mark.django_db
def test_the_page_tells_how_far_it_is(world: World, signed_in: Callable[[User], Client]) -> None:
    export = asked_for(world)
    jobs.take()
    Job.objects.filter(export=export).update(done=1200, total=5000)
    assert "1,200 of about 5,000 rows" in signed_in(world.mona).get(ROOM, headers=HTMX).content.decode()


@pytest.mark.django_db
def test_whoever_may_not_export_cancels_nothing(world: World) -> None:
    with pytest.raises(NotAllowed):
        cancel_export(export=asked_for(world), by=world.rex)


@pytest.mark.django_db(transaction=True)
def test_a_written_one_is_over(world: World) -> None:
    export = asked_for(world)
    perform_job.pull(jobs.Lane.EXPORTS)
    assert (state_of(again(export)), rows_of(again(export))) == ("done", (4, 4))
    with pytest.raises(Conflict):
        cancel_export(export=export, by=world.mona)


@pytest.mark.django_db(transaction=True)
def test_one_that_is_cancelled_before_it_is_called_finished_leaves_no_file(world: World) -> None:
    export = asked_for(world)
    [claimed] = jobs.take()
    cancel_export(export=export, by=world.mona)
    with pytest.raises(jobs.StoppedJob):
        perform_claimed(claimed)
    assert (state_of(again(export)), files(export)) == ("cancelled", [])


@pytest.mark.django_db(transaction=True)
def test_who_lost_the_job_leaves_the_file_of_who_has_it(world: World) -> None:
    export = asked_for(world)
    [slow] = jobs.take()
    assert slow.job.export == export
    Job.objects.update(lease_until="2020-01-01T00:00Z")
    jobs.reap()
    perform_job.pull(jobs.Lane.EXPORTS)
    written = files(export)
    # As if it had been writing all the while.
    Export.objects.update(finished_at=None)
    with pytest.raises(jobs.StoppedJob):
        perform_claimed(slow)
    assert written == ["harbour-scores.csv"]
    assert files(export) == written


@pytest.fixture
def held_up(transactional_db: None, world: World) -> Any:
    """Whoever reads the scores waits; not so on SQLite, where nobody who reads waits."""
    if connection.vendor == "sqlite":
        pytest.skip("nothing holds up a reader of SQLite")

    def hold_up(act: Callable[[], None]) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {Score._meta.db_table} IN ACCESS EXCLUSIVE MODE")
            act()

    return hold_up


def is_waited_for() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessShareLock'")
        return bool(cursor.fetchone()[0])


def test_one_under_way_ends_when_it_is_cancelled(held_up: Any, world: World) -> None:
    export = asked_for(world)

    def work() -> None:
        try:
            perform_job.pull(jobs.Lane.EXPORTS)
        finally:
            connection.close()

    worker = threading.Thread(target=work)

    def amid() -> None:
        worker.start()
        wait_until(is_waited_for)
        cancel_export(export=again(export), by=world.mona)

    held_up(amid)
    worker.join(60)
    assert (state_of(again(export)), files(export)) == ("cancelled", [])
    assert again(export).finished_at is None


def test_ctrl_c_ends_the_command_without_half_a_file(
    held_up: Any, subprocess_env: dict[str, str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    ended: list[subprocess.Popen[str]] = []

    def amid() -> None:
        command = start_manage(
            subprocess_env,
            *("export_dataset", "harbour", "--level", "scores", "--format", "csv"),
            *("-o", str(out / "scores.csv")),
        )
        ended.append(command)
        wait_until(is_waited_for)
        command.send_signal(signal.SIGINT)
        command.wait(60)

    held_up(amid)
    told = ended[0].stderr.read() if ended[0].stderr else ""
    assert (ended[0].returncode, list(out.iterdir())) == (130, [])
    assert "Cancelled" in told
    assert "Traceback" not in told
