"""The sample project Newsroom: many short stories, finished random samples, and one that lacks ten answers.

Its people answer through the services that everybody's answers go through; only the days of their answers are then
moved into the past, so that there is something to see by day.
"""

from __future__ import annotations

import json
import math
import random
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.imports.formats import NamedFile
from annotation.imports.services import import_files
from annotation.models import Check, CheckLook, Draw, DrawnCheck, Project, Role, Run, Verdict
from annotation.models.claim import ErrorType, Label
from annotation.projects.services.change_project import create_project
from annotation.reviewing.services.review import override
from annotation.sample.newsroom_texts import FactTold, Form, stories
from annotation.sample.people import BEN, CLEO, DORA, MONA, DemoPerson, add_people, user_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SLUG = "newsroom"
NAME = "Newsroom"
DESCRIPTION = (
    "Forty-four invented news stories and the summaries of four invented systems and a baseline, put together from "
    "written blocks, so that what each summary covers is known. The people and their answers are simulated. A random "
    "sample of coverage and one of alignment are finished; a larger one lacks ten answers, to be given in Review."
)
PICKED = 40
FIRST_SAMPLE, ALIGNMENT_SAMPLE, SECOND_SAMPLE = 150, 120, 240
ANSWERED_TWICE = 70
LEFT_OPEN = 10
SEEDS = (25, 27, 26)
DAYS_AGO = {"run": 10, "picked": 9, "first": 7, "twice": 5, "alignment": 4, "second": 3}
"""When each part was done; the random samples and what was answered twice take two days and more."""
PAUSE_SECONDS = 40
A_DAY = 60
"""So many answers a person gives on one day."""
USUAL_SECONDS = 21.0
WRITTEN_AT_ONCE = 25


class Odds(NamedTuple):
    """How often a person says something else than what is true, and how often that they are unsure."""

    slip: float
    unsure: float


SLIPS: Mapping[Form | None, Odds] = {
    None: Odds(0.03, 0.01),
    "source": Odds(0.02, 0.01),
    "said": Odds(0.01, 0.0),
    "again": Odds(0.07, 0.03),
    "wrong": Odds(0.06, 0.03),
    "vague": Odds(0.2, 0.14),
    "short": Odds(0.03, 0.01),
}
REASONS: Mapping[Form | None, str] = {
    "vague": "It touches on this, but leaves out what the claim says.",
    "wrong": "The summary says something else.",
}


class DatedAnswer(NamedTuple):
    """An answer as it was kept, and the moment at which it counts as given."""

    verdict: Verdict
    moment: datetime


def begin_newsroom(by: User | None) -> Project:
    """The project with its people and texts, made at the first call; without verdicts yet."""
    project = Project.objects.filter(slug=SLUG).first()
    if project is None:
        project = create_project(slug=SLUG, name=NAME, description=DESCRIPTION, by=by)
    add_people(
        project,
        {
            MONA: (Role.OWNER, Role.MANAGER),
            CLEO: (Role.REVIEWER, Role.ADJUDICATOR),
            BEN: (Role.REVIEWER,),
            DORA: (Role.REVIEWER,),
        },
    )
    rows = (json.dumps(row) for story in stories() for row in story.rows())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "newsroom.jsonl"
        path.write_text("\n".join(rows), encoding="utf-8")
        import_files(project=project, files=[NamedFile(path.name, path)], by=None)
    return project


def is_newsroom_answered(project: Project) -> bool:
    """Whether its people have given their answers."""
    return Draw.objects.filter(project=project).count() >= len(SEEDS)


def answer_newsroom(project: Project) -> None:
    """Give all answers but the last ten, once the project's claims have been judged; nothing where they are given."""
    if is_newsroom_answered(project):
        return
    reviewers = _Reviewers(project)
    picked = reviewers.picked()
    reviewers.answer(BEN, picked, DAYS_AGO["picked"])
    first = _sample(project, FIRST_SAMPLE, SEEDS[0])
    waiting = _waiting(first)
    reviewers.answer(DORA, waiting[::2], DAYS_AGO["first"])
    reviewers.answer(BEN, waiting[1::2], DAYS_AGO["first"])
    reviewers.answer(BEN, waiting[:ANSWERED_TWICE:2], DAYS_AGO["twice"])
    reviewers.answer(DORA, waiting[1:ANSWERED_TWICE:2], DAYS_AGO["twice"])
    alignment = _sample(project, ALIGNMENT_SAMPLE, SEEDS[1], side=Check.Side.PEER)
    waiting = _waiting(alignment)
    reviewers.answer(DORA, waiting[::2], DAYS_AGO["alignment"])
    reviewers.answer(BEN, waiting[1::2], DAYS_AGO["alignment"])
    second = _sample(project, SECOND_SAMPLE, SEEDS[2])
    waiting = _waiting(second)[:-LEFT_OPEN]
    reviewers.answer(DORA, waiting[::2], DAYS_AGO["second"])
    reviewers.answer(BEN, waiting[1::2], DAYS_AGO["second"])
    drawn = {"first": first, "alignment": alignment, "second": second}
    _move_into_past(project, reviewers.given, {draw: DAYS_AGO[name] for name, draw in drawn.items()})


def _sample(project: Project, size: int, seed: int, *, side: Check.Side = Check.Side.REFERENCE) -> Draw:
    return sample_planned(
        project=project, by=user_of(MONA), size=size, design="uniform", side=side, seed=seed
    )


