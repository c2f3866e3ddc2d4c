"""What one person may see of what the judge and other people said of a check, and since when.

The project's reveal mode decides, and what the person did: whoever has answered a check, or was shown the
judge's verdict on it, knows; an answer that was set aside reveals nothing yet. Queues may go by how sure the judge is
(its doubt, and that a panel's members differ) in all modes; the figure itself is kept back with the verdict, because a
judge that is surer of one answer than of the other tells by it what it said. Who wrote a summary is told to those who
may view scores, and to nobody else. Every door asks here.

What is asked of one check, at every claim that comes on screen, is asked in statements by hand: building them anew
as queries took several times as long as the answers.
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

from annotation.models import Check, CheckLook, Claim, Project, Verdict
from annotation.models.by_hand import Part
from annotation.permissions import STANDING, Verb, require_as_read, standing_values
from annotation.refusals import NotAllowed, NotFound

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.db.models.sql.compiler import SQLCompiler

COLUMNS_SEEN = {
    "judge_label": "seen_judge",
    "human_label": "seen_human",
    "final_label": "seen_final",
    "final_source": "seen_source",
    "is_disputed": "seen_disputed",
}
"""What `as_seen` puts in the place of these columns of a check."""
OF_THE_JUDGE = ("judge_probability", "unscored_reason")
"""What else of a check's columns tells what its judge said."""

FOOLING = Q(revealed_at__isnull=False, planted_label__isnull=False, disclosed_at__isnull=True)
"""Of looks: the person takes a planted verdict for the judge's. As `CheckLook.is_fooling`."""
_FOOLING = "look.revealed_at IS NOT NULL AND look.planted_label IS NOT NULL AND look.disclosed_at IS NULL"

# Looked up check by check: for an EXISTS PostgreSQL gathers first all that the person ever answered.
_KNOWN = """
((
    SELECT id FROM annotation_verdict
    WHERE check_row_id = {check} AND person_id = %s AND NOT is_set_aside LIMIT 1
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
_FOOLED = """
EXISTS (
    SELECT 1 FROM annotation_checklook look WHERE look.check_row_id = {check} AND look.person_id = %s AND {fooling}
)
"""
_TAKEN_FOR_TRUE = """
SELECT look.check_row_id, look.planted_label, (
    SELECT label FROM annotation_verdict
    WHERE check_row_id = look.check_row_id AND person_id = look.person_id AND withdrawn_at IS NULL
    ORDER BY id DESC LIMIT 1
)
FROM annotation_checklook look JOIN annotation_check ON annotation_check.id = look.check_row_id
WHERE look.person_id = %s AND annotation_check.project_id = %s AND {fooling}
"""
_LOOK = Part(CheckLook, "look")
_LOOK_OF = "SELECT {columns} FROM annotation_checklook look WHERE check_row_id = %s AND person_id = %s"
_CHECK = Part(Check, "annotation_check")
_SIGHT = """
SELECT
    {standing},
    EXISTS (
        SELECT 1 FROM annotation_verdict
        WHERE check_row_id = annotation_check.id AND person_id = %(person)s AND NOT is_set_aside
    ),
    {check}, {look}
FROM annotation_check
LEFT JOIN annotation_checklook look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
WHERE annotation_check.public_id = %(name)s AND annotation_check.project_id = %(project)s
"""


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody at the checks.

    `may_see_all` tells that scores, and so systems and answers, are open to them; `must_wait` that the project's
    reveal mode holds for them, whatever else they may do: they review and do not adjudicate.
    """

    person: User
    may_see_all: bool = False
    must_wait: bool = True

    @classmethod
    def holding(cls, person: User, verbs: AbstractSet[Verb]) -> Reader:
        """The person as a reader, by what they may do in a project now."""
        must_wait = Verb.REVIEW in verbs and Verb.ADJUDICATE not in verbs
        return cls(person, may_see_all=Verb.VIEW_SCORES in verbs, must_wait=must_wait)

    @property
    def names_systems(self) -> bool:
        """Whether they may know who wrote a peer summary."""
        return self.may_see_all

    def need_all(self, name: str) -> None:
        """Refuse to filter by what would tell them a system, or who answered what. Raises NotAllowed."""
        if not self.may_see_all:
            raise NotAllowed(f"To filter by {name} is for those who may view the scores.")


