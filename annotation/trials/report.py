"""The cost of new guidelines: the answers that a trial changed, and the effect on systems."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count

from annotation.analysis.leaderboard.leaderboards import board
from annotation.models import SIDE_SCORES, AnswerAgain, Check, GuidelineTrial, Label, Verdict
from annotation.models.document import cluster_of
from annotation.sampling.queries.check_samples import blind_answers
from evaluation.statistics import MeanDifference, ValueOf, mean_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.models import QuerySet

    from annotation.models import Guideline, Project

TRIALS_SHOWN = 10
GIVEN = (
    *("verdict__label", "label", "is_control", "check_row__summary__system__name"),
    *("check_row__document_set__external_id", "check_row__document_set__group"),
)


@dataclass(frozen=True, slots=True)
class AnsweredVersion:
    """The number of checks with a blind answer under an older version that can be answered again."""

    version: int
    score: str
    claims: int


@dataclass(frozen=True, slots=True)
class Move:
    """The numbers of answers that changed from one label to another, under the new and the old guidelines."""

    before: str
    after: str
    new: int
    old: int


@dataclass(frozen=True, slots=True)
class SystemEffect:
    """The effect of the new guidelines on a system.

    `change` compares the changes of the system's share of yes: `first` under the new guidelines, from `answers`
    answers, and `second` under the old ones. `change` is None without an answer under the old ones. `average` is the
    leaderboard's present value; None if there is none, or once the answers count. `expected` is `average` plus the
    difference of `change`, if that has an interval, within [0, 1].
    """

    system: str
    answers: int
    change: MeanDifference | None
    average: float | None
    expected: float | None


@dataclass(frozen=True, slots=True)
class TrialCost:
    """The cost of a change of guidelines.

    `changed` compares the shares of changed answers: `first` under the new guidelines, `second` under the old ones.
    `new` and `old` count the answers. `moves` has the most frequent change under the new guidelines first, `systems`
    the expected best first.
    """

    new: int
    old: int
    changed: MeanDifference
    moves: tuple[Move, ...]
    systems: tuple[SystemEffect, ...]

    @property
    def sentence(self) -> str:
        """Return a sentence about the share of answers that the new guidelines change."""
        changed = self.changed
        about, low, high = (_of_hundred(share) for share in (changed.difference, changed.low, changed.high))
        change = f"The new guidelines change about {about} of 100 answers"
        if changed.low is None:
            return f"{change}. There are too few document sets to say how exact that is."
        if high == 0:
            return "The new guidelines change no more answers than asking again under the old ones."
        if about == 0:
            return f"The new guidelines change no answers, or few: up to {high} of 100 is possible."
        if low == 0:
            return f"{change}, or none: with so few answers, anything from 0 to {high} is possible."
        return f"{change}: at least {low} and at most {high}."

    @property
    def certain(self) -> list[str]:
        """Name the systems for which the interval of the change does not contain 0."""
        changes = [(row.system, row.change) for row in self.systems]
        return [name for name, change in changes if change and (change.low or 0.0) * (change.high or 0.0) > 0]

    @property
    def is_reordered(self) -> bool:
        """Return True if the expected averages, which order `systems`, have another order than the present ones."""
        averages = [row.average or 0.0 for row in self.systems]
        return averages != sorted(averages, reverse=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial of guidelines. `waiting` counts the missing answers; `cost` is None while answers are missing.

    `asked` counts the given and the missing answers; claims that were reworded or removed before an answer are left
    out.
    """

    trial_id: str
    score: str
    old_version: int
    new_version: int
    by_others: bool
    created_at: datetime
    asked: int
    waiting: int
    decision: str | None
    decided_at: datetime | None
    cost: TrialCost | None

    @property
    def answered(self) -> int:
        return self.asked - self.waiting


def _of_hundred(share: float | None) -> int:
    return max(0, round(100 * (share or 0.0)))


def answered_blind(project: Project, *, old: Guideline | None = None, side: str = "") -> QuerySet[Verdict]:
    """Select blind answers of people to checks that can be answered again, of one version and side if given."""
    given = blind_answers(project).filter(withdrawn_at=None, check_row__is_current=True)
    given = given.exclude(check_row__final_source=Check.Decider.RULE)
    given = given.filter(check_row__side=side) if side else given.filter(check_row__side__in=SIDE_SCORES)
    return given.filter(guideline=old) if old else given


