"""Django's development server, which also prints the setup link if there is no account."""

from __future__ import annotations

from typing import Any

from django.contrib.staticfiles.management.commands.runserver import Command as Runserver

from annotation.management.setup_link import setup_words


class Command(Runserver):
    def on_bind(self, server_port: int) -> None:
        super().on_bind(server_port)
        known: Any = self  # Django's stubs lack the address.
        host = f"[{known.addr}]" if known._raw_ipv6 else known.addr
        if words := setup_words(f"{self.protocol}://{host}:{server_port}"):
            self.stdout.write(words)
