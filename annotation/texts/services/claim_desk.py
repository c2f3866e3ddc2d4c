"""The list of a text's claims while somebody changes it: held, put in order, asked of, and its scores made anew.

An act locks the sittings that hold a model summary, the summaries of the document set, and the list of claims, in
this order, as cutting units does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, F, Max, OuterRef
from django.utils import timezone

from annotation.core.current_checks import put_in_force
from annotation.core.events import log
from annotation.core.permissions import Verb, require, verbs_in
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.core.unit_lists import has_claims_as_units
from annotation.judging.services.start_run import AskedAgain, judge_again
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    ClaimChange,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    DocumentSet,
    Summary,
    Unit,
    Verdict,
)
from annotation.models.claim import has_number, new_queue_key
from annotation.scoring.rescore import rescore_now
from annotation.texts.queries.claims import (
    ClaimOwner,
    claims_of,
    document_set_of,
    is_judged_as_unit,
    last_change,
    needs_unit,
    of_owner,
    owner_of,
    units_of,
)
from annotation.texts.services.change_units import hold, load_forms_anew
from annotation.texts.services.wording import place_in_text, reason_words, same
from annotation.texts.words import CLAIMS_LOCKED, settled_by

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from annotation.models import Project

CLAIMS_OUT_OF_THE_WAY = 1_000_000
"""Added to positions while they move, so that no two claims ever share one."""

METRIC_OF_SIDE: Mapping[str, str] = {Check.Side.REFERENCE: "coverage", Check.Side.PEER: "alignment"}

_VERBS: Mapping[str, str] = {
    ClaimChange.Kind.REWORD: "reword claim",
    ClaimChange.Kind.SPLIT: "split claim",
    ClaimChange.Kind.JOIN: "join claims",
    ClaimChange.Kind.DELETE: "delete claim",
    ClaimChange.Kind.ADD: "add claim",
}

PeerSide = tuple[int, str]
"""A peer summary by its key, and the side of the check."""


@dataclass(slots=True)
class ClaimDesk:
    """A list of claims that is held for one act: nobody else changes it, and nobody answers its checks."""

    project: Project
    owner: ClaimOwner
    claim_set: ClaimSet
    by: User | None
    claims: list[Claim]
    yours: Mapping[str, object]
    new_claims: tuple[Claim, ...] = ()

    @classmethod
    def of(cls, claim_set: ClaimSet, by: User | None, *, yours: Mapping[str, object]) -> ClaimDesk:
        owner = owner_of(claim_set)
        project = document_set_of(owner).project
        require(by, project, Verb.CHANGE_CLAIMS)
        hold_claims(owner)
        held = ClaimSet.objects.select_for_update(of=("self",)).get(pk=claim_set.pk)
        desk = cls(project, owner, held, by, claims_of(held), yours)
        if not held.is_active:
            raise desk.newer("The claims of this text were replaced after you opened them.")
        if is_judged_as_unit(held):
            raise Conflict(CLAIMS_LOCKED, code="judged")
        return desk

    def take(self, claims: Sequence[Claim]) -> list[Claim]:
        """These claims in order, once it is sure that they are still worded as somebody had them on screen."""
        gone = [claim for claim in claims if claim not in self.claims]
        if gone:
            raise self.newer(f"“{gone[0].text}” was changed after you opened it.", gone)
        self._keep_decided(claims)
        return [claim for claim in self.claims if claim in claims]

    def _keep_decided(self, claims: Sequence[Claim]) -> None:
        """Leave claims on which a decision rests to those who may decide such things themselves."""
        standing = _decisions_on(claims).select_related("decided_by", "check_row__claim").order_by("pk")
        decision = standing.first()
        if decision is None or self.by is None or Verb.ADJUDICATE in verbs_in(self.by, self.project):
            return
        assert decision.check_row is not None, "asked for decisions on checks"
        raise NotAllowed(
            f"“{decision.check_row.claim.text}”: {settled_by([decision.decided_by.username])}",
            code="decided",
        )

    def unit(self, number: int | None) -> Unit | None:
        """The unit of that number. Raises Invalid where there is none, or one must be named."""
        if number is None:
            if needs_unit(self.owner, self.claims):
                raise Invalid(
                    "Enter the claim's unit, because the model summary is scored by unit.",
                    field="unit",
                )
            return None
        unit = units_of(self.owner).filter(position=number).first()
        if unit is None:
            raise Invalid(f"There is no unit {number} in this text.", field="unit")
        if isinstance(self.owner, Summary) and self.owner.is_model and has_claims_as_units(self.claims):
            raise Invalid(
                "The claims of this text do not belong to units. Leave the unit empty.",
                field="unit",
            )
        return unit

    def put(
        self,
        kind: ClaimChange.Kind,
        gone: Sequence[Claim],
        texts: Sequence[str],
        *,
        reason: str,
        unit: Unit | None = None,
    ) -> ClaimChange:
        """Retire some claims and put others in their place."""
        self._refuse_duplicates(texts, gone)
        pairs = self._pairs(gone)
        change = ClaimChange.objects.create(
            claim_set=self.claim_set, kind=kind, reason=reason_words(reason), by=self.by
        )
        # Numbered through first: a claim that is retired keeps the place to which it would come back.
        places = {claim.pk: place for place, claim in enumerate(self.claims, start=1)}
        self._move(places)
        Claim.objects.filter(pk__in=[claim.pk for claim in gone]).update(retired_by=change)
        made = [self._claim(text, gone, unit, change) for text in texts]
        left = [claim for claim in self.claims if claim not in gone]
        at = self.claims.index(gone[0]) if gone else _end_of(unit, left)
        self._arrange([*left[:at], *made, *left[at:]])
        Claim.objects.bulk_create(made)
        self._ask(made, pairs)
        self._settle(_VERBS[kind], change, gone, made)
        return change

    def undo(self, change: ClaimChange) -> None:
        """Bring back what a change took away, and retire what it made."""
        self._refuse_undoing(change)
        made = [claim for claim in self.claims if claim.made_by_id == change.pk]
        back = list(
            Claim.all_claims.filter(retired_by=change)
            .exclude(made_by=change)
            .select_related("unit")
            .order_by("position")
        )
        self._keep_decided(made)
        pairs = self._pairs([*made, *back]) if back else {}
        change.undone_at = timezone.now()
        change.save(update_fields=["undone_at"])
        Claim.objects.filter(pk__in=[claim.pk for claim in made]).update(retired_by=change)
        order = [claim for claim in self.claims if claim not in made]
        for claim in back:
            order.insert(claim.position - 1, claim)
        # Their own places last, when the others have made way for them.
        self._arrange(order, except_for={claim.pk for claim in back})
        for place, claim in enumerate(order, start=1):
            if claim in back:
                claim.position, claim.retired_by = place, None
                claim.save(update_fields=["position", "retired_by"])
        self._ask(back, pairs)
        if self.claim_set.origin == ClaimOrigin.PERSON and last_change(self.claim_set) is None:
            # As if nobody had ever looked for claims here, so that a judge may.
            self.claim_set.is_active = False
            self.claim_set.save(update_fields=["is_active"])
        self._settle("undo claim change", change, made, back)

    def newer(self, message: str, gone: Sequence[Claim] = ()) -> Conflict:
        """Both versions: what was wanted, and what stands in the place of the claims that are gone."""
        change = last_change(self.claim_set)
        if gone:
            change = ClaimChange.objects.select_related("by").filter(retired__in=gone).order_by("pk").last()
        stands = [claim for claim in self.claims if change is not None and claim.made_by_id == change.pk]
        return Conflict(
            f"{message} Your change was not saved and is kept here. Check the current claims, then repeat it "
            "if needed.",
            code="newer_claims",
            details={
                "yours": dict(self.yours),
                "theirs": {
                    "change": change.public_id if change else None,
                    "kind": change.kind if change else None,
                    "by": change.by.username if change and change.by else None,
                    "claims": [{"id": claim.public_id, "text": claim.text} for claim in stands],
                },
            },
        )

    def _refuse_duplicates(self, texts: Sequence[str], gone: Sequence[Claim]) -> None:
        there = {same(claim.text) for claim in self.claims if claim not in gone}
        parts: set[str] = set()
        for text in texts:
            if same(text) in there:
                raise Invalid(f"“{text}” is already a claim of this text.", field="text", code="twin")
            if same(text) in parts:
                raise Invalid(
                    f"Two of the parts are the same: “{text}”. Each part must be different.",
                    field="texts",
                    code="twin",
                )
            parts.add(same(text))

    def _refuse_undoing(self, change: ClaimChange) -> None:
        change.refresh_from_db()
        if change.undone_at is not None:
            raise Conflict("This change has already been undone.", code="nothing_to_undo")
        last = last_change(self.claim_set)
        if last is not None and last.pk != change.pk:
            raise self.newer("The claims were changed again after you opened them.")

    def _claim(self, text: str, gone: Sequence[Claim], unit: Unit | None, change: ClaimChange) -> Claim:
        first = gone[0] if gone else None
        unit = first.unit if first is not None else unit
        start, end = place_in_text(text, self.owner, unit, gone)
        return Claim(
            claim_set=self.claim_set,
            unit=unit,
            text=text,
            start=start,
            end=end,
            weight=max((claim.weight for claim in gone), default=1.0),
            origin=ClaimOrigin.PERSON,
            supersedes=first,
            made_by=change,
        )

    def _arrange(self, order: Sequence[Claim], *, except_for: Collection[int] = ()) -> None:
        """Give claims their places, from 1 on; those that are not saved yet get theirs as values."""
        places: dict[int, int] = {}
        for place, claim in enumerate(order, start=1):
            if claim._state.adding:
                claim.position = place
            elif claim.pk not in except_for:
                places[claim.pk] = place
        self._move(places)

    def _move(self, places: Mapping[int, int]) -> None:
        moving = {
            claim.pk: places[claim.pk] - claim.position
            for claim in self.claims
            if claim.pk in places and places[claim.pk] != claim.position
        }
        if not moving:
            return
        Claim.objects.filter(pk__in=moving).update(position=F("position") + CLAIMS_OUT_OF_THE_WAY)
        for by in set(moving.values()):
            keys = [key for key, each in moving.items() if each == by]
            Claim.objects.filter(pk__in=keys).update(position=F("position") - CLAIMS_OUT_OF_THE_WAY + by)
        for claim in self.claims:
            claim.position += moving.get(claim.pk, 0)

    # What follows the claims

    def _pairs(self, gone: Sequence[Claim]) -> dict[PeerSide, None]:
        """The texts that the claims were compared with; for a claim that is new, those of all the others."""
        claims = gone or self.claims
        if not claims:
            return dict.fromkeys(_all_pairs(self.owner))
        checks = Check.objects.filter(claim__in=[claim.pk for claim in claims])
        return dict.fromkeys(checks.order_by("peer_id", "side").values_list("peer_id", "side").distinct())

    def _ask(self, claims: Sequence[Claim], pairs: Iterable[PeerSide]) -> None:
        """The checks of claims that have come, or come back, where they are missing."""
        there = set(
            Check.objects.filter(claim__in=[claim.pk for claim in claims]).values_list("claim_id", "peer_id")
        )
        Check.objects.bulk_create(
            Check(
                project=self.project,
                claim=claim,
                peer_id=peer,
                document_set=document_set_of(self.owner),
                side=side,
                has_number=has_number(claim.text),
                queue_key=new_queue_key(),
            )
            for peer, side in pairs
            for claim in claims
            if (claim.pk, peer) not in there
        )

    def _settle(self, verb: str, change: ClaimChange, gone: Sequence[Claim], made: Sequence[Claim]) -> None:
        """Bring checks and scores up to date, and write the act down."""
        self.new_claims = tuple(made)
        put_in_force(Check.objects.filter(claim__in=[claim.pk for claim in (*gone, *made)]))
        peers = _scored_peers(self.owner)
        if peers:
            rescore_now(project=self.project, summary_ids=peers)
        log(
            project=self.project,
            actor=self.by,
            verb=verb,
            target=(*gone, *made)[0],
            data={
                "change": change.public_id,
                "text": self.owner.public_id,
                "before": [_told(claim) for claim in gone],
                "after": [_told(claim) for claim in made],
                "answers_fallen": _answers_on(gone),
                "decisions_fallen": _decisions_on(gone).values("check_row").distinct().count(),
                "reason": change.reason,
            },
        )

    def judge_again(self, change: ClaimChange) -> AskedAgain:
        """Have the deciding judge answer what is open now, once the change is committed."""
        judge = self.project.deciding_judge
        if judge is None:
            return AskedAgain()
        checks = Check.objects.filter(claim__claim_set=self.claim_set).order_by()
        came = checks.filter(is_current=True, final_label__isnull=True)
        if change.undone_at is None:
            came = came.filter(claim__made_by=change)
        sides = set(came.values_list("side", flat=True).distinct())
        # Only where it has answered before: else one new claim would set it to work on the whole document set.
        said = Verdict.objects.filter(check_row=OuterRef("pk"), judge=judge, label__isnull=False)
        known = checks.filter(Exists(said), side__in=sides).values_list("side", flat=True).distinct()
        metrics = sorted({METRIC_OF_SIDE[side] for side in known})
        if not metrics:
            return AskedAgain()
        return judge_again(document_set=document_set_of(self.owner), metrics=metrics, by=self.by)


def hold_claims(owner: ClaimOwner) -> None:
    """Let nobody judge, save, close, review, cut or change claims of the document set at the same time."""
    if isinstance(owner, Summary) and owner.is_model:
        sittings = hold(owner)
        if has_claims_as_units(_active(owner)):
            # Their forms list the claims in the place of units.
            load_forms_anew(sittings)
        return
    if isinstance(owner, DocumentSet):
        # Before its summaries, as whoever keeps a judge's claims does.
        list(DocumentSet.objects.select_for_update(of=("self",), no_key=True).filter(pk=owner.pk))
    held = Summary.objects.filter(document_set=document_set_of(owner))
    list(held.select_for_update(of=("self",)).order_by("pk").only("pk"))


def _active(owner: ClaimOwner) -> list[Claim]:
    claim_set = ClaimSet.objects.filter(of_owner(owner), is_active=True).first()
    return claims_of(claim_set) if claim_set else []


def new_claim_set(owner: ClaimOwner, by: User | None) -> ClaimSet:
    """The first list of a text that `hold_claims` holds, or a version after those that were taken back."""
    claim_set = ClaimSet(
        **({"document_set": owner} if isinstance(owner, DocumentSet) else {"summary": owner})
    )
    latest = ClaimSet.objects.filter(of_owner(owner)).aggregate(latest=Max("version"))["latest"]
    claim_set.version = (latest or 0) + 1
    claim_set.origin = ClaimOrigin.PERSON
    claim_set.origin_name = by.get_username() if by else "the operator"
    claim_set.save()
    return claim_set


def _all_pairs(owner: ClaimOwner) -> Iterable[PeerSide]:
    """Every text against which the claims of a text can be held."""
    sides = dict.fromkeys(_reference_peers(owner), Check.Side.REFERENCE.value)
    if isinstance(owner, Summary) and owner.is_peer:
        sides[owner.pk] = Check.Side.PEER.value
    return sides.items()


def _reference_peers(owner: ClaimOwner) -> list[int]:
    """The peers that are compared with the text; the documents are where a peer has no model summary."""
    if isinstance(owner, Summary):
        compared = Comparison.objects.filter(model=owner)
        return list(compared.order_by("peer_id").values_list("peer_id", flat=True))
    peers = Summary.objects.filter(document_set=owner, is_peer=True, comparisons_as_peer=None)
    return list(peers.order_by("pk").values_list("pk", flat=True))


def _scored_peers(owner: ClaimOwner) -> list[int]:
    """The peers whose scores may hang on the claims."""
    return sorted(peer for peer, _ in _all_pairs(owner))


def _end_of(unit: Unit | None, claims: Sequence[Claim]) -> int:
    """Where a new claim of a unit stands among the others: behind those of the unit and of the ones before."""
    if unit is None:
        return len(claims)
    before = [
        place for place, claim in enumerate(claims) if claim.unit and claim.unit.position <= unit.position
    ]
    return before[-1] + 1 if before else 0


def _decisions_on(claims: Sequence[Claim]) -> QuerySet[Adjudication]:
    """The decisions that stand on checks of some claims."""
    return Adjudication.objects.filter(check_row__claim__in=[claim.pk for claim in claims], withdrawn_at=None)


def _answers_on(claims: Sequence[Claim]) -> int:
    """How many answers of people stand on checks of some claims, one of each to each check."""
    said = Verdict.objects.filter(
        check_row__claim__in=[claim.pk for claim in claims],
        source=Verdict.Source.REVIEWER,
        withdrawn_at=None,
    )
    return said.order_by().values("check_row", "person", "origin_name").distinct().count()


def _told(claim: Claim) -> dict[str, object]:
    return {"claim": claim.public_id, "text": claim.text}