def _waiting(draw: Draw) -> list[int]:
    """The checks of a sample that wait for an answer, in its own order."""
    rows = DrawnCheck.objects.filter(draw=draw, verdict=None).order_by("pk")
    return list(rows.values_list("check_row_id", flat=True))


class _Reviewers:
    """People who know the stories, and slip now and then."""

    def __init__(self, project: Project) -> None:
        self.told = {
            (Check.Side.REFERENCE.value, story.name, system, place): told
            for story in stories()
            for system, of_system in story.told.items()
            for place, told in enumerate(of_system.values(), start=1)
        }
        # The document supports everything except what a summary gets wrong.
        self.told |= {
            (Check.Side.PEER.value, story.name, system, place): FactTold(
                "wrong" if form == "wrong" else "said"
            )
            for story in stories()
            for system, forms in story.forms.items()
            for place, form in enumerate(forms, start=1)
        }
        asked = Check.objects.filter(project=project, is_current=True)
        named = asked.select_related("project", "claim__unit", "peer__system", "peer__document_set")
        self.checks = {check.pk: check for check in named}
        self.given: list[DatedAnswer] = []

    def picked(self) -> list[int]:
        """What somebody picks who follows the judge's doubt: the checks of which it is least certain."""
        checks = sorted(
            (check for check in self.checks.values() if check.side == Check.Side.REFERENCE),
            key=lambda check: (-(check.doubt or 0.0), _name(check), check.claim.text),
        )
        return [check.pk for check in checks[:PICKED]]

    def answer(self, person: DemoPerson, checks: Sequence[int], days_ago: int) -> None:
        """Have a person answer these checks from nine o'clock on, so many days ago and on the days after."""
        by = user_of(person)
        moment = _nine_o_clock(days_ago)
        for start in range(0, len(checks), WRITTEN_AT_ONCE):
            # Fewer, larger writes; each short enough to keep nobody waiting.
            with transaction.atomic():
                for place, key in enumerate(checks[start : start + WRITTEN_AT_ONCE], start=start):
                    if place and place % A_DAY == 0:
                        moment = _nine_o_clock(days_ago - place // A_DAY)
                    given = self._give(self.checks[key], person, by, moment)
                    moment = given.moment + timedelta(seconds=PAUSE_SECONDS)
                    self.given.append(given)

    def _give(self, check: Check, person: DemoPerson, by: User, moment: datetime) -> DatedAnswer:
        told = self.told[check.side, *_name(check)]
        chance = random.Random(f"{person.username} on {_name(check)} {check.claim.text}")
        label = _label(told, chance)
        is_wrong = told.form == "wrong" and label == Label.NO
        seconds = USUAL_SECONDS * math.exp(chance.gauss(0, 0.5)) * (1.6 if told.form in REASONS else 1)
        given = override(
            check=check,
            by=by,
            label=label,
            reason=_reason(check, told) if label != Label.YES else "",
            evidence=told.units if told.is_true == (label == Label.YES) else (),
            error_type=ErrorType.CONTRADICTION if is_wrong else "",
            active_ms=round(1000 * seconds),
        )
        return DatedAnswer(given.verdict, moment + timedelta(seconds=seconds))


def _reason(check: Check, told: FactTold) -> str:
    if check.side == Check.Side.PEER:
        return "The article says something else." if told.form == "wrong" else ""
    return REASONS.get(told.form, "")


def _name(check: Check) -> tuple[str, str, int]:
    """The story, the system, and the place of the sentence that the claim is taken from."""
    system, unit = check.peer.system, check.claim.unit
    assert system is not None, "peer summaries have one"
    assert unit is not None, "the judge takes claims from units"
    return check.peer.document_set.external_id, system.name, unit.position


def _label(told: FactTold, chance: random.Random) -> Label:
    odds, at = SLIPS[told.form], chance.random()
    if at < odds.unsure:
        return Label.UNSURE
    is_yes = told.is_true != (at < odds.unsure + odds.slip)
    return Label.YES if is_yes else Label.NO


def _nine_o_clock(days_ago: int) -> datetime:
    here = timezone.localtime() - timedelta(days=max(days_ago, 1))
    return here.replace(hour=9, minute=0, second=0, microsecond=0)


def _move_into_past(project: Project, given: Iterable[DatedAnswer], drawn: Mapping[Draw, int]) -> None:
    """Let the run, the samples and the answers stand on the days on which they would have come.

    The log is never changed: it says that they were made today, by the program.
    """
    by = timedelta(days=DAYS_AGO["run"])
    moments = {(row.verdict.check_row_id, row.verdict.person_id): row.moment for row in given}
    verdicts = [Verdict(pk=row.verdict.pk, created_at=row.moment) for row in given]
    looks = []
    for pk, check, person in CheckLook.objects.filter(check_row__project=project).values_list(
        "pk", "check_row_id", "person_id"
    ):
        if moment := moments.get((check, person)):
            looks.append(CheckLook(pk=pk, opened_at=moment, revealed_at=moment))
    with transaction.atomic():
        Run.objects.filter(project=project).update(
            created_at=F("created_at") - by, finished_at=F("finished_at") - by
        )
        Verdict.objects.filter(check_row__project=project, source=Verdict.Source.JUDGE).update(
            created_at=F("created_at") - by
        )
        Verdict.objects.bulk_update(verdicts, ["created_at"], batch_size=200)
        CheckLook.objects.bulk_update(looks, ["opened_at", "revealed_at"], batch_size=200)
        for draw, days in drawn.items():
            Draw.objects.filter(pk=draw.pk).update(created_at=_nine_o_clock(days) - timedelta(minutes=30))
