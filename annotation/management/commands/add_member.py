from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.core.refusals import Refusal
from annotation.management.named import person_named, project_named
from annotation.models import Role
from annotation.projects.services.change_members import set_roles


class Command(BaseCommand):
    requires_system_checks = ()
    help = "Set a person's roles in a project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="slug of the project")
        parser.add_argument("username")
        parser.add_argument("roles", nargs="+", help=", ".join(Role.values))

    def handle(self, *_: Any, project: str, username: str, roles: list[str], **__: Any) -> None:
        row, person = project_named(project), person_named(username)
        try:
            membership = set_roles(project=row, person=person, roles=roles, by=None)
        except Refusal as refusal:
            raise CommandError(refusal.message) from refusal
        self.stdout.write(f"{username} is {', '.join(membership.roles)} in {row.name}.")
