"""Taking a random sample of checks for review."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator
from typing import NamedTuple, get_args

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import SIDE_SCORES, Project, Sample, SampledCheck
from annotation.models.base import new_seed
from annotation.sampling.queries.check_samples import blind_answers, eligible
from evaluation.statistics import Design, fixed_size_sample, inclusion_probabilities

SAMPLED_AT_ONCE = 2000


class FramedCheck(NamedTuple):
    key: int
    public_id: str
    side: str
    document_set_id: int
    of_summary: int
    system_id: int | None
    target_words: int | None
    probability: float | None


@transaction.atomic
def sample_checks(
    *,
    project: Project,
    by: User | None,
    method: str,
    share: float,
    side: str = "",
    seed: int | None = None,
    among: Collection[int] | None = None,
    extends: Sample | None = None,
) -> Sample:
    """Sample a share of the project's checks for reviewers, with recorded inclusion probabilities.

    The frame has the checks that are `eligible`. A `side` restricts the frame to this side, and `among` to the
    summaries with these keys. The judge's current probabilities of yes are stored with the frame. `uniform` gives each
    check the same chance; `active` prefers checks of which the judge is unsure. If a check has blind answers already,
    the sample uses the first of them (see `blind_answers`). In estimates, a sample that `extends` another one replaces
    it for the systems in the new frame. Raises Invalid with the name of the wrong argument in `field`, and the errors
    of `need_blind_answers` and `require`.
    """
    require(by, project, Verb.ASSIGN)
    design = design_of(method)
    if not 0 < share <= 1:
        raise Invalid("The share must be above 0 and at most 100 %.", field="share")
    if side and side not in SIDE_SCORES:
        raise Invalid(f"A side is {' or '.join(SIDE_SCORES)}, not {side!r}.", field="side")
    need_blind_answers(project)
    frame = {framed.public_id: framed for framed in _frame(project, side, among)}
    if not frame:
        raise Invalid("There are no checks to sample yet. Start a run or import checks.", field="side")
    seed = new_seed() if seed is None else seed
    strata = {name: (framed.side, framed.system_id, framed.target_words) for name, framed in frame.items()}
    spreads = {name: _spread(framed.probability) for name, framed in frame.items()}
    size = max(1, round(share * len(frame)))
    chances = inclusion_probabilities(spreads, strata, size=size, design=design)
    sampled = fixed_size_sample(chances, strata=strata, seed=seed)
    sample = Sample.objects.create(
        project=project,
        method=method,
        share=share,
        seed=seed,
        extends=extends,
        frame=[[framed.public_id, framed.probability] for framed in frame.values()],
        chances=list(chances.values()) if len(set(chances.values())) > 1 else [],
    )
    # The keys order the checks by side, then by summary, and at random within a summary.
    order = list(sampled)
    random.Random(f"order:{seed}").shuffle(order)
    order.sort(key=lambda name: (frame[name].side, frame[name].document_set_id, frame[name].of_summary))
    rows = [
        SampledCheck(sample=sample, check_row_id=frame[name].key, inclusion_probability=sampled[name])
        for name in order
    ]
    SampledCheck.objects.bulk_create(rows, batch_size=SAMPLED_AT_ONCE)
    first = blind_answers(project).filter(check_row=OuterRef("check_row")).order_by("pk").values("pk")[:1]
    SampledCheck.objects.filter(sample=sample).update(verdict=Subquery(first))
    waiting = SampledCheck.objects.filter(sample=sample, verdict=None).count()
    log(
        project=project,
        actor=by,
        verb="sample checks",
        target=sample,
        data={
            "method": method,
            "share": share,
            "side": side,
            "seed": seed,
            "sampled": len(rows),
            "frame": len(frame),
            "answered_before": len(rows) - waiting,
            **({"extends": extends.public_id} if extends else {}),
        },
    )
    return sample


def design_of(method: str) -> Design:
    """Return the design with this name. Raises Invalid (field `method`) for an unknown name."""
    known: Design | None = next((design for design in get_args(Design) if design == method), None)
    if known is None:
        raise Invalid(f"The method is one of {', '.join(get_args(Design))}, not {method!r}.", field="method")
    return known


def need_blind_answers(project: Project) -> None:
    """Raise Invalid (code `shown`) if reviewers see the judge's verdict at once.

    On PostgreSQL, the project's row is locked until the transaction ends.
    """
    held = Project.objects.select_for_update(no_key=True).only("reveal").get(pk=project.pk)
    if held.reveal == Project.Reveal.SHOWN:
        raise Invalid(
            "A random sample needs blind answers, but this project shows the judge's verdict at once. Change "
            "this in the settings to “after own answer” first.",
            code="shown",
        )


def _frame(project: Project, side: str, among: Collection[int] | None) -> Iterator[FramedCheck]:
    own = ("pk", "public_id", "side", "document_set_id", "of_summary")
    others = ("summary__system_id", "summary__target_words", "judge_probability")
    rows = eligible(project, side, among).order_by("pk").values_list(*own, *others)
    return (FramedCheck(*row) for row in rows.iterator(chunk_size=SAMPLED_AT_ONCE))


def _spread(probability: float | None) -> float:
    p = 0.5 if probability is None else probability
    return math.sqrt(p * (1 - p))
