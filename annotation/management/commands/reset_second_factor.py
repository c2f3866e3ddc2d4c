from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.accounts.second_factor import reset_second_factor
from annotation.core.refusals import Refusal
from annotation.management.named import person_named


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Remove an account's second factor, so that its person can sign in and set up another one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *_: Any, username: str, **__: Any) -> None:
        try:
            reset_second_factor(person_named(username))
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"The second factor of {username} is reset.")
