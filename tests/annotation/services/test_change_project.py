"""Rules of a project: who changes them, what follows, what is refused."""

import pytest

from annotation.models import Event, Membership, Score
from annotation.refusals import Conflict, Invalid, NotAllowed
from annotation.services.change_project import change_project, create_project
from tests.annotation.cast import World


def test_its_maker_owns_a_new_project(world: World) -> None:
    project = create_project(slug="mill", name="Mill", by=world.dan)
    assert Membership.objects.get(project=project, user=world.dan).roles == ["owner"]


def test_a_slug_is_taken_once(world: World) -> None:
    with pytest.raises(Conflict):
        create_project(slug="harbour", by=world.dan)


def test_a_senseless_slug_is_refused(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        create_project(slug="no spaces, please", by=world.dan)
    assert refused.value.field == "slug"


def test_another_composite_weight_is_scored_at_once(world: World) -> None:
    change_project(project=world.project, by=world.mona, composite_weight=0.5)
    score = Score.objects.get(summary=world.peers["port", "alder"])
    # 13 of 20 words: b = 7/20 = .35; c = .75; X = .5 * .75 + .5 * .35 = .55.
    assert score.brevity == pytest.approx(0.35)
    assert score.composite_custom == pytest.approx(0.55)


def test_old_and_new_values_are_logged(world: World) -> None:
    change_project(project=world.project, by=world.mona, blend="weighted")
    assert Event.objects.get(verb="change project").data == {
        "changed": {"blend": ["human_first", "weighted"]}
    }


def test_setting_what_is_set_is_no_act(world: World) -> None:
    change_project(project=world.project, by=world.mona, blend="human_first")
    assert not Event.objects.filter(verb="change project").exists()


def test_a_weight_out_of_range_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        change_project(project=world.project, by=world.mona, composite_weight=1.5)


def test_an_unknown_rule_is_refused(world: World) -> None:
    with pytest.raises(Invalid) as refused:
        change_project(project=world.project, by=world.mona, slug="mine")
    assert refused.value.field == "slug"


def test_the_text_that_was_judged_cannot_change(world: World) -> None:
    with pytest.raises(Conflict) as refused:
        change_project(project=world.project, by=world.olga, over_length="truncate")
    assert refused.value.code == "judged"


def test_reviewers_change_no_rules(world: World) -> None:
    with pytest.raises(NotAllowed):
        change_project(project=world.project, by=world.rex, blend="weighted")


def test_without_a_deciding_judge_only_people_score(world: World) -> None:
    change_project(project=world.project, by=world.olga, deciding_judge=None)
    score = Score.objects.get(summary=world.peers["port", "alder"])
    assert (score.coverage, score.claims_unscored) == (None, 3)
