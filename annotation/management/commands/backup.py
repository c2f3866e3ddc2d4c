"""Back up the whole installation."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.backups import BackupError, name_by_time, note_backup, remove_older, write_backup


class Command(BaseCommand):
    help = "Back up the database and its files to one file while Coverdict runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            metavar="FILE",
            type=Path,
            help="the zip to write, or a folder for one named by its time; existing files are not overwritten",
        )
        parser.add_argument(
            "--keep", metavar="N", type=int, help="in a folder, remove all but the newest N backups named so"
        )

    def handle(self, *_: Any, file: Path, keep: int | None, **__: Any) -> None:
        folder = file if file.is_dir() else None
        if keep is not None and (folder is None or keep < 1):
            raise CommandError("--keep takes a number from 1 on and the name of an existing folder.")
        if folder is not None:
            file = folder / name_by_time()
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
        if folder is not None and keep is not None:
            for old in remove_older(folder, keep=keep):
                self.stdout.write(f"Removed {old}.")
