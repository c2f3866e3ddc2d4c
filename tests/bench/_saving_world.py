"""Fill a database for the measurement of saving, and print as JSON whom and what to save.

100 document sets x 25 systems, 8 assessors with 25 sets each, of which all but the first are judged; and a
second project with 200 small sets in its queue. Run with the settings of the benchmark.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import django
from django.core.management import call_command
from django.db import connection, transaction

from tests.bench import _texts

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project, Sitting, Summary

SETS, SYSTEMS, PEOPLE, WAITING = 100, 25, 8, 200
ASSESSORS_PER_SET = 2
PASSWORD = "a password of the benchmark"
QUESTION_SET = "duc2002"


def make() -> dict[str, Any]:
    """Migrate, fill, and tell."""
    from django.contrib.auth.models import User

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        people = [User.objects.create_user(f"assessor{n}", password=PASSWORD) for n in range(PEOPLE)]
        sittings = judged(_study(people))
        _queue(people)
    if connection.vendor == "postgresql":
        # A running server does so by itself, a minute after rows came in.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    return {
        "password": PASSWORD,
        "people": [
            told(person, next(each for each in sittings if each.assessor == person)) for person in people
        ],
    }


def _study(people: list[User]) -> Project:
    from annotation.assessing.services.assign import assign_sets
    from annotation.models import DocumentSet, Summary, System

    project = _project("study", people, question_set=QUESTION_SET)
    systems = System.objects.bulk_create(System(project=project, name=f"s{n:02}") for n in range(SYSTEMS))
    sets = DocumentSet.objects.bulk_create(
        DocumentSet(project=project, external_id=f"d{n:03}") for n in range(SETS)
    )
    rows = []
    for number, document_set in enumerate(sets):
        rows.append(Summary(document_set=document_set, is_model=True, text=" ".join(_texts.claims(number))))
        rows += [
            Summary(
                document_set=document_set,
                system=system,
                is_peer=True,
                target_words=100,
                text=_texts.summary(number, nth),
            )
            for nth, system in enumerate(systems)
        ]
    _with_units(rows)
    assign_sets(project=project, people=people, per_set=ASSESSORS_PER_SET, by=None)
    return project


def _queue(people: list[User]) -> None:
    from annotation.models import DocumentSet, Summary, System

    project = _project("queue", people, question_set="none")
    system = System.objects.create(project=project, name="s")
    sets = DocumentSet.objects.bulk_create(
        DocumentSet(project=project, external_id=f"q{n:03}") for n in range(WAITING)
    )
    text = "The harbour closes."
    models = [Summary(document_set=each, is_model=True, text=text) for each in sets]
    _with_units(
        models + [Summary(document_set=each, is_peer=True, system=system, text=text) for each in sets]
    )
    project.assessors_per_set = 1
    project.save(update_fields=["assessors_per_set"])


def _project(slug: str, people: list[User], *, question_set: str) -> Project:
    from annotation.models import Membership, Project, Role

    project = Project.objects.create(slug=slug, name=slug, question_set=question_set)
    Membership.objects.bulk_create(
        Membership(project=project, user=person, roles=[Role.ASSESSOR]) for person in people
    )
    return project


def _with_units(summaries: list[Summary]) -> None:
    """Store the summaries with a unit for each sentence, and compare each peer with the model of its set."""
    from annotation.models import Comparison, Summary, Unit
    from evaluation.text import sentence_spans

    Summary.objects.bulk_create(summaries)
    Unit.objects.bulk_create(
        Unit(summary=summary, position=position, start=span.start, end=span.end)
        for summary in summaries
        for position, span in enumerate(sentence_spans(summary.text), start=1)
    )
    models = {each.document_set_id: each for each in summaries if each.is_model}
    Comparison.objects.bulk_create(
        Comparison(peer=each, model=models[each.document_set_id]) for each in summaries if each.is_peer
    )


def judged(project: Project) -> list[Sitting]:
    """Judge all that the people have but the first set of each, and answer every quality question."""
    from annotation.models import Sitting, SummaryJudgment, Unit, UnitJudgment
    from evaluation.metrics import quality_questions

    answers = {question.id: question.first for question in quality_questions(QUESTION_SET)}
    sittings = list(
        Sitting.objects.filter(document_set__project=project).select_related("assessor").order_by("pk")
    )
    begun = {sitting.assessor_id: sitting.pk for sitting in reversed(sittings)}
    units: dict[int, list[int]] = {}
    for key, summary_id in Unit.objects.filter(summary__is_model=True).values_list("pk", "summary_id"):
        units.setdefault(summary_id, []).append(key)
    for sitting in sittings:
        rows = list(sitting.assignments.values_list("pk", "comparison__peer_id", "comparison__model_id"))
        SummaryJudgment.objects.bulk_create(
            SummaryJudgment(sitting=sitting, peer_id=peer_id, quality_answers=answers)
            for _, peer_id, _ in rows
        )
        if sitting.pk != begun[sitting.assessor_id]:
            UnitJudgment.objects.bulk_create(
                UnitJudgment(assignment_id=key, unit_id=unit, percent=40, marks=[1, 2])
                for key, _, model_id in rows
                for unit in units[model_id]
            )
    return sittings


def told(person: User, sitting: Sitting) -> dict[str, Any]:
    from annotation.models import Unit

    rows = sitting.assignments.order_by("position").values_list("pk", "public_id", "comparison__model_id")
    assignments = list(rows)
    model_id = assignments[0][2]
    units = list(Unit.objects.filter(summary=model_id).order_by("position").values_list("pk", "public_id"))
    return {
        "username": person.username,
        "sitting": sitting.public_id,
        "acts": [(a[1], u[1]) for a, u in itertools.product(assignments, units)],
        "rows": [(a[0], u[0]) for a, u in itertools.product(assignments, units)],
    }


if __name__ == "__main__":
    django.setup()
    print(json.dumps(make()))