def answered_versions(project: Project, current: int) -> list[AnsweredVersion]:
    """Count the checks with a blind answer that can be answered again, by version of the guidelines and by score.

    Only versions below the number `current` count. The newest version is first.
    """
    given = answered_blind(project).filter(guideline__version__lt=current).order_by("-guideline__version")
    rows = given.values_list("guideline__version", "check_row__side")
    counted = rows.annotate(claims=Count("check_row", distinct=True))
    return [AnsweredVersion(version, SIDE_SCORES[side], claims) for version, side, claims in counted]


def waiting_in(trial: GuidelineTrial) -> QuerySet[AnswerAgain]:
    """Select the rows of a trial that wait for an answer."""
    return trial.answers.filter(label=None, check_row__is_current=True)


def trials(project: Project, *, only: str = "") -> list[Trial]:
    """Load the latest trials, newest first, or only the trial with the public id `only`."""
    found = GuidelineTrial.objects.filter(project=project).select_related("old", "new")
    found = found.filter(public_id=only) if only else found[:TRIALS_SHOWN]
    return [_trial(project, trial) for trial in found]


def _trial(project: Project, trial: GuidelineTrial) -> Trial:
    waiting = waiting_in(trial).count()
    given = [_Given(*row) for row in trial.answers.filter(label__isnull=False).values_list(*GIVEN)]
    new, old = [row for row in given if not row.is_control], [row for row in given if row.is_control]
    return Trial(
        trial_id=trial.public_id,
        score=SIDE_SCORES[Check.Side(trial.side)],
        old_version=trial.old.version,
        new_version=trial.new.version,
        by_others=trial.by_others,
        created_at=trial.created_at,
        asked=len(given) + waiting,
        waiting=waiting,
        decision=trial.decision,
        decided_at=trial.decided_at,
        cost=None if waiting or not new or not old else _cost(new, old, _averages(project, trial)),
    )


class _Given(NamedTuple):
    before: str
    after: str
    is_control: bool
    system: str
    document_set: str
    group: str

    @property
    def change(self) -> ValueOf:
        return cluster_of(self.document_set, self.group), float(self.before != self.after)

    @property
    def gain(self) -> ValueOf:
        gain = (self.after == Label.YES) - (self.before == Label.YES)
        return cluster_of(self.document_set, self.group), float(gain)


def _averages(project: Project, trial: GuidelineTrial) -> dict[str, float | None]:
    if trial.decision not in (None, GuidelineTrial.Decision.DROP):
        return {}
    score = SIDE_SCORES[Check.Side(trial.side)]
    found, _ = board(project, score=score, wait=False)
    rows = found.foremost.rows if found and found.foremost else ()
    return {row.system: row.scores[score].mean for row in rows}


def _cost(new: Sequence[_Given], old: Sequence[_Given], averages: Mapping[str, float | None]) -> TrialCost:
    moves, control = (
        Counter((row.before, row.after) for row in rows if row.before != row.after) for rows in (new, old)
    )
    effects = [
        _effect(
            name,
            [row.gain for row in new if row.system == name],
            [row.gain for row in old if row.system == name],
            averages.get(name),
        )
        for name in sorted({row.system for row in new})
    ]
    return TrialCost(
        new=len(new),
        old=len(old),
        changed=mean_difference([row.change for row in new], [row.change for row in old]),
        moves=tuple(
            Move(*labels, moves[labels], control[labels])
            for labels in sorted(moves.keys() | control.keys(), key=lambda each: (-moves[each], each))
        ),
        systems=tuple(sorted(effects, key=lambda row: -(row.expected or 0.0))),
    )


def _effect(
    system: str, new: Sequence[ValueOf], old: Sequence[ValueOf], average: float | None
) -> SystemEffect:
    change = mean_difference(new, old, lowest=-1.0) if old else None
    gain = change.difference if change and change.low is not None else 0.0
    expected = None if average is None else min(1.0, max(0.0, average + gain))
    return SystemEffect(system, len(new), change, average, expected)
