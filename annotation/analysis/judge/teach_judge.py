"""Create a judge with examples of people's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from django.db import transaction

from annotation.analysis.agreement.ratings import check_facts
from annotation.analysis.judge.judge_answers import humans_of, said_of
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.judging.queries.examples import examples_of, half_of, prompts_with
from annotation.judging.queries.run_estimate import CHARACTERS_A_TOKEN
from annotation.judging.services.judges import require_of
from annotation.judging.services.save_judge import copy_judge
from annotation.judging.services.start_run import start_run
from annotation.models import SIDE_SCORES, Check, Guideline, Judge, JudgeExamples, Run, Verdict
from annotation.models.document import cluster_of
from annotation.scoring.records import judged_text, sources_of
from evaluation.judging.examples import Candidate, Example, choose_examples, passage, within
from evaluation.statistics import FEWEST_FOR_INTERVAL

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project, Summary

LONGEST_BASE_NAME = 45
BY_PEOPLE = (Check.Decider.REVIEWER, Check.Decider.ADJUDICATOR)


@transaction.atomic
def teach_judge(
    *,
    project: Project,
    judge: Judge,
    by: User | None,
    max_cost: float | None = None,
) -> Run:
    """Create a copy of this judge with examples and the current guideline, and start its trial run.

    The trial judges only summaries with answers that can show the gain, and `max_cost` limits its cost. If the judge
    has examples already, the copy is made from its base judge. Raises the errors of `lesson_of`, `require`,
    `copy_judge` and `start_run`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    lesson = lesson_of(project, judge)
    base = lesson.base
    taught = copy_judge(project=project, judge=base, stem=f"{base.name[:LONGEST_BASE_NAME]}-examples", by=by)
    lesson.row.judge = taught
    lesson.row.save()
    log(
        project=project,
        actor=by,
        verb="teach judge",
        target=taught,
        data={
            "judge": taught.name,
            "base": base.name,
            "examples": sum(map(len, lesson.row.chosen)),
            "answers": lesson.answers,
        },
    )
    return start_run(
        project=project,
        judge=taught,
        metrics=lesson.metrics,
        max_cost=max_cost,
        trial_of=lesson.measured.summaries,
        by=by,
    )


@dataclass(frozen=True, slots=True)
class Lesson:
    """The examples for a judge as an unsaved row, and the checks that measure their gain.

    `answers` is the number of checks from which the examples were chosen.
    """

    row: JudgeExamples
    measured: Measured
    answers: int

    @property
    def base(self) -> Judge:
        return self.row.base

    @property
    def metrics(self) -> list[str]:
        """Return the metrics that the trial run must measure."""
        return [metric for side, metric in SIDE_SCORES.items() if side in self.measured.sides]

    @property
    def tokens(self) -> int:
        """Estimate the largest number of tokens that examples and guideline add to a call."""
        added = [
            len(prompt.examples) for half in (0, 1) for prompt in prompts_with(self.row, half, {}).values()
        ]
        return max(added) // CHARACTERS_A_TOKEN


@dataclass(frozen=True, slots=True)
class Measured:
    """The summaries, sides and clusters of the checks that measure the gain."""

    summaries: list[int]
    sides: set[str]
    clusters: set[str]


def _measured(project: Project, base: Judge) -> Measured:
    facts = check_facts(project)
    usable = {
        check
        for (judge, _), said in said_of(project).items()
        if judge == base.pk
        for check, label in said.items()
        if label is not None
    }
    checks = humans_of(project, facts).by_chance.keys() & usable
    summaries = (
        Check.objects.filter(pk__in=checks).order_by("summary").values_list("summary", flat=True).distinct()
    )
    return Measured(
        list(summaries), {facts[check].side for check in checks}, {facts[check].cluster for check in checks}
    )


