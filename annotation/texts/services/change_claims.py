"""Add, remove and reword claims of a text.

A removed claim keeps its row and answers. Rewording removes a claim and adds a new claim in its place, whose checks
have no answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max

from annotation.core.current_checks import take_out
from annotation.core.events import log
from annotation.core.permissions import Verb, require, verbs_in
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.models import (
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    DocumentSet,
    Look,
    SampledCheck,
    Summary,
    Unit,
    Verdict,
)
from annotation.models.answer import STANDING_DECISION
from annotation.models.assignment import AWAITED
from annotation.models.claim import has_number, new_queue_key
from annotation.scoring.rescore import rescore_now
from annotation.scoring.unit_lists import has_claims_as_units
from annotation.texts.queries.claims import (
    ClaimOwner,
    claims_of,
    document_set_of,
    is_judged_as_unit,
    needs_unit,
    of_owner,
    owner_of,
    units_of,
)
from annotation.texts.services.change_units import lock_against_answers
from annotation.texts.services.wording import bare, claim_words, place_in_text, same

if TYPE_CHECKING:
    from django.contrib.auth.models import User

CLAIMS_LOCKED = (
    "The claims of this text are locked: they replace its units, and assessors have given them percents. "
    "Import corrected claims as another reference of the set."
)
SummarySide = tuple[int, str]
"""The key of a summary and the side of the check."""


@transaction.atomic
def add_claim(*, owner: ClaimOwner, by: User | None, text: str, unit: int | None = None) -> Claim:
    """Add a claim to a summary, or to the documents of a set.

    `unit` is the number of the claim's unit; it is required if `needs_unit`. The claim is compared with the same texts
    as the text's other claims; the first claim of a text is compared with all possible texts. Raises Invalid for an
    unusable wording or unit, and Conflict (code `judged`) if `is_judged_as_unit`.
    """
    words = claim_words(text)
    require(by, document_set_of(owner).project, Verb.CHANGE_CLAIMS)
    _hold(owner)
    claim_set = ClaimSet.objects.filter(of_owner(owner), is_active=True).first() or _new_claim_set(owner, by)
    _refuse_judged(claim_set)
    claims = claims_of(claim_set)
    _refuse_twin(words, claims)
    made = _create(claim_set, words, _unit(owner, claims, unit), position=_last(claims) + 1)
    _ask(made, _pairs(claims) if claims else _all_pairs(owner))
    _settle("add claim", owner, by, made, after=words)
    return made


@transaction.atomic
def reword_claim(*, claim: Claim, by: User | None, text: str) -> Claim:
    """Replace a claim by one with another wording; unit, weight and comparisons stay.

    A person who answered the old wording, or saw others' answers to it, is not blind to the new wording. Raises Invalid
    for an unusable wording. Raises Conflict if the claim was removed meanwhile (`newer_claims`), still needs an answer
    in a random sample (`sampled`), or belongs to a set that `is_judged_as_unit` (`judged`). Raises NotAllowed if the
    person may not change claims, or if an adjudicator decided on the claim and the person may not adjudicate
    (`decided`).
    """
    words = claim_words(text)
    owner, claims = _begin(claim, by, yours=words)
    if bare(words) == bare(claim.text):
        raise Invalid(
            "The wording is unchanged: white space and punctuation at the ends do not count.",
            field="text",
            code="same_words",
        )
    _refuse_twin(words, [each for each in claims if each != claim])
    pairs = _pairs([claim])
    take_out([claim.pk])
    made = _create(claim.claim_set, words, claim.unit, position=claim.position, instead_of=claim)
    _ask(made, pairs)
    _copy_looks(claim, made)
    _settle("reword claim", owner, by, made, before=claim.text, after=words)
    return made


@transaction.atomic
def remove_claim(*, claim: Claim, by: User | None) -> None:
    """Remove a claim from its text. Raises Conflict and NotAllowed as `reword_claim` does."""
    owner, _ = _begin(claim, by)
    take_out([claim.pk])
    _settle("remove claim", owner, by, claim, before=claim.text)


def _begin(claim: Claim, by: User | None, *, yours: str = "") -> tuple[ClaimOwner, list[Claim]]:
    owner = owner_of(claim.claim_set)
    project = document_set_of(owner).project
    require(by, project, Verb.CHANGE_CLAIMS)
    _hold(owner)
    claim_set = ClaimSet.objects.select_for_update(of=("self",)).get(pk=claim.claim_set_id)
    claims = claims_of(claim_set)
    if not claim_set.is_active or claim not in claims:
        raise _newer_claims(claim, claims if claim_set.is_active else [], yours)
    _refuse_judged(claim_set)
    if SampledCheck.objects.filter(AWAITED, check_row__claim=claim).exists():
        raise Conflict(
            "A random sample waits for an answer to this claim, so it stays as it is until the sample is finished.",
            code="sampled",
        )
    decided = Verdict.objects.filter(STANDING_DECISION, check_row__claim=claim)
    if by is not None and Verb.ADJUDICATE not in verbs_in(by, project) and decided.exists():
        raise NotAllowed(
            "An adjudicator resolved a dispute on this claim, so only adjudicators can change it.",
            code="decided",
        )
    return owner, claims


def _newer_claims(claim: Claim, claims: Sequence[Claim], yours: str) -> Conflict:
    now = next((each for each in claims if each.position == claim.position), None)
    return Conflict(
        f"“{claim.text}” was changed after you opened it, so your change was not saved and is kept here. Check the "
        "current claims, then repeat it if needed.",
        code="newer_claims",
        details={"yours": yours, "theirs": {"id": now.public_id, "text": now.text} if now else None},
    )


def _refuse_judged(claim_set: ClaimSet) -> None:
    if is_judged_as_unit(claim_set):
        raise Conflict(CLAIMS_LOCKED, code="judged")


def _refuse_twin(words: str, claims: Iterable[Claim]) -> None:
    if same(words) in {same(claim.text) for claim in claims}:
        raise Invalid(f"“{words}” is already a claim of this text.", field="text", code="twin")


def _hold(owner: ClaimOwner) -> None:
    if isinstance(owner, Summary) and owner.is_reference:
        lock_against_answers(owner)
        return
    if isinstance(owner, DocumentSet):
        # Lock the set before its summaries.
        list(DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=owner.pk))
    held = Summary.objects.filter(document_set=document_set_of(owner))
    list(held.select_for_update(of=("self",)).order_by("pk").only("pk"))


def _new_claim_set(owner: ClaimOwner, by: User | None) -> ClaimSet:
    latest = ClaimSet.objects.filter(of_owner(owner)).aggregate(latest=Max("version"))["latest"]
    return ClaimSet.objects.create(
        **({"document_set": owner} if isinstance(owner, DocumentSet) else {"summary": owner}),
        version=(latest or 0) + 1,
        origin=ClaimOrigin.PERSON,
        origin_name=by.get_username() if by else "the operator",
    )


def _unit(owner: ClaimOwner, claims: Sequence[Claim], number: int | None) -> Unit | None:
    if number is None:
        if needs_unit(owner, claims):
            raise Invalid("Enter the claim's unit, because the reference is scored by unit.", field="unit")
        return None
    unit = units_of(owner).filter(position=number).first()
    if unit is None:
        raise Invalid(f"There is no unit {number} in this text.", field="unit")
    if isinstance(owner, Summary) and owner.is_reference and has_claims_as_units(claims):
        raise Invalid("The claims of this text do not belong to units. Leave the unit empty.", field="unit")
    return unit


def _last(claims: Iterable[Claim]) -> int:
    return max((claim.position for claim in claims), default=0)


def _create(
    claim_set: ClaimSet, words: str, unit: Unit | None, *, position: int, instead_of: Claim | None = None
) -> Claim:
    start, end = place_in_text(words, owner_of(claim_set), unit, instead_of)
    return Claim.objects.create(
        claim_set=claim_set,
        unit=unit,
        position=position,
        text=words,
        start=start,
        end=end,
        weight=instead_of.weight if instead_of else 1.0,
        origin=ClaimOrigin.PERSON,
    )


def _pairs(claims: Sequence[Claim]) -> list[SummarySide]:
    checks = Check.objects.filter(claim__in=claims)
    return list(checks.order_by("summary_id", "side").values_list("summary_id", "side").distinct())


def _all_pairs(owner: ClaimOwner) -> list[SummarySide]:
    pairs = [(summary, Check.Side.REFERENCE.value) for summary in _compared_with(owner)]
    if isinstance(owner, Summary) and owner.is_summary:
        pairs.append((owner.pk, Check.Side.SUMMARY.value))
    return pairs


def _compared_with(owner: ClaimOwner) -> list[int]:
    if isinstance(owner, Summary):
        return list(
            Comparison.objects.filter(reference=owner)
            .order_by("summary_id")
            .values_list("summary_id", flat=True)
        )
    summaries = Summary.objects.filter(document_set=owner, is_summary=True, comparisons_as_summary=None)
    return list(summaries.order_by("pk").values_list("pk", flat=True))


def _ask(claim: Claim, pairs: Iterable[SummarySide]) -> None:
    document_set = document_set_of(owner_of(claim.claim_set))
    Check.objects.bulk_create(
        Check(
            project_id=document_set.project_id,
            claim=claim,
            summary_id=summary,
            document_set=document_set,
            side=side,
            has_number=has_number(claim.text),
            queue_key=new_queue_key(),
        )
        for summary, side in pairs
    )


def _copy_looks(old: Claim, made: Claim) -> None:
    """Copy looks to the new checks. Answers to the old checks become looks too, so that later answers are not blind."""
    checks = dict(Check.objects.filter(claim=made).values_list("summary_id", "pk"))
    looks = Look.objects.filter(check_row__claim=old, revealed_at__isnull=False)
    answers = Verdict.objects.filter(
        check_row__claim=old, role=Verdict.Role.REVIEWER, person__isnull=False
    ).order_by("pk")
    seen: dict[tuple[int, int], datetime | None] = {}
    for summary, person, at in chain(
        looks.values_list("check_row__summary_id", "person_id", "revealed_at"),
        answers.values_list("check_row__summary_id", "person_id", "created_at"),
    ):
        seen.setdefault((checks[summary], person), at)
    Look.objects.bulk_create(
        Look(check_row_id=check, person_id=person, revealed_at=at) for (check, person), at in seen.items()
    )


def _settle(verb: str, owner: ClaimOwner, by: User | None, claim: Claim, **words: str) -> None:
    project = document_set_of(owner).project
    summaries = sorted({summary for summary, _ in _all_pairs(owner)})
    if summaries:
        rescore_now(project=project, summary_ids=summaries)
    log(project=project, actor=by, verb=verb, target=claim, data={"text": owner.public_id, **words})
