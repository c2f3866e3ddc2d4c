from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from annotation.analysis.intervals import has_interval, shown
from annotation.analysis.make_analysis import RECIPES
from annotation.core.facts import plain
from annotation.models import Analysis, Check, Score, Verdict
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from evaluation.statistics import Estimate
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from tests.annotation.cast import World

BOUNDS = ("low", "high", "right_low", "widest", "widest_now", "least")


@dataclass(frozen=True)
class Report:
    name: str
    parts: tuple[Estimate, ...]


def of(clusters: int) -> Estimate:
    return Estimate(value=0.5, low=0.1, high=0.9, clusters=clusters, draws=2000, seed=0)


def test_bounds_of_too_few_sets_are_left_out_wherever_they_lie() -> None:
    report = shown(Report("a", (of(4), of(5))))
    assert [(part.value, part.low, part.high) for part in report.parts] == [
        (0.5, None, None),
        (0.5, 0.1, 0.9),
    ]
    assert report.name == "a"


def test_what_no_resampling_moves_has_no_interval() -> None:
    # If raters always agree, alpha is 1 in every resample, which does not prove that they always will.
    flat = Estimate(value=1.0, low=1.0, high=1.0, clusters=12, draws=2000, seed=0)
    assert (shown(flat).value, shown(flat).low, shown(flat).high) == (1.0, None, None)
    assert [has_interval(12, low, high) for low, high in ((0.3, 0.1 + 0.2), (0.3, 0.31), (None, None))] == [
        False,
        True,
        False,
    ]


def answered(world: World, sets: int) -> None:
    lay_sets(world, sets - 1)
    answer_sample(
        world, sample_checks(project=world.project, by=world.mona, method="uniform", share=1, seed=1)
    )
    Verdict.objects.bulk_create(
        Verdict(
            check_row=check,
            role=Verdict.Role.REVIEWER,
            person=world.cleo,
            label="no" if place % 2 else "yes",
        )
        for place, check in enumerate(Check.objects.filter(project=world.project).order_by("pk"))
    )
    rescore(project=world.project)
    # "bridge" has only texts, and therefore brevity.
    Score.objects.filter(summary__document_set=world.sets["bridge"]).delete()


def bounds(payload: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(payload, dict):
        if "value" in payload or "mean" in payload or "least" in payload:
            yield from ((name, payload[name]) for name in BOUNDS if name in payload)
        for part in payload.values():
            yield from bounds(part)
    elif isinstance(payload, list | tuple):
        for part in payload:
            yield from bounds(part)


KEYS = {Analysis.Kind.LEADERBOARD: ("coverage",)}


@pytest.mark.parametrize("kind", list(RECIPES))
def test_no_statistics_show_an_interval_of_four_sets(world: World, kind: Analysis.Kind) -> None:
    answered(world, 4)
    for key in KEYS.get(kind, ("",)):
        found = list(bounds(plain(RECIPES[kind].compute(world.project, key))))
        assert [name for name, value in found if value is not None] == []
        assert found


@pytest.mark.parametrize("kind", list(RECIPES))
def test_of_five_sets_they_do(world: World, kind: Analysis.Kind) -> None:
    answered(world, 5)
    for key in KEYS.get(kind, ("",)):
        assert any(value is not None for _, value in bounds(plain(RECIPES[kind].compute(world.project, key))))
