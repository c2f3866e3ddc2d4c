"""Make a panel of two that are asked in turn, a dear judge where a cheap one may be wrong, and let it answer all.

How often the cheap one is wrong is learned from people's answers to what chance chose. As with examples no document
set (or group) is judged by what its own answers taught.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.analysis.agreement.ratings import check_facts
from annotation.analysis.judge.judge_answers import humans_of, said_of
from annotation.analysis.judge.recalibrate import Learned, learned_from
from annotation.analysis.judge.teach_judge import FOLDS, folds_of
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.judging.queries.judges import not_permitted
from annotation.judging.services.judges import require_of
from annotation.judging.services.save_judge import add_judge, free_name
from annotation.judging.services.start_run import start_run
from annotation.models import SIDE_SCORES, Judge, JudgeCascade, Run
from annotation.scoring.recalibrated import kept_calibrator
from evaluation.statistics import FEWEST_FOR_INTERVAL, Calibrator, fit_calibrator

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project


@transaction.atomic
def pair_judges(
    *,
    project: Project,
    cheap: Judge,
    dear: Judge,
    risk: float,
    by: User | None,
    max_cost: float | None = None,
    send_texts: bool = False,
) -> Run:
    """A panel of the project's own in which the dear judge has the word where the cheap one is wrong with this
    probability; and its run over everything. No call is paid for twice, but one about some claims of a text is
    another than one about all.

    Raises Invalid (code `no_pair`) for a risk outside 0 to 1, the same judge twice, and where people have answered a
    finished random sample, or everything, in fewer than five document sets that the cheap judge gave probabilities for;
    else as `add_judge` and `start_run`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    for judge in (cheap, dear):
        require_of(judge, project)
    refuse_pair(cheap, dear, risk)
    learned, metrics = _learned(project, cheap)
    folds = folds_of(learned.documents)
    calibrators = [
        _fitted(
            learned, [place for place, document in enumerate(learned.documents) if folds[document] != fold]
        )
        for fold in range(FOLDS)
    ]
    calibrators.append(_fitted(learned, list(range(len(learned.answers)))))
    pair = add_judge(
        project=project,
        by=by,
        kind=Judge.Kind.PANEL,
        name=free_name(project, f"{cheap.name[:25]}-then-{dear.name[:25]}"),
        members=[cheap, dear],
    )
    JudgeCascade.objects.create(
        judge=pair,
        cheap=cheap,
        dear=dear,
        risk=risk,
        folds=folds,
        calibrators=[kept_calibrator(each, cheap) for each in calibrators],
    )
    told = {"judge": pair.name, "risk": risk, "answers": len(learned.answers)}
    log(project=project, actor=by, verb="pair judges", target=pair, data=told)
    return start_run(
        project=project,
        judge=pair,
        metrics=metrics,
        max_cost=max_cost,
        send_texts=send_texts or not not_permitted(project, pair),
        by=by,
    )


def refuse_pair(cheap: Judge, dear: Judge, risk: float) -> None:
    """Refuse what is no pair, or no risk. Raises Invalid (code `no_pair`)."""
    if cheap.pk == dear.pk:
        raise Invalid("Choose a different judge for the second opinion.", field="dear", code="no_pair")
    if not 0 <= risk <= 1:
        raise Invalid("The risk must be between 0 and 1.", field="risk", code="no_pair")


def _learned(project: Project, cheap: Judge) -> tuple[Learned, list[str]]:
    """What the cheap judge's probabilities learn from, and the metrics that people's answers are about."""
    facts = check_facts(project)
    humans = humans_of(project, facts)
    said = {
        check: each.probability
        for (judge, _), answers in said_of(project).items()
        if judge == cheap.pk
        for check, each in answers.items()
        if each.label is not None
    }
    learned = learned_from(said, facts, humans)
    if len(set(learned.documents)) < FEWEST_FOR_INTERVAL:
        raise Invalid(
            f"Pairing needs a random sample answered by both {cheap.name} and people in at least "
            f"{FEWEST_FOR_INTERVAL} document sets.",
            field="cheap",
            code="no_pair",
        )
    sides = {facts[check].side for check in humans.by_chance}
    return learned, [metric for side, metric in SIDE_SCORES.items() if side in sides]


def _fitted(learned: Learned, places: list[int]) -> Calibrator:
    return fit_calibrator(
        [learned.probabilities[place] for place in places],
        [learned.answers[place] for place in places],
        [learned.documents[place] for place in places],
        method="beta",
    )
