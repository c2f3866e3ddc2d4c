from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.analysis import make_analysis
from annotation.analysis.leaderboard import system_scores
from annotation.models import Check, DocumentSet, Sample, Score, Summary, Worker
from annotation.reviewing.services.look_at_check import see_checks
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


@pytest.fixture
def vic(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.vic)


def test_the_leaderboard_ranks_by_coverage_and_says_it_in_words(world: World, vic: Client) -> None:
    answer = vic.get("/p/harbour/scores/")
    # Alder has (0.5 + 1) / 2 = 0.75 and birch 0. Only one document set has a value, so there is no interval.
    assert [line.row.system for line in answer.context["league"].rows] == ["alder", "birch"]
    page = answer.content.decode()
    assert ">75 %<" in page
    assert "alder is ahead (75 %, next 0 %), judged by an unchecked judge. There are too few document" in page
    assert "The intervals leave out the judge" in page


def test_what_is_not_judged_yet_is_not_shown_first(world: World, vic: Client) -> None:
    for place in range(9):
        row = DocumentSet.objects.create(project=world.project, external_id=f"new-{place}")
        summary = Summary.objects.create(
            document_set=row,
            system=world.systems["alder"],
            is_summary=True,
            text="It is new.",
            target_words=90,
        )
        Score.objects.create(project=world.project, summary=summary, summary_words=3, brevity=0.9)
    # The summaries with the target 90 have only a brevity. The judged table, with the target 20, is shown first.
    shown = vic.get("/p/harbour/scores/").context
    assert (shown["table"].target_words, shown["score"]) == (20, "coverage")
    assert vic.get("/p/harbour/").context["excerpt"].table.target_words == 20
    # If the unjudged table is requested, it is ranked by coverage and not by brevity.
    unjudged = vic.get("/p/harbour/scores/?target=90")
    assert unjudged.context["score"] == "coverage"


def test_a_target_that_no_summary_has_is_not_found(world: World, vic: Client) -> None:
    assert vic.get("/p/harbour/scores/?target=99").status_code == 404


def test_a_column_head_ranks_by_it_and_added_columns_stay(world: World, vic: Client) -> None:
    # Brevity is .35 for alder and .45 for birch.
    page = vic.get("/p/harbour/scores/").content.decode()
    assert "by=brevity" not in page
    page = vic.get("/p/harbour/scores/?choose=1&column=brevity&column=group&column=password").content.decode()
    assert 'href="/p/harbour/scores/?by=brevity&amp;target=20"' in page
    heads = rows_of(page)[0]
    assert [head.split()[0] for head in heads] == ["System", "Group", "Coverage", "95", "Brevity", "Length"]
    ranked = vic.get("/p/harbour/scores/?by=brevity&target=20")
    assert [line.row.system for line in ranked.context["league"].rows] == ["birch", "alder"]
    assert ranked.content.decode().count("aria-sort") == 1
    assert vic.get("/p/harbour/scores/?choose=1").content.decode().count("by=brevity") == 0
    lines = vic.get("/p/harbour/scores/file/?by=brevity&format=csv").content.decode().splitlines()
    assert lines[1].startswith("20,1,a,birch,")
    assert vic.get("/p/harbour/scores/?by=password").status_code == 422


def test_a_person_chooses_which_documents_estimates_are_about(world: World, vic: Client) -> None:
    assert "documents like these" not in vic.get("/p/harbour/scores/").text
    lay_sets(world, 18)
    sample = sample_checks(
        project=world.project, by=world.mona, method="uniform", share=0.7, side="reference", seed=1
    )
    answer_sample(world, sample)
    page = vic.get("/p/harbour/scores/")
    assert "exactly these 20 document sets" in page.text
    assert "claims of many more such documents" in page.text
    these = vic.get("/p/harbour/scores/?documents=these")
    assert "claims of exactly these documents" in these.text
    width = [
        line.average.high - line.average.low for each in (page, these) for line in each.context["league"].rows
    ]
    assert max(width[2:]) < min(width[:2])
    # The choice also applies to the file of pairs, until the person chooses again.
    assert "claims of exactly these documents" in vic.get("/p/harbour/scores/?by=coverage").text
    files = [
        vic.get(f"/p/harbour/scores/pairs/file/?by=coverage&format=csv{end}").text
        for end in ("", "&documents=like")
    ]
    assert files[0] != files[1]
    assert "claims of exactly these documents" not in vic.get("/p/harbour/scores/").text


