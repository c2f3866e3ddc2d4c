"""Of which checks a person knows what others said: they answered them, or were shown it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import BooleanField, F, Func, Q

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models.sql.compiler import SQLCompiler

# The statements by hand are defended by tests/bench/override.py (next claim of a random draw, of disagreements and of
# people against the judge; override).

# Looked up check by check: for an EXISTS PostgreSQL gathers first all that the person ever answered.
KNOWN = """
((
    SELECT id FROM annotation_verdict
    WHERE check_row_id = {check} AND person_id = %s LIMIT 1
) IS NOT NULL
OR (
    SELECT id FROM annotation_checklook
    WHERE check_row_id = {check} AND person_id = %s AND revealed_at IS NOT NULL LIMIT 1
) IS NOT NULL)
"""


def knows(person: User) -> Q:
    """The checks of which the person has seen what others said: they answered them, or were shown it."""
    return Q(_Asked(statement=KNOWN, person=person))


class _Asked(Func):
    """A condition by hand on a check and on one person as often as it names one."""

    output_field = BooleanField()

    def __init__(self, *, statement: str, person: User) -> None:
        super().__init__(F("pk"))
        self.statement = statement
        self.person = person

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[int, ...]]:
        check = compiler.compile(self.source_expressions[0])[0]
        people = (self.person.pk,) * self.statement.count("%s")
        return self.statement.format(check=check), people
