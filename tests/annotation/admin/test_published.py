"""What published tables and annotations of pyramids tell in the admin, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.imports.services import import_files
from annotation.models import Summary
from tests.annotation.imports.duc.packages import pan, stored

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World
    from tests.annotation.conftest import StaffDoor


def test_nobody_reads_an_annotation_off_the_metadata(world: World, staff: StaffDoor, tmp_path: Path) -> None:
    import_files(project=world.project, files=stored(tmp_path, {"D0901-A.M.100.F.12.pan": pan()}), by=None)
    Summary.objects.filter(system__name="12").update(metadata={**the_peer().metadata, "own": "note"})
    page = staff("vic").get(f"/admin/annotation/summary/{the_peer().pk}/change/").content.decode()
    assert "own" in page
    assert "note" in page
    assert "expressed" not in page


def the_peer() -> Summary:
    return Summary.objects.get(system__name="12")
