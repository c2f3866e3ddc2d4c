"""A document set with ten claims compared with two peers, for anyone who goes through many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    Comparison,
    Document,
    DocumentSet,
    Summary,
    Verdict,
)
from annotation.scoring.rescore import rescore
from tests.annotation.cast import add_units

if TYPE_CHECKING:
    from tests.annotation.cast import World

THINGS = ("ferry", "wall", "quay", "crane", "bridge", "light", "gate", "mole", "dock", "boom")
JUDGED = {"alder": "yes", "birch": "no"}
"""What the judge says of every claim, by system."""


def add_long_set(world: World) -> DocumentSet:
    """Ten units of a reference with a claim each, "The ferry is old" to "The boom is old"; a check for each of
    two peers, of which the judge says yes of all for alder and no of all for birch."""
    text = " ".join(f"The {thing} is old." for thing in THINGS)
    long_set = DocumentSet.objects.create(project=world.project, external_id="long")
    document = Document.objects.create(document_set=long_set, position=1, text=text)
    add_units(text, document=document)
    model = Summary.objects.create(document_set=long_set, is_model=True, text=text)
    units = add_units(text, summary=model)
    claim_set = ClaimSet.objects.create(summary=model, origin="judge", origin_name="lexical")
    claims = [
        Claim.objects.create(
            claim_set=claim_set, unit=unit, position=position, text=f"The {thing} is old", origin="judge"
        )
        for position, (unit, thing) in enumerate(zip(units, THINGS, strict=True), start=1)
    ]
    for name, label in JUDGED.items():
        peer = Summary.objects.create(
            document_set=long_set, system=world.systems[name], is_peer=True, target_words=50, text=text
        )
        add_units(text, summary=peer)
        Comparison.objects.create(peer=peer, model=model)
        world.peers["long", name] = peer
        for claim in claims:
            check = Check.objects.create(
                project=world.project,
                claim=claim,
                peer=peer,
                document_set=long_set,
                side="reference",
                queue_key=claim.position,
            )
            Verdict.objects.create(
                check_row=check, role="judge", judge=world.judge, label=label, evidence=[claim.position]
            )
    rescore(project=world.project)
    return long_set
