"""After a restored backup: erase again what had been erased since it was made."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.privacy.apply_erasures import apply_erasures


class Command(BaseCommand):
    help = "After restoring a backup: make the erasures again that the journal of erasures names."

    def handle(self, *_: Any, **__: Any) -> None:
        journal = settings.COVERDICT_ERASURES
        if not journal.exists():
            self.stdout.write(f"There is no journal of erasures at {journal}, so nothing was erased.")
            return
        try:
            made = apply_erasures()
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Erased again: {made.people} people, {made.projects} projects; {made.done} no longer existed."
        )
        for told in made.left_to_do:
            self.stderr.write(told)
        if made.failures:
            sys.exit(1)
