from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.management.setup_link import ADDRESS_HELP, own_address, setup_words
from annotation.operator_commands import as_typed


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Print a link to create an administrator, if there is none. It replaces an earlier link."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--address", default=own_address(), help=ADDRESS_HELP)

    def handle(self, *_: Any, address: str, **__: Any) -> None:
        words = setup_words(address, asked=True)
        if not words:
            raise CommandError(
                f"There is already an administrator. Sign in, or print a link for a new password: "
                f"{as_typed('reset_link', 'USERNAME')}"
            )
        self.stdout.write(words)
