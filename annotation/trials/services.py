"""Starting a trial of the current guidelines, answering checks again, and deciding on the answers."""

from __future__ import annotations

import random
from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from annotation.core.events import log
from annotation.core.guidelines import current
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid, NotFound
from annotation.models import (
    SCORE_SIDES,
    SIDE_SCORES,
    AnswerAgain,
    Check,
    GuidelineTrial,
    Label,
    Project,
    Sample,
    SampledCheck,
    Verdict,
)
from annotation.models.base import new_seed
from annotation.models.document import cluster_of
from annotation.reviewing.queries.again import waiting_again
from annotation.reviewing.queries.review_queue import reviewers
from annotation.sampling.queries.check_samples import check_samples
from annotation.scoring.rescore import mark_due, rescore
from annotation.trials.report import answered_blind, waiting_in
from evaluation.statistics import TOO_FEW_DOCUMENTS

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Guideline

FEWEST = 15
"""The minimum number of checks in a trial; 5 of them are answered again under the old guidelines."""
CONTROL_SHARE = 1 / 3


@transaction.atomic
def start_trial(
    *,
    project: Project,
    by: User | None,
    old_version: int,
    score: str,
    size: int,
    by_others: bool,
    seed: int | None = None,
) -> GuidelineTrial:
    """Sample `size` checks that people answered blind under an older version of the guidelines, to be answered again.

    A random third is answered again under that version, the others under the current version. With `by_others`, people
    who know no answer to a check answer it. Otherwise each check goes to the person who answered it. Raises Invalid
    with the wrong `field`, Conflict (code `trial_open`) if another trial is undecided, and the errors of `require`.
    """
    require(by, project, Verb.ASSIGN)
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    if GuidelineTrial.objects.filter(project=project, decision=None).exists():
        raise Conflict("Decide the open trial first: one trial can be open at a time.", code="trial_open")
    new, old = _versions(project, old_version)
    if score not in SCORE_SIDES:
        raise Invalid(f"The score is one of {', '.join(SCORE_SIDES)}, not {score!r}.", field="score")
    able = reviewers(project)
    if by_others and len(able) < 2:
        raise Invalid("Nobody else can answer: the project has one reviewer.", field="by_others")
    given = answered_blind(project, old=old, side=SCORE_SIDES[score])
    given = given if by_others else given.filter(person__username__in=able)
    # Of several blind answers to a check, the newest one is compared.
    verdicts = {row.check_row_id: row for row in given.order_by("pk").only("check_row", "person")}
    if not FEWEST <= size <= len(verdicts):
        most = f"at most the {len(verdicts):,} with a blind answer under version {old.version}"
        raise Invalid(f"A trial needs at least {FEWEST} claims, and {most}.", field="size")
    seed = new_seed() if seed is None else seed
    chosen = random.Random(f"trial:{seed}").sample(sorted(verdicts), size)
    trial = GuidelineTrial.objects.create(
        project=project, old=old, new=new, side=SCORE_SIDES[score], by_others=by_others, seed=seed
    )
    AnswerAgain.objects.bulk_create(
        AnswerAgain(
            trial=trial,
            check_row_id=check,
            verdict=verdicts[check],
            is_control=place < round(size * CONTROL_SHARE),
            person_id=None if by_others else verdicts[check].person_id,
        )
        for place, check in enumerate(chosen)
    )
    data = {"versions": [old.version, new.version], "score": score, "size": size, "by_others": by_others}
    log(project=project, actor=by, verb="start trial", target=trial, data={**data, "seed": seed})
    return trial


def _versions(project: Project, old_version: int) -> tuple[Guideline, Guideline]:
    new = current(project)
    old = project.guidelines.filter(version=old_version).first()
    if new is None or old is None or old.version >= new.version:
        raise Invalid("Choose an older version of the guidelines than the current one.", field="old_version")
    return new, old


@transaction.atomic
def answer_again(*, project: Project, answer_id: str, by: User, label: str) -> AnswerAgain:
    """Save an answer that is given again. No score changes.

    Raises NotFound for an unknown id, and Invalid for an unknown label. Raises Conflict (code `not_waiting`) if the
    answer is given already or this person can no longer give it. Raises the errors of `require`.
    """
    require(by, project, Verb.REVIEW)
    # If two people answer the same check at once, the lock lets the second see the first answer.
    held = AnswerAgain.objects.select_for_update(of=("self",), no_key=True).filter(
        trial__project=project, public_id=answer_id
    )
    row = held.select_related("trial").first()
    if row is None:
        raise NotFound("There is no such claim to answer again in this project.")
    if label not in Label.values:
        raise Invalid(f"A verdict is one of {', '.join(Label.values)}, not {label!r}.", field="label")
    if not waiting_again(project, by).filter(pk=row.pk).exists():
        raise Conflict(
            "This claim no longer waits for your answer: it has been answered, or the trial is over.",
            code="not_waiting",
        )
    row.person, row.label, row.answered_at = by, label, timezone.now()
    row.save(update_fields=["person", "label", "answered_at"])
    log(project=project, actor=by, verb="answer again", target=row.trial, data={"answer": row.public_id})
    return row


