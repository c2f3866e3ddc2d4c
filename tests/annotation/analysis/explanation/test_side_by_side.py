from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils.html import escape

from annotation.analysis.explanation.side_by_side import Piece, marked, side_by_side
from annotation.models import Check, Claim, CoverageJudgment, DocumentSet, Look, Project, Score, Unit
from annotation.reviewing.services.review import override
from tests.annotation.exports.acts import assess_and_close
from tests.annotation.planning import lay_sets

if TYPE_CHECKING:
    from django.http import HttpResponse

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn


def port(world: World) -> DocumentSet:
    return DocumentSet.objects.get(project=world.project, external_id="port")


def address(world: World) -> str:
    return f"/p/harbour/scores/sets/{port(world).public_id}/"


def test_each_summary_misses_its_own_claims(world: World) -> None:
    for number, labels in ((1, ("yes", "yes")), (2, ("no", "no")), (3, ("yes", "no"))):
        for system, label in zip(("alder", "birch"), labels, strict=True):
            override(check=world.check(system, number), by=world.rex, label=label)
    found = side_by_side(port(world))
    missed = {each.summary.system.name: each.missed for each in found.summaries if each.summary.system}
    assert missed == {
        "alder": (world.check("alder", 2),),
        "birch": (world.check("birch", 2), world.check("birch", 3)),
    }
    assert [each.claims for each in found.summaries] == [3, 3]
    assert (found.claims, found.in_all, found.in_none) == (3, 1, 1)
    scores = Score.objects.filter(summary__document_set=port(world))
    by_system = dict(scores.values_list("summary__system__name", "coverage"))
    assert list(missed) == sorted(by_system, key=lambda name: -(by_system[name] or 0.0))


def test_a_claim_without_an_answer_everywhere_is_in_neither_count(world: World) -> None:
    # The judge says no to all three claims for birch, and to the second claim for alder. So no claim is in all
    # summaries, and the second claim is in none.
    before = side_by_side(port(world))
    assert (before.in_all, before.in_none) == (0, 1)
    Check.objects.filter(pk=world.check("alder", 2).pk).update(final_label=None, final_source=None)
    assert (side_by_side(port(world)).in_all, side_by_side(port(world)).in_none) == (0, 0)


def claim(text: str, start: int | None = None, end: int | None = None, unit: Unit | None = None) -> Check:
    return Check(claim=Claim(text=text, start=start, end=end, unit=unit))


def test_a_claim_marks_its_own_words_or_its_unit_or_nothing() -> None:
    text = "It opens. It closes in May, late."
    own = claim("it closes in May", 10, 26)
    whole = claim("The closing is late.", unit=Unit(start=10, end=33))
    nowhere = claim("Nobody came.")
    assert marked(text, [nowhere]) == (Piece(text),)
    assert marked(text, [own]) == (Piece("It opens. "), Piece("It closes in May", (own,)), Piece(", late."))
    assert [piece.verbatim for piece in marked(text, [own])] == [None, own, None]
    # The text does not contain the words of `whole`, so this claim marks its unit. The unit contains the words of
    # `own`: both claims are in one piece. `nowhere` has neither words in the text nor a unit, so it marks nothing.
    both = marked(text, [whole, own, nowhere])
    assert both == (Piece("It opens. "), Piece("It closes in May, late.", (own, whole)))
    assert both[1].verbatim is None


def test_unsupported_claims_are_marked_in_the_summary(world: World, signed_in: SignIn) -> None:
    check = world.check("alder", 3)
    Check.objects.filter(pk=check.pk).update(side="summary", final_label="no", final_source="judge")
    found = {each.summary.system: each for each in side_by_side(port(world)).summaries}
    # The claim has no place in the text of the summary, so it is listed beside it.
    assert found[world.systems["alder"]].reworded == (check,)
    assert found[world.systems["birch"]].unsupported == 0
    Claim.objects.filter(pk=check.claim_id).update(start=0, end=9)
    page = signed_in(world.vic).get(address(world)).content.decode()
    words = world.summaries["port", "alder"].text[:9]
    assert f'title="Not supported by the source">{words}<span' in page.replace("\n    ", " ")
    assert page.count(escape(world.summaries["port", "birch"].text)) == 1


