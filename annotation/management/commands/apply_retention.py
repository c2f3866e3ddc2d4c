"""Remove what has been kept for as long as it was to be."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.privacy.retention import apply_retention


class Command(BaseCommand):
    help = "Remove data past its retention period, and projects deleted 30 days ago."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count what is due")

    def handle(self, *_: Any, dry_run: bool, **__: Any) -> None:
        removed = apply_retention(dry_run=dry_run)
        for kind, count in sorted(removed.items()):
            self.stdout.write(f"{kind}: {count}")
        if not removed:
            self.stdout.write("Nothing is due.")
