"""The claims of one text, those in force and the wordings before them, for those who correct them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q

from annotation.core.refusals import NotFound
from annotation.core.unit_lists import has_claims_as_units
from annotation.models import (
    Adjudication,
    Check,
    Claim,
    ClaimChange,
    ClaimOrigin,
    ClaimSet,
    DocumentSet,
    Run,
    Summary,
    Unit,
    UnitJudgment,
)
from annotation.texts.queries.claim_history import ClaimHistory

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.models import Project

ClaimOwner = Summary | DocumentSet
"""A text that claims are taken from: a summary, or the documents of a set together."""


OPENING_WORDS = 12


@dataclass(frozen=True, slots=True)
class Wording:
    """A claim as it was worded before, and the change that took it away."""

    claim_id: str
    text: str
    kind: str
    by: str | None
    at: datetime
    reason: str
    answers: int


@dataclass(frozen=True, slots=True)
class ClaimLoss:
    """What is left of a text once one of its claims is deleted: so many claims in its unit, and in the text.

    `kind` is `model`, `peer` or `documents`; `unit` the number of the claim's unit, None where it has none;
    `stands_for_unit` tells that the claims of the text are scored in the place of units.
    """

    kind: str
    unit: int | None
    left_in_unit: int
    left_in_text: int
    stands_for_unit: bool


@dataclass(frozen=True, slots=True)
class ClaimInForce:
    """A claim in force. `made_by` is the person who wrote these words, None where it came so.

    `checks` says against how many texts it is held, `answered` how many of these checks people have answered,
    `waiting` how many nobody and no judge has. `before` are its wordings before, the latest first. `settlers` are
    those whose decisions rest on it: only who may adjudicate changes it then.
    """

    claim_id: str
    position: int
    text: str
    origin: str
    made_by: str | None
    reason: str
    weight: float
    checks: int
    answered: int
    waiting: int
    before: tuple[Wording, ...]
    loss: ClaimLoss
    settlers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimGroup:
    """A unit with its claims; `number` None for those that belong to no unit."""

    number: int | None
    text: str
    claims: tuple[ClaimInForce, ...]

    @property
    def answered(self) -> int:
        """How many checks of its claims people have answered."""
        return sum(claim.answered for claim in self.claims)

    @property
    def is_decided(self) -> bool:
        """Whether adjudicators' decisions rest on one of its claims."""
        return any(claim.settlers for claim in self.claims)


class ListOrigin(NamedTuple):
    """How a list of claims came about, and the file, judge or person that it came from."""

    kind: ClaimOrigin
    name: str


class TextName(NamedTuple):
    """What a text is called by: its kind (`model`, `peer` or `documents`), and what is known of a summary."""

    kind: str
    external_id: str = ""
    system: str = ""
    target_words: int | None = None


@dataclass(frozen=True, slots=True)
class OlderClaims:
    """A list of claims that was replaced by another one; its claims are no longer checked."""

    version: int
    origin: ListOrigin
    claims: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimAct:
    """An act of a person on the claims: `before` and `after` are the words that it took away and made."""

    change_id: str
    kind: str
    in_words: str
    by: str | None
    at: datetime
    reason: str
    is_undone: bool
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OtherText:
    text_id: str
    name: TextName
    opening: str
    is_here: bool


@dataclass(frozen=True, slots=True)
class ClaimText:
    """The claims of a text as they stand, and what may be done with them.

    `needs_unit` tells that a new claim must say which unit it belongs to; `is_locked` that nothing may be changed,
    since assessors gave the claims percents in the place of units; `undo` is the change that undoing takes back.
    `run_id` names a run of the deciding judge that is at work on the set.
    """

    text_id: str
    name: TextName
    document_set: str
    version: int | None
    origin: ListOrigin | None
    groups: tuple[ClaimGroup, ...]
    units: int
    needs_unit: bool
    is_locked: bool
    judge: str | None
    run_id: str | None
    undo: ClaimAct | None
    changes: tuple[ClaimAct, ...]
    older: tuple[OlderClaims, ...]
    texts: tuple[OtherText, ...]

    @property
    def count(self) -> int:
        return sum(len(group.claims) for group in self.groups)

    def holding(self, wanted: str) -> list[ClaimGroup]:
        """The groups with the claims alone that hold what is searched for, in any case; all where nothing is."""
        words = wanted.casefold()
        found = [
            replace(group, claims=tuple(claim for claim in group.claims if words in claim.text.casefold()))
            for group in self.groups
        ]
        return [group for group in found if group.claims or not words]

    @property
    def waiting(self) -> int:
        return sum(claim.waiting for group in self.groups for claim in group.claims)


