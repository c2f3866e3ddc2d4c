"""Restore a backup into an empty installation."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.backups import BackupError, restore_backup
from annotation.models import Project
from annotation.operator_commands import as_typed


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Restore a backup into an empty database and migrate it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="what `backup` wrote")

    def handle(self, *_: Any, file: Path, **__: Any) -> None:
        try:
            manifest, erased = restore_backup(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        count = Project.objects.count()
        prove = as_typed("verify_scores", "PROJECT")
        self.stdout.write(
            f"Restored {count:,} {'project' if count == 1 else 'projects'} as of {manifest.made_at}, from version "
            f"{manifest.version}. Prove the scores of each, then start Coverdict: {prove}"
        )
        for told in erased.left_to_do:
            self.stderr.write(told)
        if erased.failures:
            sys.exit(1)
        journal = settings.COVERDICT_ERASURES
        if not journal.exists():
            self.stderr.write(
                f"There is no journal of erasures at {journal}. If anybody or anything was erased since the backup, "
                "put the journal of the old installation there, and run this before people come back: "
                f"{as_typed('apply_erasures')}"
            )
