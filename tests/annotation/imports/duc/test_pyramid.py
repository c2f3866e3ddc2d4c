"""DUCView's files: read as they are, repaired where real ones break their rules, refused where they are dangerous."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.imports.duc.pyramid import PyramidFile, read_ducview
from annotation.imports.packages import UnfitFile
from annotation.models.pyramid import (
    ContentUnit,
    Contributor,
    PeerAnnotation,
    Pyramid,
    PyramidPart,
    pyramid_of,
)
from evaluation.metrics import pyramid_score
from tests.annotation.imports.duc.packages import (
    BRIDGE,
    BUSES,
    DTD,
    END,
    REPAIR,
    STATEMENTS,
    WEIGHTS,
    pan,
    places,
    pyr,
    pyramid_text,
    read,
    refusal,
)

NAME = "D0901-A.M.100.F.12.pan"


def read_text(content: str) -> PyramidFile:
    return read_ducview(content.encode())


def test_units_weights_and_model_summaries() -> None:
    made = read_text(pyr())
    assert made.text == pyramid_text()
    assert [model.header for model in made.models] == [f"D0901-A.M.100.F.{name}" for name in "GHIJ"]
    for model, said in zip(made.models, STATEMENTS.values(), strict=True):
        start, end = model.stretch
        assert made.text[start:end].split("\n") == [f"{one}." for one in said]
    assert {unit.label: unit.weight for unit in made.pyramid.units} == WEIGHTS
    assert made.pyramid.contributors == 28
    assert made.repaired == ()


def test_the_scores_of_the_published_pyramid() -> None:
    # One 4, three 3s, one 2, thirteen 1s; 28 contributors of 4 summaries: 7 a summary, whose ideal weight is 17.
    made = read_text(pan())
    assert made.annotation is not None
    found = pyramid_score(
        [unit.weight for unit in made.pyramid.units],
        [unit.uid in made.annotation.expressed for unit in made.pyramid.units],
        models=len(made.models),
        contributors=made.pyramid.contributors,
    )
    assert found.modified == pytest.approx(0.411765, abs=5e-7)
    assert found.original == 1


def test_an_annotation_says_what_is_expressed_and_where() -> None:
    made = read_text(pan(unmatched=["Fish were seen"]))
    assert made.annotation is not None
    assert made.peer_text is not None
    by_label = {unit.label: made.annotation.expressed.get(unit.uid, ()) for unit in made.pyramid.units}
    assert {label for label, found in by_label.items() if found} == {BRIDGE, REPAIR}
    (part,) = by_label[BRIDGE][0].parts
    assert made.peer_text[part.start : part.end] == part.label == "the bridge was closed"
    assert [contributor.label for contributor in made.annotation.unmatched] == ["Fish were seen"]


@pytest.mark.parametrize("drift", [-7, 1, 40])
def test_offsets_that_drifted_are_mended_by_the_words(drift: int) -> None:
    straight, drifted = read_text(pan()), read_text(pan(drift=drift))
    assert drifted.pyramid == straight.pyramid
    assert drifted.annotation == straight.annotation
    assert drifted.repaired == (
        "has 30 parts that do not stand where their offsets say: found by their words",
    )


def test_the_nearest_of_several_places_is_taken() -> None:
    # BRIDGE stands in all four summaries; 3 characters off, each part is found in its own.
    made = read_text(pyr(drift=3))
    bridge = next(unit for unit in made.pyramid.units if unit.label == BRIDGE)
    assert [contributor.parts[0].start for contributor in bridge.contributors] == places()[BRIDGE]
    assert bridge.weight == 4


def test_words_that_are_nowhere_keep_no_place() -> None:
    made = read_text(pyr().replace('<part label="Rain fell"', '<part label="Hail fell"'))
    rain = next(unit for unit in made.pyramid.units if unit.label == "Rain fell")
    assert rain.contributors[0].parts == (PyramidPart("Hail fell"),)
    assert made.repaired == ("has 1 parts whose words are not in the text: kept without a place",)


def test_line_breaks_that_a_label_lost_are_no_difference() -> None:
    start = places()[END][0]
    joined = f"{END}.A ferry helps"
    page = pyr().replace(
        f'<part label="{END}" start="{start}" end="{start + len(END)}"/>',
        f'<part label="{joined}" start="{start}" end="{start + len(joined) + 1}"/>',
    )
    assert read_text(page).repaired == ()


def test_several_contributors_of_one_summary_are_kept_and_weigh_once() -> None:
    rain = places()["Rain fell"][0]
    extra = (
        f'<contributor label="x"><part label="Rain" start="{rain}" end="{rain + 4}"/></contributor>\n </scu>'
    )
    page = pyr()
    at = page.index("</scu>", page.index('label="Rain fell"'))
    made = read_text(page[:at] + extra + page[at + len("</scu>") :])
    unit = next(unit for unit in made.pyramid.units if unit.label == "Rain fell")
    assert (len(unit.contributors), unit.weight) == (2, 1)
    assert made.pyramid.contributors == 29
    assert made.repaired == (
        "has 1 content units with several contributors from one model summary: all are kept, and the weight "
        "counts that summary once",
    )


def test_weights_before_labels_are_taken_off() -> None:
    made = read_text(pyr().replace(f'label="{BRIDGE}">\n', f'label="(4) {BRIDGE}">\n', 1))
    assert made.pyramid.units[0].label == BRIDGE
    assert made.repaired == ("has 1 labels of content units with a weight before them, taken off",)


def test_a_content_unit_without_contributors_is_left_out() -> None:
    made = read_text(pyr().replace("</pyramid>", '<scu uid="99" label="Nobody said it"/></pyramid>'))
    assert len(made.pyramid.units) == 18
    assert made.repaired == ("has 1 content units without a contributor or a label, left out",)


def test_an_annotation_of_unknown_units_is_left_out_and_missing_ones_are_no() -> None:
    page = pan().replace('<peerscu uid="2"', '<peerscu uid="77"', 1)
    made = read_text(page)
    assert made.repaired == (
        "does not name 1 of the pyramid's content units: taken as not expressed",
        "annotates 1 content units that its pyramid does not have, left out",
    )


def test_model_summaries_are_found_between_dashes_too() -> None:
    page = pyr()
    for name in "GHIJ":
        page = page.replace(f" D0901-A.M.100.F.{name}<", f" summary {name}<")
    made = read_text(page)
    assert [model.header for model in made.models] == ["summary G", "summary H", "summary I", "summary J"]
    assert {unit.label: unit.weight for unit in made.pyramid.units} == WEIGHTS


def test_without_headers_weights_are_numbers_of_contributors() -> None:
    page = pyr()
    for name in "GHIJ":
        page = page.replace(f" D0901-A.M.100.F.{name}<", "<")
    made = read_text(page.replace("-----------------", ""))
    assert made.pyramid.models == ()
    assert {unit.label: unit.weight for unit in made.pyramid.units} == WEIGHTS
    assert any("does not tell its model summaries apart" in told for told in made.repaired)


def test_an_expression_in_a_file_is_never_run() -> None:
    evil = pyr().replace(r"[-]*\n D[0-9]*-[A-Z]\.M\.100\.[A-Z]\.[A-Z]\n[-]*\n", "(-+)+(-+)+x")
    assert len(read_text(evil).models) == 4


@pytest.mark.parametrize(
    ("old", "new", "remark"),
    [
        (">#4<", ">A & B<", 'holds an "&" that is not escaped'),
        (">#4<", ">A \x07 B<", "holds control characters"),
        (">#4<", ">A &nbsp; B<", 'holds an "&" that is not escaped'),
    ],
)
def test_small_faults_of_the_xml_are_mended(old: str, new: str, remark: str) -> None:
    assert any(remark in told for told in read_text(pyr().replace(old, new)).repaired)


def test_bytes_that_are_not_utf8_are_read_all_the_same() -> None:
    made = read_ducview(pyr().replace("#4", "caf#4").encode().replace(b"caf#4", b"caf\xe9"))
    assert made.text.startswith("café")
    assert "is not UTF-8: read as Windows-1252" in made.repaired


def test_an_ampersand_in_cdata_stands_for_itself() -> None:
    made = read_text(pyr().replace("[-]*\\n D", "a&b D"))
    assert made.pyramid.header.startswith("a&b D")
    assert made.repaired == ()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            '<!DOCTYPE pyramid [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><pyramid><text><line>&b;</line></text></pyramid>',
            "declares entities",
        ),
        (
            '<!DOCTYPE pyramid [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><pyramid/>',
            "declares entities",
        ),
        ('<!DOCTYPE pyramid SYSTEM "http://example.com/x.dtd"><pyramid/>', "outside of itself"),
        ("<pyramid><text></pyramid>", "is not XML that can be read: mismatched tag"),
        ("<pyramid><text/>", "no element found"),
        ("<pyramid>" * 60 + "</pyramid>" * 60, "elements more than 30 deep"),
        ("<html/>", "begins with the element 'html'"),
        ("<peerAnnotation/>", "holds no pyramid"),
        ("<pyramid/>", "has no text in its pyramid"),
        ("<pyramid><text><line>x</line></text></pyramid>", "without content units"),
        ("<pyramid><text/><scu label='x'/></pyramid>", "without a uid"),
        (pyr().replace('<scu uid="2"', '<scu uid="1"'), "two content units with the uid 1"),
        (f"<peerAnnotation>{pyr().removeprefix(DTD % 'pyramid')}</peerAnnotation>", "without an annotation"),
    ],
)
def test_what_cannot_be_trusted_is_refused(content: str, reason: str) -> None:
    with pytest.raises(UnfitFile, match=reason.replace("(", r"\(")):
        read_text(content)


def test_a_file_that_is_far_too_large_is_refused() -> None:
    with pytest.raises(UnfitFile, match="larger than 16 MB"):
        read_ducview(b"<pyramid>" + b" " * 17_000_000)


@pytest.mark.parametrize("piece", ["<![CDATA[", "&", "<!--", "&#", "\x01"])
def test_repeated_beginnings_do_not_hold_the_reader_up(piece: str) -> None:
    with pytest.raises(UnfitFile):
        read_text("<pyramid><text><line>" + piece * (1_000_000 // len(piece)))


def test_claims_and_verdicts_come_of_the_files_of_a_set(tmp_path: Path) -> None:
    files = {"D0901-A.pyr": pyr(), NAME: pan(), "D0901-A.M.100.F.13.pan": pan({BUSES: "Fish"})}
    dataset, problems, remarks = read(tmp_path, files)
    assert (problems, remarks) == ([], ())
    one = dataset.sets["D0901-A"]
    assert one.claims_of == ("pyramid", 100)
    assert {claim.text: claim.weight for claim in one.claims} == WEIGHTS
    said = {claim.text: claim.verdicts for claim in one.claims}
    assert said[BRIDGE] == {"12": "yes", "13": "no"}
    assert said[BUSES] == {"12": "no", "13": "yes"}
    assert set(one.references) == {"G", "H", "I", "J", "pyramid"}
    assert pyramid_of(one.references["pyramid"].metadata) is not None
    assert set(one.pairs) == {("12", 100, "pyramid"), ("13", 100, "pyramid")}
    assert dataset.people == set()
    assert dataset.writers()[1] == {"G", "H", "I", "J"}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"one.pan": pan()}, "has a name that does not say whose summary it annotates. Call it like D0736-B"),
        (
            {"D0901-A.pyr": pyr(), NAME: pan().replace(END, "Work ends in June")},
            "holds another pyramid of 'D0901-A' than D0901-A.pyr",
        ),
        ({NAME: pan(), f"b/{NAME}": pan()}, "annotates the summary by '12' a second time"),
    ],
)
def test_files_that_contradict_each_other_are_refused(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    _, problems, _ = read(tmp_path, files)
    assert len(problems) == 1
    assert reason in problems[0]


@pytest.mark.parametrize("name", ["D0901-A.12.pan", "D0901-A_12.pan", NAME])
def test_names_of_annotations(tmp_path: Path, name: str) -> None:
    dataset, problems, _ = read(tmp_path, {name: pan()})
    assert problems == []
    assert list(dataset.sets["D0901-A"].peers) == [("12", 100)]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pyr", pan(), "is named like DUCView's pyramid but reads like peerAnnotation"),
        ("a.pan", "text", "is named like DUCView's peerAnnotation but holds no element of that name"),
    ],
)
def test_a_name_that_says_something_else_is_refused(
    tmp_path: Path, name: str, content: str, reason: str
) -> None:
    assert reason in refusal(tmp_path, {name: content})


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    _, problems, _ = read(tmp_path, {"a.pyr": "<pyramid>\n<text>\n</pyramid>"})
    assert problems == ["a.pyr, line 3: is not XML that can be read: mismatched tag, at character 3."]


def test_what_is_kept_in_metadata_comes_back() -> None:
    unit = ContentUnit(
        "7", "It rained", (Contributor("Rain", (PyramidPart("Rain", 1, 5),), model=2, comment="c"),)
    )
    kept = Pyramid(models=("A", "B"), units=(unit,), header="h")
    assert pyramid_of(kept.as_metadata()) == kept


@pytest.mark.parametrize("metadata", [{}, {"pyramid": "x"}, {"pyramid": {"units": [1]}}, {"pyramid": {}}])
def test_other_peoples_metadata_are_no_pyramid(metadata: dict[str, object]) -> None:
    assert pyramid_of(metadata) is None


def test_weight_counts_contributors_where_summaries_are_not_told_apart() -> None:
    contributors = tuple(Contributor("x", (), model=model) for model in (None, None, 1))
    assert ContentUnit("1", "x", contributors).weight == 3
    assert ContentUnit("1", "x", contributors[2:] * 3).weight == 1


def test_repetitions_are_contributors_beyond_the_first() -> None:
    said = Contributor("x", ())
    assert PeerAnnotation({"1": (said, said, said), "2": (said,), "3": ()}).repetitions == 2
