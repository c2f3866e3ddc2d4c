"""XML as a plain tree. Nothing is fetched, nothing is expanded: a document type may declare elements alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from annotation.imports.packages import UnfitFile, as_text

MAX_XML_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 30
MAX_ELEMENTS = 50_000

_DECLARATION = re.compile(r"\s*<\?xml\b[^?]{0,200}\?>")
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


@dataclass(slots=True)
class Element:
    """One element: its name, attributes, children, the text right in it, and the line where it begins."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, name: str) -> Iterator[Element]:
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> Element | None:
        return next(self.all(name), None)


@dataclass(frozen=True, slots=True)
class XmlDocument:
    """A tree and what was repaired to read it."""

    root: Element
    repaired: tuple[str, ...]


def read_xml(data: bytes) -> XmlDocument:
    """The tree of a file. A bare "&", control characters and bytes that are not UTF-8 are repaired.

    Raises UnfitFile for anything else that is broken, for entities and outside documents, and for more or
    deeper elements than any real file has.
    """
    if len(data) > MAX_XML_BYTES:
        raise UnfitFile(f"is larger than {MAX_XML_BYTES // 1024**2} MB; no file of this kind is.")
    content, repaired = _repaired(data)
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")
    builder.watch(parser)
    try:
        parser.Parse(content.encode("utf-8"), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise UnfitFile(
            f"is not XML that can be read: {reason}, at character {error.offset + 1}.", error.lineno
        ) from error
    assert builder.root is not None, "the parser refuses a document without an element"
    return XmlDocument(builder.root, tuple(repaired))


def _repaired(data: bytes) -> tuple[str, list[str]]:
    repaired: list[str] = []
    content, is_utf8 = as_text(data)
    if not is_utf8:
        repaired.append("is not UTF-8: read as Windows-1252")
    # What the declaration says of the encoding holds no longer; its line stays for the places of errors.
    content = _DECLARATION.sub("", content, count=1)
    cleaned = _CONTROLS.sub(" ", content)
    if cleaned != content:
        repaired.append("holds control characters, made spaces")
    escaped = _escaped(cleaned)
    if escaped != cleaned:
        repaired.append('holds an "&" that is not escaped, kept as text')
    return escaped, repaired


def _escaped(content: str) -> str:
    """The content with every bare "&" escaped, save where CDATA says that it stands for itself."""
    kept: list[str] = []
    at = 0
    while (start := content.find("<![CDATA[", at)) >= 0 and (end := content.find("]]>", start)) >= 0:
        kept += (_BARE_AMPERSAND.sub("&amp;", content[at:start]), content[start : end + 3])
        at = end + 3
    return "".join([*kept, _BARE_AMPERSAND.sub("&amp;", content[at:])])


@dataclass(slots=True)
class _Builder:
    root: Element | None = None
    stack: list[Element] = field(default_factory=list)
    count: int = 0
    parser: expat.XMLParserType | None = None

    def watch(self, parser: expat.XMLParserType) -> None:
        self.parser = parser
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.entity
        parser.ExternalEntityRefHandler = self.entity

    @property
    def line(self) -> int:
        assert self.parser is not None
        return self.parser.CurrentLineNumber

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.stack) >= MAX_DEPTH or self.count > MAX_ELEMENTS:
            raise UnfitFile(
                f"has elements more than {MAX_DEPTH} deep or more than {MAX_ELEMENTS:,} of them; no file of this "
                "kind has.",
                self.line,
            )
        element = Element(name, attributes, self.line)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, _: str) -> None:
        self.stack.pop()

    def characters(self, text: str) -> None:
        if self.stack:
            self.stack[-1].texts.append(text)

    def doctype(self, name: str, system: str | None, public: str | None, _: bool) -> None:
        if system or public:
            raise UnfitFile(
                "points to a document type outside of itself, which is never fetched. Remove the DOCTYPE line.",
                self.line,
            )

    def entity(self, *_: object) -> NoReturn:
        raise UnfitFile(
            "declares entities, which could swell or lead elsewhere. Write the characters themselves.",
            self.line,
        )
