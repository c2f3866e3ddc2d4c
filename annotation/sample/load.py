"""Bring in the sample project that the demo shows, with its people and some of their judgments."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.assessing.services.acts import Act, UnitAct, UnmarkedAct
from annotation.assessing.services.assign import assign
from annotation.assessing.services.close_sitting import close_sitting
from annotation.assessing.services.save_acts import save_at_once
from annotation.core.refusals import NotAllowed
from annotation.imports.services import import_dataset
from annotation.models import (
    Assignment,
    Check,
    Comparison,
    DocumentSet,
    Membership,
    Project,
    Role,
    Sitting,
    System,
    Verdict,
)
from annotation.projects.services.change_project import create_project
from annotation.reviewing.services.review import override

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLE = Path(__file__).resolve().parents[1] / "sample"
SLUG = "harbour"
OPEN_SET = "news-ferry"


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """Somebody one can sign in as in the demo."""

    username: str
    first_name: str
    does: str
    roles: tuple[Role, ...]


DEMO_PEOPLE = (
    DemoPerson("mona", "Mona", "runs the study", (Role.OWNER, Role.MANAGER)),
    DemoPerson("ana", "Ana", "assesses summaries", (Role.ASSESSOR,)),
    DemoPerson("cleo", "Cleo", "reviews and adjudicates", (Role.REVIEWER, Role.ADJUDICATOR)),
)
SECOND_ASSESSOR = DemoPerson("ben", "Ben", "assessed some sets", (Role.ASSESSOR,))
DESCRIPTION = (
    "Twelve invented document sets, four summarisers and a person. Mark what each peer summary says of "
    "the model summary, and put the judge right where it is wrong."
)


def judged_sample() -> Project | None:
    """The sample project if all of it is there: texts, judge's verdicts and reviewers' on top of them."""
    reviewed = Verdict.objects.filter(source=Verdict.Source.REVIEWER, check_row__project=OuterRef("pk"))
    return Project.objects.filter(Exists(reviewed), slug=SLUG).first()


def load_sample() -> Project:
    """The sample project, made at the first call: people, texts, and closed sittings.

    Can be called again at any time; what is there stays as it is. Raises NotAllowed outside of the
    demo settings, since its people have no passwords.
    """
    if not settings.DEMO_SIGN_IN:
        raise NotAllowed("The sample project's people exist in the demo settings only.")
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        project = create_project(
            slug=SLUG, name="Harbour study", description=DESCRIPTION, by=None, deciding_judge=None
        )
    _add_people(project)
    import_dataset(project=project, path=SAMPLE / "harbour.jsonl", by=None)
    # Nothing in a flat file says that a system is a person.
    System.objects.filter(project=project, name="human-b").update(kind=System.Kind.PERSON)
    judgments = json.loads((SAMPLE / "judgments.json").read_text())
    _add_percents(project, judgments["unit_percents"])
    open_set = DocumentSet.objects.get(project=project, external_id=OPEN_SET)
    if not Sitting.objects.filter(document_set=open_set).exists():
        assign(document_set=open_set, assessor=User.objects.get(username="ana"), by=None)
    return project


def review_sample(project: Project) -> int:
    """Give the reviewer's verdicts of the sample, once its claims have been judged; returns how many.

    A check that a person has answered already is left alone.
    """
    reviewer = User.objects.get(username="cleo")
    judgments = json.loads((SAMPLE / "judgments.json").read_text())
    given = 0
    for wanted in judgments["overrides"]:
        for check in _matching_checks(project, wanted):
            override(check=check, by=reviewer, label=wanted["label"], reason=wanted["reason"])
            given += 1
    return given


@transaction.atomic
def _add_people(project: Project) -> None:
    for person in (*DEMO_PEOPLE, SECOND_ASSESSOR):
        user, is_new = User.objects.get_or_create(
            username=person.username, defaults={"first_name": person.first_name}
        )
        if is_new:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        Membership.objects.get_or_create(
            project=project, user=user, defaults={"roles": [str(role) for role in person.roles]}
        )


def _add_percents(project: Project, entries: Iterable[dict[str, Any]]) -> None:
    by_sitting: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        by_sitting[entry["assessor"], entry["document_id"]].append(entry)
    for (username, document_id), judged in by_sitting.items():
        assessor = User.objects.get(username=username)
        document_set = DocumentSet.objects.get(project=project, external_id=document_id)
        if Sitting.objects.filter(
            assessor=assessor, document_set=document_set, closed_at__isnull=False
        ).exists():
            continue
        wanted = {_comparison(document_set, entry).pk: entry for entry in judged}
        sitting = assign(
            document_set=document_set,
            assessor=assessor,
            by=None,
            comparisons=list(Comparison.objects.filter(pk__in=wanted).select_related("peer")),
        )
        for assignment in sitting.assignments.select_related(
            "sitting__document_set__project", "comparison__peer", "comparison__model"
        ):
            _judge(assignment, assessor, wanted[assignment.comparison_id or 0])
        close_sitting(sitting=sitting, by=assessor)


def _judge(assignment: Assignment, assessor: User, entry: dict[str, Any]) -> None:
    assert assignment.comparison is not None, "sittings hold comparisons only"
    assert assignment.sitting is not None, "sittings hold comparisons only"
    units = assignment.comparison.model.units.order_by("position")
    said = zip(units, entry["percents"], entry["marks"], strict=True)
    acts: list[Act] = [
        UnitAct(seq, assignment.public_id, unit.public_id, percent, marks)
        for seq, (unit, percent, marks) in enumerate(said, start=1)
    ]
    if "unmarked" in entry:
        acts.append(UnmarkedAct(len(acts) + 1, assignment.public_id, entry["unmarked"]))
    save_at_once(sitting=assignment.sitting, by=assessor, acts=acts)


def _comparison(document_set: DocumentSet, entry: dict[str, Any]) -> Comparison:
    return Comparison.objects.get(
        peer__document_set=document_set,
        peer__system__name=entry["system"],
        peer__target_words=entry["target_words"],
    )


def _matching_checks(project: Project, wanted: dict[str, Any]) -> list[Check]:
    """Unanswered checks whose claim holds all the words that are asked for."""
    words = set(_words(wanted["match"]))
    checks = Check.objects.filter(
        project=project,
        side=Check.Side.REFERENCE,
        peer__document_set__external_id=wanted["document_id"],
        peer__system__name=wanted["system"],
        peer__target_words=wanted["target_words"],
    ).exclude(verdicts__source=Verdict.Source.REVIEWER)
    return [
        check
        for check in checks.select_related("claim", "project", "peer")
        if words <= set(_words(check.claim.text))
    ]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
