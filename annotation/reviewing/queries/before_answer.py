"""All that an answer to a check goes by, read while its summary is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Subquery

from annotation.core.permissions import Verb, require_as_read, with_standing
from annotation.core.refusals import NotFound
from annotation.models import Adjudication, Check, CheckLook, DrawnCheck, Guideline, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class BeforeAnswer:
    """A check with its project and claim, what its reader was shown, and all verdicts on it, oldest first.

    `guideline_id` is the version in force; `is_drawn` tells that a random draw waits for the check and
    `is_decided` that an adjudicator ever decided it.
    """

    check: Check
    look: CheckLook | None
    said: tuple[Verdict, ...]
    guideline_id: int | None
    is_drawn: bool
    is_decided: bool


def before_answer(check: Check, person: User, *, verb: Verb) -> BeforeAnswer:
    """What an answer of the person to a check goes by now. Call it while the check's summary is held.

    Raises NotFound, and as `require` what that does for the verb.
    """
    decided = Adjudication.objects.filter(check_row=OuterRef("pk"))
    waiting = DrawnCheck.objects.filter(check_row=OuterRef("pk"), verdict=None)
    guidelines = Guideline.objects.filter(project=OuterRef("project")).order_by("-version").values("pk")
    checks = with_standing(
        Check.objects.select_related("project", "claim"), person, project="project"
    ).annotate(guideline_id=Subquery(guidelines[:1]), is_drawn=Exists(waiting), is_decided=Exists(decided))
    now = checks.filter(pk=check.pk).first()
    if now is None:
        raise NotFound("There is no such check in this project.")
    require_as_read(person, now.project, verb, now)
    if now.project.deciding_judge_id == check.project.deciding_judge_id:
        now.project.deciding_judge = check.project.deciding_judge
    return BeforeAnswer(
        check=now,
        look=CheckLook.objects.filter(check_row=now, person=person).first(),
        said=tuple(Verdict.objects.filter(check_row=now).select_related("person", "judge").order_by("pk")),
        guideline_id=now.guideline_id,
        is_drawn=now.is_drawn,
        is_decided=now.is_decided,
    )
