"""Level `ratings`: what *Agreement* counts, as libraries for agreement take it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from annotation.analysis.agreement.agreement import agreement
from annotation.core.tables.pseudonyms import pseudonym
from tests.annotation.answering import add_checks, say
from tests.annotation.exports.filled import filled
from tests.annotation.exports.reading import exported
from tests.test_documents import DOCS, TEXTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.annotation.cast import World

pytestmark = pytest.mark.django_db


def test_the_example_of_the_documents_gives_what_agreement_says(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Rex and Cleo both answer four checks, alike on three, and Rex a fifth alone: coincidences no-no 2, yes-yes 4 and
    # two unlike among 8 answers, of which 3 are no and 5 yes. Alpha is 1 - (2/8) / (2 * 3 * 5 / (8 * 7)) = 8/15.
    first, second, third, fourth, alone = add_checks(world, 5)
    for check, rex, cleo in ((first, "no", "no"), (second, "yes", "yes"), (third, "yes", "yes")):
        say(check, world.rex, rex)
        say(check, world.cleo, cleo)
    say(fourth, world.rex, "no")
    say(fourth, world.cleo, "yes")
    say(alone, world.rex, "yes")
    # Nor does an answer count that was given knowing the judge's.
    say(alone, world.cleo, "no", had_seen=True)
    rows = exported(world.project, "ratings", tmp_path / "ratings.parquet", format_name="parquet")
    assert len(rows) == 9
    assert {row["rater"] for row in rows} == {
        pseudonym(world.project, person.pk) for person in (world.rex, world.cleo)
    }
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    _, example = re.findall(r"```python\n(.*?)```", TEXTS[DOCS / "exports.md"], re.DOTALL)
    exec(example, names)  # the project's own words, read from its own file
    assert names["alpha"] == pytest.approx(8 / 15)
    [scale] = [each for each in agreement(world.project)["scales"] if each["key"] == "verdicts-reference"]
    assert names["alpha"] == pytest.approx(scale["alpha"]["value"], abs=1e-12)
    # Of the four that both answered 3/4 are alike; by chance (3/8)^2 + (5/8)^2 = 34/64. (48 - 34) / (64 - 34) = 7/15.
    assert names["kappa"] == pytest.approx(7 / 15)


def test_percents_and_answers_about_wholes_are_scales_of_their_own(world: World, tmp_path: Path) -> None:
    filled(world)
    rows = exported(world.project, "ratings", tmp_path / "ratings.jsonl", named=True)
    peer = world.peers["bridge", "alder"]
    of_ana = [row for row in rows if row["rater"] == "ana" and row["system"] == "alder"]
    percents = [row for row in of_ana if row["scale"] == "percents"]
    assert {row["item"] for row in percents} == {
        f"{unit.public_id}:{peer.public_id}" for unit in world.units("bridge")
    }
    assert {(row["value"], row["number"]) for row in percents} == {("60", 60.0)}
    assert {row["item"] for row in rows if row["scale"] == "unmarked"} <= {
        each.public_id for each in world.peers.values()
    }
    pairs = [(row["item"], row["rater"], row["scale"]) for row in rows]
    assert len(set(pairs)) == len(pairs)
