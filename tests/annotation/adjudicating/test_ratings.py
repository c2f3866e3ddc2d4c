from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command

from annotation.adjudicating.services.adjudicate import settle
from annotation.analysis.agreement.scales import scales_of
from annotation.assessing.services.assign import assign
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import Dispute, Membership, Rating, Role
from annotation.projects.services.change_project import change_project
from annotation.projects.services.set_criteria import set_criteria
from annotation.reviewing.services.rate_summary import rate_summary
from annotation.reviewing.services.review import withdraw_answer
from annotation.scoring.own_scores import own_scores
from annotation.scoring.rescore import rescore
from evaluation.metrics import UNMARKED, Criterion

if TYPE_CHECKING:
    from annotation.models import Summary
    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/adjudicate/"
TONE = Criterion(
    "tone", "Is the tone neutral?", (1, 5), ((1, "not at all"), (5, "fully")), answered_by="both"
)
PLACE = ("port", "alder")


@pytest.fixture
def rated(world: World) -> Summary:
    set_criteria(world.project, [TONE, UNMARKED])
    rate(world, "rex", 1)
    rate(world, "olga", 5)
    return world.summaries[PLACE]


def rate(world: World, who: str, value: float, *, origin: str = "", role: str = "reviewer") -> None:
    tone = world.project.criteria.get(name="tone", retired_at=None)
    if origin:
        judge = world.judge if role == "judge" else None
        columns = {"criterion": tone, "summary": world.summaries[PLACE], "role": role, "value": value}
        Rating.objects.create(**columns, judge=judge, origin_name=origin)
        return
    rate_summary(summary=world.summaries[PLACE], by=getattr(world, who), values={tone.public_id: int(value)})


def queue() -> list[tuple[str, float, int]]:
    rows = Dispute.objects.filter(summary__isnull=False).order_by("pk")
    return [(row.state, row.spread, row.answers) for row in rows]


def score(world: World) -> float:
    return own_scores(world.project).values[world.summaries[PLACE].pk]["tone"]


def test_ratings_that_differ_by_more_than_the_threshold_are_a_dispute(world: World, rated: Summary) -> None:
    # The ratings 1 and 5 on a scale from 1 to 5 are the shares 0 and 1.
    assert queue() == [("open", 1.0, 2)]
    # The ratings 4 and 5 differ by .25, which the threshold allows.
    rate(world, "rex", 4)
    change_project(project=world.project, by=world.olga, dispute_threshold=0.25)
    assert queue() == [("agreed", 0.25, 2)]
    Dispute.objects.all().delete()
    change_project(project=world.project, by=world.olga, dispute_threshold=0.24)
    assert queue() == [("open", 0.25, 2)]
    call_command("verify_scores", "harbour", stdout=StringIO())


def test_the_raters_of_a_file_are_one_answer_and_the_judge_counts_on_request(world: World) -> None:
    set_criteria(world.project, [TONE, UNMARKED])
    for name, value in (("expert 1", 1), ("expert 2", 5)):
        rate(world, "", value, origin=name)
    rate(world, "", 5, origin="lexical", role="judge")
    rescore(project=world.project)
    assert queue() == []
    # The mean of 1 and 5 is the share .5, and the judge's 5 is 1.
    change_project(project=world.project, by=world.olga, dispute_answers="judge")
    assert queue() == [("open", 0.5, 2)]


def test_a_decision_counts_until_it_is_withdrawn(world: World, rated: Summary) -> None:
    assert score(world) == 0.5
    decision = settle(dispute=Dispute.objects.get(), by=world.cleo, rating=4, reason="One loaded word.")
    assert (score(world), queue()[0][0]) == (0.75, "settled")
    # Agreement does not count the decision as a third person's rating.
    scale = next(each for each in scales_of(world.project) if each.key == "rating-tone")
    assert sorted(each.rater for each in scale.ratings) == ["olga", "rex"]
    with pytest.raises(Conflict):
        settle(dispute=Dispute.objects.get(), by=world.cleo, rating=2, seen="")
    withdraw_answer(answer=decision, by=world.cleo)
    assert (score(world), queue()[0][0]) == (0.5, "open")
    verbs = world.project.events.filter(actor=world.cleo).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["adjudicate", "withdraw decision"]


@pytest.mark.parametrize(
    ("given", "field"),
    [({"rating": 6}, "rating"), ({}, "rating"), ({"percent": 40}, "percent"), ({"label": "yes"}, "label")],
)
def test_only_an_answer_of_the_scale_decides(
    world: World, rated: Summary, given: dict[str, int], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        settle(dispute=Dispute.objects.get(), by=world.cleo, **given)  # type: ignore[arg-type]
    assert refused.value.field == field


def test_a_changed_question_ends_its_disputes(world: World, rated: Summary) -> None:
    dispute = Dispute.objects.get()
    set_criteria(world.project, [Criterion("tone", "Is it calm?", (1, 5)), UNMARKED])
    assert queue() == []
    with pytest.raises(Conflict) as refused:
        settle(dispute=dispute, by=world.cleo, rating=4)
    assert refused.value.code == "newer_criterion"


def test_the_page_shows_question_scale_and_answers_without_names(
    world: World, rated: Summary, signed_in: SignIn
) -> None:
    cleo, address = signed_in(world.cleo), f"{ROOM}{Dispute.objects.get().public_id}/"
    assert "Is the tone neutral?" in cleo.get(ROOM).content.decode()
    page = cleo.get(address).content.decode()
    for shown in ("Is the tone neutral?", "not at all", "fully", 'value="3"', rated.text.split(". ")[0]):
        assert shown in page
    for hidden in ("rex", "Rex", "alder", "other %"):
        assert hidden not in page
    # Without scripts, a plain form saves the decision and the queue follows.
    decided = cleo.post(f"{address}decide/", {"percent": "5", "seen": ""}, follow=True)
    assert "Resolved: fully." in decided.content.decode()
    assert cleo.post(f"{address}decide/", {"percent": "9"}).status_code == 422


def test_who_saw_the_answers_rates_no_longer_blind(world: World, rated: Summary, signed_in: SignIn) -> None:
    Membership.objects.filter(user=world.cleo).update(roles=[Role.ADJUDICATOR, Role.REVIEWER])
    signed_in(world.cleo).get(f"{ROOM}{Dispute.objects.get().public_id}/")
    rate(world, "cleo", 3)
    assert Rating.objects.get(person=world.cleo).had_seen


def test_who_is_blind_sees_no_dispute_and_no_answer_at_the_desk(
    world: World, rated: Summary, signed_in: SignIn
) -> None:
    assign(document_set=world.sets["port"], assessor=world.ana, by=None)
    Membership.objects.filter(user=world.ana).update(roles=list(Role.values))
    ana, dispute = signed_in(world.ana), Dispute.objects.get().public_id
    for address in (ROOM, f"{ROOM}{dispute}/", f"/api/v1/projects/harbour/disputes/{dispute}/"):
        assert ana.get(address).status_code == 403
    with pytest.raises(NotAllowed):
        settle(dispute=Dispute.objects.get(), by=world.ana, rating=4)
    # A reviewer who has not rated the summary sees the question without others' answers.
    Membership.objects.filter(user=world.cleo).update(roles=[Role.REVIEWER])
    page = signed_in(world.cleo).get("/p/harbour/review/ratings/").content.decode()
    assert "Is the tone neutral?" in page
    assert "checked" not in page
