from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.imports.containers import NamedFile
from annotation.imports.work import import_kept, keep_upload

if TYPE_CHECKING:
    from annotation.models import Import, Project

ROWS = "document_id,document,system,summary\n,The quay is new.,alder,It is new.\n"
"""The id is missing."""


def refused_import(project: Project) -> Import:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_text(ROWS, encoding="utf-8")
        asked = keep_upload(project=project, files=[NamedFile("a.csv", path)], by=None)
    import_kept(asked=asked, by=None)
    asked.refresh_from_db()
    return asked
