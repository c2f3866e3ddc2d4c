"""The adjudicators' queue in the admin: settled, reopened and laid down by the services, each with its event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from annotation.adjudicating.queries.disputes import DisputeFilter
from annotation.adjudicating.queries.voices import voices_on_check
from annotation.adjudicating.services.adjudicate import decide_check, withdraw_decision
from annotation.adjudicating.services.take_dispute import take_next
from annotation.admin import bulk
from annotation.models import Adjudication, Check, Dispute, Event
from annotation.reviewing.services.review import override
from tests.annotation.admin.rows import address
from tests.annotation.cast import World, add_imported_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.annotation.conftest import StaffDoor


def disputed(world: World, position: int = 1, *, labels: Sequence[str] = ("no", "yes", "yes")) -> Dispute:
    """A dispute over a check of alder: Rex gives the first label, people elsewhere the others."""
    check = world.check("alder", position)
    override(check=check, by=world.rex, label=labels[0], reason="Rex's own words.")
    for nth, label in enumerate(labels[1:]):
        add_imported_verdict(check, label, origin_name=f"gold-{nth}.jsonl")
    return Dispute.objects.get(check_row=check)


def page_of(dispute: Dispute) -> str:
    return address(Dispute, f"{dispute.pk}/change/")


def act(client: Any, name: str, disputes: Sequence[Dispute], **more: object) -> Any:
    data = {"action": name, "_selected_action": [each.pk for each in disputes], **more}
    return client.post(f"{address(Dispute)}?state=all", data, follow=True)


def confirmed(client: Any, name: str, disputes: Sequence[Dispute], **more: object) -> Any:
    """What the act's page offers, sent as it stands."""
    offered = act(client, name, disputes)
    steps = offered.context["steps"]
    held = {f"held-{row.pk}": step.held for row, step in steps}
    return act(client, name, [row for row, _ in steps], confirmed="yes", **held, **more)


@pytest.mark.parametrize("chosen", ["abc", "1.5", "9" * 30, ""])
def test_what_is_no_row_is_refused_and_nothing_is_done(world: World, staff: StaffDoor, chosen: str) -> None:
    dispute = disputed(world, 1)
    data = {"action": "decide_as_most", "_selected_action": [dispute.pk, chosen], "confirmed": "yes"}
    answer = staff("cleo").post(f"{address(Dispute)}?state=all", data, follow=True)
    assert answer.status_code == 200
    assert "the selection is not in this list" in answer.content.decode()
    assert not Adjudication.objects.exists()


def test_its_page_and_its_plan_tell_the_answers(world: World, staff: StaffDoor) -> None:
    one, planned, listed = (disputed(world, position) for position in (1, 2, 3))
    staff("cleo").get(page_of(one))
    act(staff("cleo"), "decide_as_most", [planned])
    shown = [
        override(check=each.check_row, by=world.cleo, label="no").verdict.had_seen
        for each in (one, planned, listed)
    ]
    assert shown == [True, True, False]


def test_the_queue_holds_what_is_open_with_the_worst_first(world: World, staff: StaffDoor) -> None:
    # yes and unsure are .5 apart, yes and no 1.
    mild = disputed(world, 1, labels=("unsure", "yes"))
    bad = disputed(world, 2)
    settled = disputed(world, 3)
    decide_check(check=world.check("alder", 3), by=world.cleo, label="yes")
    client = staff("cleo")
    assert list(client.get(address(Dispute)).context["cl"].result_list) == [bad, mild]
    listed = client.get(address(Dispute), {"state": "settled"})
    assert list(listed.context["cl"].result_list) == [settled]
    assert b"its wall is weak" in client.get(address(Dispute)).content