def decide_trial(*, trial: GuidelineTrial, by: User | None, decision: str) -> None:
    """Decide which answers count, and rescore the project. The same decision twice changes nothing.

    - `mix`: answers given again under the new guidelines become verdicts, unless the check has a later answer; old
      verdicts count, too
    - `new`: the same, and people's verdicts of this score from before the new guidelines are withdrawn; random samples
      that contain one of them are cancelled
    - `correct`: as `mix`, and the answers given again become a random sample, which replaces the latest finished one in
      estimates (two-phase sampling: the probabilities of both choices are multiplied)
    - `drop`: answers given again do not count; nothing is rescored

    A later decision undoes the withdrawals and samples of an earlier one. Raises Invalid for an unknown decision, the
    errors of `require`, and Conflict with a code:
    - `trial_incomplete`: answers are missing
    - `trial_dropped`: the trial was dropped before
    - `trial_counted`: `drop` follows another decision
    - `not_blind`, `no_sample`, `too_few`: the answers cannot correct an estimate
    """
    require(by, trial.project, Verb.CHANGE_PROJECT)
    if decision not in GuidelineTrial.Decision.values:
        raise Invalid(
            f"A decision is one of {', '.join(GuidelineTrial.Decision.values)}, not {decision!r}.",
            field="decision",
        )
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",)).get(pk=trial.project_id)
        trial = GuidelineTrial.objects.select_related("old", "new").get(pk=trial.pk)
        if trial.decision == decision:
            return
        _refuse_decision(trial, decision)
        before, was_decided_at = trial.decision, trial.decided_at
        trial.decision, trial.decided_at = decision, timezone.now()
        trial.save(update_fields=["decision", "decided_at"])
        data: dict[str, object] = {"decision": decision, "new_version": trial.new.version}
        if decision != GuidelineTrial.Decision.DROP:
            data["counted"] = _count_answers(trial) if not before else 0
            if before == GuidelineTrial.Decision.NEW:
                withdrawn = Verdict.objects.filter(check_row__project=project, withdrawn_at=was_decided_at)
                withdrawn.update(withdrawn_at=None)
                Sample.objects.filter(project=project, cancelled_at=was_decided_at).update(cancelled_at=None)
            Sample.objects.filter(public_id=trial.public_id).update(cancelled_at=trial.decided_at)
            if decision == GuidelineTrial.Decision.NEW:
                data["withdrawn"] = _withdraw_old(trial)
            if decision == GuidelineTrial.Decision.CORRECT:
                data["sampled"] = _sample_again(trial)
            mark_due(project)
        log(project=project, actor=by, verb="decide trial", target=trial, data=data)
    if decision != GuidelineTrial.Decision.DROP:
        rescore(project=project)


def _refuse_decision(trial: GuidelineTrial, decision: str) -> None:
    if trial.decision == GuidelineTrial.Decision.DROP:
        raise Conflict("The answers of this trial were dropped. Start a new trial.", code="trial_dropped")
    if trial.decision and decision == GuidelineTrial.Decision.DROP:
        raise Conflict("The answers of this trial count already.", code="trial_counted")
    if decision != GuidelineTrial.Decision.DROP and (missing := waiting_in(trial).count()):
        raise Conflict(
            f"{missing} claims wait for an answer. Decide when all are answered.", code="trial_incomplete"
        )


def _count_answers(trial: GuidelineTrial) -> int:
    later = Verdict.objects.filter(
        check_row=OuterRef("check_row"), role=Verdict.Role.REVIEWER, created_at__gt=OuterRef("answered_at")
    )
    given = trial.answers.filter(
        ~Exists(later), is_control=False, label__isnull=False, check_row__is_current=True
    )
    made = [
        Verdict(
            check_row_id=row.check_row_id,
            role=Verdict.Role.REVIEWER,
            person_id=row.person_id,
            label=row.label,
            guideline_id=trial.new_id,
            had_seen=not trial.by_others,
        )
        for row in given
    ]
    return len(Verdict.objects.bulk_create(made))


