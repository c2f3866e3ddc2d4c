"""The leaderboard, a system's summaries, and what the scores of one summary are made of."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.analysis.leaderboard import system_scores
from annotation.analysis.leaderboard import web as scores
from annotation.models import Analysis, DocumentSet, Look, Score, Summary, System, Verdict, Worker
from annotation.projects.services.change_project import change_project
from annotation.reviewing.services.review import override
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from tests.annotation.conftest import HTMX
from tests.annotation.mixing import mix_summarization
from tests.annotation.planning import answer_sample, lay_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World


@pytest.fixture
def vic(world: World, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(world.vic)


def test_the_leaderboard_ranks_by_coverage_and_says_it_in_words(world: World, vic: Client) -> None:
    answer = vic.get("/p/harbour/scores/")
    # alder (0.5 + 1) / 2 = 0.75, birch 0; one document set has a value, so there is no interval.
    assert [line.row.system for line in answer.context["league"].rows] == ["alder", "birch"]
    page = answer.content.decode()
    assert "0.750" in page
    by = "According to the lexical judge (an offline baseline), "
    assert f"{by}alder is ahead, but there are too few document sets to test it." in page


def more_sets(world: World, coverages: dict[str, list[float]]) -> None:
    """Sets beside the port in which each system has these coverages."""
    for system, values in coverages.items():
        for number, coverage in enumerate(values):
            document_set, _ = DocumentSet.objects.get_or_create(
                project=world.project, external_id=f"more {number}"
            )
            text = Summary.objects.create(
                document_set=document_set,
                system=world.systems[system],
                is_peer=True,
                target_words=20,
                text="It is old.",
            )
            Score.objects.create(
                project=world.project, summary=text, coverage=coverage, alignment=1.0, peer_words=3
            )


def test_of_many_pairs_the_surest_stand_on_the_page(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cedar = System.objects.create(project=world.project, name="cedar")
    world.systems["cedar"] = cedar
    # Cedar is .6 below alder in all seven sets, birch next to alder: the pairs with cedar are surest.
    more_sets(
        world,
        {"alder": [0.8, 0.7] * 3, "birch": [0.7, 0.8] * 3, "cedar": [0.2, 0.1] * 3},
    )
    address = "/p/harbour/scores/differences/?by=coverage&target=20"
    assert "pairs, smallest p first" not in vic.get(address).content.decode()
    monkeypatch.setattr(scores, "SYSTEM_PAIRS_SHOWN", 2)
    page = " ".join(vic.get(address).content.decode().split())
    assert "2 of 3 pairs, smallest p first. The file has all pairs." in page
    assert page.count('<th scope="row"><span dir="auto">') == 2
    assert '<span dir="auto">alder</span> − <span dir="auto">birch</span>' not in page
    assert len(vic.get(f"{address}&format=csv").content.decode().splitlines()) == 4


def test_more_systems_are_compared_in_a_matrix(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In seven sets alder is .6 above birch or .5: the one difference holds, 2 of 2**7 ways to flip reach it.
    more_sets(world, {"alder": [0.8, 0.7] * 4, "birch": [0.1, 0.2] * 4})
    address = "/p/harbour/scores/differences/?by=coverage&target=20"
    assert 'class="matrix"' not in vic.get(address).content.decode()
    monkeypatch.setattr(scores, "MATRIX_FROM", 2)
    page = vic.get(address)
    (first, above), (second, below) = page.context["matrix"]
    assert (first, second) == ("alder", "birch")
    assert above[0] is None
    assert below[1] is None
    assert above[1] is not None
    assert below[0] is not None
    assert (above[1].is_above, above[1].heat) == (True, 5)
    assert (below[0].is_above, below[0].pair) == (False, above[1].pair)
    assert 'class="num heat-5"' in page.content.decode()


def test_htmx_gets_the_table_alone(world: World, vic: Client) -> None:
    fragment = vic.get("/p/harbour/scores/?by=coverage_judge&target=20", headers=HTMX).content
    assert fragment.lstrip().startswith(b'<div id="league">')


def test_what_is_not_judged_yet_is_not_shown_first(world: World, vic: Client) -> None:
    for place in range(9):
        row = DocumentSet.objects.create(project=world.project, external_id=f"new-{place}")
        peer = Summary.objects.create(
            document_set=row, system=world.systems["alder"], is_peer=True, text="It is new.", target_words=90
        )
        Score.objects.create(project=world.project, summary=peer, peer_words=3, brevity=0.9)
    # Nine unjudged summaries have a brevity; the judged ones are fewer, of 20 words.
    shown = vic.get("/p/harbour/scores/").context
    assert (shown["table"].target_words, shown["column"]) == (20, "coverage")
    assert vic.get("/p/harbour/").context["excerpt"].target_words == 20
    # Asked for, they are no ranking by length.
    unjudged = vic.get("/p/harbour/scores/?target=90")
    assert unjudged.context["column"] == "coverage"


def test_a_target_that_no_summary_has_is_not_found(world: World, vic: Client) -> None:
    assert vic.get("/p/harbour/scores/?target=99").status_code == 404


def test_a_score_that_is_not_drawn_is_refused(world: World, vic: Client) -> None:
    assert vic.get("/p/harbour/scores/?by=password").status_code == 422


def test_a_click_on_a_head_sorts_and_a_second_one_turns_around(world: World, vic: Client) -> None:
    page = vic.get("/p/harbour/scores/").content.decode()
    # Brevity: alder .35, birch .45.
    assert '<th scope="col" class="num" aria-sort="ascending"' in page
    assert page.count("aria-sort") == 1
    assert 'href="/p/harbour/scores/?by=coverage&amp;target=20&amp;sort=-brevity"' in page
    sorted_page = vic.get("/p/harbour/scores/?sort=-brevity")
    page = sorted_page.content.decode()
    assert [line.row.system for line in sorted_page.context["league"].rows] == ["birch", "alder"]
    assert [line.rank for line in sorted_page.context["league"].rows] == [2, 1]
    assert page.count("aria-sort") == 1
    assert 'aria-sort="descending"' in page
    assert 'href="/p/harbour/scores/?by=coverage&amp;target=20&amp;sort=brevity"' in page
    assert 'href="/p/harbour/scores/?by=coverage&amp;target=20"' in page
    address = "/p/harbour/scores/file/?by=coverage&amp;sort=-brevity&amp;format=csv"
    assert address in page
    lines = vic.get(address.replace("&amp;", "&")).content.decode().splitlines()
    assert lines[1].startswith("20,2,a,birch,")
    assert vic.get("/p/harbour/scores/?sort=password").status_code == 422


def test_a_project_without_scores_says_what_to_do(world: World, signed_in: Callable[[User], Client]) -> None:
    page = signed_in(world.dan).get("/p/quarry/scores/").content.decode()
    assert "There are no scores yet" in page
    assert 'href="/p/quarry/runs/"' in page


def test_a_missing_value_is_a_dash_and_never_a_nought(world: World, vic: Client) -> None:
    page = vic.get(f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/")
    row = next(row for row in page.context["page"].rows if row.summary.document_set.external_id == "bridge")
    assert row.coverage is None
    assert "–" in page.content.decode()


def test_a_score_is_taken_apart(world: World, vic: Client) -> None:
    override(check=world.check("alder", 2), by=world.rex, label="yes", reason="it leans")
    page = vic.get(f"/p/harbour/scores/summaries/{world.peers['port', 'alder'].public_id}/")
    made = page.context["made"]
    formulas = {formula.column: formula for formula in made.formulas}
    # Both claims of unit 1 and the one of unit 2 are yes; 13 of 20 words.
    assert (formulas["coverage"].text, formulas["coverage"].value) == ("(1.00 + 1.00) / 2", 1.0)
    assert formulas["brevity"].text == "(20 − 13) / 20"
    assert formulas["composite_2_3"].text == "0.667·1.000 + 0.333·0.350"
    assert formulas["claim_coverage"].text == "3 yes / 3 scored"
    answers = made.comparisons[0].units[0].claims[1].answers
    assert [(answer.who, answer.kind, answer.label) for answer in answers] == [
        ("lexical", "judge", "no"),
        ("rex", "reviewer", "yes"),
    ]
    assert "it leans" in page.content.decode()


def test_a_summary_that_nobody_judged_has_a_page(world: World, vic: Client) -> None:
    page = vic.get(f"/p/harbour/scores/summaries/{world.peers['bridge', 'alder'].public_id}/")
    assert page.status_code == 200
    assert "not judged" in page.content.decode()


def test_the_judge_stands_beside_people_as_one_more_assessor(world: World, vic: Client) -> None:
    page = vic.get(f"/p/harbour/scores/summaries/{world.peers['port', 'alder'].public_id}/")
    units = page.context["made"].comparisons[0].units
    assert [[said.percent for said in unit.by_judges] for unit in units] == [[50.0], [100.0]]
    assert "judge, from its checks; marked 1" in page.content.decode()


def rows_of(page: str) -> list[list[str]]:
    """The words in every cell of every table."""
    return [
        [
            " ".join(re.sub(r"<[^>]*>", " ", cell).split())
            for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row, re.DOTALL)
        ]
        for row in re.findall(r"<tr(?: [^>]*)?>(.*?)</tr>", page, re.DOTALL)
    ]


def cells(page: str, system: str) -> list[str]:
    """The cells of a system's row of the leaderboard."""
    return next(row for row in rows_of(page) if row[1].startswith(system))