def test_twenty_claims_are_sampled_with_one_click_and_opened_in_review(
    world: World, signed_in: SignIn
) -> None:
    lay_sets(world, 9)
    mona, olga = signed_in(world.mona), signed_in(world.olga)
    button = "Check 20 claims now"
    # Mona may not review, so she gets no button for a sample.
    assert button not in mona.get("/p/harbour/scores/").text
    assert button in olga.get("/p/harbour/scores/").text
    opened = olga.post("/p/harbour/review/samples/check/", {"score": "coverage"})
    sample = Sample.objects.get()
    first = rf"/p/harbour/review/\w+/\?sample={sample.public_id}"
    assert re.fullmatch(first, opened["Location"])
    assert sample.sampled_checks.count() == 20
    # A second click continues the same sample.
    olga.post("/p/harbour/review/samples/check/", {"score": "coverage"})
    assert Sample.objects.count() == 1
    page = olga.get("/p/harbour/scores/").text
    assert (button in page, "Continue checking claims" in page) == (False, True)
    answer_sample(world, sample)
    page = " ".join(olga.get("/p/harbour/scores/").text.split())
    assert "unchecked judge" not in page
    assert "An estimate needs answers in 15 document sets of every system" in page
    judged = " ".join(olga.get("/p/harbour/scores/judge/").text.split())
    assert "of 20 claims" in judged
    assert "An estimate needs answers in 15 document sets of every system" in judged


def test_a_sample_of_what_was_seen_says_at_once_what_waits_for_a_colleague(
    world: World, signed_in: SignIn
) -> None:
    lay_sets(world, 9)
    olga = signed_in(world.olga)
    see_checks(project=world.project, checks=Check.objects.filter(side="reference"), by=world.olga)
    assert "20 claims show how often it errs" in olga.get("/p/harbour/scores/").text
    opened = olga.post("/p/harbour/review/samples/check/", {"score": "coverage"}, follow=True)
    said = "You have seen the judge&#x27;s verdicts on 20 of them, so a colleague must answer them."
    assert said in opened.text
    assert "See the result so far" in opened.text
    page = " ".join(olga.get("/p/harbour/scores/").text.split())
    assert "0 of 20 sampled claims are checked." in page
    assert "on 20 of the others, so a colleague must check them" in page
    assert "Continue checking claims" not in page
    # Cleo has seen no verdicts, so she can answer the sample.
    assert "Continue checking claims" in signed_in(world.cleo).get("/p/harbour/scores/").text


def test_a_sample_of_both_sides_is_counted_by_side(world: World, signed_in: SignIn) -> None:
    lay_sets(world, 9)
    sample_checks(project=world.project, by=world.olga, method="uniform", share=0.5)
    page = signed_in(world.olga).get("/p/harbour/scores/?by=coverage")
    part = page.context["unchecked"].sample
    # Nobody has seen or answered a check, so Olga can answer all checks of this side.
    assert (part.left, part.of_others) == (part.sample.sampled, 0)


def test_a_summary_that_nobody_judged_has_a_page(world: World, vic: Client) -> None:
    page = vic.get(f"/p/harbour/scores/summaries/{world.summaries['bridge', 'alder'].public_id}/")
    assert page.status_code == 200
    assert "not judged" in page.content.decode()


def test_the_judge_stands_beside_people_as_one_more_assessor(world: World, vic: Client) -> None:
    page = vic.get(f"/p/harbour/scores/summaries/{world.summaries['port', 'alder'].public_id}/")
    units = page.context["made"].comparisons[0].units
    assert [[said.percent for said in unit.by_judges] for unit in units] == [[50.0], [100.0]]
    assert "judge, from its checks; marked 1" in page.content.decode()


