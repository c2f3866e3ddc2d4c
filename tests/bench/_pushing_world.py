"""An empty project for the measurement of pushes, and a manager; or, with "counts", what stands in it by then."""

from __future__ import annotations

import json
import sys
from typing import Any

import django
from django.core.management import call_command

SLUG, USERNAME, PASSWORD = "pushed", "manager", "a password of the benchmark"


def make() -> dict[str, Any]:
    from django.contrib.auth.models import User

    from annotation.models import Membership, Project, Role

    call_command("migrate", verbosity=0)
    person = User.objects.create_user(USERNAME, password=PASSWORD)
    project = Project.objects.create(slug=SLUG, name="Pushed")
    Membership.objects.create(project=project, user=person, roles=[Role.MANAGER])
    return {}


def counts() -> dict[str, int]:
    from annotation.models import Comparison, DocumentSet, Score, Summary

    peers = Summary.objects.filter(is_peer=True)
    return {
        "sets": DocumentSet.objects.count(),
        "peers": peers.count(),
        "references": Summary.objects.filter(is_model=True).count(),
        "comparisons": Comparison.objects.count(),
        "scores": Score.objects.count(),
        "uncut": peers.filter(units=None).count(),
    }


if __name__ == "__main__":
    django.setup()
    sys.stdout.write(json.dumps(counts() if "counts" in sys.argv else make()) + "\n")
