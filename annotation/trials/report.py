"""The cost of new guidelines: how many answers a trial changed, in which direction, and the effect on systems."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count

from annotation.analysis.leaderboard.leaderboards import board
from annotation.models import SIDE_SCORES, AnswerAgain, Check, GuidelineTrial, Label, Verdict
from annotation.models.document import cluster_of
from annotation.sampling.queries.check_samples import blind_answers
from evaluation.statistics import MeanDifference, mean_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.models import QuerySet

    from annotation.models import Guideline, Project

TRIALS_SHOWN = 10
GIVEN = (
    *("verdict__label", "label", "is_control", "check_row__peer__system__name"),
    *("check_row__document_set__external_id", "check_row__document_set__group"),
)


@dataclass(frozen=True, slots=True)
class AnsweredVersion:
    """The number of claims with a blind answer under an older version of the guidelines."""

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

    `change` has the change of its share of yes under the new guidelines as `first`, from `answers` answers, and under
    the old ones as `second`; it is None without an answer under either. `average` is the leaderboard's value now, and
    `expected` that value plus the difference, within [0, 1]. `rank` and `expected_rank` count from 1. These four are
    None without an average or an interval of the change, and once the answers count.
    """

    system: str
    answers: int
    change: MeanDifference | None
    average: float | None = None
    expected: float | None = None
    rank: int | None = None
    expected_rank: int | None = None

    @property
    def is_certain(self) -> bool:
        """Return True if the interval of the change does not contain 0."""
        change = self.change
        return change is not None and change.low is not None and change.low * (change.high or 0.0) > 0


@dataclass(frozen=True, slots=True)
class TrialCost:
    """The cost of a change of guidelines.

    `changed` has the share of changed answers under the new guidelines as `first` and under the old ones as `second`.
    `new` and `old` count the answers. `moves` has the most frequent change first, `systems` the expected best first.
    """

    new: int
    old: int
    changed: MeanDifference
    moves: tuple[Move, ...]
    systems: tuple[SystemEffect, ...]

    @property
    def sentence(self) -> str:
        """Say how many more answers changed than without new guidelines, and within which bounds."""
        low, high = self.changed.low, self.changed.high
        if low is None or high is None:
            bounds = "too few document sets to say how certain"
        else:
            bounds = (
                f"between {_more(low)} and {_more(high)}{'; this can be chance' if low <= 0 <= high else ''}"
            )
        more = _more(self.changed.difference)
        return (
            f"Of {self.new + self.old} answers given again, the new guidelines changed {more} "
            f"than asking twice under the old ones does ({bounds})."
        )

    @property
    def certain(self) -> list[str]:
        """Name the systems whose change is beyond chance."""
        return [row.system for row in self.systems if row.is_certain]

    @property
    def is_reordered(self) -> bool:
        return any(row.rank != row.expected_rank for row in self.systems)


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial of guidelines. `waiting` answers are missing; `cost` is None until none is missing.

    Claims that were reworded or removed since the start are not `asked` unless they were answered before.
    """

    trial_id: str
    score: str
    old_version: int
    new_version: int
    by_others: bool
    created_at: datetime
    asked: int
    waiting: int
    decision: str
    decided_at: datetime | None
    cost: TrialCost | None

    @property
    def answered(self) -> int:
        return self.asked - self.waiting


def _more(share: float) -> str:
    return f"{abs(round(100 * share))} % {'less' if round(100 * share) < 0 else 'more'}"


def answered_blind(project: Project, *, old: Guideline | None = None, side: str = "") -> QuerySet[Verdict]:
    """Select blind answers of people to checks that can be answered again, of one version and side if given."""
    given = blind_answers(project).filter(withdrawn_at=None, check_row__is_current=True)
    given = given.exclude(check_row__final_source=Check.Decider.RULE)
    given = given.filter(check_row__side=side) if side else given.filter(check_row__side__in=SIDE_SCORES)
    return given.filter(guideline=old) if old else given


def answered_versions(project: Project, current: int) -> list[AnsweredVersion]:
    """Count the claims with a blind answer by version older than `current` and by score, newest version first."""
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
    is_measured = (
        not waiting and any(row.is_control for row in given) and not all(row.is_control for row in given)
    )
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
        cost=_cost(given, _averages(project, trial)) if is_measured else None,
    )


class _Given(NamedTuple):
    """The fields are in the order of `GIVEN`."""

    before: str
    after: str
    is_control: bool
    system: str
    document_set: str
    group: str

    @property
    def document(self) -> str:
        return cluster_of(self.document_set, self.group)

    @property
    def is_changed(self) -> bool:
        return self.before != self.after

    @property
    def gain(self) -> int:
        return (self.after == Label.YES) - (self.before == Label.YES)


def _averages(project: Project, trial: GuidelineTrial) -> dict[str, float]:
    """The averages before the answers count, by system, at the target length that is shown first."""
    if trial.decision in (GuidelineTrial.Decision.MIX, GuidelineTrial.Decision.NEW):
        return {}
    score = SIDE_SCORES[Check.Side(trial.side)]
    found, _ = board(project, score=score, wait=False)
    rows = found.foremost.rows if found and found.foremost else ()
    means = {row.system: row.scores[score].mean for row in rows}
    return {system: mean for system, mean in means.items() if mean is not None}


def _cost(given: Sequence[_Given], averages: Mapping[str, float]) -> TrialCost:
    new, old = [row for row in given if not row.is_control], [row for row in given if row.is_control]
    moves: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for row in given:
        if row.is_changed:
            moves[row.before, row.after][row.is_control] += 1
    return TrialCost(
        new=len(new),
        old=len(old),
        changed=mean_difference(
            [(row.document, float(row.is_changed)) for row in new],
            [(row.document, float(row.is_changed)) for row in old],
        ),
        moves=tuple(
            Move(*labels, counts[False], counts[True])
            for labels, counts in sorted(moves.items(), key=lambda move: (-move[1][False], move[0]))
        ),
        systems=_effects(new, old, averages),
    )


def _effects(
    new: Sequence[_Given], old: Sequence[_Given], averages: Mapping[str, float]
) -> tuple[SystemEffect, ...]:
    systems = sorted({row.system for row in new})
    gains = [
        {name: [(row.document, float(row.gain)) for row in rows if row.system == name] for name in systems}
        for rows in (new, old)
    ]
    changes = {
        name: mean_difference(gains[0][name], gains[1][name], lowest=-1.0)
        for name in systems
        if gains[1][name]
    }
    known = {name for name, change in changes.items() if change.low is not None}
    now = {name: averages[name] for name in known & averages.keys()}
    expected = {name: min(1.0, max(0.0, mean + changes[name].difference)) for name, mean in now.items()}
    effects = [
        SystemEffect(
            system=name,
            answers=len(gains[0][name]),
            change=changes.get(name),
            average=now.get(name),
            expected=expected.get(name),
            rank=_rank(now, name),
            expected_rank=_rank(expected, name),
        )
        for name in systems
    ]
    return tuple(sorted(effects, key=lambda row: (row.expected_rank or len(effects) + 1, row.system)))


def _rank(means: Mapping[str, float], system: str) -> int | None:
    return 1 + sum(mean > means[system] for mean in means.values()) if system in means else None
