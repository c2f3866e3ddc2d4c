"""Two judges side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from annotation.analysis.explanation.compare import draws_for
from annotation.analysis.intervals import shown
from annotation.analysis.judge.judge_answers import people_said
from annotation.models import SCORE_SIDES, Check, Verdict
from annotation.models.document import cluster_of
from evaluation.statistics import Estimate, judge_report

if TYPE_CHECKING:
    from annotation.models import Judge, Project
    from evaluation.judging import Label


@dataclass(frozen=True, slots=True)
class DifferingAnswer:
    """A check with the labels of both judges. `people` is the majority of blind answers, None without a majority."""

    check: Check
    first: str
    second: str
    people: str | None

    @property
    def first_is_right(self) -> bool | None:
        return None if self.people is None else (self.first == "yes") == (self.people == "yes")


@dataclass(frozen=True, slots=True)
class JudgesCompared:
    """Two judges, compared on the checks that both answered; unsure counts as not yes.

    `checks` counts these checks, and `differ` counts those on which the judges differ. `first_right` and `second_right`
    count the checks on which that judge alone agrees with the majority of blind answers. `differing` lists checks on
    which the judges differ: checks with a majority first, then by falling impact.
    """

    checks: int
    agreement: Estimate
    differ: int
    first_right: int
    second_right: int
    differing: tuple[DifferingAnswer, ...]

    @property
    def answered(self) -> int:
        """Return the number of checks on which the judges differ and the blind answers have a majority."""
        return self.first_right + self.second_right


def compare_judges(project: Project, first: Judge, second: Judge, *, score: str, most: int) -> JudgesCompared:
    """Compare the newest usable answers of two judges for a score; list at most `most` differing checks."""
    one, other = _answers(project, first, score), _answers(project, second, score)
    both = [key for key in one if key in other]
    first_said, second_said = ([cast("Label", of[key][0]) for key in both] for of in (one, other))
    clusters = [cluster_of(*one[key][1:3]) for key in both]
    report = judge_report(first_said, second_said, clusters, draws=draws_for(len(set(clusters))))
    differ = [key for key in both if (one[key][0] == "yes") != (other[key][0] == "yes")]
    said = people_said(project)
    people = {key: said[key] for key in differ if key in said}
    right = sum((one[key][0] == "yes") == (label == "yes") for key, label in people.items())
    order = sorted(differ, key=lambda key: (key not in people, -one[key][3], key))[:most]
    rows = Check.objects.select_related("claim", "document_set", "summary__system").in_bulk(order)
    return JudgesCompared(
        checks=len(both),
        agreement=shown(report.accuracy),
        differ=len(differ),
        first_right=right,
        second_right=len(people) - right,
        differing=tuple(
            DifferingAnswer(rows[key], one[key][0], other[key][0], people.get(key)) for key in order
        ),
    )


def _answers(project: Project, judge: Judge, score: str) -> dict[int, tuple[Any, ...]]:
    rows = Verdict.objects.filter(
        role=Verdict.Role.JUDGE,
        judge=judge,
        label__isnull=False,
        withdrawn_at__isnull=True,
        check_row__project=project,
        check_row__is_current=True,
        check_row__side=SCORE_SIDES[score],
    )
    of_set = "check_row__document_set__external_id", "check_row__document_set__group"
    columns = ("check_row_id", "label", *of_set, "check_row__impact")
    return {key: tuple(row) for key, *row in rows.order_by("pk").values_list(*columns)}
