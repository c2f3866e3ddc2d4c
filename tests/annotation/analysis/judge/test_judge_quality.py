from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from annotation.analysis.intervals import shown
from annotation.analysis.judge.judge_answers import AnswerBasis
from annotation.analysis.judge.judge_quality import Version, judge_inputs, judge_quality, trust_in
from annotation.models import Check, Judge, JudgeCall, PromptVersion, Run, Sample, Verdict
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.texts.services.change_claims import reword_claim
from evaluation.judging import LABELS, Label
from evaluation.statistics import judge_report
from tests.annotation.answering import add_checks, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.annotation.cast import World

PEOPLE = ("yes", "yes", "yes", "no", "no", "no", "unsure", "no")
LEXICAL = ("yes", "yes", "no", "no", "no", "yes", "no", None)
CHANCES = (0.9, 0.8, 0.4, 0.1, 0.2, 0.7, 0.3, None)


def judge_checks(
    checks: Sequence[Check],
    judge: Judge,
    labels: Sequence[str | None],
    *,
    chances: Sequence[float | None] | None = None,
    signature: str = "lexical|v:1",
    run: Run | None = None,
) -> None:
    Verdict.objects.bulk_create(
        Verdict(
            check_row=check,
            role=Verdict.Role.JUDGE,
            judge=judge,
            origin_name=signature,
            label=label,
            probability=chance,
            run=run,
        )
        for check, label, chance in zip(checks, labels, chances or [None] * len(checks), strict=True)
    )


@pytest.fixture
def checks(world: World) -> list[Check]:
    made = add_checks(world, 8)
    for check, label in zip(made, PEOPLE, strict=True):
        say(check, world.rex, label)
    judge_checks(made, world.judge, LEXICAL, chances=CHANCES)
    return made


def first(world: World) -> Version:
    return judge_quality(world.project).versions[0]


def test_without_people_there_is_nothing_to_hold_a_judge_against(world: World) -> None:
    found = judge_quality(world.project)
    assert (found.checks, found.versions) == (0, ())


def test_a_judge_worked_out(world: World, checks: list[Check]) -> None:
    version = first(world)
    report = version.report
    assert (version.id, version.is_deciding, version.kind) == ("lexical", True, "lexical")
    assert {said: sum(row.values()) for said, row in report.confusion.items()} == {
        **dict.fromkeys(LABELS, 0),
        "yes": 3,
        "no": 4,
        "unscored": 1,
    }
    assert report.confusion["no"]["unsure"] == 1
    # The judge answered seven checks. It is right on two with yes, two with no, and the unsure, which is also not
    # yes.
    values = {
        name: getattr(report, name).value
        for name in ("answered", "accuracy", "sensitivity", "specificity", "bias")
    }
    assert values == pytest.approx(
        {"answered": 7 / 8, "accuracy": 5 / 7, "sensitivity": 2 / 3, "specificity": 3 / 4, "bias": 0.0}
    )
    # Judge and people agree on 5 of 7, which is 35 / 49. Both say yes to 3 of 7, so agreement by chance is (3 * 3 + 4 *
    # 4) / 49 = 25 / 49. Kappa is (35 - 25) / (49 - 25).
    assert report.kappa.value == pytest.approx(10 / 24)


def test_kinds_of_claims_are_measured_apart(world: World, checks: list[Check]) -> None:
    kinds = first(world).kinds
    # People say yes to three checks, and the judge agrees on two. Of the four with not yes that it scored, it agrees
    # on three.
    assert kinds["people say yes"].accuracy.value == pytest.approx(2 / 3)
    assert kinds["people say no or unsure"].accuracy.value == pytest.approx(3 / 4)
    assert kinds["without a number"].checks == 8


PEOPLE_IN_SET, RIGHT = ("yes", "yes", "no", "no"), ("yes", "yes", "no", "no")
LATE_YES, ONE_OF_FOUR, ALL_WRONG = (
    ("yes", "yes", "yes", "no"),
    ("no", "yes", "yes", "yes"),
    ("no", "no", "yes", "yes"),
)


