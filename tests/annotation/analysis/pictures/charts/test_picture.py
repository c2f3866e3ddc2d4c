"""A picture on a page, as a file and as numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.conf import settings

from annotation.analysis.pictures.charts import Picture
from annotation.analysis.pictures.charts.kit import PAPER, Drawing, circle, rectangle, words
from annotation.analysis.pictures.charts.picture import ZOOM

PNG = b"\x89PNG\r\n\x1a\n"
NASTY = 'a <b> & "c" \x01 \x00 ∑'


def picture(*shapes: object, rows: tuple[tuple[object, ...], ...] = ((NASTY, 0.25, None),)) -> Picture:
    drawn = shapes or (words(NASTY, 10, 20, hint=NASTY), circle("mark", 50, 50, 5))
    return Picture(
        name="sample",
        title=NASTY,
        description="Nothing much.",
        caption="",
        drawing=Drawing(200, 100, drawn),  # type: ignore[arg-type]
        columns=("name", "mean_value", "low"),
        rows=rows,  # type: ignore[arg-type]
    )


def test_on_a_page_nothing_is_inline_and_every_name_is_text() -> None:
    svg = picture().svg
    assert "style" not in svg
    assert "fill=" not in svg
    assert "<b>" not in svg
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    titles = {each.get("id"): each.text for each in root if each.tag in ("title", "desc")}
    assert set(titles) == {root.get("aria-labelledby"), root.get("aria-describedby")}


def test_a_picture_with_links_is_no_image_and_its_links_are_out_of_the_way_of_the_tabulator() -> None:
    svg = picture(rectangle("touch", 0, 0, 9, 9, href='/p/?a=1&b="2"')).svg
    root = ElementTree.fromstring(svg)
    [link] = root.iter("a")
    assert (root.get("role"), link.get("href"), link.get("tabindex")) == ("group", '/p/?a=1&b="2"', "-1")


def test_a_file_stands_alone() -> None:
    root = ElementTree.fromstring(
        picture(rectangle("touch", 0, 0, 9, 9, href="/p/"), circle("mark", 5, 5, 2)).standalone
    )
    inside = list(root.iter())
    assert not any("class" in each.attrib or "href" in each.attrib for each in inside)
    [dot] = [each for each in inside if each.tag.endswith("circle")]
    assert dot.get("fill") == PAPER["mark"]["fill"]
    assert "sans-serif" in str(root.get("font-family"))


def test_a_file_has_its_title_and_caption_in_lines_below_the_drawing() -> None:
    said = "95 % interval; sampling of documents only; judge error not included."
    made = replace(picture(), title="Coverage of 2 systems", caption=said)
    texts = [each for each in ElementTree.fromstring(made.standalone).iter() if each.tag.endswith("text")]
    [_, title, *caption] = texts
    assert title.text == "Coverage of 2 systems"
    assert len(caption) > 1
    assert " ".join(str(line.text) for line in caption) == said
    assert all(float(line.get("y", 0)) > 100 for line in (title, *caption))
    assert "judge error" not in made.svg


def test_a_file_is_as_wide_as_its_drawing_and_higher_by_its_words() -> None:
    made = replace(picture(), title="Coverage", caption="No intervals.")
    root = ElementTree.fromstring(made.standalone)
    # A margin of 14, half of it below the rule, lines of 1.45 times 12.5 and 11, a margin: 100 + 21 + 34.075 + 14.
    assert (root.get("width"), root.get("height")) == ("200", "170")
    assert root.get("viewBox") == "0 0 200 170"
    png = made.png
    assert png.startswith(PNG)
    # Width and height stand in the header of a PNG at bytes 16 and 20.
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (200 * ZOOM, 170 * ZOOM)


@pytest.mark.parametrize("text", ["alder", "лёд", "τ ≥ ⅔", "łódź"])
def test_the_font_that_comes_with_it_draws_the_text(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import resvg_py

    drawn = resvg_py.svg_to_bytes

    def without_fonts(**words: object) -> bytes:
        return drawn(**words, skip_system_fonts=True)  # type: ignore[arg-type]

    monkeypatch.setattr(resvg_py, "svg_to_bytes", without_fonts)
    with_text, without = (replace(picture(words(each, 10, 40, size=30)), title="").png for each in (text, ""))
    assert len(with_text) > 1.5 * len(without)


def test_numbers_are_written_with_three_decimals_and_nothing_as_a_dash() -> None:
    made = picture()
    assert made.heads == [("name", False), ("mean value", True), ("low", True)]
    assert [text for text, _, _ in made.lines[0]] == [NASTY, "0.250", "–"]
    assert made.table == [{"name": NASTY, "mean_value": 0.25, "low": None}]


def test_pages_and_files_know_the_same_paints() -> None:
    css = (Path(settings.BASE_DIR) / "static/css/pictures.css").read_text()
    assert set(re.findall(r"^\.picture \.([a-z0-9-]+) \{", css, flags=re.MULTILINE)) == set(PAPER)


def test_a_column_that_people_named_like_another_makes_way_in_the_file() -> None:
    drawn = replace(
        picture(rows=(("a", "yes", "no", "unsure"),)),
        columns=("document_set", "claim", "claim", "claim (2)"),
        names_from=2,
    )
    assert drawn.table == [
        {"document_set": "a", "claim": "yes", "claim (2)": "no", "claim (2) (2)": "unsure"}
    ]
    # On the page systems keep their names.
    assert [name for name, _ in drawn.heads] == ["document set", "claim", "claim", "claim (2)"]
