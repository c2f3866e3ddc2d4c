"""Draw the checks that the plan foretells: so many of the reference side, by a design, with recorded chances."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.models import Check, Draw, Project
from annotation.permissions import Verb, require
from annotation.queries.forecasts import DRAWABLE, planned_chances
from annotation.refusals import Invalid
from annotation.services.draw_checks import Framed, frame_of, new_seed, record_draw
from evaluation import fixed_size_draw, uniform_draw

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from evaluation import Design

SIDE = Check.Side.REFERENCE.value


@transaction.atomic
def draw_planned(
    *, project: Project, by: User | None, size: int, design: str, seed: int | None = None
) -> Draw:
    """Draw so many checks for reviewers as the plan page foretells them.

    Every system and target length gets its share; within it `uniform` draws by lot, `stratified` by lot within strata
    of the judge's doubt, most where it errs most, `active` each check by how far the judge is expected to be off. A
    seed that has drawn in this project already gives that draw back and draws nothing, so a form that is sent twice
    draws once.
    Raises Invalid, with the `field` that is wrong.
    """
    require(by, project, Verb.ASSIGN)
    wanted = next((known for known in DRAWABLE if known == design), None)
    if wanted is None:
        raise Invalid(f"A draw is {', '.join(DRAWABLE)}, not {design!r}.", field="design")
    seed = new_seed() if seed is None else seed
    # Not for the rows that name the project: only who draws by plan at the same time waits.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    earlier = Draw.objects.filter(project=project, item=Draw.Item.CHECK, seed=seed).first()
    if earlier is not None:
        return earlier
    frame = frame_of(project, SIDE)
    if not 0 < size <= len(frame):
        raise Invalid(f"Between 1 and {len(frame):,} checks can be drawn, not {size:,}.", field="size")
    return record_draw(
        project=project,
        by=by,
        method=wanted,
        share=size / len(frame),
        side=SIDE,
        seed=seed,
        frame=frame,
        chances=_drawn(project, frame, size=size, design=wanted, seed=seed),
        details={"planned": size},
    )


def _drawn(
    project: Project, frame: Mapping[str, Framed], *, size: int, design: Design, seed: int
) -> dict[str, float]:
    if design == "uniform":
        return uniform_draw(list(frame), share=size / len(frame), seed=seed)
    planned = planned_chances(project, size=size, design=design)
    if design == "active":
        return fixed_size_draw({name: planned[name][0] for name in frame}, seed=seed)
    strata: dict[str, dict[str, float]] = defaultdict(dict)
    for name in frame:
        chance, stratum = planned[name]
        strata[stratum][name] = chance
    return {
        name: chance
        for number, chances in enumerate(strata.values())
        for name, chance in fixed_size_draw(chances, seed=seed + number).items()
    }
