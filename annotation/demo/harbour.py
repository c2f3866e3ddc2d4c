"""The sample project Harbour: a few document sets with people and answers."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.assessing.services.acts import Act, RatingAct, UnitAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.close_assignment import close_assignment
from annotation.assessing.services.save_acts import save_acts
from annotation.core.criteria import asked_of_people
from annotation.demo.people import ANA, BEN, CLEO, DORA, MONA, add_people, user_of
from annotation.imports.containers import NamedFile
from annotation.imports.services import import_files
from annotation.models import (
    Assignment,
    Check,
    Comparison,
    DocumentSet,
    Project,
    Reading,
    Role,
    System,
    Verdict,
)
from annotation.projects.services.change_project import create_project
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User

FOLDER = Path(__file__).parent
SLUG = "harbour"
NAME = "Harbour study"
OPEN_SET = "news-ferry"
PEOPLE = {person.username: person for person in (MONA, ANA, CLEO, BEN, DORA)}
DESCRIPTION = (
    "A word matcher judged these invented summaries. It misses what is said in other words, and takes shared words "
    "for agreement; people's answers show where. A language model judges better."
)


def begin_harbour(by: User | None) -> Project:
    """Create the project with people, texts and assignments, but without verdicts."""
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        project = create_project(slug=SLUG, name=NAME, description=DESCRIPTION, by=by)
    add_people(
        project,
        {
            MONA: (Role.OWNER, Role.MANAGER),
            ANA: (Role.ASSESSOR,),
            CLEO: (Role.REVIEWER, Role.ADJUDICATOR),
            BEN: (Role.ASSESSOR, Role.REVIEWER),
            DORA: (Role.REVIEWER,),
        },
    )
    import_files(project=project, files=[NamedFile("harbour.jsonl", FOLDER / "harbour.jsonl")], by=None)
    # A flat file has no column for the kind of a system, so set it here.
    System.objects.filter(project=project, name="human-b").update(kind=System.Kind.PERSON)
    _add_percents(project, _judgments()["unit_percents"])
    open_set = DocumentSet.objects.get(project=project, external_id=OPEN_SET)
    if not Assignment.objects.filter(document_set=open_set).exists():
        assign(document_set=open_set, assessor=user_of(ANA), by=None)
    return project


def is_harbour_answered(project: Project) -> bool:
    """Return True if the project has a verdict of a reviewer."""
    return Verdict.objects.filter(role=Verdict.Role.REVIEWER, check_row__project=project).exists()


def answer_harbour(project: Project) -> None:
    """Add the reviewers' verdicts to matching checks that they have not answered."""
    for wanted in _judgments()["overrides"]:
        reviewer = user_of(PEOPLE[wanted.get("by", CLEO.username)])
        for check in _matching_checks(project, wanted, reviewer):
            override(check=check, by=reviewer, label=wanted["label"], reason=wanted["reason"])


def _judgments() -> dict[str, Any]:
    judgments: dict[str, Any] = json.loads((FOLDER / "judgments.json").read_text(encoding="utf-8"))
    return judgments


def _add_percents(project: Project, entries: Iterable[dict[str, Any]]) -> None:
    by_assignment: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        by_assignment[entry["assessor"], entry["document_id"]].append(entry)
    for (username, document_id), judged in by_assignment.items():
        assessor = user_of(PEOPLE[username])
        document_set = DocumentSet.objects.get(project=project, external_id=document_id)
        if Assignment.objects.filter(
            assessor=assessor, document_set=document_set, closed_at__isnull=False
        ).exists():
            continue
        wanted = {_comparison(document_set, entry).pk: entry for entry in judged}
        assignment = assign(document_set=document_set, assessor=assessor, by=None)
        assignment.readings.exclude(comparison__in=wanted).delete()
        for reading in assignment.readings.select_related(
            "assignment__document_set__project", "comparison__summary", "comparison__reference"
        ):
            _judge(reading, assessor, wanted[reading.comparison_id])
        close_assignment(assignment=assignment, by=assessor)


def _judge(reading: Reading, assessor: User, entry: dict[str, Any]) -> None:
    units = reading.comparison.reference.units.order_by("position")
    said = zip(units, entry["percents"], entry["marks"], strict=True)
    acts: list[Act] = [
        UnitAct(reading.public_id, unit.public_id, percent, marks) for unit, percent, marks in said
    ]
    if "unmarked" in entry:
        [criterion] = asked_of_people(reading.assignment.document_set.project)
        acts.append(RatingAct(reading.public_id, criterion.public_id, entry["unmarked"]))
    save_acts(assignment=reading.assignment, by=assessor, acts=acts, all_or_none=True)


def _comparison(document_set: DocumentSet, entry: dict[str, Any]) -> Comparison:
    return Comparison.objects.get(
        summary__document_set=document_set,
        summary__system__name=entry["system"],
        summary__target_words=entry["target_words"],
    )


def _matching_checks(project: Project, wanted: dict[str, Any], reviewer: User) -> list[Check]:
    words = set(_words(wanted["match"]))
    checks = Check.objects.filter(
        project=project,
        side=Check.Side.REFERENCE,
        summary__document_set__external_id=wanted["document_id"],
        summary__system__name=wanted["system"],
        summary__target_words=wanted["target_words"],
    ).exclude(verdicts__person=reviewer)
    return [
        check
        for check in checks.select_related("claim", "project", "summary")
        if words <= set(_words(check.claim.text))
    ]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