@pytest.mark.parametrize(
    ("kind", "said", "trust"),
    [
        # The judge is right on 39 of 40, while always yes would be right on 20. It says yes once too often, which may
        # be chance.
        ("all", [RIGHT] * 9 + [LATE_YES], "yes"),
        # The judge is right on 34 of 40, and says yes too often in 6 of 10 sets.
        ("sample", [RIGHT] * 4 + [LATE_YES] * 6, "shifted"),
        # The judge is right on 20 of 40, as a judge that always says yes would be.
        ("sample", [RIGHT] * 5 + [ALL_WRONG] * 5, "no"),
        ("chosen", [RIGHT] * 9 + [LATE_YES], "unknown"),
        # Three sets give no interval.
        ("sample", [RIGHT] * 2 + [ONE_OF_FOUR], "unknown"),
    ],
)
def test_a_judge_is_trusted_if_it_beats_always_the_same_answer(
    kind: str, said: list[tuple[str, ...]], trust: str
) -> None:
    judge = [cast("Label", label) for labels in said for label in labels]
    people = [cast("Label", label) for label in PEOPLE_IN_SET * len(said)]
    report = shown(judge_report(judge, people, [number for number, _ in enumerate(said) for _ in range(4)]))
    assert trust_in(AnswerBasis(kind=kind, frame=99), report, 0.5) == trust


def test_what_people_answered_knowing_the_judges_is_not_its_measure(world: World) -> None:
    check = world.check("alder", 1)
    say(check, world.rex, "no", had_seen=True)
    assert judge_quality(world.project).checks == 0


def test_most_people_decide_and_ties_are_left_out(world: World, checks: list[Check]) -> None:
    say(checks[0], world.cleo, "no")
    say(checks[1], world.cleo, "no")
    say(checks[1], world.ana, "no")
    found = judge_quality(world.project)
    assert (found.checks, found.ties, found.basis.kind) == (7, 1, "chosen")
    # The first check is a tie and is left out, so 6 checks have the judge's answer. Most people say no to the second
    # check, so the judge's yes is wrong there, and 3 of 6 answers are right.
    assert found.versions[0].report.accuracy.value == 0.5


def test_an_answer_outlives_a_later_failure(world: World, checks: list[Check]) -> None:
    judge_checks(checks[:1], world.judge, [None])
    assert first(world).report.scored == 7
    judge_checks(checks[:1], world.judge, ["no"])
    assert first(world).report.accuracy.value == pytest.approx(4 / 7)


def test_other_words_make_another_version(world: World, checks: list[Check]) -> None:
    judge_checks(checks, world.judge, PEOPLE, signature="lexical|v:2")
    found = judge_quality(world.project)
    assert [(each.id, each.signature) for each in found.versions] == [
        # The more accurate version is first; the numbers follow the time of the first verdict.
        ("lexical-2", "lexical|v:2"),
        ("lexical-1", "lexical|v:1"),
    ]


def test_the_deciding_judge_comes_first(world: World, checks: list[Check]) -> None:
    other = Judge.objects.create(name="other", kind=Judge.Kind.LEXICAL)
    judge_checks(checks, other, PEOPLE, signature="other|v:1")
    assert [each.id for each in judge_quality(world.project).versions] == ["lexical", "other"]


def test_every_system_has_a_report_the_least_accurate_first(world: World, checks: list[Check]) -> None:
    say(world.check("birch", 1), world.rex, "no")
    systems = first(world).systems
    assert [(name, report.checks) for name, report in systems.items()] == [("alder", 8), ("birch", 1)]
    assert systems["alder"].accuracy.value == pytest.approx(5 / 7)


def test_a_thousand_checks_have_a_price(world: World) -> None:
    judge = Judge.objects.create(
        name="paid", kind=Judge.Kind.OPENAI, model="m", prompt_price=2, completion_price=8
    )
    run = Run.objects.create(project=world.project, judge=judge)
    made = add_checks(world, 4)
    for check in made:
        say(check, world.rex, "yes")
    judge_checks(made, judge, ("yes", "yes", "yes", "no"), signature="paid|m", run=run)
    JudgeCall.objects.create(
        judge=judge, key="a", step="cover_summary", prompt_version="1", request="{}", run=run,
        prompt_tokens=3000, completion_tokens=750, seconds=2.5,
    )  # fmt: skip
    cost = next(each for each in judge_quality(world.project).versions if each.id == "paid").cost
    # 3000 tokens at 2 and 750 at 8 per million cost 0.012, for 4 answers.
    assert (cost.calls, cost.cost, cost.answered) == (1, pytest.approx(0.012), 4)
    assert cost.of_thousand == pytest.approx(3.0)