@dataclass(frozen=True, slots=True)
class Sight:
    """A check with what one person was shown of it so far, and whether they ever gave it an answer that stood."""

    check: Check
    look: CheckLook | None
    has_answered: bool


def plants(project: Project, person: User) -> bool:
    """Whether the person may at this moment take a planted verdict of the project for the judge's.

    A project that plants no more still has to tell of those that were shown before: until then all that is said to
    this person goes by what they were shown.
    """
    if project.planted_share > 0:
        return True
    return _fooled(person).filter(check_row__project=project).exists()


def keeps_back(project: Project, reader: Reader) -> bool:
    """Whether what others said stays hidden from the reader until they have answered, or were shown it.

    Where wrong verdicts are planted, a list of the true ones would give them away.
    """
    is_shown = project.reveal == Project.Reveal.SHOWN
    return reader.must_wait and (not is_shown or plants(project, reader.person))


def hides_words_on(claim: Claim, project: Project, reader: Reader) -> bool:
    """Whether what others say of a claim stays hidden from the reader: as long as a check of it waits for them.

    A comment may give away the answer to any check of its claim. One that a rule decides waits for nobody.
    """
    if not keeps_back(project, reader):
        return False
    checks = Check.objects.filter(claim=claim, is_current=True).exclude(final_source=Check.Decider.RULE)
    return checks.filter(~knows_the_truth(reader.person)).exists()


def hides_movement(project: Project, reader: Reader, *, is_told: bool = False) -> bool:
    """Whether the reader must not be told how an answer moved the scores of its summary.

    The movement follows from what the judge and others said of the summary's other claims, so it is told only to
    those who may view the scores. Where wrong verdicts are planted it would give this one away, unless they are told
    of it already (`is_told`).
    """
    return not reader.may_see_all or (not is_told and plants(project, reader.person))


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
    return Q(_Asked(check=F("pk"), statement=_KNOWN, person=person))


def knows_of_earlier_words(person: User) -> Q:
    """The checks of whose claim the person knew an earlier wording against the same summary: they answered it, be the
    answer set aside, or were shown what others said.

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


def knows_the_truth(person: User) -> Q:
    """Those of them of which the person does not take a planted verdict for the judge's."""
    return knows(person) & ~Q(_Asked(check=F("pk"), statement=_FOOLED, person=person))


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
        return self.statement.format(**named, fooling=_FOOLING), people


def look_of(check: Check, person: User) -> CheckLook | None:
    """What the person was shown of the check so far; None where they never opened it."""
    with connection.cursor() as cursor:
        cursor.execute(_LOOK_OF.format(columns=_LOOK.columns), [check.pk, person.pk])
        found = cursor.fetchone()
    return _LOOK.read(iter(found)) if found else None


def sight_of(project: Project, public_id: str, person: User, *, verb: Verb) -> Sight:
    """A check of the project, its row alone, with what the person knows of it, for the verb that they are about to do.

    In one statement with what they may do. Raises NotFound, and as `require` what that does.
    """
    with connection.cursor() as cursor:
        statement = _SIGHT.format(standing=STANDING, check=_CHECK.columns, look=_LOOK.columns)
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
    return Sight(check=check, look=look if look.pk else None, has_answered=bool(has_answered))


def untold(person: User, project: Project) -> QuerySet[CheckLook]:
    """Planted verdicts that the person was shown in the project and does not know to be planted, once they answered."""
    answered = Verdict.objects.filter(check_row=OuterRef("check_row_id"), person=person)
    return _fooled(person).filter(Exists(answered), check_row__project=project)


@dataclass(frozen=True, slots=True)
class TakenForTrue:
    """A check of which somebody takes a planted verdict for the judge's, and their own answer that stands, if any."""

    check: int
    planted: str
    own: str | None


def taken_for_true(person: User, project: Project) -> list[TakenForTrue]:
    """What the person takes for the judge's verdict and is not. They are told once they answered, so these are few."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKEN_FOR_TRUE.format(fooling=_FOOLING), [person.pk, project.pk])
        return [TakenForTrue(*found) for found in cursor.fetchall()]


def fooling(person: User) -> QuerySet[CheckLook]:
    """Looks at the outer check after which the person takes a planted verdict for the judge's."""
    return _fooled(person).filter(check_row=OuterRef("pk"))


def _fooled(person: User) -> QuerySet[CheckLook]:
    """Looks after which the person takes a planted verdict for the judge's."""
    return CheckLook.objects.filter(FOOLING, person=person)


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