def test_scores_that_the_project_has_can_be_drawn(world: World, vic: Client) -> None:
    page = vic.get("/p/harbour/scores/").content.decode()
    assert "by=claim_coverage" in page
    assert "by=conciseness" not in page
    Score.objects.filter(summary=world.peers["port", "birch"]).update(conciseness=0.4)
    page = vic.get("/p/harbour/scores/?by=conciseness").content.decode()
    assert "Which system is first by conciseness?" in page
    assert cells(page, "birch")[2].startswith("0.400")


def test_a_systems_page_begins_with_the_lowest_of_the_score_asked_for(world: World, vic: Client) -> None:
    low, high = world.peers["port", "alder"], world.peers["bridge", "alder"]
    Score.objects.filter(summary=low).update(coverage=0.1, alignment=0.9)
    Score.objects.filter(summary=high).update(coverage=0.9, alignment=0.1)
    address = f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/"
    for by, first, words in (
        ("coverage", low, "coverage"),
        ("alignment", high, "alignment"),
        ("coverage_estimate", low, "coverage"),
    ):
        answer = vic.get(address, {"by": by})
        assert answer.context["page"].rows[0].summary == first
        assert f"Summaries with the lowest {words} come first" in answer.content.decode()


def test_a_blank_for_want_of_a_target_leads_to_the_setting_those_who_may_change_it(
    world: World, vic: Client, signed_in: Callable[[User], Client]
) -> None:
    Summary.objects.filter(document_set__project=world.project).update(target_words=None)
    rescore(project=world.project)
    setting = "/p/harbour/settings/#id_target_length"
    system = f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/"
    summary = f"/p/harbour/scores/summaries/{world.peers['port', 'alder'].public_id}/"
    mona = signed_in(world.mona)
    for page in (system, summary):
        assert f'href="{setting}"' in mona.get(page).content.decode()
        assert setting not in vic.get(page).content.decode()
    assert '<abbr title="No target length">' in vic.get(system).content.decode()
    change_project(project=world.project, by=world.mona, target_length=30)
    assert setting not in mona.get(system).content.decode()


