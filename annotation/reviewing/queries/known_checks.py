"""Conditions for checks that a person has answered or whose answers the person has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import BooleanField, F, Func, Q

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models.sql.compiler import SQLCompiler

# These conditions are written by hand. For an EXISTS, PostgreSQL may first collect all answers of the person; here it
# looks up each check separately. tests/bench/next_claim.py measures the conditions.
_ANSWERED = """(
    SELECT id FROM annotation_verdict
    WHERE check_row_id = {check} AND person_id = %s AND role = 'reviewer' LIMIT 1
) IS NOT NULL"""
_SHOWN = """(
    SELECT id FROM annotation_look
    WHERE check_row_id = {check} AND person_id = %s AND revealed_at IS NOT NULL LIMIT 1
) IS NOT NULL"""


def answered(person: User) -> Q:
    """Build the condition for checks that the person has answered as a reviewer, even if the answer is withdrawn."""
    return Q(_Asked("pk", statement=_ANSWERED, person=person))


def knows(person: User, check: str = "pk") -> Q:
    """Build the condition for checks that the person cannot answer blind, having answered them or seen others'
    answers.

    Others' answers to an earlier wording of the claim count too. `check` names the field with the id of the check.
    """
    return Q(_Asked(check, statement=f"({_ANSWERED} OR {_SHOWN})", person=person))


class _Asked(Func):
    output_field = BooleanField()

    def __init__(self, check: str, *, statement: str, person: User) -> None:
        super().__init__(F(check))
        self.statement = statement
        self.person = person

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[int, ...]]:
        check = compiler.compile(self.source_expressions[0])[0]
        people = (self.person.pk,) * self.statement.count("%s")
        return self.statement.format(check=check), people
