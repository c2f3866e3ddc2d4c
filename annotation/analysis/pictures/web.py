"""The pictures page: what the scores say, drawn, each picture to take away as SVG, PNG or the numbers behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.text import slugify

from annotation.analysis.estimates.estimates import SIDES
from annotation.analysis.judge.judge_quality import judge_key
from annotation.analysis.judge.web import chosen_version
from annotation.analysis.leaderboard.differences import target_word
from annotation.analysis.leaderboard.leaderboard import RANKED
from annotation.analysis.leaderboard.web import (
    DRAWN_HEADS,
    MORE_SCORE_VIEWS,
    SCORE_VIEWS,
    ShownTable,
    shown_table,
)
from annotation.analysis.leaderboard.words import caption_of
from annotation.analysis.make_analysis import StoredStatistics, current_statistics
from annotation.analysis.pictures.charts import FEWEST_FOR_CURVE, Picture
from annotation.analysis.pictures.drawings import (
    draw_calibration,
    draw_claims,
    draw_judge_scatter,
    draw_lengths,
    draw_ranking,
    draw_weights,
    draw_work,
)
from annotation.analysis.pictures.heat_map import checks_on, heat_map_page
from annotation.analysis.pictures.work_done import answered_so_far
from annotation.analysis.target_tables import opened_table
from annotation.analysis.web import asked_score, table_file
from annotation.core.permissions import Verb
from annotation.core.refusals import Invalid, NotFound
from annotation.core.tables.answer import file_answer
from annotation.models import Analysis, Check, Project
from annotation.reviewing.services.look_at_check import see_checks
from annotation.reviewing.web.before_seeing import ask_before_seeing
from annotation.scoring.words import target_in_words
from annotation.web.htmx import Request, page_or_fragment
from annotation.web.rooms import Room, enter
from annotation.web.screen import screen


@dataclass(frozen=True, slots=True)
class PictureChoice:
    """One way to see the picture otherwise: its words, the address's query, and whether it is on."""

    words: str
    query: str
    is_on: bool


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """One picture as an address names it; None where there is nothing to draw it from.

    `asked` is the part of the address that names it again, `choices` the ways to see it otherwise, each row with what
    is chosen. `after` names where the next page starts.
    """

    picture: Picture | None
    made: StoredStatistics
    asked: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Sequence[PictureChoice]] = field(default_factory=dict)
    after: str = ""


@screen("GET")
def pictures(request: Request, slug: str) -> HttpResponse:
    room = enter(request, slug, Verb.VIEW_SCORES, here="pictures")
    name = request.GET.get("show", "") or next(iter(PICTURES))
    if name not in PICTURES:
        raise Invalid(f"There is no chart {name!r}. Choose one of: {', '.join(PICTURES)}.", field="show")
    words, question, draw = PICTURES[name]
    # The claims are read page by page, those of all samples among them.
    of_project = Check.objects.filter(project=room.project, side=Check.Side.REFERENCE)
    if draw is _claims and (asked := ask_before_seeing(request, room, of_project)):
        return asked
    shown = draw(request, room)
    context = {
        "room": room,
        "question": question,
        "kinds": [(each, PICTURES[each][0], each == name) for each in PICTURES],
        "show": name,
        "words": words,
        "shown": shown,
        "picture": shown.picture,
        "made": shown.made,
        "fewest_for_curve": FEWEST_FOR_CURVE,
        "address": request.get_full_path(),
        "file": f"{reverse('picture-file', args=[slug, name])}?{urlencode(shown.asked)}",
    }
    return page_or_fragment(
        request, page="analysis/pictures/page.html", fragment="analysis/pictures/_room.html", context=context
    )


@screen("GET")
def drawn_file(request: Request, slug: str, picture: str) -> HttpResponse:
    """One picture of the page as a file."""
    room = enter(request, slug, Verb.VIEW_SCORES, here="pictures")
    if picture not in PICTURES:
        raise NotFound(f"There is no chart {picture!r}. Choose one of: {', '.join(PICTURES)}.")
    shown = PICTURES[picture][2](request, room)
    # On the page intervals may follow; a file would be without them for good.
    if shown.picture is None or shown.made.is_missing:
        raise NotFound("No data to plot yet.")
    return picture_file(request, shown.picture, project=room.project, asked=shown.asked)


@screen("GET")
def work_file(request: Request, slug: str) -> HttpResponse:
    """The picture of the progress page as a file."""
    room = enter(request, slug, Verb.ASSIGN, here="progress")
    answered, _ = answered_so_far(room.project, wait=True)
    assert answered is not None, "who waits for it gets it"
    drawn = draw_work(room.project, viewer=request.user, answered=answered)
    return picture_file(request, drawn, project=room.project)


def picture_file(
    request: Request, picture: Picture, *, project: Project, asked: Mapping[str, str] | None = None
) -> HttpResponse:
    """The picture as `?format=svg` (unless asked otherwise), `png`, `csv` or `json`. Raises Invalid for another.

    What was `asked` for beside the picture is in the file's name.
    """
    name = slugify("-".join([project.slug, picture.name, *(asked or {}).values()]))
    match request.GET.get("format", "svg"):
        case "svg":
            return file_answer(picture.standalone, content_type="image/svg+xml", name=f"{name}.svg")
        case "png":
            return file_answer(picture.png, content_type="image/png", name=f"{name}.png")
        case _:
            return table_file(request, picture.table, columns=picture.fields, name=name)


