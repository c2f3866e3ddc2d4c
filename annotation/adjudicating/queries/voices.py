"""The answers that an adjudicator weighs: nameless, in an order of their own for each adjudicator.

Whose answer is which, and which one is a judge's, is not told: a letter names each, by a hash of what was asked,
who looks, and the row. The page that explains a score names everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Q
from django.utils.crypto import salted_hmac

from annotation.models import (
    Check,
    Claim,
    Project,
    PublishedPercent,
    UnitJudgment,
    Verdict,
)
from annotation.models.judgment import COUNTING
from annotation.scoring.judge_percents import judge_percents
from annotation.scoring.overtaken import OVERTAKEN
from evaluation.judging import LABEL_VALUES

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Adjudication, Comparison, Dispute, Unit

TOKEN_LENGTH = 16


@dataclass(frozen=True, slots=True)
class SelectedPassage:
    """A passage that was selected: characters `start` to `end` of the unit of that number."""

    unit: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NamelessVoice:
    """One answer without its name.

    `token` stands for the row towards this adjudicator alone, and changes when its owner answers anew. `value`
    is the answer in [0, 1]: yes 1, unsure .5, no 0, or the percent divided by 100. `evidence` are the numbers of
    the units that it points to. `is_own` tells that the adjudicator gave it.
    """

    token: str
    letter: str
    value: float
    label: str | None
    percent: int | None
    reason: str
    error_type: str
    evidence: tuple[int, ...]
    quotes: tuple[SelectedPassage, ...]
    is_own: bool
    verdict: Verdict | None = None
    judgment: UnitJudgment | None = None

    @property
    def answer(self) -> str:
        """The answer in words."""
        return self.label if self.label is not None else f"{self.percent} %"


def voices_on_check(check: Check, person: User) -> tuple[NamelessVoice, ...]:
    """What each reviewer says of a check by now and, where the project counts it, its deciding judge.

    An answer that another one overtook is the voice of whoever has said nothing since.
    """
    project = check.project
    is_heard = Q(withdrawn_at=None) | OVERTAKEN
    rows = Verdict.objects.filter(is_heard, check_row=check, label__isnull=False).order_by("pk")
    latest: dict[object, Verdict] = {}
    for verdict in rows:
        if verdict.source == Verdict.Source.REVIEWER:
            latest[verdict.person_id or verdict.origin_name] = verdict
        elif project.dispute_voices == Project.Voices.JUDGE and verdict.judge_id == project.deciding_judge_id:
            latest["judge", verdict.judge_id] = verdict
    name = f"check {check.public_id}"
    return _lettered(_of_verdict(verdict, person, name) for verdict in latest.values())


def voices_on_unit(comparison: Comparison, unit: Unit | Claim, person: User) -> tuple[NamelessVoice, ...]:
    """Each submitted percent of a unit, hidden repeats left out, those of published tables, and, where the project
    counts it, the deciding judge's share of yes in the steps of the percent scale."""
    name = f"unit {comparison.public_id} {unit.public_id}"
    return _lettered(_on_unit(comparison, unit, person, name))


def voices_on(row: Dispute | Adjudication, person: User) -> tuple[NamelessVoice, ...]:
    """The answers that a dispute is about, or that a decision settled, as this adjudicator sees them."""
    place = row.place
    if isinstance(place, Check):
        return voices_on_check(place, person)
    return voices_on_unit(place, row.unit_judged, person)


def has_judged(place: Check | Comparison, unit: Unit | Claim | None, person: User) -> bool:
    """Whether the person ever answered a check, or gave a percent to a unit of a comparison.

    Also where they took the answer back, or where the work was taken from them: they have an opinion still.
    """
    if isinstance(place, Check):
        return Verdict.objects.filter(check_row=place, person=person).exists()
    asked: dict[str, Any] = {"claim": unit} if isinstance(unit, Claim) else {"unit": unit}
    given = UnitJudgment.objects.filter(
        **asked, assignment__comparison=place, assignment__sitting__assessor=person, percent__isnull=False
    )
    return given.exists()


