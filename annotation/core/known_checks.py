"""Of which checks a person knows what others said: they answered them, or were shown it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import BooleanField, F, Func, Q

from annotation.models import Check

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
# That the person answered or was shown one of these wordings; `wording` is a table of claims.
_MET = """
    SELECT 1 FROM wording JOIN annotation_check related ON related.claim_id = wording.id
    WHERE related.peer_id = {peer} AND wording.id <> {claim} AND (
        EXISTS (SELECT 1 FROM annotation_verdict WHERE check_row_id = related.id AND person_id = %s)
        OR EXISTS (
            SELECT 1 FROM annotation_checklook
            WHERE check_row_id = related.id AND person_id = %s AND revealed_at IS NOT NULL
        )
    )
"""
# The wordings that a claim was made from; one that an undone change had made led to nothing.
_EARLIER = """
    WITH RECURSIVE wording (id, made_by_id) AS (
        SELECT id, made_by_id FROM annotation_claim WHERE id = {claim}
        UNION
        SELECT old.id, old.made_by_id
        FROM wording JOIN annotation_claim old ON old.retired_by_id = wording.made_by_id
        WHERE old.made_by_id IS NULL OR old.made_by_id <> old.retired_by_id
    )
"""
_KNOWN_EARLIER = f"EXISTS ({_EARLIER}{_MET})"
# Most claims were never put into other words: those are not looked up further.
_IS_REWORDED = "(SELECT supersedes_id FROM annotation_claim WHERE id = {claim}) IS NOT NULL"
_REWORDED_KNOWN = f"({_IS_REWORDED} AND {_KNOWN_EARLIER})"
# All that changes made of a claim or made it from, undone ones too: its family, from any of its members.
_FAMILY = """
    WITH RECURSIVE wording (id, supersedes_id, made_by_id, retired_by_id) AS (
        SELECT id, supersedes_id, made_by_id, retired_by_id FROM annotation_claim WHERE id = {claim}
        UNION
        SELECT other.id, other.supersedes_id, other.made_by_id, other.retired_by_id
        FROM wording JOIN annotation_claim other ON other.id = wording.supersedes_id
            OR other.supersedes_id = wording.id
            OR other.made_by_id = wording.retired_by_id
            OR other.retired_by_id = wording.made_by_id
    )
"""
_KNOWN_IN_OTHER_WORDS = f"EXISTS ({_FAMILY}{_MET})"


def knows(person: User) -> Q:
    """The checks of which the person has seen what others said: they answered them, or were shown it."""
    return Q(_Asked(check=F("pk"), statement=KNOWN, person=person))


def knows_of_earlier_words(person: User) -> Q:
    """The checks of whose claim the person knew an earlier wording against the same summary: they answered it or were
    shown what others said.

    They may not see what is said of the new words yet, and can give no answer any more that knows nothing.
    """
    return Q(_Asked(claim=F("claim_id"), peer=F("peer_id"), statement=_REWORDED_KNOWN, person=person))


def knows_in_other_words(person: User) -> Q:
    """The checks of whose claim the person knew any other wording against the same summary, be it earlier or later.

    Somebody who answers words that are no longer checked has mostly met those that took their place.
    """
    return Q(_Asked(claim=F("claim_id"), peer=F("peer_id"), statement=_KNOWN_IN_OTHER_WORDS, person=person))


def knew_earlier_words(check: Check, person: User) -> bool:
    """Whether that is so of one check. One statement; where its claim was never put into other words, none."""
    if check.claim.supersedes_id is None:
        return False
    with connection.cursor() as cursor:
        keys = [check.claim_id, check.peer_id, check.claim_id]
        statement = "SELECT " + _KNOWN_EARLIER.format(claim="%s", peer="%s")
        cursor.execute(statement, [*keys, person.pk, person.pk])
        return bool(cursor.fetchone()[0])


class _Asked(Func):
    """A condition by hand on some columns, by their names in it, and on one person as often as it names one."""

    output_field = BooleanField()

    def __init__(self, *, statement: str, person: User, **columns: F) -> None:
        super().__init__(*columns.values())
        self.names = tuple(columns)
        self.statement = statement
        self.person = person

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        columns = (compiler.compile(column)[0] for column in self.source_expressions)
        named = dict(zip(self.names, columns, strict=True))
        people = (self.person.pk,) * self.statement.count("%s")
        return self.statement.format(**named), people