def rows_of(page: str) -> list[list[str]]:
    return [
        [
            " ".join(re.sub(r"<[^>]*>", " ", cell).split())
            for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr(?: [^>]*)?>(.*?)</tr>", page, re.DOTALL)
    ]


def test_a_systems_page_begins_with_the_lowest_of_the_score_asked_for(world: World, vic: Client) -> None:
    low, high = world.summaries["port", "alder"], world.summaries["bridge", "alder"]
    Score.objects.filter(summary=low).update(coverage=0.1, alignment=0.9)
    Score.objects.filter(summary=high).update(coverage=0.9, alignment=0.1)
    address = f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/"
    for by, first, words in (
        ("coverage", low, "coverage"),
        ("alignment", high, "alignment"),
        ("password", low, "coverage"),
    ):
        answer = vic.get(address, {"by": by})
        assert answer.context["page"].rows[0].summary == first
        assert f"Summaries with the lowest {words} come first" in answer.content.decode()


def test_a_system_with_many_summaries_goes_on_on_further_pages(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_scores, "PAGE_SIZE", 2)
    alder = world.systems["alder"]
    # Create six scores: two target lengths and none, each with and without coverage.
    Score.objects.filter(project=world.project).delete()
    for target in (10, 30, None):
        for place, coverage in (("bridge", None), ("port", 0.4)):
            row = Summary.objects.create(
                document_set=world.sets[place], system=alder, is_summary=True, text="x", target_words=target
            )
            Score.objects.create(project=world.project, summary=row, summary_words=1, coverage=coverage)
    address = f"/p/harbour/scores/systems/{alder.public_id}/"
    walked, after, pages = [], "", []
    while True:
        page = vic.get(address, {"after": after} if after else {})
        walked += [(row.summary.target_words, row.coverage) for row in page.context["page"].rows]
        pages.append(" ".join(page.content.decode().split()))
        after = page.context["page"].after
        if not after:
            break
    # At each target length the lowest coverage comes first; rows without coverage or target are last.
    assert walked == [(10, 0.4), (10, None), (30, 0.4), (30, None), (None, 0.4), (None, None)]
    assert "6 in total; showing the first 2" in pages[0]
    assert [">Next page</a>" in page for page in pages] == [True, True, False]
    assert vic.get(f"{address}?after=nowhere").status_code == 422


def test_a_systems_page_names_its_rank(world: World, vic: Client) -> None:
    page = vic.get(f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/")
    assert "express 75 % of the references' content (rank 1 of 2 at 20 words)" in " ".join(page.text.split())


def test_the_leaderboard_comes_as_a_file(world: World, vic: Client) -> None:
    lines = vic.get("/p/harbour/scores/file/?by=coverage").content.decode().splitlines()
    assert lines[0].startswith("target_words,rank,letters,system,score,n,mean")
    assert lines[0].endswith(",claims_unscored,basis,caption")
    basis = '"judge only, unchecked","The intervals leave out the judge\'s mistakes, so they are too narrow."'
    assert f"20,1,a,alder,coverage,1,0.75,,,2,3,0,{basis}" in lines
    rows = vic.get("/p/harbour/scores/file/?by=coverage&format=json").json()
    assert {"system": "birch", "score": "brevity", "n": 2}.items() <= next(
        row for row in rows if row["system"] == "birch" and row["score"] == "brevity"
    ).items()
    assert vic.get("/p/harbour/scores/file/?format=xml").status_code == 422


def test_a_blank_for_want_of_a_target_leads_to_the_setting_those_who_may_change_it(
    world: World, vic: Client, mona: Client
) -> None:
    Summary.objects.filter(document_set__project=world.project).update(target_words=None)
    rescore(project=world.project)
    system = f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/?by=brevity"
    for page in (system, f"/p/harbour/scores/summaries/{world.summaries['port', 'alder'].public_id}/"):
        assert 'href="/p/harbour/settings/#id_target_length"' in mona.get(page).text
    assert '<abbr title="No target length">' in vic.get(system).text


def test_nothing_is_shown_until_everything_is_computed(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_analysis, "WAITED_SECONDS", 0.1)
    lay_sets(world, 5)
    vic.get("/p/harbour/scores/?by=coverage")
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    page = vic.get("/p/harbour/scores/?by=brevity").text
    assert "Computing these numbers" in page
    assert "<table" not in page
    # A changed score appears only after the next computation.
    Score.objects.filter(project=world.project).update(coverage=0.1, revision=1)
    page = vic.get("/p/harbour/scores/?by=coverage").text
    assert "An update is being computed." in page
    assert ">10 %</a>" not in page


def test_a_score_that_no_sample_is_about_can_be_drawn(world: World, vic: Client) -> None:
    Score.objects.filter(summary=world.summaries["port", "birch"]).update(conciseness=0.4)
    ranked = vic.get("/p/harbour/scores/?by=conciseness").content.decode()
    assert "Which system is best by conciseness?" in ranked
