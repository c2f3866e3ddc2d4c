"""Find checks whose answers a person has seen, by answering them or elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import BooleanField, F, Func, Q

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models.sql.compiler import SQLCompiler

# These conditions are written by hand: for an EXISTS, PostgreSQL would first collect all answers of the person, but
# here it looks up each check separately. tests/bench/next_claim.py measures them.
_ANSWERED = """(
    SELECT id FROM annotation_verdict
    WHERE check_row_id = {check} AND person_id = %s AND role = 'reviewer' LIMIT 1
) IS NOT NULL"""
_SHOWN = """(
    SELECT id FROM annotation_look
    WHERE check_row_id = {check} AND person_id = %s AND revealed_at IS NOT NULL LIMIT 1
) IS NOT NULL"""


def answered(person: User) -> Q:
    """Select checks that the person has answered as a reviewer, even if the answer is withdrawn."""
    return Q(_Asked(statement=_ANSWERED, person=person))


def knows(person: User) -> Q:
    """Select checks that the person cannot answer blind: they have answered them or have seen others' answers.

    Answers to an earlier wording count, too.
    """
    return Q(_Asked(statement=f"({_ANSWERED} OR {_SHOWN})", person=person))


class _Asked(Func):
    """A hand-written condition on a check and a person."""

    output_field = BooleanField()

    def __init__(self, *, statement: str, person: User) -> None:
        super().__init__(F("pk"))
        self.statement = statement
        self.person = person

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[int, ...]]:
        check = compiler.compile(self.source_expressions[0])[0]
        people = (self.person.pk,) * self.statement.count("%s")
        return self.statement.format(check=check), people
