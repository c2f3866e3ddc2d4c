from __future__ import annotations

from pathlib import Path

import pytest

from annotation.imports.problems import ImportRefused
from annotation.imports.tools.duc import read_see
from annotation.imports.tools.names import duc_name
from tests.annotation.imports.tools.packages import read, see_page

ANCHOR = '<a name="1">[1]</a> <a href="#1" id=1>'


@pytest.mark.parametrize(
    ("page", "units"),
    [
        (see_page("Rain & wind.", "A < B."), ("Rain & wind.", "A < B.")),
        ("<html><A NAME=1>[1]</A>\t<A HREF=#1 ID=1>One.</a></html>", ("One.",)),
        (f"<html>{ANCHOR}One\ntwo.</a></html>", ("One two.",)),
        (f"<html>{ANCHOR}One.\n{ANCHOR}Two.</a></html>", ("One.", "Two.")),
        (f"<html><body>{ANCHOR}One.\n</body></html>", ("One.",)),
        (f"<html>{ANCHOR}One.", ("One.",)),
        (f"<html>{ANCHOR}1 < 2.</a></html>", ("1 < 2.",)),
        (f"<html>{ANCHOR}<b>One</b>.</a></html>", ("One .",)),
        (f"<html>{ANCHOR} </a>{ANCHOR}Two.</a></html>", ("Two.",)),
        (f"<html><head><title>T</title></head><!-- {ANCHOR}no</a> -->{ANCHOR}One.</a></html>", ("One.",)),
        ("One.\n\nTwo.\n", ("One.", "Two.")),
        ("<html><head><title>T</title></head><body></body></html>", ()),
    ],
)
def test_units_are_read(page: str, units: tuple[str, ...]) -> None:
    assert read_see(page) == units


def test_a_page_with_text_and_no_units_is_refused() -> None:
    with pytest.raises(ImportRefused, match="no numbered unit"):
        read_see("<html><body><p>Text.</p></body></html>")


@pytest.mark.parametrize("piece", ["<!--", "<title>", "<a href=#1 id=1>", "<a ", "&lt", "<b"])
def test_repeated_beginnings_do_not_hold_the_reader_up(piece: str) -> None:
    # A reader that tries every end for every beginning would not finish.
    read_see(piece * (1_000_000 // len(piece)))


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("D061.M.200.J.19", ("D061", 200, "19", "D061")),
        ("D100.P.010.A.6.NYT19990925.0263", ("D100", 10, "6", "NYT19990925.0263")),
        ("D1.M.000.X.A", ("D1", None, "A", "D1")),
        ("D061", None),
        ("D061.M.J.200.19", None),
        ("D061.P.100.J.27", None),
        ("D061.M.100.J.27.AP88", None),
    ],
)
def test_names_say_whose_summary_it_is(stem: str, expected: tuple[object, ...] | None) -> None:
    name = duc_name(stem)
    assert (name and (name.set_name, name.target, name.summariser, name.document_id)) == expected


def test_letters_are_models_and_numbers_are_peers(tmp_path: Path) -> None:
    files = {"D1.M.050.J.A.html": see_page("One.", "Uno."), "D1.M.050.J.2.html": see_page("Two.")}
    dataset, problems, _ = read(tmp_path, files)
    assert problems == []
    one = dataset.sets["D1"]
    assert (one.references["A.50"].text, one.references["A.50"].author) == ("One. Uno.", "A")
    assert one.references["A.50"].units == ((0, 4), (5, 9))
    assert one.summaries["2", 50].summary == "Two."
    assert ("2", 50, "A.50") in one.pairs


def test_a_folder_tells_more_than_a_letter(tmp_path: Path) -> None:
    names = {"x/peers/D1.M.050.J.A.html": see_page("One."), "x/models/D1.M.050.J.A.html": see_page("Uno.")}
    dataset, _, _ = read(tmp_path, names)
    assert dataset.sets["D1"].summaries["A", 50].summary == "One."
    assert dataset.sets["D1"].references["A.50"].text == "Uno."


def test_a_single_document_is_a_set_of_its_own_in_the_group_of_its_set(tmp_path: Path) -> None:
    dataset, _, _ = read(tmp_path, {"D061.P.100.J.27.AP880911-0016.html": see_page("One.")})
    assert dataset.sets["AP880911-0016"].group == "D061"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"summary.html": see_page("One.")}, "does not say whose summary it is. Call it like D061.M.200"),
        ({"D1.M.050.J.2.html": "<html><body><p>Text</p></body></html>"}, "no numbered unit"),
        ({"models/D1.M.050.J.A.html": "<html><body></body></html>"}, "a model summary without units"),
        (
            {"a/D1.M.050.J.2.html": see_page("One."), "b/D1.M.050.J.2.html": see_page("Two.")},
            "repeats the key of a/D1.M.050.J.2.html (document_id 'D1', system '2'",
        ),
        ({"D1.M.050.J.2.html": see_page("A\x00b.")}, "NUL character"),
        ({"D1.M.050.J.2.html": "x" * 3_000_000}, "is larger than 2 MB"),
    ],
)
def test_what_is_wrong_is_named_with_its_file(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    _, problems, _ = read(tmp_path, files)
    assert len(problems) == 1
    assert problems[0].startswith(f"{list(files)[-1]}: ")
    assert reason in problems[0]


def test_a_file_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    dataset, _, remarks = read(tmp_path, {"D1.M.050.J.2.html": b"caf\xe9"})
    assert dataset.sets["D1"].summaries["2", 50].summary == "café"
    assert remarks == ("D1.M.050.J.2.html is not UTF-8: read as Windows-1252.",)
