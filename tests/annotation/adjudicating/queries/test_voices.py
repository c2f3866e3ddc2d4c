"""What most of the voices say."""

from __future__ import annotations

import pytest

from annotation.adjudicating.queries.voices import NamelessVoice, said_by_most


def voice(label: str, letter: str) -> NamelessVoice:
    return NamelessVoice(
        token=letter,
        letter=letter,
        value=1.0,
        label=label,
        percent=None,
        reason="",
        error_type="",
        evidence=(),
        is_own=False,
    )


@pytest.mark.parametrize(
    ("labels", "most"),
    [
        ((), None),
        (("yes",), ("A", 1)),
        (("no", "yes", "yes"), ("B", 2)),
        # Half is not most, and neither is more than any other gave.
        (("no", "yes"), None),
        (("yes", "yes", "no", "unsure"), None),
    ],
)
def test_most_is_more_than_half(labels: tuple[str, ...], most: tuple[str, int] | None) -> None:
    said = said_by_most([voice(label, letter) for label, letter in zip(labels, "ABCD", strict=False)])
    assert (None if said is None else (said.voice.letter, said.times)) == most