def owner_of(claim_set: ClaimSet) -> ClaimOwner:
    """The text that a list of claims was taken from."""
    owner = claim_set.summary or claim_set.document_set
    assert owner is not None, "the database holds a claim set to one text"
    return owner


def document_set_of(owner: ClaimOwner) -> DocumentSet:
    return owner.document_set if isinstance(owner, Summary) else owner


def of_owner(owner: ClaimOwner) -> Q:
    """The claim sets of a text."""
    return Q(summary=owner) if isinstance(owner, Summary) else Q(document_set=owner)


def text_with_claims(project: Project, public_id: str) -> ClaimOwner:
    """The summary, or the document set for its documents, of that public id. Raises NotFound."""
    summary = (
        Summary.objects.filter(document_set__project=project, public_id=public_id)
        .select_related("document_set__project", "document_set", "system")
        .first()
    )
    if summary is not None:
        return summary
    document_set = (
        DocumentSet.objects.filter(project=project, public_id=public_id).select_related("project").first()
    )
    if document_set is None:
        raise NotFound("There is no such text in this project.")
    return document_set


def claims_in(project: Project) -> QuerySet[Claim]:
    """Every claim of a project in every wording, with the rows that say where it stands."""
    return Claim.all_claims.filter(
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)
    ).select_related(
        "unit",
        "claim_set__summary__document_set__project",
        "claim_set__summary__system",
        "claim_set__document_set__project",
    )


def changes_in(project: Project) -> QuerySet[ClaimChange]:
    """Every change of a project's claims, with the rows that say where it stands."""
    return ClaimChange.objects.filter(
        Q(claim_set__summary__document_set__project=project) | Q(claim_set__document_set__project=project)
    ).select_related(
        "by",
        "claim_set__summary__document_set__project",
        "claim_set__summary__system",
        "claim_set__document_set__project",
    )


def claims_of(claim_set: ClaimSet) -> list[Claim]:
    """The claims of a list as they are worded now, in order."""
    return list(Claim.objects.filter(claim_set=claim_set).select_related("unit").order_by("position"))


def units_of(owner: ClaimOwner) -> QuerySet[Unit]:
    """The units of a text as they are cut at present, in order."""
    place = Q(summary=owner) if isinstance(owner, Summary) else Q(document__document_set=owner)
    return Unit.objects.filter(place).select_related("document").order_by("position")


def words_of_unit(owner: ClaimOwner, unit: Unit) -> str:
    text = owner.text if isinstance(owner, Summary) else unit.document.text if unit.document else ""
    return text[unit.start : unit.end]


def needs_unit(owner: ClaimOwner, claims: Sequence[Claim]) -> bool:
    """Whether a claim without a unit would stand in for one, beside claims that are linked to theirs."""
    return (
        isinstance(owner, Summary)
        and owner.is_model
        and not has_claims_as_units(claims)
        and units_of(owner).exists()
    )


def is_judged_as_unit(claim_set: ClaimSet) -> bool:
    """Whether claims of this list stand in for units, and somebody has judged one of them as such."""
    judged = UnitJudgment.objects.filter(claim__claim_set=claim_set, is_current=True)
    decided = Adjudication.objects.filter(claim__claim_set=claim_set, withdrawn_at=None)
    return judged.exists() or decided.exists()


def last_change(claim_set: ClaimSet) -> ClaimChange | None:
    """The change that undoing takes back; None where none stands."""
    changes = ClaimChange.objects.filter(claim_set=claim_set, undone_at=None)
    return changes.select_related("by").order_by("pk").last()


