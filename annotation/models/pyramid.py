"""A pyramid as it is kept beside the summary that stands for it: more than claims and weights can say.

The claims of that summary are the content units, in the same order. What made them (contributors and their
places in the model summaries) is kept here, in the summary's metadata, so that the file can be written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

PYRAMID = "ducview_pyramid"
"""The key in a model summary's metadata."""

PEER_ANNOTATION = "ducview_annotation"
"""The key in a peer summary's metadata; what is under it tells what people answered."""

KEPT_APART = (PYRAMID, PEER_ANNOTATION)

NOT_IN_PYRAMID = "0"
"""The uid under which DUCView keeps what a peer summary says beyond the pyramid."""


@dataclass(frozen=True, slots=True)
class PyramidPart:
    """A stretch of text that expresses something; its place in the text, where it was found there."""

    label: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Contributor:
    """What one text says of a content unit, in one or more parts. `model` is the model summary's number from 0."""

    label: str
    parts: tuple[PyramidPart, ...]
    model: int | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ContentUnit:
    """A summary content unit (SCU): one statement, and who makes it."""

    uid: str
    label: str
    contributors: tuple[Contributor, ...]
    comment: str = ""

    @property
    def weight(self) -> int:
        """How many model summaries express it; its contributors, where the model summaries are not told apart."""
        models = {contributor.model for contributor in self.contributors}
        return len(self.contributors) if None in models else len(models)


@dataclass(frozen=True, slots=True)
class Pyramid:
    """The content units of several model summaries. `models` names these; empty where they are not told apart."""

    models: tuple[str, ...]
    units: tuple[ContentUnit, ...]
    header: str = ""

    @property
    def contributors(self) -> int:
        return sum(len(unit.contributors) for unit in self.units)

    def as_metadata(self) -> dict[str, object]:
        return {PYRAMID: _as_json(asdict(self))}


@dataclass(frozen=True, slots=True)
class PeerAnnotation:
    """Where a peer summary expresses content units, by uid; `unmatched` is what no unit of the pyramid says."""

    expressed: Mapping[str, tuple[Contributor, ...]]
    unmatched: tuple[Contributor, ...] = ()

    @property
    def repetitions(self) -> int:
        return sum(len(contributors) - 1 for contributors in self.expressed.values() if contributors)

    def as_metadata(self) -> dict[str, object]:
        return {
            PEER_ANNOTATION: _as_json(
                {
                    "expressed": {
                        uid: [asdict(contributor) for contributor in contributors]
                        for uid, contributors in self.expressed.items()
                    },
                    "unmatched": [asdict(contributor) for contributor in self.unmatched],
                }
            )
        }


def _as_json(value: object) -> object:
    """The value as a JSON column gives it back, so that the two can be compared."""
    return json.loads(json.dumps(value))


def pyramid_of(metadata: Mapping[str, Any]) -> Pyramid | None:
    """The pyramid that a model summary's metadata holds; None where it stands for none.

    Metadata are people's own: what is not of the shape that is written here is none.
    """
    try:
        kept = metadata[PYRAMID]
        units = tuple(
            ContentUnit(
                uid=unit["uid"],
                label=unit["label"],
                comment=unit["comment"],
                contributors=_contributors(unit["contributors"]),
            )
            for unit in kept["units"]
        )
        return Pyramid(models=tuple(kept["models"]), units=units, header=kept["header"])
    except (KeyError, TypeError):
        return None


def peer_annotation_of(metadata: Mapping[str, Any]) -> PeerAnnotation | None:
    """The annotation that a peer summary's metadata holds; None where there is none, as `pyramid_of`."""
    try:
        kept = metadata[PEER_ANNOTATION]
        return PeerAnnotation(
            expressed={uid: _contributors(found) for uid, found in kept["expressed"].items()},
            unmatched=_contributors(kept["unmatched"]),
        )
    except (KeyError, TypeError, AttributeError):
        return None


def own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What people gave as metadata: everything but what is kept here. This is what doors may show."""
    return {name: value for name, value in metadata.items() if name not in KEPT_APART}


def kept_apart(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept here, which a file of rows neither gives nor takes away."""
    return {name: metadata[name] for name in KEPT_APART if name in metadata}


def _contributors(kept: Sequence[Mapping[str, Any]]) -> tuple[Contributor, ...]:
    return tuple(
        Contributor(
            label=found["label"],
            comment=found["comment"],
            model=found["model"],
            parts=tuple(PyramidPart(**part) for part in found["parts"]),
        )
        for found in kept
    )
