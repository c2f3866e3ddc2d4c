"""What assessors answered to the quality questions, by system. Not for the blind."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.leaderboard.leaderboard import ALL, Targets
from annotation.models import SummaryJudgment
from evaluation.metrics import QualityQuestion, quality_questions

if TYPE_CHECKING:
    from annotation.models import Project

QualityAnswers = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class QualityMean:
    """The macro mean of the answers to one question: over assessors, then summaries, then document sets.

    None where nobody answered; `n` counts the document sets with an answer.
    """

    question: str
    mean: float | None
    n: int


@dataclass(frozen=True, slots=True)
class QualityRow:
    """One system's means, in the order of the questions. `summaries` counts those with answers."""

    system: str
    system_id: str
    summaries: int
    means: tuple[QualityMean, ...]


@dataclass(frozen=True, slots=True)
class QualityTable:
    """The systems at one target length, by name. The values of the answers are those of the questions."""

    target_words: int | None
    questions: tuple[QualityQuestion, ...]
    rows: tuple[QualityRow, ...]


def quality_tables(project: Project, *, target_words: int | Targets | None = ALL) -> list[QualityTable]:
    """The answers of closed assignments to the project's questions, per target length or for the one named. One query.

    Target lengths without answers are left out.
    """
    questions = quality_questions(project.question_set, project.own_questions)
    if not questions:
        return []
    said = SummaryJudgment.objects.filter(
        assignment__document_set__project=project,
        assignment__closed_at__isnull=False,
        is_current=True,
    ).exclude(quality_answers={})
    if not isinstance(target_words, Targets):
        said = said.filter(peer__target_words=target_words)
    tables: dict[int | None, dict[tuple[str, str], _OfSystem]] = defaultdict(lambda: defaultdict(_OfSystem))
    for target, system, system_id, document_set, peer, answers in said.order_by().values_list(
        "peer__target_words",
        "peer__system__name",
        "peer__system__public_id",
        "peer__document_set_id",
        "peer_id",
        "quality_answers",
    ):
        tables[target][system, system_id].add(document_set, peer, answers)
    return [
        QualityTable(
            target_words=target,
            questions=questions,
            rows=tuple(
                QualityRow(
                    system=system, system_id=system_id, summaries=of.summaries, means=of.means(questions)
                )
                for (system, system_id), of in sorted(tables[target].items())
            ),
        )
        for target in sorted(tables, key=lambda target: (target is None, target or 0))
    ]


class _OfSystem:
    """The answers about one system's summaries at one target length."""

    def __init__(self) -> None:
        self._sets: dict[int, dict[int, list[QualityAnswers]]] = defaultdict(lambda: defaultdict(list))

    def add(self, document_set: int, peer: int, answers: QualityAnswers) -> None:
        self._sets[document_set][peer].append(answers)

    @property
    def summaries(self) -> int:
        return sum(len(peers) for peers in self._sets.values())

    def means(self, questions: Iterable[QualityQuestion]) -> tuple[QualityMean, ...]:
        return tuple(self._mean(question.id) for question in questions)

    def _mean(self, question: str) -> QualityMean:
        of_sets = [
            of_set
            for peers in self._sets.values()
            if (of_set := _mean(_mean(each.get(question) for each in said) for said in peers.values()))
            is not None
        ]
        return QualityMean(question=question, mean=_mean(of_sets), n=len(of_sets))


def _mean(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None
