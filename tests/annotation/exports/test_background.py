from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings

from annotation import perform_job
from annotation.core import jobs
from annotation.core.refusals import Conflict, NotAllowed
from annotation.core.shared.kept_files import kept_folder
from annotation.exports.services import cancel_export, request_export
from annotation.models import Event, Export, Job
from tests.annotation.conftest import HTMX
from tests.annotation.exports.doing import perform_claimed

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor

ROOM = "/p/harbour/exports/"
API = "/api/v1/projects/harbour/exports/"


def asked_for(world: World) -> Export:
    return request_export(project=world.project, level="scores", format="csv", by=world.mona)


@pytest.fixture(autouse=True)
def _own_scratch(settings: Any, tmp_path: Path) -> None:
    """Keep the temporary files of tests that run at the same time apart."""
    settings.VAR_DIR = tmp_path


def files(export: Export) -> list[str]:
    folders = ((kept_folder() or Path()) / "exports" / export.public_id, Path(settings.VAR_DIR) / "tmp")
    return [path.name for folder in folders for path in folder.rglob("*")]


def again(export: Export) -> Export:
    return Export.objects.get(pk=export.pk)


@pytest.mark.django_db
def test_one_that_waits_is_cancelled_at_once(world: World, signed_in: Callable[[User], Client]) -> None:
    export, mona = asked_for(world), signed_in(world.mona)
    answer = mona.post(f"{ROOM}{export.public_id}/cancel/", headers=HTMX).content.decode()
    assert answer.lstrip().startswith('<section id="list-exports"')
    assert ("cancelled" in answer, "every 2s" in answer) == (True, False)
    assert again(export).job.state == "cancelled"
    assert Event.objects.get(verb="cancel export").actor == world.mona
    assert jobs.take(jobs.due(Job.Kind.EXPORT)) == []
    with pytest.raises(Conflict):
        cancel_export(export=export, by=world.mona)


@pytest.mark.django_db
def test_the_api_tells_how_far_it_is(world: World, client_of: ApiDoor) -> None:
    export, vic = asked_for(world), client_of("vic")
    Job.objects.filter(export=export).update(done=1200)
    assert vic.get(f"{API}{export.public_id}/").json()["rows_written"] == 1200
    cancel_export(export=export, by=world.mona)
    assert vic.get(f"{API}{export.public_id}/").json()["state"] == "cancelled"
    assert vic.get(f"{API}{export.public_id}/file/").json()["error"]["code"] == "over"


@pytest.mark.django_db
def test_whoever_may_not_export_cancels_nothing(world: World) -> None:
    with pytest.raises(NotAllowed):
        cancel_export(export=asked_for(world), by=world.rex)


@pytest.mark.django_db(transaction=True)
def test_a_written_one_is_over(world: World) -> None:
    export = asked_for(world)
    perform_job.work_on(Job.Kind.EXPORT)
    assert (again(export).job.state, again(export).job.done) == ("done", 4)
    with pytest.raises(Conflict):
        cancel_export(export=export, by=world.mona)


@pytest.mark.django_db(transaction=True)
def test_one_that_is_cancelled_before_it_is_called_finished_leaves_no_file(world: World) -> None:
    export = asked_for(world)
    [claimed] = jobs.take(jobs.due(Job.Kind.EXPORT))
    cancel_export(export=export, by=world.mona)
    with pytest.raises(jobs.StoppedJob):
        perform_claimed(claimed)
    assert (again(export).job.state, files(export)) == ("cancelled", [])


@pytest.mark.django_db(transaction=True)
def test_who_lost_the_job_leaves_the_file_of_who_has_it(world: World) -> None:
    export = asked_for(world)
    [slow] = jobs.take(jobs.due(Job.Kind.EXPORT))
    Job.objects.update(lease_until="2020-01-01T00:00Z")
    jobs.reap()
    perform_job.work_on(Job.Kind.EXPORT)
    written = files(export)
    # The slow worker continues after another worker has written the file.
    with pytest.raises(jobs.StoppedJob):
        perform_claimed(slow)
    assert written == ["harbour-scores.csv"]
    assert files(export) == written


@pytest.mark.django_db
def test_small_exports_are_written_first(world: World) -> None:
    large, small = asked_for(world), asked_for(world)
    Job.objects.filter(export=large).update(total=10_000)
    perform_job.work_on(Job.Kind.EXPORT)
    exports = Event.objects.filter(verb="export").order_by("pk")
    assert list(exports.values_list("target_id", flat=True)) == [small.public_id, large.public_id]


def test_two_exports_are_written_at_once_and_one_import() -> None:
    export, bring_in = Job.Kind.EXPORT, Job.Kind.IMPORT
    at_work_on = perform_job.at_work_on
    with at_work_on(export) as first, at_work_on(export) as second, at_work_on(export) as third:
        assert (first, second, third) == (True, True, False)
    with at_work_on(bring_in) as first, at_work_on(bring_in) as second:
        assert (first, second) == (True, False)