def test_a_superuser_sees_all_projects_in_the_order_that_an_index_has(world: World, staff: StaffDoor) -> None:
    mild, bad = disputed(world, 1, labels=("unsure", "yes")), disputed(world, 2)
    # A later project with the two worst of all; and one that is settled.
    columns = {"why": "differs", "voices": 2, "queue_key": 1}
    later = [
        Dispute.objects.create(
            project=world.other_project,
            check_row=world.check("birch", number),
            spread=1.0,
            state=state,
            **columns,
        )
        for number, state in ((1, "open"), (2, "settled"), (3, "settled"))
    ]
    client = staff("root")
    listed = client.get(address(Dispute)).context["cl"]
    assert list(listed.result_list) == [bad, mild, later[0]]
    order = [name.replace("project_id", "project") for name in listed.queryset.query.order_by]
    (index,) = (each for each in Dispute._meta.indexes if each.name == "dispute_open")
    assert order[: len(index.fields)] == index.fields
    # What is settled comes newest first.
    settled = client.get(address(Dispute), {"state": "settled"}).context["cl"]
    assert list(settled.result_list) == [later[2], later[1]]


def test_a_dispute_is_shown_without_the_names_of_those_who_answered(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    said = staff("cleo").get(page_of(dispute)).content.decode()
    assert "Rex&#x27;s own words." in said
    assert "The harbour closes in April" in said
    # As a word: three letters of it can stand in a random id.
    assert not re.search(r"\brex\b", said)
    assert "gold-" not in said
    assert "lexical" not in said


def test_a_dispute_leads_to_its_page_in_context(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    assert (
        f'href="/p/harbour/adjudicate/{dispute.public_id}/"'
        in staff("cleo").get(page_of(dispute)).content.decode()
    )


def test_an_adjudicator_settles_a_dispute_by_taking_an_answer_over(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world, 2)
    voice = next(each for each in voices_on_check(world.check("alder", 2), world.cleo) if each.label == "yes")
    staff("cleo").post(page_of(dispute), {"adopt": voice.token, "seen": ""})
    decision = Adjudication.objects.get()
    assert (decision.label, decision.decided_by, decision.adopted_verdict) == (
        "yes",
        world.cleo,
        voice.verdict,
    )
    dispute.refresh_from_db()
    assert dispute.state == Dispute.State.SETTLED
    # Unit 1 holds claims 1 and 2, both yes now, unit 2 claim 3, yes: (1 + 1) / 2.
    assert world.peers["port", "alder"].score.coverage == pytest.approx(1.0)
    assert Event.objects.get(verb="adjudicate").actor == world.cleo


def test_an_answer_that_nobody_gave_needs_a_reason_and_keeps_what_was_typed(
    world: World, staff: StaffDoor
) -> None:
    dispute = disputed(world)
    client = staff("cleo")
    refused = client.post(
        page_of(dispute), {"adopt": "", "label": "unsure", "error_type": "omission", "seen": ""}
    )
    assert b"Give a reason" in refused.content
    assert b'value="omission" selected' in refused.content
    assert not Adjudication.objects.exists()
    client.post(page_of(dispute), {"adopt": "", "label": "unsure", "reason": "Both read it.", "seen": ""})
    assert Adjudication.objects.get().is_against_all


def test_who_decides_after_somebody_else_is_told(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    decide_check(check=world.check("alder", 1), by=world.olga, label="yes")
    told = staff("cleo").post(page_of(dispute), {"adopt": "", "label": "no", "seen": ""})
    assert b"Someone decided this after you opened it" in told.content
    assert Adjudication.objects.get().decided_by == world.olga


TYPED = {
    "adopt": "",
    "label": "no",
    "reason": "The wall is not mentioned.",
    "error_type": "omission",
    "is_guideline_gap": "on",
    "seen": "",
}


def test_what_was_typed_is_kept_beside_what_somebody_else_decided(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    theirs = decide_check(check=world.check("alder", 1), by=world.olga, label="yes", reason="It is there.")
    told = staff("cleo").post(page_of(dispute), TYPED)
    page = " ".join(re.sub(r"<[^>]*>", " ", told.content.decode()).split())
    assert "Current yes It is there. – –" in page
    assert "Your input no The wall is not mentioned. Omission gap" in page
    kept = told.context["form"]
    assert {name: kept[name].value() for name in TYPED} == {
        **TYPED,
        "is_guideline_gap": True,
        "seen": theirs.public_id,
    }
    assert b'name="again"' in told.content
    assert b"Reason for reopening" not in told.content
    assert list(Adjudication.objects.all()) == [theirs]


def test_an_answer_that_was_to_be_taken_over_is_kept_too(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    voice = next(each for each in voices_on_check(world.check("alder", 1), world.cleo) if each.label == "no")
    decide_check(check=world.check("alder", 1), by=world.olga, label="yes")
    told = staff("cleo").post(page_of(dispute), {"adopt": voice.token, "reason": "As they say.", "seen": ""})
    assert told.context["typed"].answer == f"{voice.letter}: no"
    assert told.context["form"]["adopt"].value() == voice.token


def test_it_is_taken_up_again_and_settled_at_once_with_what_was_kept(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    theirs = decide_check(check=world.check("alder", 1), by=world.olga, label="yes")
    client = staff("cleo")
    offered = client.post(page_of(dispute), TYPED).context["form"]["seen"].value()
    client.post(page_of(dispute), {**TYPED, "seen": offered, "again": "Reopen and resolve"})
    theirs.refresh_from_db()
    assert theirs.withdrawn_at is not None
    standing = Adjudication.objects.get(withdrawn_at=None)
    assert (standing.decided_by, standing.label, standing.reason, standing.error_type) == (
        world.cleo,
        "no",
        "The wall is not mentioned.",
        "omission",
    )
    assert standing.is_guideline_gap
    assert Event.objects.get(verb="reopen dispute").data["reason"] == "The wall is not mentioned."
    # Rex's own word was no: unit 1 has no, no; unit 2 yes: (0 + 1) / 2.
    assert world.peers["port", "alder"].score.coverage == pytest.approx(0.5)


def test_what_cannot_be_settled_is_not_taken_up_again_either(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    theirs = decide_check(check=world.check("alder", 1), by=world.olga, label="yes")
    # Nobody said unsure, so it needs a reason.
    form = {"adopt": "", "label": "unsure", "seen": theirs.public_id, "again": "1"}
    told = staff("cleo").post(page_of(dispute), form)
    assert b"Give a reason" in told.content
    assert told.context["form"]["label"].value() == "unsure"
    theirs.refresh_from_db()
    assert theirs.withdrawn_at is None
    assert not Event.objects.filter(verb="reopen dispute").exists()


def test_what_was_typed_is_kept_where_a_decision_was_taken_back(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    theirs = decide_check(check=world.check("alder", 1), by=world.olga, label="yes")
    withdraw_decision(decision=theirs, by=world.olga)
    told = staff("cleo").post(page_of(dispute), {**TYPED, "seen": theirs.public_id})
    page = " ".join(re.sub(r"<[^>]*>", " ", told.content.decode()).split())
    assert "Someone withdrew the decision after you opened it." in page
    assert "Current no decision" in page
    assert "Your input no The wall is not mentioned." in page
    assert b'value="Resolve"' in told.content
    staff("cleo").post(page_of(dispute), {**TYPED, "seen": told.context["form"]["seen"].value()})
    assert Adjudication.objects.get(withdrawn_at=None).decided_by == world.cleo


def test_why_it_should_be_taken_up_again_is_kept_too(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    first = decide_check(check=world.check("alder", 1), by=world.cleo, label="yes")
    decide_check(check=world.check("alder", 1), by=world.olga, label="no")
    form = {"reopen": "1", "seen": first.public_id, "reason": "New guidelines."}
    told = staff("cleo").post(page_of(dispute), form)
    assert told.context["typed"].reason == "New guidelines."
    assert told.context["form"]["reason"].value() == "New guidelines."
    assert b'name="reopen"' in told.content
    assert not Adjudication.objects.exclude(withdrawn_at=None).exists()


def test_a_settled_dispute_is_taken_up_again(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    decision = decide_check(check=world.check("alder", 1), by=world.cleo, label="yes")
    form = {"reopen": "1", "seen": decision.public_id, "reason": "New guidelines."}
    staff("cleo").post(page_of(dispute), form)
    dispute.refresh_from_db()
    assert dispute.state == Dispute.State.OPEN
    assert Event.objects.get(verb="reopen dispute").data["reason"] == "New guidelines."


def test_nobody_settles_what_they_judged_themselves(world: World, staff: StaffDoor) -> None:
    world.rex.memberships.update(roles=["reviewer", "adjudicator"])
    dispute = disputed(world)
    client = staff("rex")
    assert b"You have judged this yourself" in client.get(page_of(dispute)).content
    client.post(page_of(dispute), {"adopt": "", "label": "no", "seen": ""})
    assert not Adjudication.objects.exists()


def test_several_acts_leave_what_one_judged_oneself_to_others(world: World, staff: StaffDoor) -> None:
    world.rex.memberships.update(roles=["reviewer", "adjudicator"])
    own, settled = disputed(world, 1), disputed(world, 2)
    decision = decide_check(check=world.check("alder", 2), by=world.cleo, label="yes")
    client = staff("rex")
    why = "you have judged it yourself, so another adjudicator must resolve it"
    withdrawn = {"action": "withdraw", "_selected_action": [decision.pk]}
    for offered in (
        act(client, "decide_as_most", [own]),
        act(client, "take_up_again", [settled]),
        client.post(address(Adjudication), withdrawn),
    ):
        assert offered.context["steps"] == []
        [(_, step)] = offered.context["left_out"]
        assert why in step.words
    world.project.own_adjudication = True
    world.project.save()
    [(row, _)] = act(client, "decide_as_most", [own]).context["steps"]
    assert row == own


@pytest.mark.parametrize("name", ["mona", "vic", "rex", "ana", "dan"])
def test_others_cannot_settle_anything(world: World, staff: StaffDoor, name: str) -> None:
    dispute = disputed(world)
    client = staff(name)
    assert client.post(page_of(dispute), {"label": "yes", "reason": "x"}).status_code in (403, 404)
    assert act(client, "decide_as_most", [dispute], confirmed="yes").status_code in (403, 404, 200)
    assert not Adjudication.objects.exists()


def test_several_are_settled_as_most_say_each_with_its_event(world: World, staff: StaffDoor) -> None:
    alike = [disputed(world, 1), disputed(world, 2, labels=("yes", "no", "no"))]
    even = disputed(world, 3, labels=("yes", "no"))
    client = staff("cleo")
    offered = act(client, "decide_as_most", [*alike, even])
    assert [step.is_possible for _, step in offered.context["left_out"]] == [False]
    assert not Adjudication.objects.exists()
    confirmed(client, "decide_as_most", [*alike, even])
    # Two of three said yes of the first and no of the second; of the third one each.
    assert list(Adjudication.objects.order_by("pk").values_list("check_row__claim__position", "label")) in (
        [(1, "yes"), (2, "no")],
        [(2, "no"), (1, "yes")],
    )
    assert Event.objects.filter(verb="adjudicate").count() == 2
    even.refresh_from_db()
    assert even.state == Dispute.State.OPEN


def test_what_changed_since_it_was_shown_is_refused_and_told(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    client = staff("cleo")
    [(row, step)] = act(client, "decide_as_most", [dispute]).context["steps"]
    decide_check(check=world.check("alder", 1), by=world.olga, label="no")
    told = act(client, "decide_as_most", [row], confirmed="yes", **{f"held-{row.pk}": step.held})
    assert b"Someone decided this after you opened it" in told.content
    assert Adjudication.objects.get().decided_by == world.olga


def test_decisions_on_several_are_withdrawn(world: World, staff: StaffDoor) -> None:
    disputes = [disputed(world, 1), disputed(world, 2)]
    for position in (1, 2):
        decide_check(check=world.check("alder", position), by=world.cleo, label="yes")
    confirmed(staff("cleo"), "take_up_again", disputes, reason="The guidelines changed.")
    assert not Adjudication.objects.filter(withdrawn_at=None).exists()
    assert Event.objects.filter(verb="reopen dispute").count() == 2


def test_leases_are_ended(world: World, staff: StaffDoor) -> None:
    dispute = disputed(world)
    take_next(project=world.project, by=world.olga, filters=DisputeFilter())
    confirmed(staff("cleo"), "release", [dispute])
    dispute.refresh_from_db()
    assert dispute.leased_to is None
    assert Event.objects.get(verb="release dispute").data["held_by"] == "olga"


def test_too_many_at_once_are_refused(
    world: World, staff: StaffDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MOST_ROWS_AT_ONCE", 1)
    disputes = [disputed(world, 1), disputed(world, 2)]
    told = act(staff("cleo"), "decide_as_most", disputes, confirmed="yes")
    assert b"At most 1 rows can be changed at a time" in told.content
    assert not Adjudication.objects.exists()


def test_decisions_are_withdrawn_from_their_own_list(world: World, staff: StaffDoor) -> None:
    decision = decide_check(check=world.check("alder", 2), by=world.cleo, label="yes", reason="It is.")
    client = staff("cleo")
    chosen = {"action": "withdraw", "_selected_action": [decision.pk]}
    assert b"is withdrawn" in client.post(address(Adjudication), chosen).content
    client.post(address(Adjudication), {**chosen, "confirmed": "yes"})
    decision.refresh_from_db()
    assert decision.withdrawn_at is not None
    assert Event.objects.filter(verb="withdraw decision").count() == 1


def test_the_history_of_a_check_tells_what_was_said_and_done(world: World, staff: StaffDoor) -> None:
    disputed(world)
    decide_check(check=world.check("alder", 1), by=world.cleo, label="yes", reason="It says so.")
    check = world.check("alder", 1)
    for page in ("change", "history"):
        told = staff("olga").get(address(Check, f"{check.pk}/{page}/"))
        # The judge's verdict, three answers and a decision; an override and an adjudication.
        assert [line.who for line in told.context["said"]] == [
            "lexical",
            "rex",
            "gold-0.jsonl",
            "gold-1.jsonl",
            "cleo",
        ]
        assert [line.what for line in told.context["done"]] == ["answered a claim", "resolved a dispute"]
        assert b"It says so." in told.content
    watched = staff("vic").get(address(Check, f"{check.pk}/change/"))
    assert watched.context["done"] == []


def test_a_list_is_filtered_by_a_document_set_that_is_typed(world: World, staff: StaffDoor) -> None:
    client = staff("olga")
    port = client.get(address(Check), {"set": world.sets["port"].pk})
    assert port.context["cl"].result_count == 6
    assert client.get(address(Check), {"set": world.sets["bridge"].pk}).context["cl"].result_count == 0
    assert b"admin-autocomplete" in port.content
    # Of another project nothing is offered, and nothing is told.
    assert staff("dan").get(address(Check), {"set": world.sets["port"].pk}).context["cl"].result_count == 0


def test_secrets_and_words_that_were_taken_back_are_not_shown(world: World, staff: StaffDoor) -> None:
    from annotation.models import Comment, Invitation
    from annotation.projects.services.invite import invite
    from annotation.reviewing.services.comment import comment_on_claim

    invitation = invite(project=world.project, roles=["viewer"], by=world.olga).invitation
    claim = world.check("alder", 1).claim
    comment = comment_on_claim(project=world.project, claim=claim, by=world.rex, text="Regretted words.")
    Comment.objects.filter(pk=comment.pk).update(withdrawn_at=timezone.now())
    client = staff("root")
    assert (
        invitation.secret_hash
        not in client.get(address(Invitation, f"{invitation.pk}/change/")).content.decode()
    )
    for page in (address(Comment), address(Comment, f"{comment.pk}/change/")):
        assert b"Regretted" not in client.get(page).content
