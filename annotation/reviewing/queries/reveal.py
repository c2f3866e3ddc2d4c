"""What one person may see of what the judge and other people said of a check, and since when.

The project's reveal mode decides, and what the person did: whoever has answered a check, or was shown the
judge's verdict on it, knows. Queues may go by how sure the judge is
(its doubt, and that a panel's members differ) in all modes; the figure itself is kept back with the verdict, because a
judge that is surer of one answer than of the other tells by it what it said. Who wrote a summary is told to those who
may view scores, and to nobody else. Every door asks here.

What is asked of one check, at every claim that comes on screen, is asked in statements by hand: building them anew
as queries took several times as long as the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.core.by_hand import Part, kept_plan
from annotation.core.known_checks import knows
from annotation.core.permissions import STANDING, Verb, require_as_read, standing_values
from annotation.core.readers import CheckReader
from annotation.core.refusals import NotFound
from annotation.models import Check, CheckLook, Claim, Project
from annotation.reviewing.queries import sql

if TYPE_CHECKING:
    from django.contrib.auth.models import User

_LOOK = Part(CheckLook, "look")
_CHECK = Part(Check, "annotation_check")


@dataclass(frozen=True, slots=True)
class CheckAndLook:
    """A check with what one person was shown of it so far, and whether they ever gave it an answer that stood."""

    check: Check
    look: CheckLook | None
    has_answered: bool


def keeps_back(project: Project, reader: CheckReader) -> bool:
    """Whether others' answers are hidden from the reader until they have answered or were shown them."""
    return reader.must_wait and project.reveal != Project.Reveal.SHOWN


def hides_words_on(claim: Claim, project: Project, reader: CheckReader) -> bool:
    """Whether what others say of a claim stays hidden from the reader: as long as a check of it waits for them.

    A comment may give away the answer to any check of its claim. One that a rule decides waits for nobody.
    """
    if not keeps_back(project, reader):
        return False
    checks = Check.objects.filter(claim=claim, is_current=True).exclude(final_source=Check.Decider.RULE)
    return checks.filter(~knows(reader.person)).exists()


def sight_of(project: Project, public_id: str, person: User, *, verb: Verb) -> CheckAndLook:
    """A check of the project, its row alone, with what the person knows of it, for the verb that they are about to do.

    In one statement with what they may do. Raises NotFound, and as `require` what that does.
    """
    with kept_plan() as cursor:
        statement = sql.CHECK_AND_LOOK.format(standing=STANDING, check=_CHECK.columns, look=_LOOK.columns)
        cursor.execute(statement, {**standing_values(person, project), "name": public_id})
        found = cursor.fetchone()
    if found is None:
        raise NotFound("There is no such check in this project.")
    roles, is_blind_now, has_answered, *columns = found
    require_as_read(person, project, verb, roles, is_blind_now)
    values = iter(columns)
    check = _CHECK.read(values)
    check.project = project
    look = _LOOK.read(values)
    return CheckAndLook(check=check, look=look if look.pk else None, has_answered=bool(has_answered))
