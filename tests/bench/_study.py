"""A project with judged claims, reviewers, and assessors with open assignments.

As a process it fills a database, and prints the people and the checks.
"""

from __future__ import annotations

import itertools
import json
import sys
from typing import TYPE_CHECKING, Any

from tests.bench import _texts

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import DocumentSet, Project

SLUG = "study"
SETS, SYSTEMS, PEOPLE = 30, 25, 8
PASSWORD = "a password of the benchmark"


def main() -> None:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection, transaction

    from annotation.models import Check, Role

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        project = fill(SETS)
        reviewers = members(project, Role.REVIEWER, PEOPLE)
        assessors = at_work(project, members(project, Role.ASSESSOR, 1))
    with connection.cursor() as cursor:
        # A running server analyses its tables by itself, but later.
        cursor.execute("ANALYZE")
    checks = Check.objects.order_by("queue_key").values_list("public_id", flat=True)
    people = {"reviewers": [each.username for each in reviewers], "assessors": assessors}
    sys.stdout.write(json.dumps({**people, "checks": list(checks)}) + "\n")


def members(project: Project, role: str, count: int) -> list[User]:
    from django.contrib.auth.models import User

    from annotation.models import Membership

    people = [User.objects.create_user(f"{role}{n:02}", password=PASSWORD) for n in range(count)]
    Membership.objects.bulk_create(
        Membership(project=project, user=person, roles=[role]) for person in people
    )
    return people


def at_work(project: Project, people: list[User]) -> list[dict[str, Any]]:
    sets = project.document_sets.order_by("pk")
    return [_given(document_set, person) for document_set, person in zip(sets, people, strict=False)]


def _given(document_set: DocumentSet, person: User) -> dict[str, Any]:
    from annotation.assessing.services.assign import assign

    assignment = assign(document_set=document_set, assessor=person, by=None, seed=1)
    readings = assignment.readings.order_by("position").values_list("public_id", flat=True)
    units = document_set.summaries.get(is_reference=True).units.order_by("position")
    return {
        "username": person.username,
        "assignment": assignment.public_id,
        "acts": list(itertools.product(readings, units.values_list("public_id", flat=True))),
    }


def fill(sets: int) -> Project:
    from annotation.models import Check, DocumentSet, Verdict
    from annotation.scoring.rescore import rescore

    project = _project()
    for number in range(sets):
        document_set = DocumentSet.objects.create(project=project, external_id=f"d{number:03}")
        checks = _of_set(project, document_set, number)
        Check.objects.bulk_create(checks)
        Verdict.objects.bulk_create(
            Verdict(
                check_row=check,
                role="judge",
                judge=project.deciding_judge,
                label="yes" if place % 3 else "no",
                probability=0.5 + place % 50 / 100 if place % 3 else place % 50 / 100,
                evidence=[1],
                reason="Word for word." if place % 3 else "Nothing of it.",
            )
            for place, check in enumerate(checks)
        )
    rescore(project=project)
    return project


def _project() -> Project:
    from annotation.models import Judge, System
    from annotation.projects.services.change_project import create_project

    judge = Judge.objects.create(name="lexical", kind=Judge.Kind.LEXICAL)
    project = create_project(slug=SLUG, name="Study", by=None, deciding_judge=judge)
    System.objects.bulk_create(System(project=project, name=f"s{number:02}") for number in range(SYSTEMS))
    return project


def _of_set(project: Project, document_set: Any, number: int) -> list[Any]:
    from annotation.models import (
        Check,
        Claim,
        ClaimSet,
        Comparison,
        Document,
        Summary,
        Unit,
    )
    from annotation.models.claim import has_number, new_queue_key
    from evaluation.text import sentence_spans

    words = _texts.claims(number)
    document = Document.objects.create(document_set=document_set, position=1, text=_texts.document(number))
    reference = Summary.objects.create(document_set=document_set, is_reference=True, text=" ".join(words))
    summaries = [
        Summary.objects.create(
            document_set=document_set,
            system=system,
            is_summary=True,
            target_words=100,
            text=_texts.summary(number, place),
        )
        for place, system in enumerate(project.systems.order_by("pk"))
    ]
    Comparison.objects.bulk_create(Comparison(summary=summary, reference=reference) for summary in summaries)
    texts: list[tuple[str, dict[str, Any]]] = [(document.text, {"document": document})]
    texts += [(each.text, {"summary": each}) for each in (reference, *summaries)]
    for text, owner in texts:
        Unit.objects.bulk_create(
            Unit(position=place, start=span.start, end=span.end, **owner)
            for place, span in enumerate(sentence_spans(text), start=1)
        )
    units = list(reference.units.order_by("position"))
    claim_set = ClaimSet.objects.create(summary=reference, origin="judge", origin_name="lexical")
    claims = Claim.objects.bulk_create(
        # If two sentences were read as one unit, the last unit has the remaining claims.
        Claim(
            claim_set=claim_set,
            unit=units[min(place, len(units)) - 1],
            position=place,
            text=text,
            origin="judge",
        )
        for place, text in enumerate(words, start=1)
    )
    return [
        Check(
            project=project,
            claim=claim,
            summary=summary,
            document_set_id=summary.document_set_id,
            side="reference",
            has_number=has_number(claim.text),
            queue_key=new_queue_key(),
        )
        for summary in summaries
        for claim in claims
    ]


if __name__ == "__main__":
    main()
