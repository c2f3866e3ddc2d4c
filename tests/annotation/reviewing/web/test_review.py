from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from annotation.models import Check, Look, Membership, Project, Sample, Verdict
from annotation.reviewing.services.review import override
from annotation.texts.services.change_claims import reword_claim
from tests.annotation.conftest import HTMX
from tests.says import says

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

QUEUE = "/p/harbour/review/"
JUDGES_WORDS = "no mention of: wall"
"""The judge's reason for its "no" on the second claim."""


@pytest.fixture
def cleo(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.cleo)


def at(check: Check) -> str:
    return f"{QUEUE}{check.public_id}/"


def newest(check: Check) -> Verdict:
    return Verdict.objects.filter(check_row=check, role="reviewer").latest("pk")


def test_the_uncertainty_is_kept_back_with_the_verdict(world: World, rex: Client) -> None:
    # Checks with the judge's no have an uncertainty of .4 and those with yes have .2, so the number would reveal the
    # label.
    def told() -> str:
        return rex.get(QUEUE).text + rex.get(f"{QUEUE}?file=csv").getvalue().decode()

    assert not re.search(r",uncertainty,|\b0\.4\b", told())
    Project.objects.update(reveal=Project.Reveal.SHOWN)
    assert all(words in told() for words in (",uncertainty,", "0.4"))


def test_no_list_tells_a_reviewer_who_waits_where_the_judge_gave_no_usable_answer(
    world: World, rex: Client
) -> None:
    def rows() -> str:
        return rex.get(QUEUE, headers=HTMX).text.partition("<tbody")[2]

    before = rows()
    Check.objects.update(final_label=None, final_source=None)
    assert rows() == before


def test_a_head_stands_above_the_checks_of_each_summary(world: World, rex: Client) -> None:
    # Each of the two summaries has three checks, all of claims of the reference.
    assert rex.get(QUEUE).text.count('<tr class="group">') == 2
    assert '<tr class="group">' not in rex.get(f"{QUEUE}?sort=uncertainty").text


def test_a_filter_that_makes_no_sense_is_refused(rex: Client) -> None:
    assert rex.get(f"{QUEUE}?sort=color").status_code == 422
    assert rex.get(f"{QUEUE}?after=nonsense").status_code == 422


def test_a_page_of_the_queue_begins_nowhere_outside_its_project(world: World, rex: Client) -> None:
    other = Project.objects.create(name="Heath", slug="heath")
    Check.objects.filter(pk=world.check("birch", 1).pk).update(project=other)
    assert rex.get(f"{QUEUE}?after={world.check('birch', 1).public_id}").status_code == 422


def test_the_address_of_the_next_page_tells_nothing_of_how_sure_the_judge_is(
    world: World, rex: Client
) -> None:
    page = rex.get(QUEUE, {"sort": "uncertainty", "limit": "2"}, headers=HTMX).context
    assert page["more"] == f"?sort=uncertainty&limit=2&after={page['rows'][-1].public_id}"


def test_no_page_is_kept_for_going_back_to(world: World, rex: Client) -> None:
    for address in (QUEUE, at(world.check("alder", 2))):
        assert "no-store" in rex.get(address)["Cache-Control"]


@pytest.mark.parametrize("position", [1, 2])
def test_before_the_own_answer_the_judges_is_nowhere(world: World, rex: Client, position: int) -> None:
    check = world.check("alder", position)
    for headers in ({}, HTMX):
        answer = rex.get(f"{at(check)}?judge=1", headers=headers)
        page = answer.content.decode()
        assert answer.context["outcome"].judge is None
        assert JUDGES_WORDS not in page
        assert "<mark>" not in page
        assert 'class="label' not in page


def test_after_the_own_answer_the_judges_is_shown_with_its_evidence_lit(world: World, rex: Client) -> None:
    check = world.check("alder", 1)
    strip = rex.post(f"{at(check)}answer/", {"label": "no", "seen": ""}, headers=HTMX).content.decode()
    assert "had said" in strip
    assert (
        '<mark><span data-unit="1">The harbour of Lund closes in April.'
        in rex.get(at(check)).content.decode()
    )