def claim_text(owner: ClaimOwner, *, names_systems: bool) -> ClaimText:
    """The claims of a text as they stand now. The number of queries does not grow with them.

    With `names_systems` the reader may know who wrote which peer summary.
    """
    document_set = document_set_of(owner)
    project = document_set.project
    sets = list(ClaimSet.objects.filter(of_owner(owner)).order_by("-version"))
    active = next((each for each in sets if each.is_active), None)
    rows = _wordings(active)
    claims = [row for row in rows if row.retired_by_id is None]
    history = ClaimHistory.of(rows)
    changes = _changes(active, rows, history)
    units = list(units_of(owner))
    judge = project.deciding_judge
    return ClaimText(
        text_id=owner.public_id,
        name=_name(owner, names_systems=names_systems),
        document_set=document_set.external_id,
        version=active.version if active else None,
        origin=_origin(active) if active else None,
        groups=_groups(owner, units, claims, history, _counts(rows), _settled_by(claims)),
        units=len(units),
        needs_unit=needs_unit(owner, claims),
        is_locked=active is not None and is_judged_as_unit(active),
        judge=judge.name if judge else None,
        run_id=_run_at_work(document_set),
        undo=next((change for change in changes if not change.is_undone), None),
        changes=tuple(changes),
        older=_older([each for each in sets if not each.is_active]),
        texts=_texts(owner, names_systems=names_systems),
    )


def _wordings(claim_set: ClaimSet | None) -> list[Claim]:
    if claim_set is None:
        return []
    claims = Claim.all_claims.filter(claim_set=claim_set)
    return list(claims.select_related("unit", "made_by__by", "retired_by__by").order_by("position", "pk"))


@dataclass(frozen=True, slots=True)
class _CheckCount:
    checks: int = 0
    answered: int = 0
    waiting: int = 0


def _counts(claims: Iterable[Claim]) -> dict[int, _CheckCount]:
    decided = Adjudication.objects.filter(check_row=OuterRef("pk"), withdrawn_at=None)
    rows = (
        Check.objects.filter(claim__in=[claim.pk for claim in claims])
        .annotate(is_decided=Exists(decided))
        .order_by()
        .values("claim_id")
        .annotate(
            checks=Count("pk"),
            answered=Count("pk", filter=Q(human_label__isnull=False) | Q(is_decided=True)),
            waiting=Count("pk", filter=Q(final_label__isnull=True)),
        )
    )
    return {row["claim_id"]: _CheckCount(row["checks"], row["answered"], row["waiting"]) for row in rows}


def _settled_by(claims: Sequence[Claim]) -> dict[int, list[str]]:
    """Who made the decisions that stand on checks of some claims, by the key of the claim."""
    decisions = Adjudication.objects.filter(
        check_row__claim__in=[claim.pk for claim in claims], withdrawn_at=None
    )
    pairs = decisions.order_by("decided_by__username").values_list("check_row__claim", "decided_by__username")
    names: dict[int, list[str]] = defaultdict(list)
    for claim, name in pairs.distinct():
        names[claim].append(name)
    return names


def _groups(
    owner: ClaimOwner,
    units: Sequence[Unit],
    claims: Sequence[Claim],
    history: ClaimHistory,
    counts: Mapping[int, _CheckCount],
    settled: Mapping[int, Sequence[str]],
) -> tuple[ClaimGroup, ...]:
    """Every unit of a summary that is scored by units, else those that have claims; then what belongs to no unit."""
    shows_all = isinstance(owner, Summary) and not has_claims_as_units(claims)
    kind = _name(owner, names_systems=False).kind
    in_unit = Counter(claim.unit_id for claim in claims)
    by_unit: dict[int | None, list[ClaimInForce]] = defaultdict(list)
    for claim in claims:
        loss = ClaimLoss(
            kind=kind,
            unit=claim.unit.position if claim.unit else None,
            left_in_unit=in_unit[claim.unit_id] - 1,
            left_in_text=len(claims) - 1,
            stands_for_unit=not shows_all,
        )
        settlers = tuple(settled.get(claim.pk, ()))
        by_unit[claim.unit_id].append(_line(claim, history, counts, loss, settlers))
    groups = [
        ClaimGroup(unit.position, words_of_unit(owner, unit), tuple(by_unit.get(unit.pk, ())))
        for unit in units
        if shows_all or unit.pk in by_unit
    ]
    known = {unit.pk for unit in units}
    loose = [line for key, lines in by_unit.items() if key not in known for line in lines]
    if loose:
        groups.append(ClaimGroup(None, "", tuple(loose)))
    return tuple(groups)


