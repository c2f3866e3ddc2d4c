"""The units of a summary, for people who review the segmentation."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from django.db.models import Model

from annotation.core.permissions import is_blind
from annotation.core.refusals import NotAllowed, NotFound
from annotation.models import (
    Assignment,
    CoverageJudgment,
    Job,
    Project,
    Rating,
    Summary,
    Unit,
    Verdict,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

LONGEST_RUN = 24
"""Longer pieces without a space are split into characters."""

ZERO_WIDTH_JOINER = "\u200d"
BREAKS_AFTER = re.compile(r"(?<=[\u2013\u2014\u2026;:/])(?=\w)")


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of a unit; `at` is its offset in the summary's text."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class CutUnit:
    unit_id: str
    number: int
    text: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class TextOfSet:
    """A reference or summary of a document set; `system` and `reference_id` are hidden from people who are blind."""

    summary_id: str
    is_reference: bool
    is_summary: bool
    reference_id: str
    target_words: int | None
    system: str | None


@dataclass(frozen=True, slots=True)
class Cut:
    """The units of a summary; `texts` are the references and summaries of its document set.

    `token` identifies this segmentation.
    """

    text: TextOfSet
    document_set: str
    set_id: str
    token: str
    units: tuple[CutUnit, ...]
    is_judged: bool
    is_running: bool
    texts: tuple[TextOfSet, ...]

    @property
    def is_open(self) -> bool:
        """True if the summary is not judged and no judge works on its document set."""
        return not self.is_judged and not self.is_running


def summary_to_cut(project: Project, person: User, public_id: str) -> Summary:
    """Return the summary with this public id. Raises NotFound, and NotAllowed as `refuse_own_open_set` does."""
    summary = (
        Summary.objects.filter(document_set__project=project, public_id=public_id)
        .select_related("document_set__project", "system")
        .first()
    )
    if summary is None:
        raise NotFound("There is no such summary in this project.")
    refuse_own_open_set(person, summary)
    return summary


def refuse_own_open_set(person: User | None, summary: Summary) -> None:
    """Raise NotAllowed (code `blind`) if the person has the document set open as an assessor."""
    project = summary.document_set.project
    if person is not None and summary.document_set_id in own_open_sets(project, person):
        raise NotAllowed(
            f"You have {summary.document_set.external_id} open to judge, so its units are hidden until you "
            "close the set.",
            code="blind",
        )


def own_open_sets(project: Project, person: User) -> set[int]:
    """Return the keys of the document sets that the person has open as an assessor."""
    own = Assignment.objects.filter(
        assessor=person, document_set__project=project, closed_at__isnull=True, unassigned_at__isnull=True
    )
    return set(own.values_list("document_set_id", flat=True))


def cut_of(summary: Summary, person: User) -> Cut:
    """Load the current units of a summary, as the person may see them."""
    blind = is_blind(person, summary.document_set.project)
    units = current_units(summary)
    texts = summaries_in_order(Summary.objects.filter(document_set=summary.document_set_id))
    if not blind:
        texts = texts.order_by("-is_reference", "-target_words", "system__name", "public_id")
    rows = list(texts.select_related("system").defer("text", "metadata"))
    return Cut(
        text=_text_of_set(summary, blind=blind),
        document_set=summary.document_set.external_id,
        set_id=summary.document_set.public_id,
        token=token_of(units),
        units=tuple(_cut_unit(unit, summary.text) for unit in units),
        is_judged=bool(judged_summaries([summary.pk])),
        is_running=is_being_judged(summary),
        texts=tuple(_text_of_set(row, blind=blind) for row in rows),
    )


def current_units(summary: Summary) -> list[Unit]:
    return list(Unit.objects.filter(summary=summary).order_by("position"))


def token_of(units: Sequence[Unit]) -> str:
    """Compute a token that identifies a series of units."""
    names = ",".join(unit.public_id for unit in units)
    return hashlib.sha256(names.encode()).hexdigest()[:16]


_ANSWERS: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (Verdict, ("check_row__summary", "check_row__claim__claim_set__summary")),
    (CoverageJudgment, ("comparison__summary", "comparison__reference")),
    (Rating, ("summary",)),
)
"""The kinds of answers, each with its paths to the summary that it judges or uses."""


def judged_summaries(keys: Iterable[int]) -> set[int]:
    """Return the keys of the summaries that an answer judges or uses, or that have computed values."""
    wanted = set(keys)
    found: set[int] = set()
    # Run a query per path, because one with OR may read the rows of other projects.
    for kind, paths in _ANSWERS if wanted else ():
        for path in paths:
            answers = kind._default_manager.filter(**{f"{path}__in": wanted - found}).order_by()
            found.update(answers.values_list(path, flat=True).distinct())
    computed = Summary.objects.filter(pk__in=wanted - found).exclude(computed={})
    return found | set(computed.values_list("pk", flat=True))


def is_being_judged(summary: Summary) -> bool:
    """Return True if a job for the summary's document set is waiting or running."""
    jobs = Job.objects.filter(document_set=summary.document_set_id)
    return jobs.filter(state__in=(Job.State.WAITING, Job.State.WORKING)).exists()


def summaries_in_order(summaries: QuerySet[Summary]) -> QuerySet[Summary]:
    """Sort summaries by document set, references first, then by target length and a random id."""
    return summaries.order_by("document_set__external_id", "-is_reference", "-target_words", "public_id")


def words_of(text: str, start: int, end: int) -> Iterator[Word]:
    """Split a unit into the pieces between which it can be split."""
    for run in re.finditer(r"\S+", text[start:end]):
        at = start + run.start()
        for piece in _pieces(run[0]):
            yield Word(at, piece)
            at += len(piece)


def is_between_characters(text: str, at: int) -> bool:
    """Return False if the offset lies within a visible character.

    A letter with its combining accents, a joined sequence, a pair that makes a flag, and an emoji with a skin tone each
    are one character.
    """
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if unicodedata.category(after).startswith("M") or ZERO_WIDTH_JOINER in (before, after):
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff":
        return False
    if not _is_flag_part(before) or not _is_flag_part(after):
        return True
    first = at
    while first and _is_flag_part(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 0


def _is_flag_part(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _pieces(run: str) -> list[str]:
    parts = BREAKS_AFTER.split(run)
    return [piece for part in parts for piece in (_characters(part) if len(part) > LONGEST_RUN else [part])]


def _characters(run: str) -> list[str]:
    borders = [at for at in range(len(run) + 1) if at in (0, len(run)) or is_between_characters(run, at)]
    return [run[start:end] for start, end in pairwise(borders)]


def _cut_unit(unit: Unit, text: str) -> CutUnit:
    return CutUnit(
        unit_id=unit.public_id,
        number=unit.position,
        text=text[unit.start : unit.end],
        words=tuple(words_of(text, unit.start, unit.end)),
    )


def _text_of_set(summary: Summary, *, blind: bool) -> TextOfSet:
    return TextOfSet(
        summary_id=summary.public_id,
        is_reference=summary.is_reference,
        is_summary=summary.is_summary,
        reference_id="" if blind else summary.external_id,
        target_words=summary.target_words,
        system=None if blind or summary.system is None else summary.system.name,
    )
