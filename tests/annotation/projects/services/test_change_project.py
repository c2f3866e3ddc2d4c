from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.assessing.services.save_acts import judge_unit
from annotation.core.criteria import asked_of_people
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.services.let_decide import let_decide
from annotation.models import Assignment, Check, Event, Job, Judge, Membership, Project, Run, Score
from annotation.perform_job import work_on
from annotation.projects.services.change_project import change_project, create_project
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import OVERDUE_AFTER
from evaluation.metrics import UNMARKED, Criterion
from tests.annotation.cast import World, finish
from tests.annotation.laying import assign_part

CLEAR = Criterion("clear", "Is it clear?", "yes_no")


def staff(person: User) -> User:
    person.is_staff = True
    person.save(update_fields=["is_staff"])
    return person


def test_its_maker_owns_a_new_project(world: World) -> None:
    project = create_project(slug="mill", name="Mill", by=staff(world.dan))
    assert Membership.objects.get(project=project, user=world.dan).roles == ["owner"]


def test_a_slug_is_taken_once(world: World) -> None:
    with pytest.raises(Conflict):
        create_project(slug="harbour", by=staff(world.dan))


def test_a_senseless_slug_is_refused(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        create_project(slug="no spaces, please", by=staff(world.dan))
    assert refused.value.field == "slug"


def test_another_composite_weight_is_scored_at_once(world: World) -> None:
    change_project(project=world.project, by=world.mona, composite_weight=0.5)
    score = Score.objects.get(summary=world.summaries["port", "alder"])
    # 13 of 20 words give a brevity of 7/20 = .35. With a coverage of .75, the composite is .5 * .75 + .5 * .35 = .55.
    assert score.brevity == pytest.approx(0.35)
    assert score.composite_custom == pytest.approx(0.55)
    assert Project.objects.get(slug="harbour").rescore_due_at is None


def test_a_rescoring_that_is_cut_short_is_taken_up_by_a_worker(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(**_: object) -> None:
        raise SystemExit

    monkeypatch.setattr("annotation.projects.services.change_project.rescore", killed)
    with pytest.raises(SystemExit):
        change_project(project=world.project, by=world.mona, composite_weight=0.5)
    score = Score.objects.filter(summary=world.summaries["port", "alder"])
    work_on(Job.Kind.IMPORT)
    assert score.get().composite_custom != pytest.approx(0.55)
    Project.objects.update(rescore_due_at=timezone.now() - 2 * OVERDUE_AFTER)
    work_on(Job.Kind.IMPORT)
    assert score.get().composite_custom == pytest.approx(0.55)
    assert not Project.objects.filter(rescore_due_at__isnull=False).exists()


def test_setting_what_is_set_is_no_act(world: World) -> None:
    change_project(project=world.project, by=world.mona, blend="human_first")
    assert not Event.objects.filter(verb="change project").exists()


def test_verdicts_are_not_shown_at_once_while_a_sample_waits_for_people_who_do_not_know_them(
    world: World,
) -> None:
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0, seed=7)
    for check in Check.objects.all()[1:]:
        override(check=check, by=world.rex, label="no")
    with pytest.raises(Conflict, match=r"\(seed 7\) still needs 1 blind answer, which") as refused:
        change_project(project=world.project, by=world.mona, reveal="shown")
    assert refused.value.code == "sample_open"
    assert Project.objects.get(pk=world.project.pk).reveal == "after_answer"
    override(check=Check.objects.all()[0], by=world.rex, label="no")
    assert change_project(project=world.project, by=world.mona, reveal="shown").reveal == "shown"


def test_an_unknown_rule_is_refused(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        change_project(project=world.project, by=world.mona, slug="mine")
    assert refused.value.field == "slug"


def test_the_text_that_was_judged_cannot_change(world: World) -> None:
    with pytest.raises(Conflict) as refused:
        change_project(project=world.project, by=world.olga, over_length="truncate")
    assert refused.value.code == "judged"


def test_without_a_deciding_judge_only_people_score(world: World) -> None:
    change_project(project=world.project, by=world.olga, deciding_judge=None)
    score = Score.objects.get(summary=world.summaries["port", "alder"])
    assert (score.coverage, score.claims_unscored) == (None, 3)


def judged(world: World, percent: int = 45) -> Assignment:
    assignment = assign_part(world, "port", world.ana, "alder")
    for unit in world.units("port"):
        judge_unit(
            reading=assignment.readings.get(),
            by=world.ana,
            unit_id=unit.public_id,
            percent=percent,
            marks=[1, 2],
        )
    return Assignment.objects.get()


def test_a_finer_scale_fits_and_a_coarser_one_only_where_every_percent_lies_on_it(world: World) -> None:
    change_project(project=world.project, by=world.mona, percent_scale="fives")
    judged(world, percent=45)
    with pytest.raises(Conflict) as refused:
        change_project(project=world.project, by=world.mona, percent_scale="six")
    assert refused.value.code == "judged"
    assert "2 percents" in refused.value.message
    change_project(project=world.project, by=world.mona, percent_scale="free")


def test_questions_do_not_come_after_a_model_summary_was_shown(world: World) -> None:
    assignment = judged(world, percent=40)
    with pytest.raises(Conflict) as refused:
        change_project(project=world.project, by=world.mona, criteria=[CLEAR, UNMARKED])
    assert refused.value.code == "judged"
    finish(assignment)
    change_project(project=world.project, by=world.mona, criteria=[CLEAR, UNMARKED])
    assert Event.objects.get(verb="change project").data == {
        "changed": {"criteria": [["unmarked"], ["clear", "unmarked"]]}
    }


def test_a_changed_criterion_is_the_next_version_and_one_left_out_is_retired(world: World) -> None:
    def changed(*criteria: Criterion) -> list[tuple[str, int, bool]]:
        change_project(project=world.project, by=world.mona, criteria=criteria)
        rows = world.project.criteria.order_by("pk")
        return [(row.name, row.version, row.retired_at is None) for row in rows]

    assert changed(CLEAR) == [("unmarked", 1, False), ("clear", 1, True)]
    reworded = replace(CLEAR, question="Is all of it clear?")
    late = replace(CLEAR, name="late", asked="after")
    # Another order makes no new version.
    for criteria in ((late, reworded), (reworded, late)):
        assert changed(*criteria) == [
            ("unmarked", 1, False),
            ("clear", 1, False),
            ("late", 1, True),
            ("clear", 2, True),
        ]
        assert [row.fact for row in asked_of_people(world.project)] == list(criteria)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "two words"}, "letters, digits"),
        ({"name": ""}, "blank"),
        ({"question": "x" * 501}, "500"),
        ({"scale": "points"}, "2 to 11"),
        ({"scale": "points", "points": ((0, "no"), (0, "yes"))}, "different whole numbers"),
        ({"scale": "points", "points": ((0, "no"), (1, "no"))}, "different words"),
        ({"scale": "percent", "points": ((0, ""), (120, ""))}, "from 0 to 100"),
        ({"reads": "reference"}, "asked after"),
        ({"scale": "share"}, "is a score"),
        ({"name": "coherence"}, "is a score"),
        ({"reads": "unmarked", "asked": "after", "answered_by": "both"}, "only people mark"),
    ],
)
def test_criteria_that_nobody_can_answer_are_refused(world: World, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid, match=said) as refused:
        change_project(project=world.project, by=world.mona, criteria=[replace(CLEAR, **wrong)])
    assert refused.value.field == "criteria"