def is_left_to_others(
    project: Project, place: Check | Comparison, unit: Unit | Claim | None, person: User
) -> bool:
    """Whether the person has judged it, and the project leaves the settling of such things to somebody else."""
    return not project.own_adjudication and has_judged(place, unit, person)


class Most(NamedTuple):
    """An answer that more than half of the voices gave: one of them, and how many there are."""

    voice: NamelessVoice
    times: int


def said_by_most(voices: Sequence[NamelessVoice]) -> Most | None:
    """The answer that more than half of the voices gave, if there is one."""
    for voice in voices:
        times = sum(other.answer == voice.answer for other in voices)
        if times * 2 > len(voices):
            return Most(voice, times)
    return None


def adopted(voices: Sequence[NamelessVoice], token: str) -> NamelessVoice | None:
    """The voice of that token, None where it is no longer among them."""
    return next((voice for voice in voices if voice.token == token), None)


def _on_unit(comparison: Comparison, unit: Unit | Claim, person: User, name: str) -> Iterator[NamelessVoice]:
    project = comparison.peer.document_set.project
    place: dict[str, Any] = {"claim": unit} if isinstance(unit, Claim) else {"unit": unit}
    judgments = UnitJudgment.objects.filter(
        COUNTING, **place, assignment__comparison=comparison
    ).select_related("assignment__sitting")
    for judgment in judgments.order_by("pk"):
        yield _percent(
            judgment.percent or 0,
            token=_token(name, person, judgment.public_id),
            marks=judgment.marks,
            note=judgment.note,
            is_own=judgment.assignment.sitting.assessor_id == person.pk,
            judgment=judgment,
        )
    if not isinstance(unit, Claim):
        for said in PublishedPercent.objects.filter(comparison=comparison, unit=unit).order_by("pk"):
            yield _percent(said.percent, token=_token(name, person, said.public_id), marks=said.marks)
    if project.dispute_voices == Project.Voices.JUDGE and project.deciding_judge is not None:
        for share in judge_percents([comparison.peer_id]):
            if (share.comparison_id, share.unit_id) == (comparison.pk, unit.public_id) and (
                share.judge == project.deciding_judge.name
            ):
                # As an assessor could have given it: 33 % would tell that it is the judge's.
                percent = project.percent_step * round(share.percent / project.percent_step)
                yield _percent(percent, token=_token(name, person, f"judge {share.at}"), marks=share.marks)


def _of_verdict(verdict: Verdict, person: User, name: str) -> NamelessVoice:
    assert verdict.label is not None, "the filter asks for labels"
    return NamelessVoice(
        token=_token(name, person, verdict.public_id),
        letter="",
        value=LABEL_VALUES[verdict.label],
        label=verdict.label,
        percent=None,
        reason=verdict.reason,
        error_type=verdict.error_type,
        evidence=tuple(verdict.evidence),
        quotes=tuple(
            SelectedPassage(quote["unit"], quote["start"], quote["end"]) for quote in verdict.quotes
        ),
        is_own=verdict.person_id == person.pk,
        verdict=verdict,
    )


def _percent(
    percent: float,
    *,
    token: str,
    marks: Iterable[int],
    note: str = "",
    is_own: bool = False,
    judgment: UnitJudgment | None = None,
) -> NamelessVoice:
    return NamelessVoice(
        token=token,
        letter="",
        value=percent / 100,
        label=None,
        percent=round(percent),
        reason=note,
        error_type="",
        evidence=tuple(marks),
        quotes=(),
        is_own=is_own,
        judgment=judgment,
    )


def _token(name: str, person: User, row: str) -> str:
    return salted_hmac("coverdict.voice", f"{name} {person.pk} {row}").hexdigest()[:TOKEN_LENGTH]


def _lettered(voices: Iterable[NamelessVoice]) -> tuple[NamelessVoice, ...]:
    shuffled = sorted(voices, key=lambda voice: voice.token)
    return tuple(replace(voice, letter=_letter(place)) for place, voice in enumerate(shuffled))


def _letter(place: int) -> str:
    """A to Z, then AA, AB, and so on."""
    first, last = divmod(place, len(ascii_uppercase))
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[last]
