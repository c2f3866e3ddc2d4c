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

from evaluation import cohen_kappa

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
class Time:
    """Time at a claim, idle time left out, over `n` answered checks of which any time was recorded.

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

    `answers` counts the checks that hold an answer of theirs; `in_lists` those where they took over a list of the
    judge's verdicts. Of the others: `overridden_unseen` and `overridden_seen` are final answers other than the
    judge's, of those given knowing nothing of it and of those given with its verdict in sight. `switched` are
    checks whose final answer is the judge's, of those answered otherwise at first, before it was revealed; those
    where a planted verdict was shown in its place, or where they met somebody else's answer before, are left out.
    `withstood` are planted wrong verdicts that the person did not hold when they were told, of those that went
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
    time: Time
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
            "", _sum(counts.values()), times.get(None, Time()), everybody.agreement(both_ways=True)
        ),
        people=tuple(
            _bias(
                names[person],
                counts[person],
                times.get(person, Time()),
                tables.get(person, _Table()).agreement(),
            )
            for person in people
        ),
    )


def _bias(person: str, counts: _Counts, time: Time, agreement: Agreement) -> Bias:
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
        cursor.execute(_COUNTS, [project.pk] * 2)
        return {person: _Counts(*map(int, found)) for person, *found in cursor.fetchall()}


def _times(project: Project) -> Mapping[int | None, Time]:
    """By person, and of all together under None."""
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, [project.pk])
        found = cursor.fetchall()
    return {
        person: Time(median_ms=float(median) if n >= FEWEST else None, n=int(n))
        for person, median, n in found
    }


def _tables(project: Project) -> Mapping[int, _Table]:
    tables: dict[int, _Table] = defaultdict(_Table)
    with connection.cursor() as cursor:
        cursor.execute(_PAIRS, [project.pk])
        for person, own, other, n in cursor.fetchall():
            tables[person].cells[own, other] += n
    return tables


# By hand: a query of the ORM cannot pick the first and the last row of each person and check and count over them.
_SAID = """
said AS (
    SELECT verdict.id, verdict.check_row_id, verdict.person_id, verdict.label, verdict.shown,
           verdict.active_ms, verdict.batch_id, verdict.withdrawn_at, verdict.is_set_aside, asked.judge_label
    FROM annotation_verdict verdict JOIN annotation_check asked ON asked.id = verdict.check_row_id
    WHERE asked.project_id = %s AND verdict.source = 'reviewer' AND verdict.person_id IS NOT NULL
),
ends AS (
    SELECT check_row_id, person_id, MIN(id) AS first_id,
           MAX(CASE WHEN withdrawn_at IS NULL THEN id END) AS final_id,
           MAX(CASE WHEN is_set_aside THEN id END) AS set_aside_id,
           SUM(CASE WHEN batch_id IS NULL THEN active_ms ELSE 0 END) AS ms
    FROM said GROUP BY check_row_id, person_id
)"""

_COUNTS = f"""
WITH {_SAID},
pairs AS (
    SELECT ends.person_id, began.label AS first_label, began.shown AS first_shown,
           ended.label AS final_label, ended.shown AS final_shown, ended.batch_id, began.judge_label,
           look.revealed_at, look.planted_label, ends.set_aside_id
    FROM ends
    JOIN said began ON began.id = ends.first_id
    LEFT JOIN said ended ON ended.id = ends.final_id
    LEFT JOIN annotation_checklook look
        ON look.check_row_id = ends.check_row_id AND look.person_id = ends.person_id
),
sorted AS (
    SELECT person_id, first_label, final_label, batch_id, judge_label,
           batch_id IS NULL AND judge_label IS NOT NULL AND final_shown IN ('nothing', 'person') AS is_unseen,
           batch_id IS NULL AND judge_label IS NOT NULL AND final_shown = 'judge' AS is_seen,
           first_shown = 'nothing' AND revealed_at IS NOT NULL AND planted_label IS NULL AND set_aside_id IS NULL
               AND final_label IS NOT NULL AND first_label <> judge_label AS has_differed
    FROM pairs
),
told AS (
    SELECT look.person_id, look.planted_label,
           (SELECT CASE WHEN began.shown = 'nothing' THEN began.label END FROM annotation_verdict began
            WHERE began.check_row_id = look.check_row_id AND began.person_id = look.person_id
            ORDER BY began.id LIMIT 1) AS unseen_label,
           (SELECT held.label FROM annotation_verdict held
            WHERE held.check_row_id = look.check_row_id AND held.person_id = look.person_id
              AND held.created_at <= look.disclosed_at
              AND (held.withdrawn_at IS NULL OR held.withdrawn_at > look.disclosed_at OR held.is_set_aside)
            ORDER BY held.id DESC LIMIT 1) AS held_label
    FROM annotation_checklook look JOIN annotation_check asked ON asked.id = look.check_row_id
    WHERE asked.project_id = %s AND look.planted_label IS NOT NULL AND look.disclosed_at IS NOT NULL
),
planted AS (
    SELECT person_id,
           COUNT(CASE WHEN unseen_label IS NULL OR unseen_label <> planted_label THEN 1 END) AS n,
           COUNT(CASE WHEN (unseen_label IS NULL OR unseen_label <> planted_label)
                       AND held_label <> planted_label THEN 1 END) AS withstood,
           COUNT(CASE WHEN unseen_label = planted_label THEN 1 END) AS already
    FROM told WHERE held_label IS NOT NULL GROUP BY person_id
),
counted AS (
    SELECT person_id,
           COUNT(final_label) AS answers,
           COUNT(batch_id) AS in_lists,
           COUNT(CASE WHEN is_unseen THEN 1 END) AS unseen,
           COUNT(CASE WHEN is_unseen AND final_label <> judge_label THEN 1 END) AS overridden_unseen,
           COUNT(CASE WHEN is_seen THEN 1 END) AS seen,
           COUNT(CASE WHEN is_seen AND final_label <> judge_label THEN 1 END) AS overridden_seen,
           COUNT(CASE WHEN has_differed THEN 1 END) AS differed,
           COUNT(CASE WHEN has_differed AND final_label = judge_label THEN 1 END) AS switched
    FROM sorted GROUP BY person_id
)
SELECT counted.person_id, answers, in_lists, unseen, overridden_unseen, seen, overridden_seen, differed, switched,
       COALESCE(planted.n, 0), COALESCE(planted.withstood, 0), COALESCE(planted.already, 0)
FROM counted LEFT JOIN planted ON planted.person_id = counted.person_id
"""  # noqa: S608  # made of this module's own words

_TIMES = f"""
WITH {_SAID},
timed AS (
    SELECT person_id, ms FROM ends WHERE ms > 0 AND final_id IS NOT NULL
    UNION ALL
    SELECT NULL, ms FROM ends WHERE ms > 0 AND final_id IS NOT NULL
),
placed AS (
    SELECT person_id, ms, ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY ms) AS place,
           COUNT(*) OVER (PARTITION BY person_id) AS n
    FROM timed
)
SELECT person_id, AVG(ms), MAX(n) FROM placed
WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY person_id
"""  # noqa: S608  # as above

_PAIRS = f"""
WITH {_SAID},
unseen AS (
    SELECT said.check_row_id, said.person_id, said.label
    FROM ends JOIN said ON said.id = ends.first_id WHERE said.shown = 'nothing'
)
SELECT own.person_id, own.label, other.label, COUNT(*)
FROM unseen own JOIN unseen other
    ON other.check_row_id = own.check_row_id AND other.person_id <> own.person_id
GROUP BY own.person_id, own.label, other.label
"""  # noqa: S608  # as above
