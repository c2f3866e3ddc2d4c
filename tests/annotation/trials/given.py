"""A project with answers under the first version of the guidelines, and a trial of the second version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotation.models import Check, Guideline, Verdict
from annotation.projects.services.write_guidelines import write_guidelines
from annotation.scoring.rescore import rescore
from annotation.trials.services import answer_again, start_trial
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import AnswerAgain, GuidelineTrial
    from tests.annotation.cast import World

SETS = 6


def answered(world: World, sets: int = SETS) -> None:
    lay_sets(world, sets)
    first = write_guidelines(project=world.project, text="Be strict.", by=world.mona)
    Verdict.objects.bulk_create(
        Verdict(
            check_row=check,
            role="reviewer",
            person=world.rex,
            label="yes",
            guideline=first,
            reason="first-reason",
        )
        for check in Check.objects.filter(project=world.project, document_set__external_id__startswith="set-")
    )
    rescore(project=world.project)
    write_guidelines(project=world.project, text="Be lenient.", by=world.mona)


def second(world: World) -> Guideline:
    return world.project.guidelines.get(version=2)


def start(world: World, *, size: int = 30, by_others: bool = False, **more: Any) -> GuidelineTrial:
    asked = {"old_version": 1, "score": "coverage", "seed": 7, **more}
    return start_trial(project=world.project, by=world.mona, size=size, by_others=by_others, **asked)


def answer_all(world: World, trial: GuidelineTrial, *, new: int, old: int, by: User | None = None) -> None:
    for is_control, changed in ((False, new), (True, old)):
        for place, row in enumerate(trial.answers.filter(is_control=is_control, label=None)):
            again(world, row, "no" if place < changed else "yes", by=by)


def again(world: World, row: AnswerAgain, label: str, *, by: User | None = None) -> None:
    answer_again(project=world.project, answer_id=row.public_id, by=by or world.rex, label=label)
