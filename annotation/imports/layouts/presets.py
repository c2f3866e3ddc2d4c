"""What the columns of files in wide use are called, and which layout they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Names = Mapping[str, tuple[str, ...]]
"""For each field the names that its column may have, the surest first, as `plain` gives them."""

GENERAL: Names = {
    "document": (
        "document", "doc", "article", "source", "sourcetext", "sourcedocument", "documenttext", "articletext", "input",
        "inputs", "text", "fulltext", "src", "story", "body", "dialogue", "transcript", "passage", "content", "context",
        "prompt", "retrievedcontexts",
    ),
    "reference": (
        "reference", "references", "referencesummary", "referencetext", "highlights", "gold", "goldsummary",
        "goldensummary", "expectedoutput", "expected", "referenceoutput", "referenceoutputs", "groundtruth",
        "humansummary", "modelsummary", "target", "targetsummary", "tgt", "ideal", "abstract",
    ),
    "summary": (
        "actualoutput", "systemsummary", "systemoutput", "modeloutput", "generatedsummary", "predictedsummary",
        "peersummary", "decoded", "prediction", "pred", "hypothesis", "candidate", "generated", "generation", "output",
        "outputs", "outputtext", "completion", "response", "answer", "summary", "summarytext", "summarysentences",
    ),
    "system": (
        "system", "systemid", "systemname", "model", "modelname", "modelid", "summarizer", "summariser", "engine",
    ),
    "document_id": ("documentid", "docid", "articleid", "sourceid", "storyid", "hash", "id", "exampleid"),
    "reference_id": ("referenceid",),
    "reference_author": ("referenceauthor",),
    "target_words": ("targetwords", "targetlength", "maxwords", "wordlimit"),
    "group": ("group",),
    "language": ("language", "lang"),
    "metadata": ("metadata",),
    "questions": ("questions",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Preset:
    """A layout in wide use: its title, the names of its columns, and those that show it is this one.

    Fields that it does not name are read as in any other file.
    """

    title: str
    names: Names
    shown_by: frozenset[str]


AUTO, WIDE = "auto", "wide"

PRESETS: Mapping[str, Preset] = {
    "summeval": Preset(
        "SummEval",
        {
            "document": ("text", "article"),
            "summary": ("decoded",),
            "reference": ("references",),
            "system": ("modelid",),
            "document_id": ("id",),
        },
        frozenset({"decoded", "modelid"}),
    ),
    "qags": Preset(
        "QAGS",
        {"document": ("article",), "summary": ("summarysentences",)},
        frozenset({"article", "summarysentences"}),
    ),
    "frank": Preset(
        "FRANK",
        {
            "document": ("article",),
            "summary": ("summary",),
            "reference": ("reference",),
            "system": ("modelname",),
            "document_id": ("hash",),
        },
        frozenset({"article", "summary", "hash", "modelname"}),
    ),
    "cnn-dailymail": Preset(
        "CNN/DailyMail",
        {"document": ("article",), "reference": ("highlights",), "document_id": ("id",)},
        frozenset({"article", "highlights"}),
    ),
    "xsum": Preset(
        "XSum",
        {"document": ("document",), "reference": ("summary",), "document_id": ("id",)},
        # Its names are anybody's: they show nothing.
        frozenset(),
    ),
    "deepeval": Preset(
        "DeepEval",
        {
            "document": ("input",),
            "summary": ("actualoutput",),
            "reference": ("expectedoutput",),
            "document_id": (),
        },
        frozenset({"input", "actualoutput"}),
    ),
    "langsmith": Preset(
        "LangSmith",
        {
            "document": ("inputs", "input"),
            "summary": ("outputs", "output"),
            "reference": ("referenceoutputs", "referenceoutput", "reference", "expectedoutput"),
            "document_id": (),
        },
        frozenset({"inputs", "outputs"}),
    ),
    "langfuse": Preset(
        "Langfuse",
        {
            "document": ("input",),
            "summary": ("output",),
            "reference": ("expectedoutput",),
            "document_id": (),
        },
        frozenset({"input", "output"}),
    ),
    WIDE: Preset("one column per system", {"summary": (), "system": ()}, frozenset()),
    AUTO: Preset("", {}, frozenset()),
}
"""By name, the ones that show themselves most clearly first."""


def plain(name: str) -> str:
    """A column's name without what people write differently: case, spaces, dashes, underscores."""
    return re.sub(r"[\s_\-]+", "", name).casefold()
