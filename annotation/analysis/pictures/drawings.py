"""The pictures of a project, drawn from what is stored: each function takes what one picture needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse

from annotation.analysis.leaderboard.lengths import mean_lengths
from annotation.analysis.pictures.charts import (
    FEWEST_FOR_CURVE,
    CalibrationPoint,
    ClaimLine,
    ClaimMark,
    CompositeLine,
    JudgedSystem,
    LengthPoint,
    Picture,
    RankedSystem,
    Work,
    burn_up,
    calibration,
    composite_lines,
    coverage_against_length,
    heat_map,
    judge_against_people,
    named,
    ranking,
)
from annotation.analysis.pictures.heat_map import HeatMap
from annotation.analysis.pictures.work_by_day import DayCounts, judged_by_day

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.contrib.auth.models import User

    from annotation.analysis.leaderboard.leaderboard import TargetTable
    from annotation.models import Project

BY_SYSTEM = "system"
"""The split of a judge's checks that the scatter shows."""


def draw_ranking(
    table: TargetTable, column: str, *, score: str, caption: str, is_made: bool = True
) -> Picture:
    """The systems with a mean of a score, the best first, and which of them cannot be told apart."""
    held = [(row, row.scores[column]) for row in table.rows]
    held = sorted(
        ((row, average) for row, average in held if average.mean is not None),
        key=lambda pair: -(pair[1].mean or 0.0),
    )
    means = [average.mean for _, average in held]
    order = table.ranking if table.ranking and table.ranking.score == column else None
    places = order.places if order and order.has_groups else {}
    letters = {name: place.letters for name, place in places.items()}
    if order and order.has_groups:
        caption = (
            f"{caption} Lines on the right: systems that are not significantly different at 5 % after Holm's "
            "correction "
            "(paired permutation of document sets)."
        )
    return ranking(
        [
            RankedSystem(
                rank=means.index(average.mean) + 1,
                system=row.system,
                mean=average.mean or 0.0,
                low=average.low,
                high=average.high,
                n=average.n,
                groups=places[row.system].group_marks if row.system in places else (),
                letters=letters.get(row.system, ""),
            )
            for row, average in held
        ],
        score=score,
        caption=caption,
        is_made=is_made,
    )


def draw_lengths(project: Project, table: TargetTable, *, covers: str) -> Picture:
    """Coverage against length; lengths come from brevity where there is a target, so that the lines are exact."""
    target = table.target_words or project.target_length
    lengths = (
        {
            row.system: target * (1 - row.scores["brevity"].mean)
            for row in table.rows
            if row.scores["brevity"].mean is not None
        }
        if target
        else mean_lengths(project, target_words=None)
    )
    points = [
        LengthPoint(
            system=row.system,
            length=lengths[row.system],
            coverage=row.scores["coverage"].mean,
            low=row.scores["coverage"].low,
            high=row.scores["coverage"].high,
            composite=row.scores["composite_custom"].mean,
        )
        for row in table.rows
        if row.scores["coverage"].mean is not None and row.system in lengths
    ]
    return coverage_against_length(
        points, target=target, a=project.composite_weight, unit=project.length_unit, covers=covers
    )


def draw_judge_scatter(version: dict[str, Any]) -> Picture:
    """A version of a judge against people, by system, from the stored figures."""
    parts = [part for split in version["splits"] if split["key"] == BY_SYSTEM for part in split["parts"]]
    return judge_against_people(
        [
            JudgedSystem(
                system=part["name"],
                checks=part["scored"],
                people=part["people_yes"],
                judge=part["judge_yes"],
                low=part["bias"]["low"],
                high=part["bias"]["high"],
            )
            for part in parts
            if part["judge_yes"] is not None
        ],
        judge=version["id"],
    )


def draw_calibration(version: dict[str, Any]) -> Picture | None:
    """The calibration curve of a version of a judge, in groups of about as many answers each; None of too few."""
    if version["report"]["by_quantile"]["answers"] < FEWEST_FOR_CURVE:
        return None
    return calibration(
        [
            CalibrationPoint(
                low=each["low"],
                high=each["high"],
                count=each["count"],
                predicted=each["predicted"],
                observed=each["observed"]["value"],
                observed_low=each["observed"]["low"],
                observed_high=each["observed"]["high"],
            )
            for each in version["report"]["by_quantile"]["bins"]
        ],
        judge=version["id"],
    )


def draw_weights(table: Mapping[str, Any]) -> Picture:
    """The composite over the weight of coverage, from the stored sensitivity at one target length."""
    length = table["length"]
    systems = [
        CompositeLine(system=name, brevity=length["at_zero"][name], coverage=value)
        for name, value in length["at_one"].items()
    ]
    shown = {of.system for of in named(systems, length["own"])}
    return composite_lines(
        systems,
        chosen=length["own"],
        crossings=[
            crossing["weight"]
            for crossing in length["crossings"]
            if {crossing["before"], crossing["after"]} <= shown
        ],
        caption="Means over the summaries that have both coverage and brevity.",
    )


def draw_claims(project: Project, table: TargetTable, page: HeatMap) -> Picture:
    """A page of claims against the systems in the leaderboard's order."""
    systems = [row.system for row in table.rows if row.system in page.systems]
    # One address, and the ids put into it: so many cells would wait for the router.
    address = reverse("summary", args=[project.slug, "0"])
    lines = [
        ClaimLine(
            document_set=row.document_set,
            claim=row.claim,
            marks={
                system: ClaimMark(
                    label=answer.label,
                    by_person=answer.by_person,
                    href=f"{address.replace('/0/', f'/{answer.summary_id}/')}#check-{answer.check_id}",
                )
                for system, answer in row.answers.items()
            },
        )
        for row in page.rows
    ]
    caption = (
        "Final answers: a person's if there is one, otherwise the deciding judge's. Systems in leaderboard "
        "order."
    )
    return heat_map(lines, systems, caption=caption, of_claims=page.claims)


def draw_work(project: Project, *, viewer: User, answered: DayCounts) -> Picture:
    """What was judged and, by reviewers, answered by the end of each day."""
    judged = judged_by_day(project, viewer=viewer)
    kinds = [
        Work("units judged by assessors", "judged", judged.scope, judged.by_day),
        Work("claims answered by reviewers", "answered", answered.scope, answered.by_day),
    ]
    return burn_up(
        [work for work in kinds if work.scope and work.by_day],
        caption=(
            "Units count on the day of their last change, claims on the day of their first answer (server "
            "time). Left out: your own open sets, and claims with only imported answers."
        ),
    )
