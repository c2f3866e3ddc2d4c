from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.accounts.services import reset_path
from annotation.core.refusals import Refusal
from annotation.management.named import person_named
from annotation.management.setup_link import ADDRESS_HELP, own_address


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Print a single-use password reset link for an account."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--address", default=own_address(), help=ADDRESS_HELP)

    def handle(self, *_: Any, username: str, address: str, **__: Any) -> None:
        try:
            path = reset_path(person_named(username))
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"{address.rstrip('/')}{path}")
