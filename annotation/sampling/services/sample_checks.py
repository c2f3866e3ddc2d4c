"""Draw checks at random for reviewers, so that what they answer tells without bias what people would say of all."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Check, Draw, DrawnCheck, Project
from annotation.models.base import new_seed
from annotation.sampling.queries.check_samples import blind_answers, drawable
from evaluation.statistics import active_probabilities, fixed_size_draw, stratified_draw, uniform_draw

CHECK_SAMPLE_METHODS = (Draw.Method.UNIFORM, Draw.Method.STRATIFIED, Draw.Method.ACTIVE)
SAMPLED_AT_ONCE = 2000


class FramedCheck(NamedTuple):
    """A check that may be drawn."""

    key: int
    public_id: str
    system_id: int | None
    target_words: int | None
    probability: float | None


class DrawnChoice(NamedTuple):
    """What was drawn of a frame, and the chance that each of its checks had, in its order."""

    drawn: Sequence[str]
    chances: Mapping[str, float]


@transaction.atomic
def sample_checks(
    *,
    project: Project,
    by: User | None,
    method: str,
    share: float,
    side: str = "",
    seed: int | None = None,
) -> Draw:
    """Draw a share of the project's checks for reviewers, each with the chance that it had.

    The frame is every check in force (of one side, where `side` names it) but those that a rule decides, and is
    kept with the judge's probability of yes at this moment, so that the estimate holds the answers
    against what the judge said before. `uniform` gives each the same chance, `stratified` draws the
    share of each system and target length by itself, `active` draws more of what the judge is uncertain about, half of
    the work being shared out evenly. Reviewers are told. The same seed and frame give the same draw. Checks that were
    answered blind before keep their answers (see `record_sample`).

    Raises Invalid, with the `field` that is wrong, where there is nothing to draw, and as `need_blind_answers`.
    """
    require(by, project, Verb.ASSIGN)
    _validate(method=method, share=share, side=side)
    need_blind_answers(project)
    frame = frame_of(project, side)
    seed = new_seed() if seed is None else seed
    choice = _choice(frame, method=method, share=share, seed=seed)
    return record_sample(
        project=project,
        by=by,
        method=method,
        share=share,
        side=side,
        seed=seed,
        frame=frame,
        choice=choice,
        by_system=method == Draw.Method.STRATIFIED,
    )


@transaction.atomic
def sample_size(*, project: Project, by: User | None, method: str, share: float, side: str, seed: int) -> int:
    """How many checks `sample_checks` would draw with these words; nothing is made. Raises as it does."""
    require(by, project, Verb.ASSIGN)
    _validate(method=method, share=share, side=side)
    need_blind_answers(project)
    return len(_choice(frame_of(project, side), method=method, share=share, seed=seed).drawn)


def need_blind_answers(project: Project) -> None:
    """Refuse a sample that nobody could answer knowing nothing: where reviewers are shown the judge's verdict at once.

    Raises Invalid (code `shown`). Until the transaction ends, nobody changes what they are shown.
    """
    held = Project.objects.select_for_update(no_key=True).only("reveal").get(pk=project.pk)
    if held.reveal == Project.Reveal.SHOWN:
        raise Invalid(
            "A random sample needs blind answers, but this project shows the judge's verdict at once. Change "
            "this in the settings to “after own answer” or “on request” first.",
            code="shown",
        )


def frame_of(project: Project, side: str) -> dict[str, FramedCheck]:
    """The checks that may be drawn, by public id. Raises Invalid where there are none."""
    frame = {framed.public_id: framed for framed in _frame(project, side)}
    if not frame:
        raise Invalid("There are no checks to sample yet. Start a run or import checks.", field="side")
    return frame


def record_sample(
    *,
    project: Project,
    by: User | None,
    method: str,
    share: float,
    side: str,
    seed: int,
    frame: Mapping[str, FramedCheck],
    choice: DrawnChoice,
    by_system: bool,
    details: Mapping[str, object] | None = None,
) -> Draw:
    """Keep what was drawn and with which chances, write it into the log, and tell reviewers. `details` go into the log.

    `by_system` tells that the checks of each system and target length were drawn by themselves.
    A check that somebody answered blind before keeps its first such answer (see `blind_answers`): whoever gave it knows
    too much by now to be asked again. The caller owns the transaction and has asked for permission.
    """
    chances = [choice.chances[name] for name in frame]
    draw = Draw.objects.create(
        project=project,
        method=method,
        item=Draw.Item.CHECK,
        share=share,
        seed=seed,
        frame=[[framed.public_id, framed.probability] for framed in frame.values()],
        chances=chances if len(set(chances)) > 1 else [],
        by_system=by_system,
    )
    # Their keys are the order in which they are handed out, which must not be that of the frame.
    order = list(choice.drawn)
    random.Random(f"order:{seed}").shuffle(order)
    rows = [
        DrawnCheck(draw=draw, check_row_id=frame[name].key, inclusion_probability=choice.chances[name])
        for name in order
    ]
    DrawnCheck.objects.bulk_create(rows, batch_size=SAMPLED_AT_ONCE)
    first = blind_answers(project).filter(check_row=OuterRef("check_row")).order_by("pk").values("pk")[:1]
    DrawnCheck.objects.filter(draw=draw).update(verdict=Subquery(first))
    waiting = DrawnCheck.objects.filter(draw=draw, verdict=None).count()
    log(
        project=project,
        actor=by,
        verb="draw checks",
        target=draw,
        data={
            "method": method,
            "share": share,
            "side": side,
            "seed": seed,
            "drawn": len(rows),
            "frame": len(frame),
            "answered_before": len(rows) - waiting,
            **(details or {}),
        },
    )
    return draw


def _validate(*, method: str, share: float, side: str) -> None:
    if method not in CHECK_SAMPLE_METHODS:
        raise Invalid(
            f"A random sample of checks is one of {', '.join(CHECK_SAMPLE_METHODS)}, not {method!r}.",
            field="method",
        )
    if not 0 < share <= 1:
        raise Invalid("The share must be above 0 and at most 100 %.", field="share")
    if side and side not in Check.Side.values:
        raise Invalid(f"A side is {' or '.join(Check.Side.values)}, not {side!r}.", field="side")


def _frame(project: Project, side: str) -> Iterator[FramedCheck]:
    columns = ("pk", "public_id", "peer__system_id", "peer__target_words", "judge_probability")
    rows = drawable(project, side).order_by("pk").values_list(*columns)
    return (FramedCheck(*row) for row in rows.iterator(chunk_size=SAMPLED_AT_ONCE))


def _choice(frame: Mapping[str, FramedCheck], *, method: str, share: float, seed: int) -> DrawnChoice:
    match method:
        case Draw.Method.UNIFORM:
            drawn = uniform_draw(list(frame), share=share, seed=seed)
            return DrawnChoice(list(drawn), dict.fromkeys(frame, len(drawn) / len(frame)))
        case Draw.Method.STRATIFIED:
            strata = {name: (framed.system_id, framed.target_words) for name, framed in frame.items()}
            drawn = stratified_draw(strata, share=share, seed=seed)
            # Of every stratum one at least was drawn.
            chances = {strata[name]: chance for name, chance in drawn.items()}
            return DrawnChoice(list(drawn), {name: chances[stratum] for name, stratum in strata.items()})
        case _:
            spreads = {name: _spread(framed.probability) for name, framed in frame.items()}
            size = max(1, round(share * len(frame)))
            known = active_probabilities(spreads, size=size)
            return DrawnChoice(list(fixed_size_draw(known, seed=seed)), known)


def _spread(probability: float | None) -> float:
    """The standard deviation of an answer that is yes with this probability; the most where nothing is known."""
    p = 0.5 if probability is None else probability
    return math.sqrt(p * (1 - p))
