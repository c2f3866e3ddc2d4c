"""NIST's tables of 2001 to 2004: every value that is known of them, and everything that may be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.imports.dataset import PublishedLine
from annotation.imports.packages import NamedFile
from annotation.imports.read import read_files
from evaluation.metrics import CoverageStatistics, brevity, coverage_statistics, length_adjusted
from tests.annotation.imports.duc.packages import (
    HEADER_2002,
    HEADER_2004,
    ROW_2001,
    ROW_2002,
    read,
    refusal,
    row_2002,
    row_2003,
    row_2004,
)


def rows(folder: Path, content: str, name: str = "short.results.table") -> list[PublishedLine]:
    dataset, problems, _ = read(folder, {name: content})
    assert problems == []
    return dataset.published


def one(folder: Path, content: str, name: str = "short.results.table") -> PublishedLine:
    (row,) = rows(folder, content, name)
    return row


def test_the_known_line_of_2002(tmp_path: Path) -> None:
    row = one(tmp_path, HEADER_2002 + ROW_2002 + "\n")
    assert (row.table, row.line, row.set_name, row.document, row.target) == ("2002", 38, "D061", "", 50)
    assert (row.selector, row.model_author, row.assessor, row.system) == ("J", "I", "I", "19")
    assert row.mean == 0.4
    assert row.figures == {
        "mean": 0.4,
        "median": 0.6,
        "deviation": 0.4,
        "quality": [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0],
        "unmarked": 0.0,
        "peer_units": 5,
        "marked_units": 5,
        "unmarked_units": 0,
        "model_units": 7,
        "words": 47,
        "adjusted_mean": 0.287,
        "adjusted_median": 0.42,
        "adjusted_deviation": 0.267,
    }
    assert row.cells == tuple(ROW_2002.split())


def test_the_known_line_of_2002_is_what_seven_percents_give() -> None:
    # The only multiset of DUC percents that gives .400 .600 .400; n - 1 in the deviation.
    plain = coverage_statistics([0, 0, 0, 60, 60, 60, 100])
    adjusted = length_adjusted(plain, brevity(47, 50))
    figures = (plain.mean, plain.median, plain.deviation, adjusted.mean, adjusted.median, adjusted.deviation)
    shown = [f"{figure:.3f}" for figure in figures if figure is not None]
    assert shown == ["0.400", "0.600", "0.400", "0.287", "0.420", "0.267"]


def test_the_known_line_of_2001(tmp_path: Path) -> None:
    # Two model units with 0 and 2 of 4: a mean of 1 of 4, C = .25.
    row = one(tmp_path, ROW_2001 + "\n", "results1_table.txt")
    assert (row.table, row.target, row.system) == ("2001", 50, "1")
    assert row.mean == 0.25
    assert row.percents == ((1, 0, ()), (2, 50, ()))
    assert row.figures["quality"] == [3, 2, 2]
    assert row.figures["unmarked_questions"] == [0, 4, 0]
    assert row.figures["unit_counts"] == [2, 1]


@pytest.mark.parametrize(
    ("line", "name", "figure", "expected"),
    [
        # c = 0 and 98 words of 100 give 1/3 of 0.02 = 0.006667.
        (
            row_2002(
                c1="P", c2="WSJ880912-0064", c3="100", c4="98", c8="16", c27="0.000", c30="0.007", c31="0.007"
            ),
            "adjusted_median",
            "WSJ880912-0064",
            0.007,
        ),
        # An empty peer: c = 0, b = 1.
        (
            row_2002(c1="P", c2="AP890925-0124", c3="100", c4="0", c8="17", c27="0.000", c30="0.333"),
            "adjusted_mean",
            "AP890925-0124",
            0.333,
        ),
        (row_2002(c1="P", c2="FT923-5589", c27="0.417", c30="0.298"), "mean", "FT923-5589", 0.417),
        (row_2002(c0="d063", c3="100", c4="100", c8="25", c22="0.80", c30="0.267"), "unmarked", "", 0.8),
        # 2/3 of 0.4 without brevity = 0.266667.
        (
            row_2003(c1="P", c2="NYT19990925.0263", c3="10", c4="10", c8="10", c29="0.400", c32="0.267"),
            "adjusted_median",
            "NYT19990925.0263",
            0.267,
        ),
        (row_2004(), "mean", "", 0.067),
    ],
)
def test_published_values_are_read(
    tmp_path: Path, line: str, name: str, figure: str, expected: float
) -> None:
    row = one(tmp_path, line + "\n")
    assert row.document == figure
    assert row.figures[name] == expected


def test_the_adjustment_of_an_empty_peer_is_a_third() -> None:
    nothing = CoverageStatistics(mean=0, median=0, deviation=0, units=3)
    assert length_adjusted(nothing, brevity(0, 100)).mean == pytest.approx(0.333, abs=5e-4)
    assert length_adjusted(nothing, brevity(98, 100)).median == pytest.approx(0.007, abs=5e-4)


def test_years_are_told_apart_by_their_columns(tmp_path: Path) -> None:
    files = {
        "a": HEADER_2002 + row_2002() + "\n",
        "b": row_2003() + "\n",
        "c": HEADER_2004 + row_2004() + "\n",
        # As wide as a line of 2004.
        "d": ROW_2001 + "\n",
    }
    dataset, problems, remarks = read(tmp_path, files)
    assert problems == []
    assert [row.table for row in dataset.published] == ["2002", "2003", "2004", "2001"]
    assert not [remark for remark in remarks if "passed over" in remark]


def test_figures_of_2004_have_no_adjustment(tmp_path: Path) -> None:
    row = one(tmp_path, HEADER_2004 + row_2004() + "\n")
    assert (row.system, row.selector, row.model_author, row.assessor) == ("120", "A", "B", "C")
    assert row.figures["quality"] == [1, 2, 3, 4, 5, 1, 2]
    assert "adjusted_mean" not in row.figures


def test_paired_scores_of_2003(tmp_path: Path) -> None:
    files = {
        "results.table.R.paired.noheader": "d30001 t 7 A 3 B 2\n",
        "results.table.U.paired.noheader": "d30001 NYT199909250263 t 7 A 2 B 1\n",
    }
    dataset, problems, _ = read(tmp_path, files)
    assert problems == []
    responsive, useful = dataset.published
    assert (responsive.table, responsive.system, responsive.figures) == ("R", "7", {"scores": [3, 2]})
    assert (useful.table, useful.document, useful.figures) == ("U", "NYT199909250263", {"scores": [2, 1]})


def test_responsiveness_of_2004_has_a_header_and_one_score(tmp_path: Path) -> None:
    header = "".join(f"# {number}\n" for number in range(7))
    row = one(tmp_path, f"{header}D30001 A B 7 0 x\n", "results.table.R")
    assert (row.set_name, row.system, row.figures) == ("D30001", "7", {"scores": [0]})


def test_a_dash_is_no_answer(tmp_path: Path) -> None:
    row = one(tmp_path, row_2002(**{f"c{column}": "-" for column in range(10, 22)}) + "\n")
    assert row.figures["quality"] == [None] * 12


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (row_2002(c27="1.400"), "line 1, column 27", "not a share from 0 to 1"),
        (row_2002(c27="nan"), "line 1, column 27", "not a share from 0 to 1"),
        (row_2002(c23="x"), "line 1, column 23", "not a whole number"),
        (row_2002(c10="many"), "line 1, column 10", "not a score"),
        (row_2002(c2="WSJ-1"), "line 1, column 2", "names a document in a line of M"),
        (row_2002(c1="P"), "line 1, column 2", "or none in a line of P"),
        (row_2002(c8="9" * 101), "line 1, column 8", "a name may have 100"),
        (f"{row_2002()}\n{row_2002()} 7 8", "line 2", "has 35 columns"),
        (f"{row_2002()}\n{row_2003()}", "line 2", "is a line of DUC 2003, and the table began as DUC 2002"),
        (f"{row_2002()}\nend of table", "line 2", "has 3 columns and does not read like a line of DUC 2002"),
        (row_2002() + " 1 2 3", "line 1", "not a known table: line 1 has 36 columns"),
        (f"{row_2002()}\n{'x' * 30_000}", "line 2", "longer than"),
        (ROW_2001.replace("1 2 1", "1 5 1"), "line 1, column 21", "not a score from 0 to 4"),
        (ROW_2001.replace("0 0 -", "0 0 ?"), "line 1, column 19", "neither - nor the number"),
        (ROW_2001.replace("0 0 -", "1 0 -"), "line 1, column 17", "do not name 2 model units, each once"),
    ],
)
def test_what_is_wrong_is_named_by_line_and_column(
    tmp_path: Path, content: str, line: str, reason: str
) -> None:
    _, problems, _ = read(tmp_path, {"short.results.table": content + "\n"})
    assert len(problems) == 1
    assert problems[0].startswith(f"short.results.table, {line}: ")
    assert reason in problems[0]


def test_a_paired_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    _, problems, _ = read(tmp_path, {"results.table.U.x": "d1 d 7 8 2 1\n"})
    assert problems == ["results.table.U.x: holds no line of a NIST result table."]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("D061 M 050 J 19 E 3\n", "line 1, column 2: is '050', not a summariser"),
        ("D061 t 5 J 19 E 3\n", "line 1, column 4: is '19', not a whole number from 0 to 5."),
        ("D061 t 5 J 1.5 E 3\n", "line 1, column 4: is '1.5', not a whole number from 0 to 5."),
        ("D061 t 5 J x E 3\n", "line 1, column 4: is 'x', not a score. The file holds no line"),
        ("a title\nD061 A B 050 3\n", "line 2, column 3: is '050', not a summariser"),
    ],
)
def test_a_table_of_responses_has_cells_of_its_kinds(tmp_path: Path, content: str, problem: str) -> None:
    dataset, problems, _ = read(tmp_path, {"t.table.R.txt": content})
    assert len(problems) == 1
    assert problems[0].startswith(f"t.table.R.txt, {problem}")
    assert dataset.published == []


@pytest.mark.parametrize("first", [0, 3])
def test_a_table_of_unknown_width_is_not_taken_for_rows(tmp_path: Path, first: int) -> None:
    content = HEADER_2002 + " ".join(ROW_2002.split()[first:30]) + "\n"
    (tmp_path / "a.txt").write_text(content)
    reading = read_files([NamedFile("a.txt", tmp_path / "a.txt")])
    (problem,) = reading.problems.shown
    assert problem.describe().startswith(
        f"a.txt, line 38: not a known table: line 38 has {30 - first} columns, "
    )


def test_a_line_that_contradicts_an_earlier_one_is_a_problem(tmp_path: Path) -> None:
    table = HEADER_2002 + ROW_2002 + "\n" + row_2002(c27="0.500") + "\n"
    _, problems, _ = read(tmp_path, {"t": table})
    assert len(problems) == 1
    assert problems[0].startswith("t, line 39: line 39 says otherwise than line 38")


def test_scores_of_one_summary_contradict_each_other(tmp_path: Path) -> None:
    _, problems, _ = read(tmp_path, {"results.table.R.x": "d1 t 7 A 3 B 2\nd1 t 7 A 1 B 2\n"})
    assert [problem.split(",")[1] for problem in problems] == [" line 2: line 2 says otherwise than line 1"]


def test_a_repeated_line_is_counted_once(tmp_path: Path) -> None:
    table = f"{row_2003()}\n{row_2003(c7='K')}\n{row_2003()}\n"
    dataset, problems, remarks = read(tmp_path, {"t": table})
    assert problems == []
    assert [row.line for row in dataset.published] == [1, 2]
    assert "t: line 3 repeats line 1, so it is counted once." in remarks


def test_a_file_of_another_kind_is_not_taken_for_a_table(tmp_path: Path) -> None:
    assert "no SEE HTML, NIST result table or DUCView file" in refusal(
        tmp_path, {"a": "M 1 2 3\n", "b": "x\n"}
    )


def test_lines_of_a_header_are_counted(tmp_path: Path) -> None:
    _, problems, remarks = read(tmp_path, {"t": "a title\n" + row_2003() + "\n"})
    assert problems == []
    assert "t: 1 line was passed over before the first row; DUC 2003 has 0." in remarks


def test_adjusted_figures_that_do_not_follow_are_counted(tmp_path: Path) -> None:
    _, _, remarks = read(tmp_path, {"t": f"{row_2003()}\n{row_2003(c8='20', c31='0.100')}\n"})
    assert any("1 of 2 length-adjusted means are not 2/3 of the coverage" in remark for remark in remarks)


def test_columns_that_are_not_understood_are_named(tmp_path: Path) -> None:
    _, _, remarks = read(tmp_path, {"t": row_2003() + "\n"})
    assert any("column 9 and 10 was not read" in remark for remark in remarks)


MARKED = "D04 M --------------- 050 A A A 1 3 2 2 0 4 0 2 3 1 {first} 1 2 1"


@pytest.mark.parametrize(
    ("triple", "marks"),
    [
        # Three peer units: a 0 says that they count from 0, so 1 is the second.
        ("0 2 0", ((1,), (2,))),
        # A 3 says that they count from 1.
        ("0 2 3", ((3,), (1,))),
        # A 9 is no peer unit of three, so nothing that the line says is believed.
        ("0 2 3,9", ((), ())),
        # Neither: nothing tells.
        ("0 2 2", ((), ())),
    ],
)
def test_marks_of_2001_count_as_the_table_shows(
    tmp_path: Path, triple: str, marks: tuple[tuple[int, ...], ...]
) -> None:
    row = one(tmp_path, MARKED.format(first=triple) + "\n", "results1_table.txt")
    assert tuple(found for _, _, found in row.percents) == marks
