"""Judges against people: every figure with its calculation by hand, and what people's answers stand for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from annotation.analysis.judge.judge_quality import judge_inputs, judge_quality
from annotation.analysis.judge.words import told
from annotation.models import Check, Draw, Judge, JudgeCall, PromptVersion, Run, Verdict
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.texts.services.change_claims import reword_claim
from evaluation.judging import LABELS
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
            source=Verdict.Source.JUDGE,
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
    """Eight checks that Rex answered before he saw anything, and the lexical judge."""
    made = add_checks(world, 8)
    for check, label in zip(made, PEOPLE, strict=True):
        say(check, world.rex, label)
    judge_checks(made, world.judge, LEXICAL, chances=CHANCES)
    return made


def first(world: World) -> dict[str, Any]:
    version: dict[str, Any] = told(judge_quality(world.project))["versions"][0]
    return version


def test_without_people_there_is_nothing_to_hold_a_judge_against(world: World) -> None:
    found = told(judge_quality(world.project))
    assert (found["checks"], found["versions"], found["pairs"]) == (0, [], [])


def test_a_judge_by_hand(world: World, checks: list[Check]) -> None:
    version = first(world)
    report = version["report"]
    assert (version["id"], version["is_deciding"], version["kind"]) == ("lexical", True, "lexical")
    assert {said: sum(row.values()) for said, row in report["confusion"].items()} == {
        **dict.fromkeys(LABELS, 0),
        "yes": 3,
        "no": 4,
        "unscored": 1,
    }
    assert report["confusion"]["no"]["unsure"] == 1
    # Of the seven that it answered it is right on two yes, two no, and the unsure that is not yes either.
    values = {
        name: report[name]["value"] for name in ("answered", "accuracy", "sensitivity", "specificity", "bias")
    }
    assert values == pytest.approx(
        {"answered": 7 / 8, "accuracy": 5 / 7, "sensitivity": 2 / 3, "specificity": 3 / 4, "bias": 0.0}
    )
    # Both say yes to 3 of 7: chance is (3 * 3 + 4 * 4) / 49, kappa (35 - 25) / (49 - 25).
    assert report["kappa"]["value"] == pytest.approx(10 / 24)
    # Squares of .1, .2, .6, .1, .2, .7, .3.
    assert report["brier"]["value"] == pytest.approx(1.04 / 7)
    assert report["with_probability"] == 7


def test_what_people_answered_knowing_the_judges_is_not_its_measure(world: World) -> None:
    check = world.check("alder", 1)
    say(check, world.rex, "no", had_seen=True)
    assert told(judge_quality(world.project))["checks"] == 0


def test_most_people_decide_and_ties_are_left_out(world: World, checks: list[Check]) -> None:
    say(checks[0], world.cleo, "no")
    say(checks[1], world.cleo, "no")
    say(checks[1], world.ana, "no")
    found = told(judge_quality(world.project))
    assert (found["checks"], found["ties"]) == (7, 1)
    # The second is a no now, and the judge's yes to it wrong; the first is out: 3 of 6 are right.
    assert found["versions"][0]["report"]["accuracy"]["value"] == 0.5
    # Unsure would count as not yes: on the first check they differ; of the second's three pairs one agrees.
    assert (found["people_compared"], found["people_agree"]["value"]) == (2, pytest.approx(1 / 6))


def test_an_answer_outlives_a_later_failure(world: World, checks: list[Check]) -> None:
    judge_checks(checks[:1], world.judge, [None])
    assert first(world)["report"]["scored"] == 7
    judge_checks(checks[:1], world.judge, ["no"])
    assert first(world)["report"]["accuracy"]["value"] == pytest.approx(4 / 7)


def test_other_words_make_another_version(world: World, checks: list[Check]) -> None:
    judge_checks(checks, world.judge, PEOPLE, signature="lexical|v:2")
    found = told(judge_quality(world.project))
    assert [(each["id"], each["signature"]) for each in found["versions"]] == [
        # The better one is told first; each has the number in whose turn it came.
        ("lexical-2", "lexical|v:2"),
        ("lexical-1", "lexical|v:1"),
    ]
    (pair,) = found["pairs"]
    of = pair["comparison"]
    assert (of["both_right"], of["only_first_right"], of["only_second_right"], of["both_wrong"]) == (
        5,
        2,
        0,
        0,
    )
    # McNemar: two checks on one side, 2 / 2^2; one document set alone can tell nothing.
    assert (of["p"], of["left_out"], pair["difference"]) == (0.5, 1, pytest.approx(2 / 7))
    assert pair["p"] == 1
    assert pair["sentence"] == (
        "On 7 checks that people and both answered, lexical-2 is ahead of lexical-1 by 28.6 points; the "
        "difference is not significant (p = 1.000)."
    )


def test_the_deciding_judge_comes_first(world: World, checks: list[Check]) -> None:
    other = Judge.objects.create(name="other", kind=Judge.Kind.LEXICAL)
    judge_checks(checks, other, PEOPLE, signature="other|v:1")
    assert [each["id"] for each in told(judge_quality(world.project))["versions"]] == ["lexical", "other"]


def test_where_it_errs(world: World, checks: list[Check]) -> None:
    Check.objects.filter(pk=checks[2].pk).update(has_number=True)
    say(world.check("birch", 1), world.rex, "no")
    splits = {split["key"]: split["parts"] for split in first(world)["splits"]}
    assert [(part["name"], part["checks"]) for part in splits["system"]] == [("alder", 8), ("birch", 1)]
    assert [(part["name"], part["accuracy"]["value"]) for part in splits["figure"]] == [
        ("contains a number", 0.0),
        ("no number", pytest.approx(6 / 7)),
    ]
    assert "side" not in splits


def test_errors_that_people_named_are_a_split_of_their_own(world: World, checks: list[Check]) -> None:
    Verdict.objects.filter(check_row=checks[5], person=world.rex).update(error_type="wrong_number")
    (split,) = [each for each in first(world)["splits"] if each["key"] == "error"]
    (part,) = split["parts"]
    assert (part["name"], part["checks"], part["accuracy"]["value"]) == ("wrong number", 1, 0.0)


def test_a_right_answer_has_a_price(world: World) -> None:
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
    cost = next(each for each in told(judge_quality(world.project))["versions"] if each["id"] == "paid")[
        "cost"
    ]
    # 3000 at 2 and 750 at 8 a million are 0.012, for 4 answers of which three quarters are right.
    assert (cost["calls"], cost["cost"], cost["answered"]) == (1, pytest.approx(0.012), 4)
    assert cost["per_right"] == pytest.approx(0.004)
    assert cost["tokens_per_right"] == pytest.approx(3750 / 3)


def test_without_a_price_tokens_are_told(world: World, checks: list[Check]) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge)
    Verdict.objects.filter(judge=world.judge).update(run=run)
    JudgeCall.objects.create(
        judge=world.judge,
        key="a",
        step="cover_summary",
        prompt_version="1",
        request="{}",
        run=run,
        prompt_tokens=700,
    )
    cost = first(world)["cost"]
    # The judge answered seven of these checks and the six of the world: 700 / 13 for each, of which 5/7 are right.
    assert (cost["has_price"], cost["per_right"], cost["answered"]) == (False, None, 13)
    assert cost["tokens_per_right"] == pytest.approx(700 / 13 * 7 / 5)


def test_own_words_are_named(world: World, checks: list[Check]) -> None:
    run = Run.objects.create(project=world.project, judge=world.judge)
    Verdict.objects.filter(judge=world.judge).update(run=run)
    words = PromptVersion.objects.create(
        project=world.project, step="check_covered", number=2, system="Look closely.", version="abc"
    )
    run.prompt_versions.add(words)
    assert first(world)["own_words"] == ("check_covered v2",)


def test_chosen_checks_are_said_to_be_chosen(world: World, checks: list[Check]) -> None:
    found = told(judge_quality(world.project))
    assert found["basis"]["kind"] == "chosen"
    assert found["basis_in_words"].endswith(
        "describe those 8 checks only. To measure all checks, review a random sample."
    )


def test_all_checks_answered_are_all(world: World, checks: list[Check]) -> None:
    for check in [*world.checks("alder"), *world.checks("birch")]:
        say(check, world.rex, "no")
    found = told(judge_quality(world.project))
    assert (found["basis"]["kind"], found["basis"]["frame"]) == ("all", 14)
    assert found["basis_in_words"] == (
        "People answered all 14 checks of coverage; the figures describe all of them."
    )


def drawn(world: World, method: str = "uniform") -> list[Check]:
    draw = sample_checks(project=world.project, by=world.mona, method=method, share=0.5, seed=1)
    return [each.check_row for each in draw.drawn_checks.select_related("check_row__project")]


def test_until_a_draw_is_answered_it_stands_for_nothing(world: World) -> None:
    one, *_ = drawn(world)
    override(check=one, by=world.rex, label="yes")
    found = told(judge_quality(world.project))
    assert found["basis"]["kind"] == "open"
    assert found["basis_in_words"].startswith("1 of 3 sampled checks of coverage are answered.")


def test_a_finished_draw_stands_for_all_that_it_was_drawn_from(world: World) -> None:
    asked = drawn(world)
    for check in asked:
        override(check=check, by=world.rex, label="yes")
    volunteered = (
        Check.objects.filter(project=world.project).exclude(pk__in=[each.pk for each in asked]).first()
    )
    assert volunteered is not None
    override(check=volunteered, by=world.rex, label="yes")
    found = told(judge_quality(world.project))
    assert (found["basis"]["kind"], found["checks"], found["basis"]["others"]) == ("drawn", 3, 1)
    assert (
        "represent all 6. 1 check that people answered outside the sample is left out."
        in found["basis_in_words"]
    )


def test_what_people_picked_stands_beside_the_sample(world: World) -> None:
    asked = drawn(world)
    for check in asked:
        override(check=check, by=world.rex, label=check.judge_label or "yes")
    # Of twelve that somebody chose, the judge is right on nine.
    picked = add_checks(world, 12)
    judge_checks(picked, world.judge, ["no"] * 12)
    for place, check in enumerate(picked):
        say(check, world.rex, "no" if place < 9 else "yes")
    found = told(judge_quality(world.project))
    [version] = [each for each in found["versions"] if each["picked"]]
    assert (version["picked"]["value"], version["picked_checks"]) == (0.75, 12)
    assert version["contrast"].startswith(
        "Accuracy is 75 % on hand-picked claims and 100 % on the random sample."
    )


def test_few_picked_claims_say_nothing(world: World) -> None:
    for check in drawn(world):
        override(check=check, by=world.rex, label="yes")
    for check in add_checks(world, 9):
        say(check, world.rex, "no")
    assert all(not version["contrast"] for version in told(judge_quality(world.project))["versions"])


def test_a_drawn_claim_that_was_reworded_since_is_said_to_be_left_out(world: World) -> None:
    asked = drawn(world)
    reword_claim(claim=asked[0].claim, by=world.rex, text="The new hall opens at dusk.")
    gone = Check.objects.filter(pk__in=[each.pk for each in asked], is_current=False).count()
    assert gone >= 1
    for check in asked:
        override(check=check, by=world.cleo, label="yes")
    found = told(judge_quality(world.project))
    assert (found["basis"]["kind"], found["basis"]["changed"]) == ("drawn", gone)
    # What the sentence counts is what the figures rest on.
    assert found["checks"] == len(asked) - gone
    told_of = "claim was changed since is" if gone == 1 else "claims were changed since are"
    assert (
        f"{gone} whose {told_of} left out, so the figures represent the unchanged claims"
        in found["basis_in_words"]
    )


def test_unequal_chances_are_said(world: World) -> None:
    asked = drawn(world)
    draw = Draw.objects.get()
    for check in asked:
        override(check=check, by=world.rex, label="yes")
    draw.drawn_checks.filter(check_row=asked[0]).update(inclusion_probability=0.9)
    found = told(judge_quality(world.project))
    assert found["basis"]["kind"] == "uneven"
    assert "over-represent those with a high expected judge error" in found["basis_in_words"]


def test_a_new_draw_that_waits_does_not_put_the_answered_one_out_of_force(world: World) -> None:
    for check in drawn(world):
        override(check=check, by=world.rex, label="yes")
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=9)
    assert told(judge_quality(world.project))["basis"]["kind"] == "drawn"


def finished(world: World, frame: Sequence[Check], asked: Sequence[Check]) -> Draw:
    """A uniform sample of these checks, answered as people answered them before."""
    draw = Draw.objects.create(
        project=world.project,
        method=Draw.Method.UNIFORM,
        item=Draw.Item.CHECK,
        seed=1,
        frame=[[check.public_id, None] for check in frame],
    )
    for check in asked:
        given = Verdict.objects.filter(check_row=check, person=world.rex).first() or say(
            check, world.rex, "no"
        )
        draw.drawn_checks.create(
            check_row=check, inclusion_probability=len(asked) / len(frame), verdict=given
        )
    return draw


def test_finished_samples_of_one_frame_are_pooled(world: World, checks: list[Check]) -> None:
    frame = list(Check.objects.filter(project=world.project).order_by("pk"))
    finished(world, frame, checks[:4])
    finished(world, frame, checks[3:6])
    found = told(judge_quality(world.project))
    basis, report = found["basis"], found["versions"][0]["report"]
    # The union is the first six. The judge is right on 1, 2, 4 and 5: alone the samples would give 3/4 and 2/3.
    assert (basis["samples"], basis["drawn"], basis["frame"], basis["others"]) == (2, 6, 14, 2)
    assert report["accuracy"]["value"] == pytest.approx(4 / 6)
    # It says yes to 1, 2 and 6, people to 1, 2 and 3.
    assert report["bias"]["value"] == 0
    assert found["basis_in_words"].startswith(
        "Of 14 checks of coverage, 6 were sampled (2 random samples, pooled) and all are answered: the figures "
        "represent all 14."
    )


def test_a_small_sample_of_another_frame_or_score_takes_nothing_away(
    world: World, checks: list[Check]
) -> None:
    frame = list(Check.objects.filter(project=world.project).order_by("pk"))
    finished(world, frame, checks[:4])
    finished(world, checks[:3], checks[:2])
    of_summaries = Check.objects.create(
        project=world.project,
        claim=checks[0].claim,
        peer=world.peers["port", "birch"],
        document_set_id=checks[0].document_set_id,
        side=Check.Side.PEER,
        judge_label="no",
    )
    finished(world, [of_summaries, of_summaries], [of_summaries])
    found = told(judge_quality(world.project))
    assert (found["basis"]["sides"], found["basis"]["drawn"], found["checks"]) == (("reference",), 4, 4)


def test_alignment_is_audited_where_coverage_has_no_sample(world: World, checks: list[Check]) -> None:
    # Nobody has answered birch's check.
    frame = [*checks[:4], world.check("birch", 1)]
    Check.objects.filter(pk__in=[check.pk for check in frame]).update(side=Check.Side.PEER)
    finished(world, frame, checks[:2])
    found = told(judge_quality(world.project))
    assert (found["basis"]["kind"], found["basis"]["sides"], found["checks"]) == ("drawn", ("peer",), 2)
    assert found["versions"][0]["trust"].startswith("Not known yet for alignment: ")


def test_a_sample_with_unequal_chances_is_not_pooled(world: World, checks: list[Check]) -> None:
    frame = list(Check.objects.filter(project=world.project).order_by("pk"))
    finished(world, frame, checks[:3])
    uneven = finished(world, frame, checks[3:8])
    uneven.drawn_checks.filter(check_row=checks[3]).update(inclusion_probability=0.9)
    basis = told(judge_quality(world.project))["basis"]
    assert (basis["kind"], basis["samples"], basis["drawn"]) == ("drawn", 1, 3)


def test_json_holds_it_all(world: World, checks: list[Check]) -> None:
    assert json.loads(json.dumps(told(judge_quality(world.project)), allow_nan=False))["checks"] == 8


def test_another_judges_run_and_price_are_noticed(world: World) -> None:
    seen = {judge_inputs(world.project)}
    run = Run.objects.create(project=world.project, judge=world.judge)
    seen.add(judge_inputs(world.project))
    Judge.objects.filter(pk=world.judge.pk).update(prompt_price=1.0)
    seen.add(judge_inputs(world.project))
    run.jobs.create(document_set=world.sets["port"], done=1)
    seen.add(judge_inputs(world.project))
    assert len(seen) == 4