def lesson_of(project: Project, judge: Judge) -> Lesson:
    """Choose the examples for this judge, or for its base judge.

    Raises NotFound for another project's judge, and Invalid (code `no_examples`) in three cases:
    - the judge is not a language model
    - the judge has answered no check that people decided
    - the checks of `Humans.by_chance` that the judge answered are in fewer than FEWEST_FOR_INTERVAL clusters
    """
    require_of(judge, project)
    earlier = examples_of(judge)
    base = judge if earlier is None else earlier.base
    if base.kind != Judge.Kind.OPENAI:
        raise Invalid("Only a language model can use examples.", field="judge", code="no_examples")
    measured = _measured(project, base)
    pool = _pool(project, base)
    if len(measured.clusters) < FEWEST_FOR_INTERVAL or not pool:
        raise Invalid(
            f"Examples need a random sample answered by both {base.name} and people in at least "
            f"{FEWEST_FOR_INTERVAL} document sets.",
            field="judge",
            code="no_examples",
        )
    places = [_chosen([row for row in pool if half_of(row.cluster) != half]) for half in (0, 1)]
    examples = _examples(project, {row.check: row for rows in places for row in rows})
    row = JudgeExamples(
        base=base,
        guideline=Guideline.objects.filter(project=project).order_by("-version").first(),
        chosen=[_within([examples[row.check] for row in rows]) for rows in places],
    )
    return Lesson(row, measured, answers=len(pool))


class _Answered(NamedTuple):
    """`said` is the judge's label, and `label` is people's."""

    check: int
    said: str
    label: str
    claim: str
    side: str
    external_id: str
    group: str
    language: str

    @property
    def cluster(self) -> str:
        return cluster_of(self.external_id, self.group)

    @property
    def candidate(self) -> Candidate:
        label: Any = self.label
        is_correction = (self.said == "yes") != (label == "yes")
        return Candidate(self.claim, label, is_correction)


def _pool(project: Project, judge: Judge) -> list[_Answered]:
    rows = Verdict.objects.filter(
        role=Verdict.Role.JUDGE,
        judge=judge,
        label__isnull=False,
        withdrawn_at__isnull=True,
        check_row__project=project,
        check_row__is_current=True,
        check_row__side__in=SIDE_SCORES,
        check_row__final_source__in=BY_PEOPLE,
    )
    columns = (
        "check_row_id",
        "label",
        "check_row__final_label",
        "check_row__claim__text",
        "check_row__side",
        "check_row__document_set__external_id",
        "check_row__document_set__group",
        "check_row__document_set__language",
    )
    return list({row[0]: _Answered(*row) for row in rows.order_by("pk").values_list(*columns)}.values())


def _chosen(pool: Sequence[_Answered]) -> list[_Answered]:
    found: list[_Answered] = []
    for side in SIDE_SCORES:
        of_side = [row for row in pool if row.side == side]
        found += [of_side[place] for place in choose_examples([row.candidate for row in of_side])]
    return found


def _examples(project: Project, rows: Mapping[int, _Answered]) -> dict[int, dict[str, str]]:
    checks = Check.objects.filter(pk__in=rows).select_related("summary__document_set").order_by("pk")
    sets = {check.document_set_id for check in checks if check.side == Check.Side.SUMMARY}
    sources = sources_of(sets)
    given = Verdict.objects.filter(check_row__in=rows, role=Verdict.Role.REVIEWER, withdrawn_at=None)
    reasons = {
        check: reason
        for check, label, reason in given.order_by("pk").values_list("check_row_id", "label", "reason")
        if label == rows[check].label
    }
    found = {}
    for check in checks:
        row = rows[check.pk]
        text = sources.get(check.document_set_id, "")
        if row.side == Check.Side.REFERENCE:
            text = judged_text(cast("Summary", check.summary), project)
        found[check.pk] = {
            "side": row.side,
            "set": row.cluster,
            "claim": row.claim,
            "passage": passage(row.claim, text, row.language),
            "label": row.label,
            "reason": reasons.get(check.pk, ""),
        }
    return found


def _within(examples_found: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    kept: list[dict[str, str]] = []
    for side in SIDE_SCORES:
        of_side = [each for each in examples_found if each["side"] == side]
        examples: list[Example] = []
        for each in of_side:
            label: Any = each["label"]
            examples.append(Example(each["claim"], each["passage"], label, each["reason"]))
        kept += of_side[: len(within(examples))]
    return kept
