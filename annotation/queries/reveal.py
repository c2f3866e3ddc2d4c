"""What one person may see of what the judge and other people said of a check, and since when.

The project's reveal mode decides, and what the person did: whoever has answered a check, or was shown the
judge's verdict on it, knows. Every door asks here. What is asked of one check, at every claim that comes on screen,
is asked in statements by hand: building them anew as queries took several times as long as the answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.models import Check, CheckLook, Project, Verdict
from annotation.models.by_hand import Part
from annotation.refusals import NotFound

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.db.models.sql.compiler import SQLCompiler

# Looked up check by check: for an EXISTS PostgreSQL gathers first all that the person ever answered.
_KNOWN = """
((SELECT id FROM annotation_verdict WHERE check_row_id = {check} AND person_id = %s LIMIT 1) IS NOT NULL
OR (
    SELECT id FROM annotation_checklook
    WHERE check_row_id = {check} AND person_id = %s AND revealed_at IS NOT NULL LIMIT 1
) IS NOT NULL)
"""
_LOOK = Part(CheckLook, "look")
_LOOK_OF = "SELECT {columns} FROM annotation_checklook look WHERE check_row_id = %s AND person_id = %s"
_CHECK = Part(Check, "annotation_check")
_SIGHT = """
SELECT
    EXISTS (SELECT 1 FROM annotation_verdict WHERE check_row_id = annotation_check.id AND person_id = %(person)s),
    {check}, {look}
FROM annotation_check
LEFT JOIN annotation_checklook look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
WHERE annotation_check.public_id = %(name)s AND annotation_check.project_id = %(project)s
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody at the queues; `may_see_all` tells that scores, and so systems and answers, are open to them."""

    person: User
    may_see_all: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """A check with what one person was shown of it so far, and whether they have ever answered it."""

    check: Check
    look: CheckLook | None
    has_answered: bool


def keeps_back(project: Project, reader: Reader) -> bool:
    """Whether what others said stays hidden from the reader until they have answered, or were shown it.

    Where wrong verdicts are planted, a list of the true ones would give them away.
    """
    is_open = project.reveal == Project.Reveal.SHOWN and not project.planted_share
    return not (reader.may_see_all or is_open)


def hides_movement(project: Project, reader: Reader, *, is_told: bool = False) -> bool:
    """Whether the reader must not be told how an answer moved the scores of its summary.

    The movement follows from what the judge and others said of the summary's other claims, so it is told only to
    those who may view the scores. Where wrong verdicts are planted it would give this one away, unless they are told
    of it already (`is_told`).
    """
    return not reader.may_see_all or (project.planted_share > 0 and not is_told)


def is_judge_visible(check: Check, person: User, *, asked: bool = False) -> bool:
    """Whether the person may see what the judge and other people said of this check, now.

    `asked` is that they ask for it now, which only counts where the project shows it on request.
    Whoever has answered once has seen it, also after taking the answer back.
    """
    return _is_open(check, asked=asked) or _has_seen(check, person)


def is_judge_visible_to(check: Check, *, knows: bool, asked: bool = False) -> bool:
    """As `is_judge_visible`, of somebody of whom it is known whether they answered, or were shown it."""
    return knows or _is_open(check, asked=asked)


def knows(person: User) -> Q:
    """The checks of which the person has seen what others said: they answered them, or were shown it."""
    return Q(_Known(F("pk"), person=person))


class _Known(Func):
    """Whether the person knows of the check with this key what others said."""

    output_field = BooleanField()

    def __init__(self, check: F, *, person: User) -> None:
        super().__init__(check)
        self.person = person

    def as_sql(self, compiler: SQLCompiler, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        check, values = compiler.compile(self.source_expressions[0])
        return _KNOWN.format(check=check), (*values, self.person.pk) * 2


def look_of(check: Check, person: User) -> CheckLook | None:
    """What the person was shown of the check so far; None where they never opened it."""
    with connection.cursor() as cursor:
        cursor.execute(_LOOK_OF.format(columns=_LOOK.columns), [check.pk, person.pk])
        found = cursor.fetchone()
    return _LOOK.read(iter(found)) if found else None


def sight_of(project: Project, public_id: str, person: User) -> Sight:
    """A check of the project, its row alone, with what the person knows of it, in one query. Raises NotFound."""
    with connection.cursor() as cursor:
        statement = _SIGHT.format(check=_CHECK.columns, look=_LOOK.columns)
        cursor.execute(statement, {"name": public_id, "project": project.pk, "person": person.pk})
        found = cursor.fetchone()
    if found is None:
        raise NotFound("There is no such check in this project.")
    has_answered, *columns = found
    values = iter(columns)
    check = _CHECK.read(values)
    check.project = project
    look = _LOOK.read(values)
    return Sight(check=check, look=look if look.pk else None, has_answered=bool(has_answered))


def untold(person: User, project: Project) -> QuerySet[CheckLook]:
    """Planted verdicts that the person was shown in the project and does not know to be planted, once they answered."""
    answered = Verdict.objects.filter(check_row=OuterRef("check_row_id"), person=person)
    return CheckLook.objects.filter(
        Exists(answered),
        person=person,
        check_row__project=project,
        planted_label__isnull=False,
        revealed_at__isnull=False,
        disclosed_at__isnull=True,
    )


def fooling(person: User) -> QuerySet[CheckLook]:
    """Looks at the outer check after which the person takes a planted verdict for the judge's."""
    return CheckLook.objects.filter(
        check_row=OuterRef("pk"),
        person=person,
        revealed_at__isnull=False,
        planted_label__isnull=False,
        disclosed_at__isnull=True,
    )


