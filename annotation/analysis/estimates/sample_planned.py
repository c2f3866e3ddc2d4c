"""Draw the checks that the plan foretells: so many of a side, by a design, with recorded chances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.analysis.estimates.forecasts import DRAWABLE, planned_chances
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Check, Draw, DrawnCheck, Project
from annotation.models.base import new_seed
from annotation.sampling.services.sample_checks import (
    DrawnChoice,
    FramedCheck,
    frame_of,
    need_blind_answers,
    record_sample,
)
from evaluation.statistics import fixed_size_draw, uniform_draw

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from evaluation.statistics import Design


@transaction.atomic
def sample_planned(
    *,
    project: Project,
    by: User | None,
    size: int,
    design: str,
    side: str = Check.Side.REFERENCE,
    seed: int | None = None,
) -> Draw:
    """Draw so many checks of a side for reviewers as the plan page foretells them.

    Every system and target length gets its share, to within one check; within it `uniform` draws by lot, `stratified`
    by lot within strata of the judge's doubt, most where it errs most, `active` each check by how far the judge is
    expected to be off. A uniform draw holds exactly so many checks, and each had the same chance; in the others
    shares are rounded, so that they may hold a few more or fewer. A seed that has drawn of this side in this project
    already gives that draw back and draws nothing, so a form that is sent twice draws once.
    Raises Invalid, with the `field` that is wrong, and as `need_blind_answers`.
    """
    require(by, project, Verb.ASSIGN)
    wanted = _design(design)
    seed = new_seed() if seed is None else seed
    # Not for the rows that name the project: only who draws by plan at the same time waits.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    earlier = _drawn_before(project, side, seed).first()
    if earlier is not None:
        return earlier
    frame = _frame(project, size, side)
    return record_sample(
        project=project,
        by=by,
        method=wanted,
        share=size / len(frame),
        side=side,
        seed=seed,
        frame=frame,
        choice=_choice(project, Check.Side(side), frame, size=size, design=wanted, seed=seed),
        by_system=True,
        details={"planned": size},
    )


@transaction.atomic
def refuse_plan(*, project: Project, size: int, design: str, side: str, seed: int) -> None:
    """Raise as `sample_planned` would with these words, and make nothing."""
    _design(design)
    if not _drawn_before(project, side, seed).exists():
        _frame(project, size, side)


def _drawn_before(project: Project, side: str, seed: int) -> QuerySet[Draw]:
    of_side = Exists(DrawnCheck.objects.filter(draw=OuterRef("pk"), check_row__side=side))
    return Draw.objects.filter(of_side, project=project, item=Draw.Item.CHECK, seed=seed, cancelled_at=None)


def _design(name: str) -> Design:
    wanted = next((known for known in DRAWABLE if known == name), None)
    if wanted is None:
        raise Invalid(f"The design must be {', '.join(DRAWABLE)}, not {name!r}.", field="design")
    return wanted


def _frame(project: Project, size: int, side: str) -> dict[str, FramedCheck]:
    need_blind_answers(project)
    frame = frame_of(project, side)
    if not 0 < size <= len(frame):
        raise Invalid(f"Between 1 and {len(frame):,} checks can be sampled, not {size:,}.", field="size")
    return frame


def _choice(
    project: Project,
    side: Check.Side,
    frame: Mapping[str, FramedCheck],
    *,
    size: int,
    design: Design,
    seed: int,
) -> DrawnChoice:
    if design == "uniform":
        return DrawnChoice(list(by_lot(frame, size=size, seed=seed)), dict.fromkeys(frame, size / len(frame)))
    # What came after the pilot is one stratum in the forecast: it is drawn by system too.
    planned = planned_chances(project, side, size=size, design=design)
    strata: dict[tuple[str, int | None, int | None], dict[str, float]] = defaultdict(dict)
    for name, (chance, stratum) in planned.items():
        strata[stratum, frame[name].system_id, frame[name].target_words][name] = chance
    drawn = [
        name
        for number, chances in enumerate(strata.values())
        for name in fixed_size_draw(chances, seed=seed + number)
    ]
    return DrawnChoice(drawn, {name: chance for name, (chance, _) in planned.items()})


def by_lot(frame: Mapping[str, FramedCheck], *, size: int, seed: int) -> dict[str, float]:
    """Every check with the chance size/N, and of each system and target length its share of the size to within one.

    A share that is no whole number is rounded up with the chance of what is over, so that chances stay alike.
    """
    members: dict[tuple[int | None, int | None], list[str]] = defaultdict(list)
    for name, framed in frame.items():
        members[framed.system_id, framed.target_words].append(name)
    owed = {place: divmod(size * len(names), len(frame)) for place, names in members.items()}
    rounded_up = fixed_size_draw({place: over / len(frame) for place, (_, over) in owed.items()}, seed=seed)
    drawn: dict[str, float] = {}
    for number, (place, names) in enumerate(members.items()):
        if count := owed[place][0] + (place in rounded_up):
            chosen = uniform_draw(names, share=count / len(names), seed=seed + number)
            drawn |= dict.fromkeys(chosen, size / len(frame))
    return drawn
