"""Finding rows by the arguments of commands."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from annotation.models import Project
from annotation.operator_commands import as_typed


def project_named(slug: str) -> Project:
    """Return the project with this slug. Raises CommandError, which lists up to 20 slugs."""
    project = Project.objects.select_related("deciding_judge").filter(slug=slug).first()
    if project is not None:
        return project
    slugs = list(Project.objects.order_by("slug").values_list("slug", flat=True)[:20])
    import_one = as_typed("import_dataset", slug, "FILE", "--create")
    known = f"There are: {', '.join(slugs)}." if slugs else f"There is none yet. Import one: {import_one}"
    raise CommandError(f"There is no project {slug!r}. {known}")


def person_named(username: str) -> User:
    """Return the account with this username. Raises CommandError if there is none."""
    person = User.objects.filter(username=username).first()
    if person is None:
        names = list(User.objects.order_by("username").values_list("username", flat=True)[:20])
        known = f"There are: {', '.join(names)}." if names else f"There is none yet: {as_typed('setup_link')}"
        raise CommandError(f"There is no account {username!r}. {known}")
    return person