def test_a_plain_form_answers_and_leads_to_the_next_claim(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    data = {"label": "no", "reason": "weak is weak", "evidence": ["2", "1"], "seen": ""}
    more = {"error_type": "wrong_number", "confidence": "0.75", "active_ms": "4200"}
    answer = rex.post(f"{at(check)}answer/?sort=impact", {**data, **more})
    saved = newest(check)
    assert (saved.label, saved.reason, saved.evidence) == ("no", "weak is weak", [1, 2])
    assert (saved.error_type, saved.confidence, saved.active_ms) == ("wrong_number", 0.75, 4200)
    assert answer["Location"].endswith(f"/?sort=impact&was={check.public_id}")
    page = rex.get(answer["Location"])
    assert page.context["view"].check_id != check.public_id
    assert "You said" in page.content.decode()


def test_an_answer_can_be_changed_from_the_strip_of_the_next_claim(world: World, rex: Client) -> None:
    check, other = world.check("alder", 2), world.check("birch", 1)
    rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""})
    page = rex.get(f"{at(other)}?was={check.public_id}").content.decode()
    assert "Change to no" in page
    data = {"label": "no", "seen": newest(check).public_id, "at": other.public_id}
    answer = rex.post(f"{at(check)}answer/", data)
    assert answer["Location"] == f"{at(other)}?was={check.public_id}"
    assert newest(check).label == "no"


def test_the_scores_before_and_after_are_told(world: World, cleo: Client) -> None:
    # Alder: unit 1 has yes and no, unit 2 yes: coverage (0.5 + 1) / 2 = 0.75, claim coverage 2/3. With yes on the
    # second claim both are 1. 13 words of 20 give a brevity of (20 - 13) / 20 = 0.35, so the composite 2/3·0.75 +
    # 1/3·0.35 = 0.617 becomes 2/3 + 0.35/3 = 0.783.
    page = cleo.post(
        f"{at(world.check('alder', 2))}answer/", {"label": "yes", "seen": ""}, headers=HTMX
    ).content.decode()
    assert "Coverage 0.750 → 1.000" in page
    assert "claim coverage 0.667 → 1.000" in page
    assert "composite ⅔ 0.617 → 0.783" in page


def test_whoever_may_not_view_the_scores_is_not_told_how_they_move(world: World, rex: Client) -> None:
    # A change of coverage from 0.75 to 1 would reveal that the judge said yes to the unit's other claim.
    check = world.check("alder", 2)
    strip = rex.post(f"{at(check)}answer/", {"label": "yes", "seen": ""}, headers=HTMX).content.decode()
    assert '<p class="moved">Saved: yes.</p>' in strip
    taken = rex.post(f"{at(check)}withdraw/", {"verdict": newest(check).public_id}, headers=HTMX)
    assert "Answer withdrawn. </p>" in taken.content.decode()
    for page in (strip, taken.content.decode()):
        assert "overage" not in page
        assert "→" not in page


@pytest.mark.parametrize(
    ("name", "said"),
    [("rex", ""), ("cleo", " Coverage 0.750 → 1.000, claim coverage 0.667 → 1.000")],
)
def test_without_scripts_the_movement_is_told_to_the_same_people(
    world: World, signed_in: SignIn, name: str, said: str
) -> None:
    client, check = signed_in(getattr(world, name)), world.check("alder", 2)
    answer = client.post(f"{at(check)}answer/", {"label": "yes", "seen": ""}, follow=True)
    [saved] = [str(each) for each in answer.context["messages"]]
    assert saved.startswith(f"Saved: yes.{said}")
    data = {"verdict": newest(check).public_id}
    [taken] = [
        str(each) for each in client.post(f"{at(check)}withdraw/", data, follow=True).context["messages"]
    ]
    assert ("Coverage 1.000 → 0.750" in taken) == bool(said)
    assert (taken == "Answer withdrawn.") == (not said)


def test_a_claim_that_waits_here_is_counted_down_and_no_other(world: World, rex: Client) -> None:
    override(check=world.check("alder", 1), by=world.cleo, label="yes")
    # Five of six checks wait, because Cleo has answered one.
    for position, is_counted in ((1, False), (2, True)):
        page = rex.get(at(world.check("alder", position)))
        assert (page.context["left"], page.context["is_counted"]) == (5, is_counted)
        assert ("data-counts-down" in page.content.decode()) == is_counted
        assert "to go" in page.content.decode()


