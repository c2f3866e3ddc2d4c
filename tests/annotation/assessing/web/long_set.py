"""A document set with ten claims and two summaries, for tests that answer many claims in a row."""

from __future__ import annotations

from annotation.models import DocumentSet
from annotation.scoring.rescore import rescore
from tests.annotation.cast import World, add_claims, add_set, judge_claims

THINGS = ("ferry", "wall", "quay", "crane", "bridge", "light", "gate", "mole", "dock", "boom")
JUDGED = {"alder": "yes", "birch": "no"}
"""The judge's label of every claim, by system."""


def add_long_set(world: World) -> DocumentSet:
    text = " ".join(f"The {thing} is old." for thing in THINGS)
    summaries = dict.fromkeys(JUDGED, text)
    add_set(world, "long", source=text, reference=text, summaries=summaries, target_words=50)
    claims = add_claims(
        world, "long", ((f"The {thing} is old", n) for n, thing in enumerate(THINGS, start=1))
    )
    judge_claims(world, "long", claims, {name: [label] * len(THINGS) for name, label in JUDGED.items()})
    rescore(project=world.project)
    return world.sets["long"]