def test_each_criterion_has_its_own_name_and_there_are_not_too_many(world: World) -> None:
    for criteria, said in (
        ([CLEAR, CLEAR], "needs its own name"),
        ([replace(CLEAR, name=f"c{n}") for n in range(41)], "at most 40"),
        ([replace(CLEAR, name=f"c{n}", answered_by="judge") for n in range(13)], "at most 12"),
    ):
        with pytest.raises(Invalid, match=said):
            change_project(project=world.project, by=world.mona, criteria=criteria)


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ({"lease_minutes": 20_000}, "lease_minutes"),
        ({"lease_minutes": 0}, "__all__"),
        ({"assessors_per_set": -1}, "assessors_per_set"),
    ],
)
def test_rules_of_the_protocol_without_sense_are_refused(
    world: World, rules: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        change_project(project=world.project, by=world.mona, **rules)
    assert refused.value.field == field


def test_rules_of_the_protocol_move_no_score(world: World) -> None:
    before = list(Score.objects.order_by("pk").values_list("computed_at", flat=True))
    change_project(project=world.project, by=world.mona, assessors_per_set=2, lease_minutes=5)
    assert list(Score.objects.order_by("pk").values_list("computed_at", flat=True)) == before
    assert Project.objects.get(pk=world.project.pk).lease_minutes == 5


def test_a_judge_that_has_judged_a_sample_only_decides_by_no_door(world: World) -> None:
    judge = Judge.objects.create(name="tried", kind="lexical", project=world.project)
    Run.objects.create(project=world.project, judge=judge, is_trial=True, state="finished")
    for choose in (
        lambda: change_project(project=world.project, by=world.olga, deciding_judge=judge),
        lambda: let_decide(project=world.project, judge=judge, by=world.olga),
    ):
        with pytest.raises(Conflict, match="has judged a sample only") as refused:
            choose()
        assert refused.value.code == "trial_only"
    # A judge that has judged the whole project keeps this status after a further trial.
    Run.objects.create(project=world.project, judge=judge, state="finished")
    Run.objects.create(project=world.project, judge=judge, is_trial=True, state="finished")
    assert change_project(project=world.project, by=world.olga, deciding_judge=judge).deciding_judge == judge