def test_nobody_takes_back_what_somebody_else_said(world: World, rex: Client) -> None:
    check = world.check("alder", 2)
    theirs = override(check=check, by=world.cleo, label="yes").verdict
    assert rex.post(f"{at(check)}withdraw/", {"verdict": theirs.public_id}).status_code == 404


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_a_newer_answer_of_ones_own_is_a_conflict_that_loses_nothing(
    world: World, rex: Client, headers: dict[str, str]
) -> None:
    check = world.check("alder", 2)
    own = override(check=check, by=world.rex, label="unsure", reason="hard to say").verdict
    data = {"label": "yes", "reason": "it is there", "seen": ""}
    answer = rex.post(f"{at(check)}answer/", data, headers=headers)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "hard to say" in page
    assert 'value="it is there"' in page
    seen = answer.context["outcome"].seen
    assert seen == own.public_id
    assert rex.post(f"{at(check)}answer/", {**data, "seen": seen}, headers=HTMX).status_code == 200


@pytest.mark.parametrize("data", [{"label": "maybe"}, {"label": "yes", "evidence": "first"}])
def test_an_answer_that_makes_no_sense_is_refused_in_place(
    world: World, rex: Client, data: dict[str, str]
) -> None:
    check = world.check("alder", 2)
    answer = rex.post(f"{at(check)}answer/", {**data, "seen": "", "reason": "kept"}, headers=HTMX)
    assert answer.status_code == 422
    assert b'value="kept"' in answer.content
    assert not Verdict.objects.filter(check_row=check, role="reviewer").exists()


def following(client: Client, here: str = "", query: str = "") -> str:
    answer = client.post(f"{QUEUE}next/{query}", {"here": here} if here else {})
    return answer["Location"].removeprefix(QUEUE).split("?")[0].strip("/")


def test_the_address_of_the_next_claim_leads_to_the_queue(rex: Client) -> None:
    answer = rex.get(f"{QUEUE}next/?sort=impact")
    assert (answer.status_code, answer["Location"]) == (302, f"{QUEUE}?sort=impact")


def test_an_address_opens_a_claim_that_somebody_else_holds(
    world: World, rex: Client, signed_in: SignIn
) -> None:
    first = following(rex)
    assert signed_in(world.cleo).get(f"{QUEUE}{first}/").status_code == 200
    assert Check.objects.get(public_id=first).leased_to == world.rex


def test_a_claim_fetched_ahead_is_not_yet_looked_at(world: World, rex: Client) -> None:
    here = world.check("birch", 3)
    ahead = rex.post(f"{QUEUE}next/", {"here": here.public_id}, headers=HTMX).context["view"].check_id
    looked = set(Look.objects.values_list("check_row__public_id", flat=True))
    assert (here.public_id in looked, ahead in looked) == (True, False)


def test_nothing_comes_after_a_claim_that_is_not_there(world: World, rex: Client) -> None:
    assert rex.post(f"{QUEUE}next/", {"here": "nowhere"}).status_code == 404


def test_the_last_claim_shows_its_own_outcome(world: World, rex: Client) -> None:
    last = world.check("alder", 1)
    for check in Check.objects.exclude(pk=last.pk):
        override(check=check, by=world.rex, label="no")
    answer = rex.post(f"{at(last)}answer/", {"label": "yes", "seen": ""})
    assert answer["Location"] == at(last)


@pytest.mark.parametrize("roles", [["reviewer"], ["reviewer", "viewer"]])
@pytest.mark.parametrize("query", ["only=against", "only=disputed", "only=all&label=yes", "label=yes"])
def test_no_list_or_count_tells_a_reviewer_what_others_said_before_their_own_answer(
    world: World, rex: Client, query: str, roles: list[str]
) -> None:
    Membership.objects.filter(user=world.rex).update(roles=roles)
    check = world.check("alder", 2)
    # The judge said no. Two people differ, and the later one says yes.
    override(check=check, by=world.olga, label="no")
    override(check=check, by=world.cleo, label="yes")
    answer = rex.get(f"{QUEUE}?{query}")
    assert (answer.context["rows"], answer.context["counted"]) == ([], 0)
    assert "This filter leaves out claims whose answers you may not see yet" in answer.content.decode()
    if query != "label=yes":
        override(check=check, by=world.rex, label="yes")
        rows = rex.get(f"{QUEUE}?{query}").context["rows"]
        assert [row.public_id for row in rows] == [check.public_id]


