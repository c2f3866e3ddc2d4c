"""Print the link that makes the first account of an installation."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.setup_link import setup_words


class Command(BaseCommand):
    help = "Print a link to create the first account, if there is none. It replaces an earlier link."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--address",
            default="http://127.0.0.1:8000",
            help="where the server is reached; http://127.0.0.1:8000 unless named",
        )

    def handle(self, *_: Any, address: str, **__: Any) -> None:
        words = setup_words(address)
        if not words:
            raise CommandError(
                "There is already an account, or there are no tables yet. Sign in, or run migrate first."
            )
        self.stdout.write(words)
