"""SEE's HTML: units with exact offsets, strict about what a file is, lenient about how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.imports.duc.duc_names import duc_name
from annotation.imports.duc.see_html import read_see
from annotation.imports.packages import UnfitFile
from tests.annotation.imports.duc.packages import read, see_page

ANCHOR = '<a name="1">[1]</a> <a href="#1" id=1>'


def units_of(page: str | bytes) -> tuple[str, ...]:
    return read_see(page if isinstance(page, bytes) else page.encode()).units


def test_units_are_read_with_their_offsets() -> None:
    made = read_see(see_page("Rain & wind.", "A < B.").encode())
    assert made.units == ("Rain & wind.", "A < B.")
    assert made.text == "Rain & wind. A < B."
    assert [made.text[start:end] for start, end in made.stretches] == list(made.units)
    assert made.repaired == ()


@pytest.mark.parametrize(
    "anchor",
    [
        '<a size="3" name="1">[1]</a> <a href="#1" id=1>',
        '<a name="1">[1]</a> <a href="#1" id="1">',
        "<A NAME=1>[1]</A>\t<A HREF=#1 ID=1>",
    ],
)
def test_every_way_of_writing_the_anchor_is_known(anchor: str) -> None:
    assert units_of(f"<html><body>\n{anchor}One.</a>\n</body></html>") == ("One.",)


@pytest.mark.parametrize(
    ("page", "units", "remark"),
    [
        (f"<html>{ANCHOR}One\ntwo.</a></html>", ("One two.",), "over several lines"),
        (f"<html>{ANCHOR}One.\n{ANCHOR}Two.</a></html>", ("One.", "Two."), "never closed"),
        (f"<html><body>{ANCHOR}One.\n</body></html>", ("One.",), "never closed"),
        (f"<html>{ANCHOR}One.", ("One.",), "ends within a unit"),
        (f"<html>{ANCHOR}1 < 2.</a></html>", ("1 < 2.",), "not escaped"),
        (f"<html>{ANCHOR}<b>One</b>.</a></html>", ("One .",), "tags within a unit"),
        (f"<html>{ANCHOR} </a>{ANCHOR}Two.</a></html>", ("Two.",), "empty unit"),
        (f"<html>{ANCHOR}One.</a>{ANCHOR}Two.</a></html>", ("One.", "Two."), "numbered again"),
        ("One.\n\nTwo.\n", ("One.", "Two."), "no tags: each line"),
        (b"<html>" + ANCHOR.encode() + b"caf\xe9</a></html>", ("café",), "not UTF-8"),
    ],
)
def test_what_is_mended_is_told(page: str | bytes, units: tuple[str, ...], remark: str) -> None:
    made = read_see(page if isinstance(page, bytes) else page.encode())
    assert made.units == units
    assert any(remark in told for told in made.repaired), made.repaired


def test_heads_scripts_and_comments_are_no_text() -> None:
    page = (
        f"<html><head><title>T</title></head><!-- {ANCHOR}no</a> --><script>x</script>{ANCHOR}One.</a></html>"
    )
    assert units_of(page) == ("One.",)


def test_a_page_without_anything_is_an_empty_summary() -> None:
    assert units_of("<html><head><title>T</title></head><body></body></html>") == ()


def test_a_page_with_text_and_no_units_is_refused() -> None:
    with pytest.raises(UnfitFile, match="no numbered unit"):
        units_of("<html><body><p>Text.</p></body></html>")


def test_a_page_that_is_far_too_large_is_refused() -> None:
    with pytest.raises(UnfitFile, match="larger than"):
        units_of("x" * 5_000_000)


@pytest.mark.parametrize("piece", ["<!--", "<title>", "<a href=#1 id=1>", "<a ", "&lt", "<b"])
def test_repeated_beginnings_do_not_hold_the_reader_up(piece: str) -> None:
    # Finishes at all: an expression that tries every end for every beginning would take hours.
    read_see((piece * (1_000_000 // len(piece))).encode())


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("D061.M.200.J.19", ("D061", "M", 200, "J", "19", "", "D061")),
        ("D061.P.100.J.27.AP880911-0016", ("D061", "P", 100, "J", "27", "AP880911-0016", "AP880911-0016")),
        (
            "D100.P.010.A.6.NYT19990925.0263",
            ("D100", "P", 10, "A", "6", "NYT19990925.0263", "NYT19990925.0263"),
        ),
        ("D1.M.000.X.A", ("D1", "M", None, "X", "A", "", "D1")),
    ],
)
def test_names_say_whose_summary_it_is(stem: str, expected: tuple[object, ...]) -> None:
    name = duc_name(stem)
    assert name is not None
    found = (name.set_name, name.summary_type, name.target, name.selector, name.summariser, name.document)
    assert (*found, name.document_id) == expected


@pytest.mark.parametrize(
    "stem", ["D061", "D061.M.J.200.19", "D061.P.100.J.27", "D061.M.100.J.27.AP88", "a b.M.1.J.2"]
)
def test_other_names_are_none(stem: str) -> None:
    assert duc_name(stem) is None


def test_letters_are_models_and_numbers_are_peers(tmp_path: Path) -> None:
    dataset, problems, _ = read(
        tmp_path, {"D1.M.050.J.A.html": see_page("One."), "D1.M.050.J.2.html": see_page("Two.")}
    )
    assert problems == []
    one = dataset.sets["D1"]
    assert one.references["A"].texts[50].text == "One."
    assert one.references["A"].author == "A"
    assert one.peers["2", 50].text.text == "Two."
    assert dataset.people == {"A"}


def test_a_folder_tells_more_than_a_letter(tmp_path: Path) -> None:
    dataset, _, _ = read(
        tmp_path,
        {"x/peers/D1.M.050.J.A.html": see_page("One."), "x/models/D1.M.050.J.A.html": see_page("Uno.")},
    )
    assert dataset.sets["D1"].peers["A", 50].text.text == "One."
    assert dataset.sets["D1"].references["A"].texts[50].text == "Uno."


def test_a_single_document_is_a_set_of_its_own_in_the_group_of_its_set(tmp_path: Path) -> None:
    dataset, _, _ = read(tmp_path, {"D061.P.100.J.27.AP880911-0016.html": see_page("One.")})
    one = dataset.sets["AP880911-0016"]
    assert (one.group, one.metadata) == ("D061", {"summary_type": "P", "selector": "J"})


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"summary.html": see_page("One.")}, "does not say whose summary it is. Call it like D061.M.200"),
        ({"D1.M.050.J.2.html": "<html><body><p>Text</p></body></html>"}, "no numbered unit"),
        ({"models/D1.M.050.J.A.html": "<html><body></body></html>"}, "a model summary without units"),
        (
            {"a/D1.M.050.J.2.html": see_page("One."), "b/D1.M.050.J.2.html": see_page("Two.")},
            "another peer summary of 'D1' by '2' than a/D1.M.050.J.2.html",
        ),
        ({"D1.M.050.J.2.html": see_page("A\x00b.")}, "NUL character"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    _, problems, _ = read(tmp_path, files)
    assert len(problems) == 1
    assert problems[0].startswith(f"{list(files)[-1]}: ")
    assert reason in problems[0]


def test_an_empty_peer_is_imported_and_told(tmp_path: Path) -> None:
    dataset, problems, remarks = read(tmp_path, {"D1.M.050.J.2.html": "<html><body></body></html>"})
    assert problems == []
    assert dataset.sets["D1"].peers["2", 50].text.text == ""
    assert remarks == ("D1.M.050.J.2.html: has no units: the summary is empty.",)


def test_what_many_files_share_is_told_once(tmp_path: Path) -> None:
    _, _, remarks = read(tmp_path, {f"D1.M.050.J.{number}.html": b"caf\xe9" for number in range(3)})
    assert remarks == (
        "D1.M.050.J.0.html and 2 more: is not UTF-8: read as Windows-1252.",
        "D1.M.050.J.0.html and 2 more: has no tags: each line was taken for a unit.",
    )
