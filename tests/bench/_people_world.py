"""Fill a database for the measurement of many people at once, and print as JSON who they are and what they do.

The project of `review`, 30 document sets of 25 systems with 7,500 judged checks: 18 assessors who have sets of it,
24 reviewers, 8 managers who read its pages, and an answered random sample of checks. Another project waits for a run of
the judge at PEOPLE_JUDGE. Run with the benchmark's settings.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import django
from django.core.management import call_command
from django.db import connection, transaction

from tests.bench import _saving_world, _volume_world, review

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

ASSESSORS, REVIEWERS, READERS = 18, 24, 8
RUN_SETS, AT_ONCE = 1000, 8
ASSESSORS_PER_SET = 2
SAMPLED_SHARE = 0.02
PASSWORD = "a password of the benchmark"


def main() -> None:
    django.setup()
    from annotation.models import Judge, Project, Role

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        review.fill()
        project = Project.objects.get(slug=review.SLUG)
        project.question_set = _saving_world.QUESTION_SET
        project.save(update_fields=["question_set"])
        told = {
            "password": PASSWORD,
            "assessors": at_work(project, members(project, Role.ASSESSOR, ASSESSORS)),
            "readers": [person.username for person in members(project, Role.MANAGER, READERS)],
            "reviewers": [person.username for person in members(project, Role.REVIEWER, REVIEWERS)],
        }
        _answer_a_sample(project)
        run = Project.objects.create(slug="run", name="Run")
        _volume_world.fill(run, RUN_SETS, 1, with_claims=False)
        Judge.objects.create(
            name="scripted",
            kind="openai",
            model="m",
            base_url=os.environ["PEOPLE_JUDGE"],
            concurrency=AT_ONCE,
        )
    if connection.vendor == "postgresql":
        # A running server does so by itself, a minute after rows came in.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    sys.stdout.write(json.dumps(told) + "\n")


def members(project: Project, role: str, count: int) -> list[User]:
    from django.contrib.auth.models import User

    from annotation.models import Membership

    people = [User.objects.create_user(f"{role}{n:02}", password=PASSWORD) for n in range(count)]
    Membership.objects.bulk_create(
        Membership(project=project, user=person, roles=[role]) for person in people
    )
    return people


def at_work(project: Project, people: list[User]) -> list[dict[str, Any]]:
    from annotation.assessing.services.assign import assign_sets

    assign_sets(project=project, people=people, per_set=ASSESSORS_PER_SET, by=None)
    sittings = _saving_world.judged(project)
    return [
        _saving_world.told(person, next(each for each in sittings if each.assessor == person))
        for person in people
    ]


def _answer_a_sample(project: Project) -> None:
    from django.contrib.auth.models import User

    from annotation.models import Check
    from annotation.reviewing.services.review import override
    from annotation.sampling.services.sample_checks import sample_checks

    drawn = sample_checks(project=project, by=None, method="uniform", share=SAMPLED_SHARE, seed=1)
    reviewer = User.objects.get(username="reviewer00")
    for number, check in enumerate(Check.objects.filter(drawn__draw=drawn).order_by("pk")):
        override(check=check, by=reviewer, label="yes" if number % 5 else "no")


if __name__ == "__main__":
    main()