def test_systems_and_other_reviewers_are_filters_for_those_who_view_scores(
    world: World, rex: Client, signed_in: SignIn
) -> None:
    override(check=world.check("alder", 1), by=world.rex, label="yes")
    alder = world.systems["alder"].public_id
    assert rex.get(f"{QUEUE}?system={alder}").status_code == 403
    assert rex.get(f"{QUEUE}?only=answered&reviewer=cleo").status_code == 403
    assert len(rex.get(f"{QUEUE}?only=answered&reviewer=rex").context["rows"]) == 1
    assert not says(rex.get(QUEUE).content.decode(), "alder")
    cleo = signed_in(world.cleo)
    assert len(cleo.get(f"{QUEUE}?system={alder}").context["rows"]) == 2
    assert len(cleo.get(f"{QUEUE}?only=answered&reviewer=rex").context["rows"]) == 1


def sampled_in(sample: Sample, number: int) -> Check:
    check: Check = sample.sampled_checks.select_related("check_row__claim")[number].check_row
    return check


def test_a_removed_claim_takes_no_answer(world: World, rex: Client) -> None:
    check = world.check("alder", 1)
    reword_claim(claim=check.claim, by=world.cleo, text="Other words")
    page = " ".join(rex.get(at(check)).content.decode().split())
    assert "so it is no longer checked" in page
    assert 'value="yes" data-key="1" aria-pressed="false" disabled' in page


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_it_is_told_that_a_sample_keeps_the_answer_that_is_taken_back(
    world: World, rex: Client, signed_in: SignIn, headers: dict[str, str]
) -> None:
    signed_in(world.mona).post(f"{QUEUE}samples/sample/", lot("50"))
    sample = Sample.objects.get()
    check = sampled_in(sample, 0)
    free = Check.objects.filter(sampled__isnull=True).first()
    for each, is_kept in ((check, True), (free, False)):
        rex.post(f"{at(each)}answer/", {"label": "yes", "seen": ""})
        taken = {"verdict": newest(each).public_id}
        page = rex.post(f"{at(each)}withdraw/", taken, headers=headers, follow=True).content.decode()
        assert ("The random sample keeps your first answer" in page) is is_kept
    assert sample.sampled_checks.get(check_row=check).verdict is not None


def test_review_begins_with_an_open_sample_and_says_why(world: World, rex: Client, signed_in: SignIn) -> None:
    assert "Start with the random sample" not in rex.get(QUEUE).content.decode()
    mona = signed_in(world.mona)
    asked = mona.post(f"{QUEUE}samples/sample/", {**lot("50"), "confirmed": ""}).content.decode()
    assert "About 2 minutes of work: 3 answers at an assumed 30 s each." in asked
    assert not Sample.objects.exists()
    [seed] = re.findall(r'name="seed" value="(\d+)"', asked)
    mona.post(f"{QUEUE}samples/sample/", {**lot("50"), "seed": seed})
    sample = Sample.objects.get()
    assert sample.seed == int(seed)
    page = rex.get(QUEUE).content.decode()
    assert "3 claims in the random sample are left" in page
    assert f'action="{QUEUE}next/?sample={sample.public_id}"' in page
    assert "is complete" not in rex.get(f"{QUEUE}?sample={sample.public_id}").text
    assert "Start with the random sample" not in rex.get(f"{QUEUE}?sort=document").content.decode()
    cancelled = mona.post(f"{QUEUE}samples/{sample.public_id}/cancel/", follow=True).content.decode()
    assert "Random sample cancelled" in cancelled
    assert "of a random sample" not in rex.get(QUEUE).content.decode()
    assert rex.get(f"{QUEUE}?sample={sample.public_id}").status_code == 422


def test_the_end_of_a_sample_leads_to_the_estimate(world: World, rex: Client, signed_in: SignIn) -> None:
    signed_in(world.mona).post(f"{QUEUE}samples/sample/", lot("50"))
    sample = Sample.objects.get()
    for row in sample.sampled_checks.all():
        override(check=row.check_row, by=world.rex, label="yes")
    finished = "random sample is complete"
    assert finished in rex.get(f"{QUEUE}?sample={sample.public_id}").content.decode()
    end = rex.post(f"{QUEUE}next/?sample={sample.public_id}", headers=HTMX).content.decode()
    # Three of the six checks were sampled.
    assert "Sample finished. 3 other claims are open." in " ".join(end.split())
    assert f'href="{QUEUE}"' in end
    refused = signed_in(world.mona).post(f"{QUEUE}samples/{sample.public_id}/cancel/")
    assert refused.status_code == 409


def lot(share: str) -> dict[str, str]:
    return {"method": "uniform", "score": "coverage", "size": str(6 * int(share) // 100), "confirmed": "1"}
