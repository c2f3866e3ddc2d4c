"""A reviewer corrects the claims of a text: rewords, splits, joins, deletes or adds some, and undoes that.

Claims are never edited. What was changed is retired and keeps every answer given to it; what takes its place is a
new claim of the same unit, compared with the same texts. Its checks are open again, for people at once and for the
deciding judge in a run of its own over that document set, where this judge has answered for these claims before.

Because a wording never changes, the id of a claim says which one somebody had on screen: where it has been changed
since, Conflict (code `newer_claims`) carries both versions and nothing is written.

A claim on which an adjudicator's decision rests is changed by those alone who may adjudicate: else whoever does not
like a decision would put the claim into other words. Whose decision falls by it is told so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.models import Claim, ClaimChange, ClaimSet
from annotation.texts.queries.claims import ClaimOwner, document_set_of, of_owner
from annotation.texts.services.claim_desk import ClaimDesk, hold_claims, new_claim_set
from annotation.texts.services.wording import bare, claim_words

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Run

MOST_PARTS = 10


@dataclass(frozen=True, slots=True)
class Changed:
    """What was done: the change, the claims that it made or brought back, and the run that answers them, if any.

    `waits` says why the judge answers them in its next run only, where what it may cost is the reason.
    """

    change: ClaimChange
    claims: tuple[Claim, ...]
    run: Run | None
    waits: str = ""


def reword_claim(*, claim: Claim, by: User | None, text: str, reason: str = "") -> Changed:
    """Give a claim other words. Its unit and weight stay; its checks are asked again.

    Raises Invalid where the words are empty, too long, the same as before (white space, and marks at the ends, make
    no others) or those of another claim of the text; Conflict where the claim was changed since (`newer_claims`) or
    stands in for a unit that was judged (`judged`); NotAllowed to whoever may not change claims, and (code `decided`)
    to whoever may not adjudicate where an adjudicator's decision rests on it.
    """
    words = claim_words(text)
    with transaction.atomic():
        desk = ClaimDesk.of(claim.claim_set, by, yours=_yours("reword", [claim], [words]))
        gone = desk.take([claim])
        if bare(words) == bare(claim.text):
            raise Invalid(
                "The wording is unchanged: white space and punctuation at the ends do not count.",
                field="text",
                code="same_words",
            )
        change = desk.put(ClaimChange.Kind.REWORD, gone, [words], reason=reason)
    return _done(desk, change)


def split_claim(*, claim: Claim, by: User | None, texts: Sequence[str], reason: str = "") -> Changed:
    """Put two to ten claims in the place of one. Each belongs to its unit and has its whole weight.

    Raises as `reword_claim`, and Invalid where there are too few or too many parts or two are the same.
    """
    words = [claim_words(text, field="texts") for text in texts]
    if not 2 <= len(words) <= MOST_PARTS:
        raise Invalid(f"A claim is split into 2 to {MOST_PARTS} claims, one per line.", field="texts")
    with transaction.atomic():
        desk = ClaimDesk.of(claim.claim_set, by, yours=_yours("split", [claim], words))
        change = desk.put(ClaimChange.Kind.SPLIT, desk.take([claim]), words, reason=reason)
    return _done(desk, change)


def join_claims(*, claims: Sequence[Claim], by: User | None, text: str, reason: str = "") -> Changed:
    """Put one claim in the place of several of one unit, with the largest weight among them.

    Raises as `reword_claim`, and Invalid where there is only one or they belong to different texts or units: a
    unit that lost its claims would have none to be scored by.
    """
    words = claim_words(text)
    wanted = list({claim.pk: claim for claim in claims}.values())
    if len(wanted) < 2:
        raise Invalid("Select at least two claims to join.", field="claims")
    if len({claim.claim_set_id for claim in wanted}) > 1 or len({claim.unit_id for claim in wanted}) > 1:
        raise Invalid(
            "Only claims of the same unit can be joined. These belong to different units.", field="claims"
        )
    with transaction.atomic():
        desk = ClaimDesk.of(wanted[0].claim_set, by, yours=_yours("join", wanted, [words]))
        change = desk.put(ClaimChange.Kind.JOIN, desk.take(wanted), [words], reason=reason)
    return _done(desk, change)


def delete_claim(*, claim: Claim, by: User | None, reason: str = "") -> Changed:
    """Take a claim away; nothing is asked of it any more. Raises as `reword_claim`."""
    with transaction.atomic():
        desk = ClaimDesk.of(claim.claim_set, by, yours=_yours("delete", [claim], []))
        change = desk.put(ClaimChange.Kind.DELETE, desk.take([claim]), [], reason=reason)
    return _done(desk, change)


def add_claim(
    *, owner: ClaimOwner, by: User | None, text: str, unit: int | None = None, reason: str = ""
) -> Changed:
    """Add a claim to a summary or to the documents of a set, as the last one of its unit.

    `unit` is the number of the unit that says so. It must be named in a model summary whose claims are linked to
    units. The claim is compared with the texts that the others are compared with; the first one of a text against
    all that there are. Raises as `reword_claim`, and Invalid where there is no such unit, or none is named.
    """
    words = claim_words(text)
    project = document_set_of(owner).project
    require(by, project, Verb.CHANGE_CLAIMS)
    with transaction.atomic():
        hold_claims(owner)
        claim_set = ClaimSet.objects.filter(of_owner(owner), is_active=True).first() or new_claim_set(
            owner, by
        )
        desk = ClaimDesk.of(claim_set, by, yours={"act": "add", "unit": unit, "texts": [words]})
        change = desk.put(ClaimChange.Kind.ADD, [], [words], reason=reason, unit=desk.unit(unit))
    return _done(desk, change)


def undo_claim_change(*, change: ClaimChange, by: User | None) -> Changed:
    """Take the last change of a text's claims back: its claims come back with their answers, what it made goes.

    Raises Conflict where it is no longer the last one that stands (`newer_claims`, with the one that is) or was
    undone already (`nothing_to_undo`); NotAllowed (`decided`) to whoever may not adjudicate where a decision rests on
    what it made; else as `reword_claim`.
    """
    with transaction.atomic():
        desk = ClaimDesk.of(change.claim_set, by, yours={"act": "undo", "change": change.public_id})
        desk.undo(change)
    return _done(desk, change)


def _yours(act: str, claims: Sequence[Claim], texts: Sequence[str]) -> dict[str, object]:
    return {
        "act": act,
        "claims": [{"id": claim.public_id, "text": claim.text} for claim in claims],
        "texts": list(texts),
    }


def _done(desk: ClaimDesk, change: ClaimChange) -> Changed:
    asked = desk.judge_again(change)
    return Changed(change, desk.new_claims, asked.run, asked.waits)