def test_a_system_with_many_summaries_goes_on_on_further_pages(
    world: World, vic: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_scores, "PAGE_SIZE", 2)
    alder = world.systems["alder"]
    # Six scores: two target lengths and none, each with and without coverage.
    Score.objects.filter(project=world.project).delete()
    for target in (10, 30, None):
        for place, coverage in (("bridge", None), ("port", 0.4)):
            row = Summary.objects.create(
                document_set=world.sets[place], system=alder, is_peer=True, text="x", target_words=target
            )
            Score.objects.create(project=world.project, summary=row, peer_words=1, coverage=coverage)
    address = f"/p/harbour/scores/systems/{alder.public_id}/"
    walked, after, pages = [], "", []
    while True:
        page = vic.get(address, {"after": after} if after else {})
        walked += [(row.summary.target_words, row.coverage) for row in page.context["page"].rows]
        pages.append(" ".join(page.content.decode().split()))
        after = page.context["page"].after
        if not after:
            break
    # The lowest coverage of each target first; what has no coverage, or no target, last.
    assert walked == [(10, 0.4), (10, None), (30, 0.4), (30, None), (None, 0.4), (None, None)]
    assert "6 in total; showing the first 2" in pages[0]
    assert [">Next page</a>" in page for page in pages] == [True, True, False]
    assert vic.get(f"{address}?after=nowhere").status_code == 422


