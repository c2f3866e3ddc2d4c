"""The plan page, who may see it, its sample, and tables as files."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from annotation.analysis.estimates.plan import plan
from annotation.analysis.estimates.web import whole_parts
from annotation.assessing.services.assign import assign
from annotation.models import Analysis, Check, DocumentSet, Draw, Summary, Verdict, Worker
from annotation.sampling.services.sample_checks import sample_checks
from annotation.scoring.rescore import rescore
from tests.annotation.conftest import HTMX
from tests.annotation.planning import answer_draw, lay_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from django.test import Client

    from tests.annotation.cast import World

    SignedIn = Callable[[User], Client]

PLAN = "/p/harbour/scores/plan/"
DRAW = f"{PLAN}draw/"


@pytest.fixture
def laid(world: World) -> World:
    lay_sets(world, 4)
    return world


def test_the_plan_says_what_is_known_and_what_draws_would_bring(laid: World, signed_in: SignedIn) -> None:
    html = signed_in(laid.olga).get(PLAN).content.decode()
    assert "review a random sample first" in html
    assert "There are 5 document sets here. Below 15" in html
    assert "assumes that the judge&#x27;s probabilities are calibrated" in html
    assert "No answers have been timed yet" in html
    assert "up to date.</p>" in html


def test_a_project_of_which_nothing_can_be_foretold_says_why(world: World, signed_in: SignedIn) -> None:
    html = signed_in(world.olga).get(PLAN).content.decode()
    assert "no system has claims in at least two document sets" in html
    assert "Draw" not in re.sub(r"<[^>]+>", "", html[html.index("Current estimate") :])


def test_the_chosen_size_and_design_show_where_checks_come_from(laid: World, signed_in: SignedIn) -> None:
    html = signed_in(laid.olga).get(f"{PLAN}?size=30&design=stratified").content.decode()
    assert "30 checks by system" in html
    assert "Each group gets exactly this many checks." in html
    assert 'name="size" value="30"' in html


def test_what_is_not_planned_for_is_not_found(laid: World, signed_in: SignedIn) -> None:
    client = signed_in(laid.olga)
    for query in ("size=31", "design=people", "width=7", "target=99"):
        assert client.get(f"{PLAN}?{query}").status_code == 404


@pytest.mark.parametrize("query", ["width=0.20", "width=.2", "width=0.2", "size=30.0"])
def test_a_number_is_known_however_it_is_written(laid: World, signed_in: SignedIn, query: str) -> None:
    html = signed_in(laid.olga).get(f"{PLAN}?{query}").content.decode()
    assert '<option value="0.2" selected>' in html or 'name="size" value="30"' in html


@pytest.mark.parametrize("query", ["width=nan", "width=inf", "width=0.2x", "size=many"])
def test_what_is_no_planned_number_is_not_found(laid: World, signed_in: SignedIn, query: str) -> None:
    assert signed_in(laid.olga).get(f"{PLAN}?{query}").status_code == 404


def test_without_a_pilot_the_page_says_what_its_figures_rest_on(laid: World, signed_in: SignedIn) -> None:
    html = told(signed_in(laid.olga).get(PLAN).content.decode())
    assert (
        "If the judge's probabilities are calibrated and answers within a document are independent, no"
        in html
    )
    assert "independent answers within a document; otherwise, intervals are wider." in html


def told(html: str) -> str:
    """What the page says, without its marks."""
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html)))


def test_after_new_document_sets_came_a_smaller_sample_would_replace_a_larger_one(
    laid: World, signed_in: SignedIn
) -> None:
    answer_draw(laid, sample_checks(project=laid.project, by=laid.mona, method="uniform", share=0.9, seed=3))
    lay_sets(laid, 2, first=4)
    html = told(signed_in(laid.olga).get(f"{PLAN}?size=30").content.decode())
    assert "This smaller one would replace it" in html
    assert "the estimate uses it alone" in html


def test_without_a_pilot_a_draw_is_by_lot(laid: World, signed_in: SignedIn) -> None:
    html = signed_in(laid.olga).get(PLAN).content.decode()
    assert 'name="design" value="uniform"' in html


def test_where_people_have_answered_all_no_draw_is_offered(laid: World, signed_in: SignedIn) -> None:
    checks = Check.objects.filter(project=laid.project, side=Check.Side.REFERENCE)
    Verdict.objects.bulk_create(
        Verdict(check_row=check, source=Verdict.Source.REVIEWER, origin_name="gold.jsonl", label="yes")
        for check in checks
    )
    rescore(project=laid.project)
    client = signed_in(laid.olga)
    html = client.get(PLAN).content.decode()
    assert "people have answered all 38 checks, so coverage on the leaderboard rests on people alone" in html
    assert "Expected interval width by sample size" not in html
    assert "checks for reviewers</button>" not in client.get(f"{PLAN}?size=20").content.decode()
    assert "Intervals for people alone are final: no further answer can change them." in told(html)
    assert "includes the judge's errors" not in told(html)
    assert "No estimate is needed: people answered every check." in told(html)


def test_numbers_of_checks_add_up() -> None:
    # .7 + .7 + .6 is 2: the two largest remainders are rounded up.
    assert whole_parts([0.7, 0.7, 0.6]) == [1, 1, 0]
    assert whole_parts([2.4, 3.3, 2.2]) == [3, 3, 2]
    assert whole_parts([0.0, 0.0, 1.0]) == [0, 0, 1]


def test_what_is_sampled_already_comes_first(laid: World, signed_in: SignedIn) -> None:
    sample_checks(project=laid.project, by=laid.mona, method="uniform", share=0.5, seed=3)
    html = signed_in(laid.olga).get(PLAN).content.decode()
    # Half of 38 checks, at 30 s each while nobody's time is known.
    assert "First finish the current sample: 19 claims (about 10 minutes)." in html


def test_figures_of_before_a_change_say_so_first(laid: World, signed_in: SignedIn) -> None:
    olga = signed_in(laid.olga)
    assert "up to date.</p>" in olga.get(PLAN).content.decode()
    Worker.objects.create(name="worker", started_at=timezone.now(), seen_at=timezone.now())
    Analysis.objects.update(inputs="of another judge")
    html = olga.get(PLAN).content.decode()
    assert html.count('id="made"') == 1
    assert html.index("before the latest changes") < html.index("Current estimate")


def test_document_sets_of_the_system_with_the_fewest_are_told_downwards(
    laid: World, signed_in: SignedIn
) -> None:
    (table,) = plan(laid.project)["targets"]
    outlook = table["outlooks"]["20"]["uniform"]
    # 19 checks of each of two systems, of which 10 are drawn: three in the port and four in each of four sets. So
    # 1 - (9/19)^3 + 4 (1 - (9/19)^4) = 4.692 of 5 are expected to hold an answer. Variance: of chances to hold none of
    # .1063 and .0503, .0950 + 4 * .0478 = .2862; 10 being drawn takes off (.1063 * 30/19 + 4 * .0503 * 40/19)^2 /
    # (19 * 90/361) = .5918^2 / 4.7368 = .0739. Of two systems the fewer: 4.692 - .5450 * sqrt .2123 = 4.441.
    assert outlook["documents"] == pytest.approx(4.441, abs=0.001)
    html = told(signed_in(laid.olga).get(f"{PLAN}?size=20&design=uniform").content.decode())
    assert (
        "In more than half of such samples, every system has answers in 4 document sets at least. Estimates "
        "with the judge need 15"
    ) in html


def test_document_sets_in_groups_are_counted_as_both(laid: World, signed_in: SignedIn) -> None:
    DocumentSet.objects.filter(external_id__in=("set-00", "set-01")).update(group="storm")
    html = told(signed_in(laid.olga).get(PLAN).content.decode())
    assert (
        "There are 5 document sets in 4 groups here (no interval: 4 groups, 5 needed). Below 15 groups"
        in html
    )
    assert "fewer than 15 groups" in html


def test_of_one_system_nothing_is_said_of_others(laid: World, signed_in: SignedIn) -> None:
    Check.objects.filter(peer__system=laid.systems["birch"]).delete()
    html = told(signed_in(laid.olga).get(PLAN).content.decode())
    assert "The width of the only system's interval at this target length." in html
    assert "Every system" not in html
    assert "Widest" not in html


def test_both_open_where_the_leaderboard_does(laid: World, signed_in: SignedIn) -> None:
    # One set's summaries are short: the rest, at 20 words, are more.
    Summary.objects.filter(is_peer=True, document_set__external_id="set-00").update(target_words=10)
    client = signed_in(laid.olga)
    for address in (PLAN,):
        html = client.get(address).content.decode()
        assert re.search(r'[?;]target=20"[^>]*aria-current="true"', html)
        assert not re.search(r'[?;]target=10"[^>]*aria-current="true"', html)
        assert re.search(
            r'[?;]target=10"[^>]*aria-current="true"', client.get(f"{address}?target=10").content.decode()
        )


def test_forms_do_not_print(laid: World, signed_in: SignedIn) -> None:
    html = signed_in(laid.olga).get(PLAN).content.decode()
    forms = re.findall(r"<form[^>]*>", html[html.index('id="plan"') :])
    assert len(forms) == 2
    assert re.search(r'css/print[^"]*\.css" media="print"', html)
    assert all("screen-only" in each for each in forms)


def test_a_confirmed_sample_is_made_once_and_shows_how_far_it_is_answered(
    laid: World, signed_in: SignedIn
) -> None:
    client = signed_in(laid.olga)
    html = client.get(f"{PLAN}?size=30&design=active").content.decode()
    form = dict(re.findall(r'name="(size|design|seed)" value="([^"]+)"', html))
    asked = client.post(DRAW, form)
    assert not Draw.objects.exists()
    assert "30 answers: about 15 minutes of work" in asked.content.decode()
    form = dict(re.findall(r'name="(size|design|seed|confirmed)" value="([^"]+)"', asked.content.decode()))
    assert client.post(DRAW, form).status_code == 302
    client.post(DRAW, form)
    draw = Draw.objects.get()
    assert (draw.method, draw.drawn_checks.count(), str(draw.seed)) == ("active", 30, form["seed"])
    html = client.get(PLAN).content.decode()
    assert "0 of 30 answered" in html
    assert f"/p/harbour/review/?draw={draw.public_id}" in html


@pytest.mark.parametrize(
    "form", [{"size": "0"}, {"size": "many"}, {"size": "5", "design": "people"}, {"size": "5", "seed": "-1"}]
)
def test_a_draw_that_makes_no_sense_is_refused_on_the_page(
    laid: World, signed_in: SignedIn, form: dict[str, str]
) -> None:
    answer = signed_in(laid.olga).post(DRAW, {"design": "active", "seed": "1", **form})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert not Draw.objects.exists()


def test_only_who_assigns_may_draw(laid: World, signed_in: SignedIn) -> None:
    assert "for reviewers</button>" not in signed_in(laid.vic).get(PLAN).content.decode()
    assert signed_in(laid.vic).post(DRAW, {"size": "5", "design": "uniform", "seed": "1"}).status_code == 403


def test_who_may_see_scores_sees_both(laid: World, signed_in: SignedIn) -> None:
    for address in (PLAN, f"{PLAN}sizes/file/"):
        assert signed_in(laid.vic).get(address).status_code == 200
        assert signed_in(laid.rex).get(address).status_code == 403
        assert signed_in(laid.dan).get(address).status_code == 404


def test_the_blind_see_neither(laid: World, signed_in: SignedIn) -> None:
    laid.project.memberships.filter(user=laid.olga).update(roles=["owner", "assessor"])
    assign(document_set=laid.sets["bridge"], assessor=laid.olga, by=None, seed=1)
    client = signed_in(laid.olga)
    for address in (PLAN,):
        assert client.get(address).status_code == 403
    answer = client.post(DRAW, {"size": "5", "design": "uniform", "seed": "1", "confirmed": "1"})
    assert answer.headers["Location"] == "/p/harbour/review/draws/"


def test_both_are_kept_and_come_as_fragments(laid: World, signed_in: SignedIn) -> None:
    client = signed_in(laid.olga)
    for address, name, kind in ((PLAN, "plan", "plan"),):
        client.get(address)
        row = Analysis.objects.get(kind=kind)
        html = client.get(address, headers=HTMX).content.decode()
        assert html.lstrip().startswith(f'<div id="{name}"')
        assert Analysis.objects.get(kind=kind).made_at == row.made_at


@pytest.mark.parametrize(
    ("address", "rows"),
    [
        # Two systems; ten sizes up to 38 of four designs; the same for two systems; eleven widths.
        (f"{PLAN}known/file/", 2),
        (f"{PLAN}sizes/file/", 20),
        (f"{PLAN}systems/file/", 40),
        (f"{PLAN}wanted/file/", 11),
    ],
)
def test_tables_come_as_files(laid: World, signed_in: SignedIn, address: str, rows: int) -> None:
    client = signed_in(laid.olga)
    lines = list(csv.DictReader(io.StringIO(client.get(f"{address}?format=csv").content.decode())))
    assert len(lines) == len(json.loads(client.get(f"{address}?format=json").content)) == rows
