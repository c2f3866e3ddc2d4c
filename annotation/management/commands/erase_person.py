from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.refusals import Refusal
from annotation.management.named import person_named
from annotation.privacy.erase_person import erase_person


class Command(BaseCommand):
    requires_system_checks = ()
    help = (
        "Erase a person's identifying data; their answers stay under a pseudonym, and scores do not change."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--remove-texts", action="store_true", help="also erase their reasons, notes and comments"
        )
        parser.add_argument("--dry-run", action="store_true", help="only list what would be erased")

    def handle(self, *_: Any, username: str, remove_texts: bool, dry_run: bool, **__: Any) -> None:
        person = person_named(username)
        try:
            gone = erase_person(person=person, remove_texts=remove_texts, dry_run=dry_run)
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        for what, count in sorted(gone.items()):
            if count:
                self.stdout.write(f"{what}: {count}")
        self.stdout.write("Nothing was changed." if dry_run else f"Erased; now called {person.username}.")