def test_a_systems_page_lists_all_its_means_with_their_sets(world: World, vic: Client) -> None:
    mix_summarization(world)
    page = vic.get(f"/p/harbour/scores/systems/{world.systems['alder'].public_id}/")
    (means,) = page.context["means"]
    assert means.averages["summarization"].mean == 0.5
    assert "conciseness" not in means.averages
    # One of two sets is judged; brevity is known of both, 0.35 each time: too few for an interval.
    rows = rows_of(page.content.decode())
    assert ["question coverage", "0.500", "no interval: 1 document set, 5 needed", "1 of 2"] in rows
    assert ["brevity", "0.350", "no interval: 2 document sets, 5 needed", "2"] in rows
    assert (
        "if questions have answers (summaries: 1), otherwise claim coverage (summaries: 1)"
        in page.content.decode()
    )


def test_the_leaderboard_comes_as_a_file(world: World, vic: Client) -> None:
    lines = vic.get("/p/harbour/scores/file/?by=coverage").content.decode().splitlines()
    assert lines[0].startswith("target_words,rank,letters,system,score,n,mean")
    assert lines[0].endswith(",claims_unscored,caption")
    covers = "sampling of documents only; judge error not included"
    assert f"20,1,a,alder,coverage,1,0.75,,,2,3,0,{covers}" in lines
    rows = vic.get("/p/harbour/scores/file/?by=coverage&format=json").json()
    assert {"system": "birch", "score": "brevity", "n": 2}.items() <= next(
        row for row in rows if row["system"] == "birch" and row["score"] == "brevity"
    ).items()
    assert vic.get("/p/harbour/scores/file/?format=xml").status_code == 422


def test_all_pairs_stand_on_a_page_and_in_a_file(world: World, vic: Client) -> None:
    page = vic.get("/p/harbour/scores/differences/?by=brevity&target=20").content.decode()
    # Birch has .45 in both sets, alder .35: two sets flip in 4 ways, half of which are as far apart.
    assert "none of the 1 difference is significant at 5 % after Holm's correction" in " ".join(page.split())
    assert "+0.100" in page
    assert "0.500" in page
    lines = vic.get("/p/harbour/scores/differences/?by=brevity&format=csv").content.decode().splitlines()
    assert lines[0].startswith("first,second,sets,difference,p,adjusted_p,holds")
    assert lines[1].startswith("birch,alder,2,0.1")


def test_where_every_system_has_an_estimate_the_page_opens_on_it(world: World, vic: Client) -> None:
    lay_sets(world, 19)
    answer_sample(
        world, sample_checks(project=world.project, by=world.mona, method="uniform", share=0.7, seed=3)
    )
    vic.get("/p/harbour/scores/")
    page = " ".join(vic.get("/p/harbour/scores/").content.decode().split())
    assert "Which system would people say covers most?" in page
    assert "According to the estimate of people&#x27;s answers, alder is ahead" in page
    assert page.index("?by=coverage_estimate") < page.index("?by=coverage&")
    # The tests do not tell the two apart, and so says the headline.
    assert "any other system could be as good" in page
    assert cells(page, "alder")[0] == "1"
    blend = " ".join(vic.get("/p/harbour/scores/?by=coverage").content.decode().split())
    assert "interval leaves out the judge's errors; the estimate includes them" in blend
    assert 'data-name="by people"' in blend
    # Neither the estimate nor whose coverage it is says anything of other scores.
    Score.objects.filter(project=world.project).update(alignment=0.5)
    vic.get("/p/harbour/scores/?by=alignment")
    faithful = " ".join(vic.get("/p/harbour/scores/?by=alignment").content.decode().split())
    assert "According to the lexical judge" in faithful
    assert "the estimate includes" not in faithful
    assert 'data-name="by people"' not in faithful
    overview = " ".join(vic.get("/p/harbour/").content.decode().split())
    assert "According to the estimate of people&#x27;s answers, alder is ahead" in overview
    # Its file, the API and the command go by the same rule.
    lines = vic.get("/p/harbour/scores/file/?format=json").json()
    assert [row["rank"] for row in lines if row["score"] == "coverage_estimate"] == [1, 2]
    assert vic.get("/api/v1/projects/harbour/leaderboard/").json()["score"] == "coverage_estimate"
    assert vic.get("/api/v1/projects/harbour/leaderboard/?score=coverage").json()["score"] == "coverage"
    said = StringIO()
    call_command("leaderboard", "harbour", stdout=said)
    assert said.getvalue().splitlines()[1].split()[:4] == ["rank", "system", "estimate", "interval"]
    # While a worker is still at its ranking nothing else is said to lead.
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    Analysis.objects.filter(key="board coverage_estimate").delete()
    for address in ("/p/harbour/scores/", "/p/harbour/"):
        page = vic.get(address).content.decode()
        assert "The ranking is being computed." in page
        assert "is ahead" not in page
        assert "leads" not in page


