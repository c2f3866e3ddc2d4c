"""An empty project to import into, and a folder for uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from annotation.config.environment import kept_files

if TYPE_CHECKING:
    from pathlib import Path

    from annotation.models import Project


@pytest.fixture
def project(db: None) -> Project:
    from annotation.models import Project

    return Project.objects.create(slug="trams", name="Trams")


@pytest.fixture
def kept_here(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
    settings.STORAGES = {**settings.STORAGES, "kept": kept_files(str(settings.VAR_DIR))}
