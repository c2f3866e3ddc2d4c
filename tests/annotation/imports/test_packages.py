"""Zips of files: opened in memory, within limits, and never written to where their names point."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from annotation.imports import packages
from annotation.imports.packages import NamedFile, as_text, members, unpacked_bytes
from annotation.imports.problems import ImportRefused
from tests.annotation.imports.duc.packages import see_page, stored, zipped


def names(file: NamedFile) -> list[str]:
    return [member.name for member in members([file])]


def refused(file: NamedFile) -> str:
    with pytest.raises(ImportRefused) as caught:
        names(file)
    return caught.value.message


def test_members_come_in_the_order_of_their_names_without_clutter(tmp_path: Path) -> None:
    files = {"b/2.html": "x", "a/1.html": "y", "__MACOSX/a/._1.html": "z", "a/.DS_Store": "z"}
    assert names(zipped(tmp_path, files)) == ["a/1.html", "b/2.html"]


def test_folders_and_endings_are_told(tmp_path: Path) -> None:
    (member,) = members([zipped(tmp_path, {"X/Models/D1.M.050.J.A.HTML": "x"})])
    assert (member.folders, member.stem, member.suffix) == (("x", "models"), "D1.M.050.J.A", ".html")


@pytest.mark.parametrize("name", ["../x.html", "a/../../x.html", "/etc/x.html", "C:/x.html"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    assert "leads out of it" in refused(zipped(tmp_path, {name: "x"}))


def test_a_zip_that_swells_is_refused_whatever_its_header_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "MAX_MEMBER_BYTES", 1000)
    assert "is larger than" in refused(zipped(tmp_path, {"a.html": "x" * 1001}))


def test_many_files_that_swell_together_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_ALL_BYTES", 1000)
    files = {f"{number}.html": "x" * 300 for number in range(4)}
    assert "MB once it is open" in refused(zipped(tmp_path, files))


def test_a_damaged_zip_is_refused_however_it_is_packed(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.html", "x" * 1000)
    content = bytearray(path.read_bytes())
    # The settings of LZMA stand behind the head (30 bytes), the name (6) and their own head (4).
    content[40] = 0xFF
    path.write_bytes(content)
    assert "cannot be read" in refused(NamedFile("a.zip", path))


def test_a_zip_is_as_large_as_what_is_in_it(tmp_path: Path) -> None:
    file = zipped(tmp_path, {"a.html": "x" * 100_000, "b.html": "y" * 100_000})
    assert file.path.stat().st_size < 10_000
    assert unpacked_bytes(file) == 200_000


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_MEMBERS", 3)
    assert "holds 4 files" in refused(zipped(tmp_path, {f"{number}.html": "" for number in range(4)}))


def test_a_zip_in_a_zip_is_refused(tmp_path: Path) -> None:
    inner = zipped(tmp_path, {"a.html": "x"}, name="inner.zip")
    assert "holds another zip" in refused(zipped(tmp_path, {"inner.zip": inner.path.read_bytes()}))


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.html", "x")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.html", "y")
    assert "holds 'a.html' twice" in refused(NamedFile("twice.zip", path))


@pytest.mark.parametrize("content", [b"PK\x03\x04rest", b"PK\x05\x06", b"PK\x05\x06" + b"\0" * 18])
def test_broken_and_empty_zips_are_refused(tmp_path: Path, content: bytes) -> None:
    (file,) = stored(tmp_path, {"a.zip": content})
    assert "a.zip: " in refused(file)


def test_damage_inside_is_refused(tmp_path: Path) -> None:
    file = zipped(tmp_path, {"a.html": see_page("One unit of some length.")})
    data = bytearray(file.path.read_bytes())
    data[45] ^= 0xFF
    file.path.write_bytes(data)
    assert "cannot be read" in refused(file)


def test_a_spreadsheet_is_told_from_a_zip(tmp_path: Path) -> None:
    assert "save the sheet as CSV" in refused(zipped(tmp_path, {"[Content_Types].xml": "x"}))


def test_a_locked_member_is_refused(tmp_path: Path) -> None:
    file = zipped(tmp_path, {"a.html": "x"})
    data = bytearray(file.path.read_bytes())
    # The flag that says "encrypted", in both of the places where a zip keeps it.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    file.path.write_bytes(data)
    assert "locked with a password" in refused(file)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("naïve".encode(), ("naïve", True)),
        (b"\xef\xbb\xbfplain", ("plain", True)),
        (b"na\xefve \x93q\x94", ("naïve “q”", False)),
        (b"\x81", ("\x81", False)),
    ],
)
def test_older_encodings_are_read(data: bytes, expected: tuple[str, bool]) -> None:
    assert as_text(data) == expected