def _ranking(request: Request, room: Room) -> ShownPicture:
    shown = shown_table(request, room.project)
    if shown.table is None:
        return ShownPicture(None, shown.made)
    views = SCORE_VIEWS | MORE_SCORE_VIEWS
    score = DRAWN_HEADS.get(shown.column, views[shown.column][0])
    caption = f"Intervals: {caption_of(shown.column, shown.table)}."
    asked = {"by": shown.column, "target": target_word(shown.table.target_words)}
    estimated = [name for name in SIDES if (of := shown.table.estimate_beside(name)) and of.has_estimates]
    held = [name for name in views if name in (*shown.table.scores_held, *estimated, shown.column)]
    choices = {
        "Score": _choices(asked, "by", {name: DRAWN_HEADS.get(name, views[name][0]) for name in held}),
        **_targets(shown, room, asked),
    }
    picture = draw_ranking(
        shown.table, shown.column, score=score, caption=caption, is_made=shown.made.is_current
    )
    return ShownPicture(picture, shown.made, asked, choices)


def _lengths(request: Request, room: Room) -> ShownPicture:
    shown = shown_table(request, room.project)
    if shown.table is None:
        return ShownPicture(None, shown.made)
    covers = caption_of(RANKED, shown.table)
    asked = {"target": target_word(shown.table.target_words)}
    picture = draw_lengths(room.project, shown.table, covers=covers)
    return ShownPicture(picture, shown.made, asked, _targets(shown, room, asked))


def _claims(request: Request, room: Room) -> ShownPicture:
    shown = shown_table(request, room.project)
    if shown.table is None:
        return ShownPicture(None, shown.made)
    first, target_words = request.GET.get("after", ""), shown.table.target_words
    asked = {"target": target_word(shown.table.target_words)}
    page = heat_map_page(room.project, target_words=target_words, after=first)
    see_checks(project=room.project, checks=checks_on(page, target_words=target_words), by=request.user)
    picture, choices = draw_claims(room.project, shown.table, page), _targets(shown, room, asked)
    return ShownPicture(picture, shown.made, asked | ({"after": first} if first else {}), choices, page.after)


def _weights(request: Request, room: Room) -> ShownPicture:
    stored = current_statistics(project=room.project, kind=Analysis.Kind.SENSITIVITY)
    tables = [table for table in (stored.payload or {"targets": []})["targets"] if table["length"]]
    table = opened_table(request, room.project, tables)
    if table is None:
        return ShownPicture(None, stored)
    asked = {"target": target_word(table["target_words"])}
    names = {
        target_word(each["target_words"]): f"{each['target_words']} {room.project.length_unit}"
        for each in tables
    }
    return ShownPicture(
        draw_weights(table), stored, asked, {"Target length": _choices(asked, "target", names)}
    )


def _judge(request: Request, room: Room) -> ShownPicture:
    return _of_judge(request, room, draw_judge_scatter)


def _calibration(request: Request, room: Room) -> ShownPicture:
    return _of_judge(request, room, draw_calibration)


def _of_judge(request: Request, room: Room, draw: Callable[[dict[str, Any]], Picture | None]) -> ShownPicture:
    key = judge_key(room.project, asked_score(request))
    stored = current_statistics(project=room.project, kind=Analysis.Kind.JUDGE, key=key)
    versions = (stored.payload or {"versions": []})["versions"]
    version = chosen_version(versions, request.GET.get("judge", ""))
    if version is None:
        return ShownPicture(None, stored)
    asked = {"judge": version["id"], **({"score": key} if key else {})}
    names = {each["id"]: each["id"] for each in versions}
    return ShownPicture(draw(version), stored, asked, {"Judge": _choices(asked, "judge", names)})


def _targets(shown: ShownTable, room: Room, asked: Mapping[str, str]) -> dict[str, Sequence[PictureChoice]]:
    names = {
        target_word(table.target_words): target_in_words(table.target_words, room.project)
        for table in shown.tables
    }
    return {"Target length": _choices(asked, "target", names)}


def _choices(asked: Mapping[str, str], field_name: str, names: Mapping[str, str]) -> Sequence[PictureChoice]:
    """The values of one part of the address by their words, the rest as it is; nothing where there is no choice."""
    if len(names) < 2:
        return ()
    return [
        PictureChoice(words, urlencode({**asked, field_name: value}), value == asked[field_name])
        for value, words in names.items()
    ]


PICTURES: Mapping[str, tuple[str, str, Callable[[Request, Room], ShownPicture]]] = {
    "ranking": ("Ranking", "Which system is best, and how certain is it?", _ranking),
    "length": ("Coverage and length", "Which system covers most in the fewest words?", _lengths),
    "weight": ("Weight of coverage", "Does the weight of brevity change the ranking?", _weights),
    "claims": ("Claims", "Which claims does each system express?", _claims),
    "judge": ("Judge and people", "Does the judge rate systems as people do?", _judge),
    "calibration": ("Calibration", "Are the judge's probabilities calibrated?", _calibration),
}
"""By the name in the address: the words of the tab, the question that the picture answers, and what draws it."""
