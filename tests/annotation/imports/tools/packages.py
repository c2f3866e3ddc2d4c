"""Small files in the formats of DUC and TAC."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from annotation.imports.containers import NamedFile
from annotation.imports.problems import Findings
from annotation.imports.row import Dataset
from annotation.imports.tools.duc import read_duc_files

MODEL_UNITS = tuple(
    f"The {thing} closed." for thing in ("bridge", "port", "road", "mill", "dock", "pier", "yard")
)
PEER_UNITS = (
    "The bridge & the port closed.",
    "Costs were < 5 crowns.",
    "Nobody knows.",
    "It rained.",
    "So be it.",
)


def see_page(*units: str) -> str:
    anchors = "".join(
        f'<a name="{number}">[{number}]</a> <a href="#{number}" id={number}>{html.escape(unit, quote=False)}</a>\n'
        for number, unit in enumerate(units, start=1)
    )
    return f'<html>\n<head>\n<title>A title</title>\n</head>\n<body bgcolor="white">\n{anchors}</body>\n</html>\n'


BRIDGE, REPAIR, BUSES, MAYOR, END = (
    "The bridge closed on Monday",
    "Repairs cost two million",
    "Buses run every ten minutes",
    "The mayor apologised",
    "Work ends in May",
)
STATEMENTS: dict[str, Sequence[str]] = {
    "G": (BRIDGE, BUSES, MAYOR, END, "A ferry helps", "Taxis are rare", "Boats wait"),
    "H": (BRIDGE, REPAIR, END, "Cyclists swim", "Shops lost trade", "Schools open late", "The wall is weak"),
    "I": (BRIDGE, REPAIR, BUSES, END, "Rain fell", "Lights broke", "Divers dived"),
    "J": (BRIDGE, REPAIR, BUSES, MAYOR, "Paint came last", "Guards were hired", "Signs moved"),
}
"""Four model summaries of seven statements each: weights one 4, three 3s, one 2 and thirteen 1s, as in D0736-B."""


def pyramid_text(set_name: str = "D0901-A") -> str:
    lines = ["#4", ""]
    for name, said in STATEMENTS.items():
        lines += ["-----------------", f" {set_name}.M.100.F.{name}", "-----------------", ""]
        lines += [f"{one}." for one in said]
        lines.append("")
    return "\n".join(lines)


def places() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    at = 0
    for line in pyramid_text().split("\n"):
        if line.endswith("."):
            found.setdefault(line[:-1], []).append(at)
        at += len(line) + 1
    return found


WEIGHTS = {label: len(starts) for label, starts in places().items()}

DTD = """<?xml version="1.0"?>
<!DOCTYPE %s [
 <!ELEMENT scu (contributor)+>
 <!ATTLIST scu uid CDATA #REQUIRED
               label CDATA #REQUIRED>
]>

"""


def _part(label: str, start: int) -> str:
    return f'<part label={quoteattr(label)} start="{start}" end="{start + len(label)}"/>'


def _pyramid() -> str:
    lines = "\n".join(f"  <line>{escape(line)}</line>" for line in pyramid_text().split("\n"))
    units = "\n".join(
        f' <scu uid="{uid}" label={quoteattr(label)}>\n'
        + "".join(
            f"  <contributor label={quoteattr(label)}>{_part(label, start)}</contributor>\n"
            for start in starts
        )
        + " </scu>"
        for uid, (label, starts) in enumerate(places().items(), start=1)
    )
    header = r"<startDocumentRegEx><![CDATA[[-]*\n D[0-9]*-[A-Z]\.M\.100\.[A-Z]\.[A-Z]\n[-]*\n]]></startDocumentRegEx>"
    return f"<pyramid>\n{header}\n <text>\n{lines}\n </text>\n{units}\n</pyramid>\n"


def pyr() -> str:
    return DTD % "pyramid" + _pyramid()


PEER_LINES = ("On Monday the bridge was closed.", "It costs two million.", "Fish were seen.")
SAID = {BRIDGE: "the bridge was closed", REPAIR: "It costs two million"}
"""The one 4 and one of the 3s."""


def pan(
    said: Mapping[str, str] = SAID,
    *,
    lines: Sequence[str] = PEER_LINES,
    unmatched: Sequence[str] = (),
) -> str:
    text = "\n".join(lines)

    def contributor(words: str) -> str:
        return f"<contributor label={quoteattr(words)}>{_part(words, text.index(words))}</contributor>"

    units = "\n".join(
        f' <peerscu uid="{uid}" label={quoteattr(f"({weight}) {label}")}>'
        f"{contributor(said[label]) if label in said else ''}</peerscu>"
        for uid, (label, weight) in enumerate(WEIGHTS.items(), start=1)
    )
    rest = "".join(map(contributor, unmatched))
    shown = "\n".join(f"  <line>{escape(line)}</line>" for line in lines)
    return (
        f"{DTD % 'peerAnnotation'}<peerAnnotation>\n{_pyramid()}<annotation>\n"
        f" <text>\n{shown}\n </text>\n{units}\n"
        f' <peerscu uid="0" label="All non-matching SCUs go here">{rest}</peerscu>\n</annotation>\n</peerAnnotation>\n'
    )


def stored(folder: Path, files: Mapping[str, str | bytes]) -> list[NamedFile]:
    found = []
    for number, (name, content) in enumerate(files.items()):
        path = folder / f"{number}-{Path(name).name}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        found.append(NamedFile(name, path))
    return found


def read(folder: Path, files: Mapping[str, str | bytes]) -> tuple[Dataset, list[str], tuple[str, ...]]:
    problems, warnings = Findings(), Findings()
    dataset = read_duc_files(stored(folder, files), problems, warnings)
    return dataset, [problem.describe() for problem in problems.shown], tuple(warnings.texts)
