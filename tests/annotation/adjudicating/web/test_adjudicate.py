from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.adjudicating.queries.answers import answers_on
from annotation.models import Check, Claim, Dispute, Membership, Role, Verdict
from annotation.reviewing.services.review import override
from tests.annotation.answering import decisions, differ_on_a_unit
from tests.annotation.cast import add_imported_verdict
from tests.annotation.conftest import HTMX
from tests.says import says

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

ROOM = "/p/harbour/adjudicate/"


@pytest.fixture
def cleo(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.cleo)


def dispute_on(world: World, number: int, first: str = "no", second: str = "yes") -> Dispute:
    check = world.check("alder", number)
    override(check=check, by=world.rex, label=first, reason=f"Rex on {number}.")
    add_imported_verdict(world.check("alder", number), second)
    return Dispute.objects.get(check_row=check)


def at(dispute: Dispute, rest: str = "") -> str:
    return f"{ROOM}{dispute.public_id}/{rest}"


def html(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def listed(page: str) -> list[str]:
    return re.findall(r'<th scope="row">\s*<a [^>]*>([^<]*)</a>', page)


def test_the_queue_has_both_kinds_worst_first_then_what_is_resolved(world: World, cleo: Client) -> None:
    differ_on_a_unit(world)
    dispute_on(world, 3, "no", "unsure")
    worst = dispute_on(world, 1)
    # Yes and no differ by 1, no and unsure by .5, and 20 and 60 % by .4.
    assert listed(html(cleo, ROOM)) == [
        "The harbour closes in April",
        "Ferries move to the southern quay",
        "The harbour closes in April because its wall is weak.",
    ]
    cleo.post(at(worst, "decide/"), {"label": "no", "seen": ""})
    assert len(listed(html(cleo, ROOM))) == 2
    assert listed(html(cleo, f"{ROOM}?state=settled")) == ["The harbour closes in April"]


def test_a_lease_that_ran_out_holds_nothing_back(world: World, cleo: Client) -> None:
    dispute = dispute_on(world, 1)
    Dispute.objects.update(leased_to=world.olga, lease_until=timezone.now() + timedelta(minutes=1))
    assert cleo.post(f"{ROOM}next/")["Location"] == ROOM
    Dispute.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    assert cleo.post(f"{ROOM}next/")["Location"] == at(dispute)


def test_no_name_and_no_judge_is_told(world: World, cleo: Client) -> None:
    world.project.dispute_answers = "judge"
    world.project.save()
    dispute = dispute_on(world, 2)
    page = html(cleo, at(dispute)).partition('<main id="main"')[2]
    assert page.count('class="answer"') == 3
    for hidden in ("rex", "gold.jsonl", "lexical", "judge", "alder"):
        assert (hidden, says(page, hidden)) == (hidden, False)
    assert "Rex on 2." in page


def test_no_percent_tells_which_is_the_judge_s(world: World, cleo: Client) -> None:
    world.project.dispute_answers = "judge"
    world.project.save()
    dispute = differ_on_a_unit(world)
    # The judge says yes to one of three claims of the unit. These 33 % are shown as 40 %, the nearest percent that a
    # person can choose.
    Claim.objects.update(unit=dispute.unit)
    verdicts = Verdict.objects.filter(check_row__summary=world.summaries["port", "alder"], judge=world.judge)
    verdicts.update(label="no")
    verdicts.filter(check_row__claim__position=1).update(label="yes")
    assert sorted(answer.percent for answer in cleo.get(at(dispute)).context["view"].answers) == [20, 40, 60]


def test_letters_are_shuffled_for_each_adjudicator_and_stay(world: World) -> None:
    for number in (1, 2, 3):
        dispute_on(world, number)
    checks = [world.check("alder", number) for number in (1, 2, 3)]

    def order(person: User) -> list[str | None]:
        return [answer.label for check in checks for answer in answers_on(Dispute(check_row=check), person)]

    assert order(world.cleo) == order(world.cleo)
    people = [world.cleo, world.olga, world.vic, world.mona, world.ben, world.ana, world.dan]
    # Each of 7 people sees three pairs, each in one of two orders. All see the same orders in 1 of 8^6 runs.
    assert len({tuple(order(person)) for person in people}) > 1


def test_evidence_is_lit_with_the_letters_of_who_points_to_it(world: World, cleo: Client) -> None:
    dispute = dispute_on(world, 1)
    check = dispute.check_row
    check.verdicts.filter(person=world.rex).update(evidence=[1])
    check.verdicts.filter(origin_name="gold.jsonl").update(evidence=[1, 2])
    lit = re.findall(
        r'<mark class="lit (\w*)"\s*>([^<]*)<sup><span class="sr">evidence of </span>([A-B ]+)</sup>',
        html(cleo, at(dispute)),
    )
    letters = {answer.label: answer.letter for answer in answers_on(dispute, world.cleo)}
    assert lit == [
        ("shared", "The harbour of Lund closes in April.", "A B"),
        ("", "Ferries will use the southern quay.", letters["yes"]),
    ]


def test_a_decision_brings_the_next_one_on_screen(world: World, cleo: Client) -> None:
    first, second = dispute_on(world, 1), dispute_on(world, 3, "no", "unsure")
    answer = cleo.post(at(first, "decide/"), {"label": "no", "seen": ""}, headers=HTMX)
    assert answer["HX-Push-Url"] == at(second)
    page = answer.content.decode()
    assert f'data-dispute="{second.public_id}"' in page
    # Before the decision, unit 1 has yes (imported) and no, which is .5, and unit 2 has unsure, which is 0: coverage is
    # (.5 + 0) / 2 = .25. The decision changes the yes to no, so coverage is 0.
    assert "Resolved: no. Coverage 0.250 → 0.000" in page
    second.refresh_from_db()
    assert second.leased_to == world.cleo
    assert cleo.post(at(second, "decide/"), {"label": "no", "seen": ""}, headers=HTMX)["HX-Redirect"] == ROOM
    assert "Resolved: no." in html(cleo, ROOM)


def test_without_scripts_a_decision_is_made_withdrawn_and_made_again(world: World, cleo: Client) -> None:
    first = dispute_on(world, 1)
    dispute_on(world, 3, "no", "unsure")
    address = cleo.post(at(first, "decide/"), {"label": "no", "seen": ""})["Location"]
    assert "Resolved: no." in html(cleo, address)
    [decision] = decisions()
    undone = cleo.post(f"{ROOM}decisions/{decision.public_id}/withdraw/")
    assert undone["Location"] == at(first)
    assert "Withdrawn: no" in html(cleo, at(first))
    assert world.check("alder", 1).final_source == Check.Decider.REVIEWER
    cleo.post(at(first, "decide/"), {"label": "yes", "seen": ""})
    assert world.check("alder", 1).final_label == "yes"


def test_leaving_one_shows_the_one_after_it_and_comes_round(world: World, cleo: Client) -> None:
    first, second = dispute_on(world, 1), dispute_on(world, 3, "no", "unsure")
    assert cleo.post(f"{ROOM}next/", {"after": first.public_id})["Location"] == at(second)
    assert cleo.post(f"{ROOM}next/", {"after": second.public_id})["Location"] == at(first)


@pytest.mark.parametrize("percent", ["101", "-1", "4.5", "half", "9999"])
def test_a_percent_that_is_none_is_refused(world: World, cleo: Client, percent: str) -> None:
    dispute = differ_on_a_unit(world)
    typed = {"own_percent": percent, "typed": "1", "reason": "So.", "error_type": "not_checkable"}
    answer = cleo.post(at(dispute, "decide/"), typed, headers=HTMX)
    assert (answer.status_code, answer["HX-Retarget"]) == (422, "#dispute-room")
    assert 'value="So."' in answer.content.decode()
    assert '<option value="not_checkable" selected>' in answer.content.decode()
    assert not decisions()


def test_a_newer_decision_is_a_conflict_that_shows_both(
    world: World, cleo: Client, signed_in: SignIn
) -> None:
    Membership.objects.filter(user=world.vic).update(roles=[Role.ADJUDICATOR])
    dispute = dispute_on(world, 1)
    signed_in(world.vic).post(at(dispute, "decide/"), {"label": "no", "reason": "Read it.", "seen": ""})
    answer = cleo.post(
        at(dispute, "decide/"), {"label": "yes", "reason": "It is there.", "seen": ""}, headers=HTMX
    )
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "Read it." in page
    assert 'value="It is there."' in page
    assert len(decisions()) == 1
