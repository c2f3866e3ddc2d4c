"""The rows of a project as lines of an archive, a batch at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from annotation.core.paging import batches
from annotation.core.project_rows import held_by_projects, of_project
from annotation.exports.archive.kinds import Cell, CellKind, Kind, between
from annotation.models import (
    Judge,
    JudgeExamples,
    Project,
    QuestionAnswer,
    Rating,
    Run,
    Verdict,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from annotation.exports.archive.names import Names

ROWS_AT_ONCE = 2000

as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def lines(kind: Kind, project: Project, names: Names) -> Iterator[list[str]]:
    """The lines of the kind's file in the order of their making; its statements grow with batches alone."""
    plain = [cell for cell in kind.cells if cell.lookups]
    shared = [cell for cell in kind.cells if not cell.lookups]
    lookups = [lookup for cell in plain for lookup in cell.lookups]
    spell = [(cell.name, len(cell.lookups), _spelling(cell, names)) for cell in plain]
    rows = rows_of(kind, project).order_by("pk").values_list("pk", *lookups)
    for batch in batches(rows.iterator(chunk_size=ROWS_AT_ONCE), ROWS_AT_ONCE):
        beside = {cell.name: _beside(cell, [row[0] for row in batch], names) for cell in shared}
        yield [as_json(_line(row, spell, beside)) for row in batch]


def rows_of(kind: Kind, project: Project) -> QuerySet[Any]:
    """All rows of the kind that belong to the project. Judges that it shares with others are among them."""
    rows = kind.model._base_manager.all()
    if kind.model is Project:
        return rows.filter(pk=project.pk)
    if kind.model is Judge:
        return rows.filter(pk__in=judges_of_archive(project))
    if kind.model is JudgeExamples:
        return rows.filter(judge__in=judges_of_archive(project))
    return rows.filter(of_project(kind.model, project.pk, held_by_projects())).distinct()


def judges_of_archive(project: Project) -> set[int]:
    """The project's own judges, those that said something in it, and those that these rest on."""
    found = set(Judge.objects.filter(project=project).values_list("pk", flat=True))
    for kind, path in (
        (Run, "project"),
        (Verdict, "check_row__project"),
        (Rating, "summary__document_set__project"),
        (QuestionAnswer, "question__document_set__project"),
    ):
        rows = kind._base_manager.filter(**{path: project}, judge__isnull=False).order_by()
        found.update(rows.values_list("judge", flat=True).distinct())
    if project.deciding_judge_id is not None:
        found.add(project.deciding_judge_id)
    new = found
    while new:
        rests_on = Judge.objects.filter(
            Q(panels__in=new)
            | Q(taught__judge__in=new)
            | Q(asked_first_in__judge__in=new)
            | Q(asked_second_in__judge__in=new)
        )
        new = set(rests_on.values_list("pk", flat=True)) - found
        found |= new
    return found


_Spelling = tuple[str, int, Callable[..., Any]]


def _line(
    row: Sequence[Any], spell: Sequence[_Spelling], beside: dict[str, dict[int, list[str]]]
) -> dict[str, Any]:
    made, place = {}, 1
    for name, width, spelled in spell:
        made[name] = spelled(*row[place : place + width])
        place += width
    for name, found in beside.items():
        made[name] = found.get(row[0], [])
    return made


def _beside(cell: Cell, keys: Sequence[int], names: Names) -> dict[int, list[str]]:
    """What stands in a table between: by row the ids or the people."""
    through, one, other = between(cell)
    found: dict[int, list[str]] = defaultdict(list)
    rows = through._base_manager.filter(**{f"{one}__in": keys}).order_by("pk")
    if cell.kind is CellKind.PEOPLE:
        for key, user_id, username in rows.values_list(f"{one}_id", f"{other}_id", f"{other}__username"):
            found[key].append(names.name(user_id, username))
    else:
        for key, public_id in rows.values_list(f"{one}_id", f"{other}__public_id"):
            found[key].append(public_id)
    return found


def _spelling(cell: Cell, names: Names) -> Callable[..., Any]:
    if cell.kind is CellKind.PERSON:
        return partial(_person, names)
    if cell.kind is CellKind.MOMENT:
        return _moment
    if cell.kind is CellKind.JSON:
        if cell.holds_votes:
            return partial(_votes, names)
        return partial(_json, names) if cell.holds_names else _json_alone
    return names.in_text if cell.holds_names else _same


def _same(value: Any) -> Any:
    return value


def _person(names: Names, user_id: int | None, username: str | None) -> str | None:
    return None if user_id is None else names.name(user_id, username or "")


def _moment(value: Any) -> str | None:
    return None if value is None else value.isoformat()


def _json(names: Names, value: object) -> str | None:
    return _json_alone(names.in_json(value))


def _votes(names: Names, votes: list[tuple[str, str | None]], source: str) -> str:
    """Raters of a file are people; members of a panel are judges."""
    if source == Verdict.Source.REVIEWER:
        votes = [(names.people.rater(name), label) for name, label in votes]
    return as_json(votes)


def _json_alone(value: object) -> str | None:
    return None if value is None else as_json(value)