def _line(
    claim: Claim,
    history: ClaimHistory,
    counts: Mapping[int, _CheckCount],
    loss: ClaimLoss,
    settlers: tuple[str, ...],
) -> ClaimInForce:
    count = counts.get(claim.pk, _CheckCount())
    change = claim.made_by
    return ClaimInForce(
        claim_id=claim.public_id,
        position=claim.position,
        text=claim.text,
        origin=claim.origin,
        made_by=change.by.username if change is not None and change.by is not None else None,
        reason=change.reason if change is not None else "",
        weight=claim.weight,
        checks=count.checks,
        answered=count.answered,
        waiting=count.waiting,
        before=tuple(_wording(row, counts) for row in history.earlier(claim)),
        loss=loss,
        settlers=settlers,
    )


def _wording(claim: Claim, counts: Mapping[int, _CheckCount]) -> Wording:
    change = claim.retired_by
    assert change is not None, "found by the change that took it away"
    return Wording(
        claim_id=claim.public_id,
        text=claim.text,
        kind=change.get_kind_display(),
        by=change.by.username if change.by else None,
        at=change.created_at,
        reason=change.reason,
        answers=counts.get(claim.pk, _CheckCount()).answered,
    )


def _changes(claim_set: ClaimSet | None, rows: Sequence[Claim], history: ClaimHistory) -> list[ClaimAct]:
    """The acts of people on a list of claims, the latest first."""
    if claim_set is None:
        return []
    made: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        if row.made_by_id is not None:
            made[row.made_by_id].append(row.text)
    changes = ClaimChange.objects.filter(claim_set=claim_set).select_related("by").order_by("-pk")
    return [
        ClaimAct(
            change_id=change.public_id,
            kind=change.kind,
            in_words=change.get_kind_display(),
            by=change.by.username if change.by else None,
            at=change.created_at,
            reason=change.reason,
            is_undone=change.undone_at is not None,
            before=tuple(claim.text for claim in history.by_change.get(change.pk, ())),
            after=tuple(made[change.pk]),
        )
        for change in changes
    ]


def _older(claim_sets: Sequence[ClaimSet]) -> tuple[OlderClaims, ...]:
    texts: dict[int, list[str]] = defaultdict(list)
    claims = Claim.objects.filter(claim_set__in=claim_sets).order_by("position")
    for key, text in claims.values_list("claim_set", "text"):
        texts[key].append(text)
    return tuple(
        OlderClaims(version=each.version, origin=_origin(each), claims=tuple(texts[each.pk]))
        for each in claim_sets
    )


def _origin(claim_set: ClaimSet) -> ListOrigin:
    return ListOrigin(ClaimOrigin(claim_set.origin), claim_set.origin_name)


def _name(owner: ClaimOwner, *, names_systems: bool) -> TextName:
    if isinstance(owner, DocumentSet):
        return TextName("documents")
    if owner.is_model:
        return TextName("model", external_id=owner.external_id, target_words=owner.target_words)
    system = owner.system.name if names_systems and owner.system else ""
    return TextName("peer", system=system, target_words=owner.target_words)


def _texts(owner: ClaimOwner, *, names_systems: bool) -> tuple[OtherText, ...]:
    """The texts of the same set: the documents, model summaries, then peers in an order that tells nothing."""
    document_set = document_set_of(owner)
    summaries = Summary.objects.filter(document_set=document_set).select_related("system")
    owners: list[ClaimOwner] = [document_set, *summaries.order_by("-is_model", "public_id")]
    return tuple(
        OtherText(
            text_id=each.public_id,
            name=_name(each, names_systems=names_systems),
            opening=_opening(each.text) if isinstance(each, Summary) else "",
            is_here=each.public_id == owner.public_id,
        )
        for each in owners
    )


def _opening(text: str) -> str:
    words = text.split(maxsplit=OPENING_WORDS)
    return f"{' '.join(words[:OPENING_WORDS])} …" if len(words) > OPENING_WORDS else text.strip()


def _run_at_work(document_set: DocumentSet) -> str | None:
    """The run of the deciding judge that will answer what is open in the set."""
    runs = Run.objects.filter(
        state=Run.State.ACTIVE,
        judge__deciding_in=document_set.project,
        jobs__document_set=document_set,
        jobs__state__in=("waiting", "working"),
    )
    return runs.values_list("public_id", flat=True).first()
