from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from annotation.adjudicating.services.adjudicate import settle
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.models import Dispute, Look, Score
from annotation.reviewing.services.review import override, withdraw_answer
from tests.annotation.asking import answer

if TYPE_CHECKING:
    from annotation.models import Check, Claim
    from tests.annotation.cast import World
    from tests.annotation.conftest import ApiDoor, SignIn

DESK = "/p/harbour/review/"


@pytest.fixture
def question(world: World) -> Claim:
    return ask_questions(document_set=world.sets["port"], texts=["Does the port close?"], by=world.mona)[0]


@pytest.fixture
def source(world: World, question: Claim) -> Check:
    return answer(question, "yes", judge=world.judge, reason="hidden reason")


@pytest.fixture
def alder(world: World, question: Claim) -> Check:
    return answer(question, "no", judge=world.judge, summary=world.summaries["port", "alder"])


def coverage(world: World) -> float | None:
    return Score.objects.get(summary=world.summaries["port", "alder"]).question_coverage


@pytest.mark.usefixtures("source", "alder")
def test_a_filter_of_the_queue_holds_them(world: World, signed_in: SignIn) -> None:
    client = signed_in(world.rex)
    assert "Does the port close?" not in client.get(DESK, {"only": "all"}).content.decode()
    for order, held in (("set", 2), ("impact", 2), ("uncertainty", 2), ("document", 1)):
        page = client.get(DESK, {"side": "question", "sort": order}).content.decode()
        # The order "document" lists only questions that summaries answer.
        assert page.count(">Does the port close?</a>") == held


def test_each_comes_with_the_text_that_answers_it(
    world: World, signed_in: SignIn, source: Check, alder: Check
) -> None:
    client = signed_in(world.rex)
    for check, reads, ask in (
        (source, "Source", "Does the source answer it with yes?"),
        (alder, r"Summary \d", "Does the summary alone answer it with yes?"),
    ):
        page = " ".join(client.get(f"/p/harbour/review/{check.public_id}/").content.decode().split())
        # Summaries are numbered in a random order.
        assert re.search(f'<h2 id="text-title"> {reads} ·', page)
        assert ask in page
        assert "hidden reason" not in page
        assert "Edit claim" not in page


def test_after_an_answer_to_the_source_the_next_question_comes(
    world: World, signed_in: SignIn, source: Check, alder: Check
) -> None:
    client = signed_in(world.olga)
    given = client.post(
        f"/p/harbour/review/{source.public_id}/answer/?side=question", {"label": "no", "seen": ""}
    )
    assert f"/review/{alder.public_id}/" in given["Location"]
    told = " ".join(client.get(given["Location"]).content.decode().split())
    # The source's only question with yes is no longer yes, so there is no score.
    assert "Question coverage 0.000 → –." in told


def test_reviewers_who_differ_make_a_dispute_that_an_adjudicator_resolves(
    world: World, source: Check, alder: Check
) -> None:
    override(check=source, by=world.rex, label="yes")
    override(check=source, by=world.olga, label="no")
    # The latest reviewer answers no from the source.
    assert coverage(world) is None
    dispute = Dispute.objects.get()
    assert (dispute.check_row, dispute.state) == (source, "open")
    decision = settle(dispute=dispute, by=world.cleo, label="yes")
    assert coverage(world) == 0.0
    assert Dispute.objects.get().state == "settled"
    withdraw_answer(answer=decision, by=world.cleo)
    assert Dispute.objects.get().state == "open"
    retire_question(question=alder.claim, by=world.mona)
    assert not Dispute.objects.exists()


def test_who_reads_what_a_score_is_made_of_has_seen_the_answers_of_the_source(
    world: World, signed_in: SignIn, source: Check, alder: Check
) -> None:
    signed_in(world.cleo).get(f"/p/harbour/scores/summaries/{alder.summary.public_id}/", {"anyway": "1"})
    seen = Look.objects.filter(person=world.cleo, revealed_at__isnull=False)
    assert {source.pk, alder.pk} <= set(seen.values_list("check_row", flat=True))
    assert override(check=source, by=world.cleo, label="no").verdict.had_seen


def test_the_api_gives_and_takes_answers(
    world: World, client_of: ApiDoor, source: Check, alder: Check
) -> None:
    client = client_of("rex")
    listed = client.get("/api/v1/projects/harbour/checks/", {"side": "question"}).json()["results"]
    assert [(row["id"], row["summary"], row["document_id"]) for row in listed] == [
        (source.public_id, None, "port"),
        (alder.public_id, alder.summary.public_id, "port"),
    ]
    given = client.post(
        f"/api/v1/projects/harbour/checks/{source.public_id}/verdicts/", {"label": "no"}
    ).json()
    assert (given["check"]["final_label"], given["check"]["summary"]) == ("no", None)
    assert coverage(world) is None