def _sample_again(trial: GuidelineTrial) -> int:
    """The sample has the public id of the trial."""
    if not trial.by_others:
        raise Conflict(
            "The same people answered again, and they know the judge's verdicts by now. An estimate needs blind "
            "answers, so start a trial with people who do not know the answers.",
            code="not_blind",
        )
    made = Sample.objects.filter(public_id=trial.public_id)
    if made.update(cancelled_at=None):
        return made.get().sampled_checks.count()
    first = _sample_answered_before(trial)
    rows = first.sampled_checks.filter(check_row__side=trial.side)
    sampled = {row.check_row_id: row for row in rows}
    again = trial.answers.filter(is_control=False, label__isnull=False, check_row__in=sampled)
    _need_documents(again, rows)
    # Chance chose these checks among those of the first sample.
    part = len(again) / len(sampled)
    on_side = set(
        Check.objects.filter(project=trial.project, side=trial.side).values_list("public_id", flat=True)
    )
    framed = [each for each in zip_longest(first.frame, first.chances) if each[0][0] in on_side]
    sample = Sample.objects.create(
        public_id=trial.public_id,
        project=trial.project,
        method=first.method,
        share=first.share * part,
        seed=trial.seed,
        frame=[item for item, _ in framed],
        chances=[chance * part for _, chance in framed if chance is not None],
    )
    SampledCheck.objects.bulk_create(
        SampledCheck(
            sample=sample,
            check_row_id=row.check_row_id,
            inclusion_probability=sampled[row.check_row_id].inclusion_probability * part,
            verdict=_verdict_of(row, trial),
        )
        for row in again
    )
    return len(again)


def _sample_answered_before(trial: GuidelineTrial) -> Sample:
    score = SIDE_SCORES[Check.Side(trial.side)]
    of_score = check_samples(trial.project, side=trial.side, of_watches=False)
    latest = next((each.sample_id for each in of_score if each.is_finished), None)
    first = Sample.objects.filter(public_id=latest, extends=None).first()
    old = answered_blind(trial.project, old=trial.old, side=trial.side).values("check_row")
    if (
        first is None
        or first.sampled_checks.filter(check_row__side=trial.side).exclude(check_row__in=old).exists()
    ):
        raise Conflict(
            f"Estimates of {score} can be corrected only if the latest finished random sample of {score} is of all "
            f"systems and was answered under version {trial.old.version}.",
            code="no_sample",
        )
    return first


def _need_documents(again: QuerySet[AnswerAgain], sampled: QuerySet[SampledCheck]) -> None:
    system, sets = "check_row__summary__system__name", "check_row__document_set__"
    found = again.order_by().values_list(system, f"{sets}external_id", f"{sets}group")
    documents = Counter(name for name, _ in {(name, cluster_of(*of)) for name, *of in found})
    fewest = min(sorted(set(sampled.values_list(system, flat=True))), key=lambda name: documents[name])
    if documents[fewest] < TOO_FEW_DOCUMENTS:
        raise Conflict(
            f"An estimate needs new answers in {TOO_FEW_DOCUMENTS} document sets of each system, and {fewest} has them "
            f"in {documents[fewest]}. Start a larger trial.",
            code="too_few",
        )


def _verdict_of(row: AnswerAgain, trial: GuidelineTrial) -> Verdict:
    """If there is no such verdict yet, make one that counts in the sample only."""
    given = Verdict.objects.filter(
        check_row=row.check_row_id,
        person=row.person_id,
        label=row.label,
        guideline=trial.new_id,
        had_seen=False,
    )
    return given.order_by("pk").first() or Verdict.objects.create(
        check_row_id=row.check_row_id,
        role=Verdict.Role.REVIEWER,
        person_id=row.person_id,
        label=row.label,
        guideline_id=trial.new_id,
        withdrawn_at=trial.decided_at,
    )


def _withdraw_old(trial: GuidelineTrial) -> int:
    old = Verdict.objects.filter(
        Q(guideline=None) | Q(guideline__version__lt=trial.new.version),
        check_row__project=trial.project_id,
        check_row__side=trial.side,
        role=Verdict.Role.REVIEWER,
        person__isnull=False,
        withdrawn_at=None,
    )
    sampled = SampledCheck.objects.filter(verdict__in=old).values("sample")
    Sample.objects.filter(pk__in=sampled, cancelled_at=None).update(cancelled_at=trial.decided_at)
    return old.update(withdrawn_at=trial.decided_at)
