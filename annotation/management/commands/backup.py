"""Back up the whole installation."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.backups import BackupError, note_backup, write_backup


class Command(BaseCommand):
    help = "Back up the database and its files to one file while Coverdict runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="the zip to write; existing files are not overwritten"
        )

    def handle(self, *_: Any, file: Path, **__: Any) -> None:
        try:
            manifest = write_backup(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        try:
            note_backup(file)
        except OSError as error:
            self.stderr.write(
                f"Warning: {error.filename} could not be written ({error.strerror}): the page Status will not show "
                "this backup."
            )
        size = file.stat().st_size / 1e6
        self.stdout.write(
            f"Wrote {file}: the database and {len(manifest.files) - 1:,} files, {size:,.1f} MB."
        )
