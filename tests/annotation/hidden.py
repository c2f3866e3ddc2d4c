"""Words that are stored beside systems and answers, and the people who must not receive them.

The words `SAID` belong to one check, `OTHERS` to other checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.assessing.services.assign import assign
from annotation.assessing.services.save_acts import judge_unit
from annotation.core.permissions import Verb
from annotation.models import (
    Check,
    Comparison,
    CoverageJudgment,
    Criterion,
    Rating,
    Reading,
    Summary,
    System,
    Verdict,
)
from annotation.reviewing.services.comment import comment_on_claim

if TYPE_CHECKING:
    from django.http import HttpResponse

    from tests.annotation.cast import World

SYSTEMS = ("hidden-system",)
SAID = ("hidden-said", "hidden-comment", "0.8128")
OTHERS = ("hidden-reason", "hidden-decision", "hidden-note", "0.6174")
WORDS = (*SYSTEMS, *SAID, *OTHERS)
DESK = {"review", "check", "next-check", "checks/next/", "again", "rate-summaries", "rate-summary"}
"""Addresses that hide others' answers until the person has answered."""
ANSWERS = {"checks/{check}/verdicts/", "checks/answers/"}
"""Addresses that take an answer to the check. Their responses may contain others' answers."""


def plant(world: World) -> None:
    for number, system in enumerate(world.systems.values()):
        System.objects.filter(pk=system.pk).update(name=f"hidden-system-{number}")
    Summary.objects.filter(is_reference=True).update(external_id="hidden-reference")
    others = assign(document_set=world.sets["port"], assessor=world.ben, by=None)
    for reading in others.readings.select_related(
        "assignment__document_set__project", "comparison__summary", "comparison__reference"
    ):
        for unit in world.units("port"):
            judge_unit(reading=reading, by=world.ben, unit_id=unit.public_id, percent=80, note="hidden-note")
    check = world.check("alder", 1)
    comment_on_claim(project=world.project, claim=check.claim, by=world.cleo, text="hidden-comment")
    Verdict.objects.filter(check_row=check, person=world.rex).delete()
    Verdict.objects.create(check_row=check, role=Verdict.Role.REVIEWER, person=world.ben, label="no")
    Verdict.objects.update(reason="hidden-reason")
    Verdict.objects.filter(check_row=check).update(reason="hidden-said")
    Verdict.objects.filter(role="adjudicator").update(reason="hidden-decision")
    CoverageJudgment.objects.filter(role="adjudicator").update(reason="hidden-decision")
    for rows, column in (
        (Verdict.objects.filter(role="judge"), "probability"),
        (Check.objects, "judge_probability"),
    ):
        rows.update(**{column: 0.6174})
        mine = {"check_row": check} if column == "probability" else {"pk": check.pk}
        rows.filter(**mine).update(**{column: 0.8128})
    tone = Criterion.objects.create(project=world.project, name="tone", question="?", scale="yes_no")
    for author in ({"role": "judge", "judge": world.judge}, {"role": "reviewer", "person": world.ben}):
        for summary in world.summaries.values():
            Rating.objects.create(
                criterion=tone, summary=summary, value=1, origin_name="v:1", reason="hidden-reason", **author
            )
    known = list(Verdict.objects.filter(person=world.rex).values_list("check_row", flat=True))
    Verdict.objects.filter(check_row__in=known).update(reason="known to Rex", probability=None)
    Check.objects.filter(pk__in=known).update(judge_probability=None)


def telling(person: str) -> list[str]:
    rows = (System.objects, Comparison.objects, Check.objects)
    judging = Summary.objects.filter(document_set__assignments__assessor__username=person)
    ids = [public_id for row in (*rows, judging) for public_id in row.values_list("public_id", flat=True)]
    theirs = Reading.objects.exclude(assignment__assessor__username=person)
    return [*WORDS, "hidden-reference", *ids, *theirs.values_list("public_id", flat=True)]


def kept_from(verbs: frozenset[Verb], route: str, *, has_answered: bool) -> tuple[str, ...]:
    route = route.removeprefix("projects/{slug}/")
    if Verb.VIEW_SCORES in verbs:
        return OTHERS if has_answered and route in DESK else (*SAID, *OTHERS) if route in DESK else ()
    if Verb.REVIEW in verbs and (has_answered or route in ANSWERS):
        return (*SYSTEMS, *OTHERS)
    return WORDS


def told(answer: HttpResponse, words: tuple[str, ...] | list[str], asked: str) -> list[str]:
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    said = body.decode(errors="replace") + str(answer.headers)
    return [word for word in words if word in said and word not in asked]