def test_own_words_are_named(world: World, checks: list[Check]) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge)
    Verdict.objects.filter(judge=world.judge).update(run=run)
    words = PromptVersion.objects.create(
        project=world.project, step="cover_summary", number=2, text="x", version="1+0"
    )
    run.prompt_versions.add(words)
    assert first(world).own_words == ("cover_summary v2",)


def test_all_checks_answered_are_all(world: World, checks: list[Check]) -> None:
    for check in [*world.checks("alder"), *world.checks("birch")]:
        say(check, world.rex, "no")
    found = judge_quality(world.project)
    assert (found.basis.kind, found.basis.frame) == ("all", 14)


def sampled(world: World, method: str = "uniform") -> list[Check]:
    sample = sample_checks(project=world.project, by=world.mona, method=method, share=0.5, seed=1)
    return [each.check_row for each in sample.sampled_checks.select_related("check_row__project")]


def test_until_a_sample_is_answered_it_stands_for_nothing(world: World) -> None:
    one, *_ = sampled(world)
    override(check=one, by=world.rex, label="yes")
    found = judge_quality(world.project)
    assert found.basis.kind == "open"


def test_a_finished_sample_stands_for_all_that_it_was_sampled_from(world: World) -> None:
    asked = sampled(world)
    for check in asked:
        override(check=check, by=world.rex, label="yes")
    volunteered = (
        Check.objects.filter(project=world.project).exclude(pk__in=[each.pk for each in asked]).first()
    )
    override(check=volunteered, by=world.rex, label="yes")
    found = judge_quality(world.project)
    assert (found.basis.kind, found.checks) == ("sample", 3)


def test_a_sampled_claim_that_was_reworded_since_is_said_to_be_left_out(world: World) -> None:
    asked = sampled(world)
    for check in asked:
        override(check=check, by=world.cleo, label="yes")
    reword_claim(claim=asked[0].claim, by=world.rex, text="The new hall opens at dusk.")
    gone = Check.objects.filter(pk__in=[each.pk for each in asked], is_current=False).count()
    assert gone >= 1
    found = judge_quality(world.project)
    assert found.basis.kind == "sample"
    # The sentence and the figures count the same checks.
    assert found.checks == len(asked) - gone


def test_unequal_chances_are_said(world: World) -> None:
    asked = sampled(world)
    sample = Sample.objects.get()
    for check in asked:
        override(check=check, by=world.rex, label="yes")
    sample.sampled_checks.filter(check_row=asked[0]).update(inclusion_probability=0.9)
    found = judge_quality(world.project)
    assert found.basis.kind == "uneven"


def test_a_new_sample_that_waits_does_not_put_the_answered_one_out_of_force(world: World) -> None:
    for check in sampled(world):
        override(check=check, by=world.rex, label="yes")
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=9)
    assert judge_quality(world.project).basis.kind == "sample"


def finished(world: World, frame: Sequence[Check], asked: Sequence[Check]) -> Sample:
    sample = Sample.objects.create(
        project=world.project,
        method=Sample.Method.UNIFORM,
        seed=1,
        frame=[[check.public_id, None] for check in frame],
    )
    for check in asked:
        given = Verdict.objects.filter(check_row=check, person=world.rex).first() or say(
            check, world.rex, "no"
        )
        sample.sampled_checks.create(
            check_row=check, inclusion_probability=len(asked) / len(frame), verdict=given
        )
    return sample


def test_alignment_is_audited_where_coverage_has_no_sample(world: World, checks: list[Check]) -> None:
    # Nobody has answered the check of birch.
    frame = [*checks[:4], world.check("birch", 1)]
    Check.objects.filter(pk__in=[check.pk for check in frame]).update(side=Check.Side.SUMMARY)
    finished(world, frame, checks[:2])
    found = judge_quality(world.project)
    assert (found.basis.kind, found.basis.sides, found.checks) == ("sample", ("summary",), 2)


def test_another_judges_run_and_price_are_noticed(world: World) -> None:
    seen = {judge_inputs(world.project)}
    run = Run.objects.create(project=world.project, judge=world.judge)
    seen.add(judge_inputs(world.project))
    Judge.objects.filter(pk=world.judge.pk).update(prompt_price=1.0)
    seen.add(judge_inputs(world.project))
    run.jobs.create(kind="run", project=world.project, document_set=world.sets["port"], done=1)
    seen.add(judge_inputs(world.project))
    assert len(seen) == 4
