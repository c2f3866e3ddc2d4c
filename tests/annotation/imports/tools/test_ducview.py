from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotation.imports.problems import ImportRefused
from annotation.imports.tools.ducview import PyramidFile, read_ducview
from tests.annotation.imports.tools.packages import (
    BRIDGE,
    BUSES,
    DTD,
    END,
    REPAIR,
    WEIGHTS,
    pan,
    pyr,
    pyramid_text,
    read,
)

NAME = "D0901-A.M.100.F.12.pan"
FIRST = next(iter(WEIGHTS))


def weights(made: PyramidFile) -> dict[str, int]:
    return dict(made.units.values())


def test_units_weights_and_text() -> None:
    made = read_ducview(pyr())
    assert made.text == pyramid_text()
    assert weights(made) == WEIGHTS


def test_an_annotation_says_which_units_are_expressed() -> None:
    made = read_ducview(pan(unmatched=["Fish were seen"]))
    assert weights(made) == WEIGHTS
    said = {label for uid, (label, _) in made.units.items() if uid in made.expressed}
    assert said == {BRIDGE, REPAIR}


def test_each_contributor_weighs_once(tmp_path: Path) -> None:
    extra = '<contributor label="x"><part label="Rain" start="0" end="4"/></contributor></scu>'
    page = pyr()
    at = page.index("</scu>", page.index('label="Rain fell"'))
    made = read_ducview(page[:at] + extra + page[at + len("</scu>") :])
    assert weights(made) == WEIGHTS | {"Rain fell": WEIGHTS["Rain fell"] + 1}


def test_weights_before_labels_and_units_that_nobody_made_go() -> None:
    page = pyr().replace(f'label="{BRIDGE}">\n', f'label="(4) {BRIDGE}">\n', 1)
    page = page.replace("</pyramid>", '<scu uid="99" label="Nobody said it"/></pyramid>')
    assert weights(read_ducview(page)) == WEIGHTS


def test_an_expression_in_a_file_is_never_run() -> None:
    evil = pyr().replace(r"[-]*\n D[0-9]*-[A-Z]\.M\.100\.[A-Z]\.[A-Z]\n[-]*\n", "(-+)+(-+)+x")
    assert weights(read_ducview(evil)) == WEIGHTS


@pytest.mark.parametrize("new", [">A & B<", ">A \x07 B<", ">A &nbsp; B<"])
def test_small_faults_of_the_xml_are_mended(new: str) -> None:
    assert weights(read_ducview(pyr().replace(">#4<", new))) == WEIGHTS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            '<!DOCTYPE pyramid [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><pyramid><text><line>&b;</line></text></pyramid>',
            "declares entities",
        ),
        ('<!DOCTYPE pyramid [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><pyramid/>', "declares entities"),
        ("<pyramid><text></pyramid>", "is not XML that can be read: mismatched tag"),
        ("<pyramid>" * 100_000, "is not XML that can be read"),
        ("<html/>", "an element 'html' without 'pyramid'"),
        ("<peerAnnotation/>", "an element 'peerAnnotation' without 'pyramid'"),
        ("<pyramid/>", "an element 'pyramid' without 'text'"),
        ("<pyramid><text><line>x</line></text></pyramid>", "without content units"),
        ("<pyramid><text/><scu label='x'/></pyramid>", "without a uid"),
        (pyr().replace('<scu uid="2"', '<scu uid="1"'), "two scu with the uid '1'"),
        (f"<peerAnnotation>{pyr().removeprefix(DTD % 'pyramid')}</peerAnnotation>", "without 'annotation'"),
    ],
)
def test_what_cannot_be_trusted_is_refused(content: str, reason: str) -> None:
    with pytest.raises(ImportRefused, match=reason):
        read_ducview(content)


@pytest.mark.parametrize("piece", ["<![CDATA[", "&", "<!--", "&#", "\x01"])
def test_repeated_beginnings_do_not_hold_the_reader_up(piece: str) -> None:
    with pytest.raises(ImportRefused):
        read_ducview("<pyramid><text><line>" + piece * (1_000_000 // len(piece)))


def test_claims_and_verdicts_come_of_the_files_of_a_set(tmp_path: Path) -> None:
    files = {"D0901-A.pyr": pyr(), NAME: pan(), "D0901-A.M.100.F.13.pan": pan({BUSES: "Fish"})}
    dataset, problems, remarks = read(tmp_path, files)
    assert (problems, remarks) == ([], ())
    one = dataset.sets["D0901-A"]
    assert {claim.text: claim.weight for claim in one.claims["pyramid", 100].values()} == WEIGHTS
    said = {claim.text: claim.verdicts for claim in one.claims["pyramid", 100].values()}
    assert said[BRIDGE] == {"12": "yes", "13": "no"}
    assert said[BUSES] == {"12": "no", "13": "yes"}
    assert set(one.pairs) == {("12", 100, "pyramid"), ("13", 100, "pyramid")}


def test_content_units_with_the_same_label_keep_their_own_answers(tmp_path: Path) -> None:
    def alike(content: str) -> str:
        return re.sub(r'(<scu uid="[12]") label="[^"]*"', r'\1 label="Trams stopped"', content)

    # The first peer expresses the first unit, the second peer the second.
    first, second = (alike(pan({label: "Fish"})) for label in list(WEIGHTS)[:2])
    dataset, problems, _ = read(tmp_path, {NAME: first, "D0901-A.M.100.F.13.pan": second})
    one, two, *_ = dataset.sets["D0901-A"].claims["pyramid", 100].values()
    assert problems == []
    assert (one.text, one.verdicts) == ("Trams stopped", {"12": "yes", "13": "no"})
    assert (two.text, two.verdicts) == ("Trams stopped", {"12": "no", "13": "yes"})


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"one.pan": pan()}, "has a name that does not say whose summary it annotates. Call it like D0736-B"),
        *(
            ({"D0901-A.pyr": pyr(), NAME: other}, "holds another pyramid of 'D0901-A' than D0901-A.pyr")
            for other in (
                pan().replace(END, "Work ends in June"),
                pan().replace(f'<scu uid="1" label="{FIRST}"', '<scu uid="1" label="Trams stopped"'),
            )
        ),
        (
            {NAME: pan(), f"b/{NAME}": pan()},
            "repeats the key of D0901-A.M.100.F.12.pan (document_id 'D0901-A', system '12'",
        ),
        ({"a.pyr": "<pyramid>\n<text>\n</pyramid>"}, "a.pyr, line 3: is not XML that can be read"),
    ],
)
def test_files_that_cannot_be_taken_in_are_named(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    _, problems, _ = read(tmp_path, files)
    assert len(problems) == 1
    assert reason in problems[0]


def test_the_content_and_not_the_name_says_what_a_file_is(tmp_path: Path) -> None:
    dataset, problems, _ = read(tmp_path, {"D0901-A.M.100.F.12.pyr": pan(), "a.pan": "text"})
    assert list(dataset.sets["D0901-A"].summaries) == [("12", 100)]
    assert problems == ["a.pan: is no SEE HTML or DUCView file."]