def as_seen(checks: QuerySet[Check], person: User) -> QuerySet[Any]:
    """The checks with what the person takes to have been said of them, for lists, filters and counts alike.

    `is_known` tells that they answered it or were shown it; `planted_now` is the wrong verdict that they take for
    the judge's: to them nobody else has said anything then. `seen_judge`, `seen_human`, `seen_final`, `seen_source`
    and `seen_disputed` are null where they must not know yet.
    """
    answers = Verdict.objects.filter(check_row=OuterRef("pk"), person=person, withdrawn_at=None)
    fooled, known = Q(planted_now__isnull=False), Q(is_known=True)
    by_rule = Q(final_source=Check.Decider.RULE)
    label = {"output_field": CharField()}
    return checks.annotate(
        is_known=Case(When(knows(person), then=Value(True)), default=Value(False)),
        planted_now=Subquery(fooling(person).values("planted_label")[:1]),
        own_label=Subquery(answers.order_by("-pk").values("label")[:1]),
    ).annotate(
        seen_judge=Case(When(fooled, then="planted_now"), When(known, then="judge_label"), **label),
        seen_human=Case(When(fooled, then="own_label"), When(known, then="human_label"), **label),
        seen_final=Case(
            When(fooled, then=Coalesce("own_label", "planted_now")),
            When(known | by_rule, then="final_label"),
            **label,
        ),
        seen_source=Case(
            When(fooled & Q(own_label__isnull=False), then=Value(Check.Decider.REVIEWER.value)),
            When(fooled, then=Value(Check.Decider.JUDGE.value)),
            When(known | by_rule, then="final_source"),
            **label,
        ),
        seen_disputed=Case(When(fooled, then=Value(False)), When(known, then="is_disputed")),
    )


def _is_open(check: Check, *, asked: bool) -> bool:
    """Whether the project shows it to everybody, or to whoever asks and they do."""
    match Project.Reveal(check.project.reveal):
        case Project.Reveal.SHOWN:
            return True
        case Project.Reveal.ON_REQUEST:
            return asked
        case _:
            return False


def _has_seen(check: Check, person: User) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + _KNOWN.format(check="%s"), [check.pk, person.pk] * 2)
        return bool(cursor.fetchone()[0])
