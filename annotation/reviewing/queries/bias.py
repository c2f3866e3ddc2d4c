"""The bias watch: how far reviewers follow the judge, from what they said before and after they saw its verdict.

Everything rests on answers that people gave here; what was said elsewhere and imported tells nothing of what its
authors had seen. A person's first answer to a check is their first verdict, their final one the last that they did not
take back. A first answer that was set aside, since somebody else had answered otherwise, is one too. The judge is the
project's deciding judge, its verdict the one that stands now.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from django.contrib.auth.models import User
from django.db import connection

from annotation.reviewing.queries import sql
from evaluation.statistics import cohen_kappa

if TYPE_CHECKING:
    from annotation.models import Project

FEWEST = 10
"""Below so many cases nothing is said of a share, a median or a kappa."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of some cases: `count` of `n`."""

    count: int = 0
    n: int = 0

    @property
    def is_few(self) -> bool:
        """Too few cases to say anything."""
        return self.n < FEWEST

    @property
    def value(self) -> float | None:
        """The share, in [0, 1]; None where the cases are too few to say."""
        return None if self.is_few else self.count / self.n


@dataclass(frozen=True, slots=True)
class TimeAtClaim:
    """The time at a claim, idle time left out, over `n` answered checks of which any time was recorded.

    `median_ms` is None where they are too few to say.
    """

    median_ms: float | None = None
    n: int = 0

    @property
    def is_few(self) -> bool:
        return self.n < FEWEST


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agree who answered the same checks knowing nothing of the judge's verdict.

    `pairs` counts a person's first answer beside that of one other person to the same check; for the whole project
    each such pair once. `kappa` is Cohen's over these pairs, 1 complete, 0 chance; None where they are too few
    to say, and where all answers are the same.
    """

    agreed: int = 0
    pairs: int = 0
    kappa: float | None = None

    @property
    def is_few(self) -> bool:
        return self.pairs < FEWEST

    @property
    def share(self) -> float | None:
        return None if self.is_few else self.agreed / self.pairs


@dataclass(frozen=True, slots=True)
class Bias:
    """What is known of one reviewer, or of all together where `person` is empty.

    `answers` counts the checks that hold an answer of theirs; `in_lists` those where they accepted a list of the
    judge's verdicts. Of the others: `overridden_unseen` and `overridden_seen` are final answers other than the
    judge's, of those given knowing nothing of it and of those given with its verdict in sight. `switched` are
    checks whose final answer is the judge's, of those answered otherwise at first, before it was revealed; those
    where a control item was shown in its place, or where they met somebody else's answer before, are left out.
    `withstood` are control items that the person did not hold when they were told, of those that went
    against their first answer or came before it; `planted_already` counts those left out, where they had given the
    same wrong answer by themselves.
    """

    person: str
    answers: int
    in_lists: Rate
    overridden_unseen: Rate
    overridden_seen: Rate
    switched: Rate
    withstood: Rate
    planted_already: int
    time: TimeAtClaim
    agreement: Agreement


@dataclass(frozen=True, slots=True)
class BiasWatch:
    """Every reviewer who has answered anything here, by name, and all of them together."""

    project: Bias
    people: tuple[Bias, ...]


class _Counts(NamedTuple):
    """What one statement counts of a person, and what may be summed over people."""

    answers: int = 0
    in_lists: int = 0
    unseen: int = 0
    overridden_unseen: int = 0
    seen: int = 0
    overridden_seen: int = 0
    differed: int = 0
    switched: int = 0
    planted: int = 0
    withstood: int = 0
    planted_already: int = 0


@dataclass(slots=True)
class _Table:
    """First answers beside those of others, by both labels."""

    cells: Counter[tuple[str, str]] = field(default_factory=Counter)

    def agreement(self, *, both_ways: bool = False) -> Agreement:
        """`both_ways` tells that every pair stands in it from either side."""
        pairs, agreed = self.cells.total(), sum(n for (own, other), n in self.cells.items() if own == other)
        sides = 2 if both_ways else 1
        found = Agreement(agreed=agreed // sides, pairs=pairs // sides)
        if found.is_few:
            return found
        own = [label for (label, _), n in sorted(self.cells.items()) for _ in range(n)]
        others = [label for (_, label), n in sorted(self.cells.items()) for _ in range(n)]
        return Agreement(agreed=found.agreed, pairs=found.pairs, kappa=cohen_kappa(own, others))


def bias_watch(project: Project) -> BiasWatch:
    """What is known of the project's reviewers. Four queries, however many there are."""
    counts, times, tables = _counts(project), _times(project), _tables(project)
    names = dict(User.objects.filter(pk__in=counts).values_list("pk", "username"))
    people = sorted(counts, key=lambda person: names[person])
    everybody = _Table()
    for table in tables.values():
        everybody.cells.update(table.cells)
    return BiasWatch(
        project=_bias(
            "", _sum(counts.values()), times.get(None, TimeAtClaim()), everybody.agreement(both_ways=True)
        ),
        people=tuple(
            _bias(
                names[person],
                counts[person],
                times.get(person, TimeAtClaim()),
                tables.get(person, _Table()).agreement(),
            )
            for person in people
        ),
    )


def _bias(person: str, counts: _Counts, time: TimeAtClaim, agreement: Agreement) -> Bias:
    return Bias(
        person=person,
        answers=counts.answers,
        in_lists=Rate(counts.in_lists, counts.answers),
        overridden_unseen=Rate(counts.overridden_unseen, counts.unseen),
        overridden_seen=Rate(counts.overridden_seen, counts.seen),
        switched=Rate(counts.switched, counts.differed),
        withstood=Rate(counts.withstood, counts.planted),
        planted_already=counts.planted_already,
        time=time,
        agreement=agreement,
    )


def _sum(counts: Iterable[_Counts]) -> _Counts:
    return _Counts(*(sum(column) for column in zip(_Counts(), *counts, strict=True)))


def _counts(project: Project) -> dict[int, _Counts]:
    with connection.cursor() as cursor:
        cursor.execute(sql.BIAS_COUNTS, [project.pk] * 2)
        return {person: _Counts(*map(int, found)) for person, *found in cursor.fetchall()}


def _times(project: Project) -> Mapping[int | None, TimeAtClaim]:
    """By person, and of all together under None."""
    with connection.cursor() as cursor:
        cursor.execute(sql.BIAS_TIMES, [project.pk])
        found = cursor.fetchall()
    return {
        person: TimeAtClaim(median_ms=float(median) if n >= FEWEST else None, n=int(n))
        for person, median, n in found
    }


def _tables(project: Project) -> Mapping[int, _Table]:
    tables: dict[int, _Table] = defaultdict(_Table)
    with connection.cursor() as cursor:
        cursor.execute(sql.BIAS_PAIRS, [project.pk])
        for person, own, other, n in cursor.fetchall():
            tables[person].cells[own, other] += n
    return tables
