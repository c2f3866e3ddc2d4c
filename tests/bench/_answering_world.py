"""Fill a database for the measurement of answers, and print as JSON who answers and what: the project of `review`."""

from __future__ import annotations

import json
import sys
from typing import Any

import django
from django.core.management import call_command
from django.db import connection, transaction

from tests.bench import review

PEOPLE = 8
PASSWORD = "a password of the benchmark"


def make() -> dict[str, Any]:
    """Migrate, fill, and tell."""
    from django.contrib.auth.models import User

    from annotation.models import Check, Membership, Project, Role

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        review.fill()
        project = Project.objects.get(slug=review.SLUG)
        people = [User.objects.create_user(f"reviewer{n}", password=PASSWORD) for n in range(PEOPLE)]
        Membership.objects.bulk_create(
            Membership(project=project, user=person, roles=[Role.REVIEWER]) for person in people
        )
    if connection.vendor == "postgresql":
        # A running server does so by itself, a minute after rows came in.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    checks = Check.objects.order_by("queue_key").values_list("public_id", flat=True)
    return {"password": PASSWORD, "people": [person.username for person in people], "checks": list(checks)}


if __name__ == "__main__":
    django.setup()
    sys.stdout.write(json.dumps(make()) + "\n")