def test_estimates_are_compared_pair_by_pair(world: World, vic: Client) -> None:
    sample_checks(project=world.project, by=world.mona, method="uniform", share=1.0)
    for check in [*world.checks("alder"), *world.checks("birch")]:
        override(
            check=check, by=world.rex, label="yes" if check.peer == world.peers["port", "alder"] else "no"
        )
    page = vic.get("/p/harbour/scores/differences/?by=coverage_estimate").content.decode()
    # One document set shows no error: there is nothing to test by.
    assert "none of the 1 difference is significant at 5 % after" in " ".join(page.split())
    assert "+1.000" in page
    assert "affects both systems on the same document" in page


def test_old_numbers_are_marked_while_a_worker_makes_new_ones(world: World, vic: Client) -> None:
    first = vic.get("/p/harbour/scores/?by=brevity").content.decode()
    Analysis.objects.all().delete()
    watched = vic.get("/p/harbour/scores/").content.decode()
    assert 'hx-trigger="every 10s" hx-select="#made"' in watched
    override(check=world.check("alder", 2), by=world.rex, label="yes")
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    # Anyone who watches the page is told, and the note then asks for the whole.
    told = vic.get("/p/harbour/scores/", headers={"HX-Request": "true"}).content.decode()
    page = vic.get("/p/harbour/scores/").content.decode()
    for each in (told, page):
        note = each.partition('id="made"')[2].partition("</p>")[0]
        assert 'hx-trigger="load delay:5s"' in note
        assert "An update is being computed" in note
    # Means and counts are those of this moment.
    assert cells(page, "alder")[2].startswith("1.000")
    # Five further sets have an alignment: enough for intervals, which nobody has made yet.
    more_sets(world, {"alder": [0.7, 0.8, 0.7, 0.8, 0.7], "birch": [0.1, 0.2, 0.1, 0.2, 0.1]})
    coming = vic.get("/p/harbour/scores/?by=alignment").content.decode()
    assert ">no interval<" not in coming
    assert "resampling shows no spread" not in coming
    assert "interval is being calculated" in coming
    unmade = vic.get("/p/harbour/scores/?by=brevity").content.decode()
    assert "Computing these numbers." in unmade
    estimate = vic.get("/p/harbour/scores/?by=coverage_estimate").content.decode()
    assert "The ranking is being computed." in estimate
    assert "no random sample has been answered" not in estimate
    assert cells(unmade, "alder")[2] == cells(first, "alder")[2]


def test_a_reviewer_who_opens_a_summarys_page_answers_its_checks_knowing_the_judge(
    world: World, signed_in: Callable[[User], Client], vic: Client
) -> None:
    page = f"/p/harbour/scores/summaries/{world.peers['port', 'alder'].public_id}/"
    assert vic.get(page).status_code == 200
    assert not Look.objects.exists()
    cleo = signed_in(world.cleo)
    assert cleo.get(page).status_code == 200
    for system in ("alder", "birch"):
        answer = f"/p/harbour/review/{world.check(system, 2).public_id}/answer/"
        assert cleo.post(answer, {"label": "yes", "seen": ""}).status_code == 302
    told = Verdict.objects.filter(person=world.cleo).order_by("pk").values_list("had_seen", flat=True)
    assert list(told) == [True, False]
    said = vic.get(page).content.decode()
    assert "had seen the judge's verdict" in said
    assert "before the judge's verdict was shown" not in said
