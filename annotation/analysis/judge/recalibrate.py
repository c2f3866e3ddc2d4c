"""Order the review queue by the deciding judge's recalibrated probabilities, where these are better than its own.

What is learned from are people's answers to what chance chose, given before they saw a verdict. Only the judge's
uncertainty follows: its verdicts, its probabilities and with them every score and estimate stay what it said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from annotation.analysis.agreement.ratings import CheckFacts, check_facts
from annotation.analysis.intervals import shown
from annotation.analysis.judge.judge_answers import Humans, humans_of
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.models import Project
from annotation.scoring.recalibrated import kept_calibrator
from annotation.scoring.rescore import mark_due, rescore
from evaluation.statistics import Recalibration, fit_calibrator, recalibration

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def recalibrate_judge(*, project: Project, by: User | None) -> Recalibration:
    """Take the judge's uncertainty from its recalibrated probabilities; what that gains comes back.

    Learned again each time it is called. Raises Conflict (code `no_gain`) where no judge decides, and where the whole
    interval of the gain in the Brier score does not lie above 0.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    facts = check_facts(project)
    humans = humans_of(project, facts)
    said = {check: each.judge_probability for check, each in facts.items() if each.judge_label is not None}
    gained, judge = recalibrated(said, facts, humans), project.deciding_judge
    if judge is None or gained is None or not gained.helps:
        raise Conflict(
            "Recalibrated probabilities are not proven better than the judge's own, so nothing was changed.",
            code="no_gain",
        )
    learned = learned_from(said, facts, humans)
    found = fit_calibrator(
        learned.probabilities, learned.answers, learned.documents, systems=learned.systems, method="beta"
    )
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
        project.recalibration = kept_calibrator(found, judge)
        project.save(update_fields=["recalibration"])
        told = {"answers": gained.checks, "brier": [gained.brier.value, gained.brier_after.value]}
        log(
            project=project,
            actor=by,
            verb="recalibrate judge",
            target=project,
            data={"judge": judge.name, **told},
        )
        mark_due(project)
    rescore(project=project)
    return gained


def end_recalibration(*, project: Project, by: User | None) -> None:
    """Take the judge's uncertainty from its own probabilities again. Twice changes nothing."""
    require(by, project, Verb.CHANGE_PROJECT)
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
        if project.recalibration is None:
            return
        project.recalibration = None
        project.save(update_fields=["recalibration"])
        log(project=project, actor=by, verb="end recalibration", target=project)
        mark_due(project)
    rescore(project=project)


def recalibrated(
    said: Mapping[int, float | None], facts: Mapping[int, CheckFacts], humans: Humans
) -> Recalibration | None:
    """What a judge's probabilities gain, cross-fitted by document set; None where there is nothing to learn from.

    `said` are its probabilities of yes by check.
    """
    learned = learned_from(said, facts, humans)
    if len(set(learned.documents)) < 2:
        return None
    return shown(
        recalibration(
            learned.probabilities,
            [answer == 1 for answer in learned.answers],
            learned.documents,
            systems=learned.systems,
        )
    )


class Learned(NamedTuple):
    """What a calibrator learns from: one of each list for every check."""

    probabilities: list[float]
    answers: list[float]
    documents: list[str]
    systems: list[str]


def learned_from(
    said: Mapping[int, float | None], facts: Mapping[int, CheckFacts], humans: Humans
) -> Learned:
    rows = [
        (chance, float(label == "yes"), facts[check].cluster, facts[check].system)
        for check, label in humans.by_chance.items()
        if (chance := said.get(check)) is not None
    ]
    return Learned(*(list(column) for column in zip(*rows, strict=True))) if rows else Learned([], [], [], [])
