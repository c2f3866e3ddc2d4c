"""The rows of acts on their way into the database, in statements by hand.

Every click of every assessor writes them while it holds the assignment's row, and on SQLite all of the database:
to build the statements as queries took longer than to carry them out. The model
says what goes into a column.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection

from annotation.assessing import sql
from annotation.core import by_hand
from annotation.models import Assignment, SummaryJudgment, UnitJudgment

SavedJudgment = TypeVar("SavedJudgment", UnitJudgment, SummaryJudgment)


def take_turn(
    assignment: Assignment, *, pen: str, seq: int, renewed: dict[str, datetime], if_unheard: bool
) -> bool:
    """Give the assignment its pen and last number, if it is still open; False where it is not.

    `renewed` are columns of its lease. With `if_unheard` only while its pen and number are those that were read.
    """
    unheard = " AND pen = %s AND pen_seq = %s" if if_unheard else ""
    statement = sql.TAKE_TURN.format(renewed=", ".join(f"{name} = %s" for name in renewed), unheard=unheard)
    moments = [connection.ops.adapt_datetimefield_value(moment) for moment in renewed.values()]
    values: list[Any] = [pen, seq, *moments, assignment.pk]
    if if_unheard:
        values += [assignment.pen, assignment.pen_seq]
    with by_hand.kept_plan() as cursor:
        cursor.execute(statement, values)
        return bool(cursor.rowcount == 1)


def outdate(keys: Collection[int]) -> None:
    """These judgments of units are no longer the current ones; nothing is asked for none."""
    if not keys:
        return
    with by_hand.kept_plan() as cursor:
        cursor.execute(sql.OUTDATE.format(keys=by_hand.places(keys)), [False, *keys])


def insert(rows: Sequence[SavedJudgment]) -> None:
    """Insert new rows of one kind, in their order; they are not told their keys."""
    if rows:
        by_hand.insert(type(rows[0]), [by_hand.saved(row) for row in rows])
