"""Django's server for development, which also says how the first account is made."""

from __future__ import annotations

from django.contrib.staticfiles.management.commands.runserver import Command as Runserver

from annotation.management.setup_link import setup_words


class Command(Runserver):
    def on_bind(self, server_port: int) -> None:
        super().on_bind(server_port)
        host = f"[{self.addr}]" if self._raw_ipv6 else self.addr or "127.0.0.1"
        if words := setup_words(f"{self.protocol}://{host}:{server_port}"):
            self.stdout.write(words)