def test_a_claim_says_that_percents_of_its_unit_count_instead(world: World, signed_in: SignIn) -> None:
    client, words = signed_in(world.vic), "not counted: people's percent decides this unit"
    summary = world.summaries["port", "birch"].public_id
    pages = (
        address(world),
        f"/p/harbour/scores/summaries/{summary}/",
        f"/p/harbour/scores/systems/{world.systems['birch'].public_id}/claims/?side=reference",
    )
    assert not any(words in client.get(page).text for page in pages)
    assess_and_close(
        world, world.ana, {("alder", 1): 60, ("alder", 2): 80, ("birch", 1): 0, ("birch", 2): 20}
    )
    assert all(words in client.get(page).text for page in pages)
    # With a weighted blend, the verdicts count beside the percents.
    Project.objects.update(blend="weighted", blend_human_weight=0.5)
    assert not any(words in client.get(page).text for page in pages)
    # A decision on a unit counts alone in both.
    CoverageJudgment.objects.create(
        comparison=world.comparison("port", "birch"),
        unit=world.units("port")[1],
        role="adjudicator",
        person=world.cleo,
        percent=10,
    )
    assert all(words in client.get(page).text for page in pages)


def names_on(page: HttpResponse) -> list[str]:
    return [each.external_id for each in page.context["rows"]]


def test_sets_are_listed_by_what_is_hard(world: World, signed_in: SignIn) -> None:
    """The summaries of port have .2 and .4, one of set-00 has .5; unscored sets are last in either order."""
    lay_sets(world, 2)
    hard = world.project.document_sets.get(external_id="set-00").summaries.filter(is_summary=True)
    Score.objects.all().delete()
    for summary, coverage in zip(
        (world.summaries["port", "alder"], world.summaries["port", "birch"], *hard),
        (0.2, 0.4, 0.5, None),
        strict=True,
    ):
        Score.objects.create(project=world.project, summary=summary, summary_words=9, coverage=coverage)
    Check.objects.filter(pk=world.check("alder", 3).pk).update(side="summary", final_label="no")
    client, address = signed_in(world.vic), "/p/harbour/scores/sets/"
    assert names_on(client.get(address, {"limit": "2"})) == ["port", "set-00"]
    assert "<bdi>port</bdi> cover least: 30 % of the reference" in client.get(address).text
    by_name = client.get(address, {"sort": "document_id", "limit": "2"})
    assert names_on(by_name) == ["bridge", "port"]
    port = by_name.context["rows"][1]
    assert (port.unsupported, port.scored, port.coverage) == (1, 2, pytest.approx(0.3))
    assert names_on(client.get(address + by_name.context["more"])) == ["set-00", "set-01"]
    assert names_on(client.get(address, {"sort": "coverage", "limit": "2"})) == ["port", "set-00"]
    downwards = client.get(address, {"sort": "-coverage", "limit": "2"})
    assert names_on(downwards) == ["set-00", "port"]
    onwards = client.get(address + downwards.context["more"])
    assert {*names_on(onwards)} == {"bridge", "set-01"}
    assert names_on(client.get(address, {"q": "POR"})) == ["port"]
    assert "Nothing found" in client.get(address, {"q": "nowhere"}).content.decode()
    assert client.get("/p/quarry/scores/sets/").status_code == 404


def test_whoever_may_answer_is_known_to_have_seen_its_verdicts(world: World, signed_in: SignIn) -> None:
    signed_in(world.vic).get(address(world))
    assert not Look.objects.exists()
    signed_in(world.cleo).get(address(world))
    seen = Look.objects.filter(person=world.cleo, revealed_at__isnull=False)
    checks = Check.objects.filter(document_set=port(world), is_current=True)
    assert set(seen.values_list("check_row", flat=True)) == set(checks.values_list("pk", flat=True))
