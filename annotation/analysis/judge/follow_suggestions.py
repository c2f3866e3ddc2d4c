"""Make a judge of the suggested verdicts, which may decide where somebody says so.

It answers what the deciding judge answers, with its stored calls, and says the suggested verdict wherever there is one
at that moment. No suggestion looks at people's answers on the system's own summary, so that people's answers show on
the Judge page what it gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Invalid
from annotation.judging.queries.examples import examples_of
from annotation.judging.queries.judges import base_of, not_permitted
from annotation.judging.services.save_judge import add_judge, free_name
from annotation.judging.services.start_run import start_run
from annotation.models import Check, Judge, Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

LONGEST_BASE_NAME = 45


def has_suggestions(project: Project) -> bool:
    """Whether any check in force has a suggested verdict."""
    return Check.objects.filter(
        project=project, is_current=True, suggested_probability__isnull=False
    ).exists()


@transaction.atomic
def follow_suggestions(*, project: Project, by: User | None, max_cost: float | None = None) -> Run:
    """A judge of the project's own that says the suggested verdicts, and its run over everything.

    Where the deciding judge says suggested verdicts already, the new one says those of now. Stored calls are not paid
    for again. Raises Invalid (code `no_suggestions`) without a suggested verdict, and where the deciding judge is a
    panel or is told examples; else as `start_run`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    base = None if project.deciding_judge is None else base_of(project.deciding_judge)
    if base is None or not has_suggestions(project):
        raise Invalid(
            "There are no suggested verdicts yet: they need an answered random sample over two systems or more.",
            code="no_suggestions",
        )
    if base.kind == Judge.Kind.PANEL or examples_of(base) is not None:
        raise Invalid(
            f"Suggested verdicts are made of one judge that is told no examples, which {base.name} is not.",
            code="no_suggestions",
        )
    last = Run.objects.filter(project=project, judge=base, is_trial=False).order_by("-pk").first()
    judge = add_judge(
        project=project,
        by=by,
        kind=Judge.Kind.PANEL,
        name=free_name(project, f"{base.name[:LONGEST_BASE_NAME]}-suggested"),
        members=[base],
    )
    judge.follows_suggestions = True
    judge.save(update_fields=["follows_suggestions"])
    log(
        project=project,
        actor=by,
        verb="follow suggestions",
        target=judge,
        data={"judge": judge.name, "base": base.name},
    )
    return start_run(
        project=project,
        judge=judge,
        metrics=last.metrics if last is not None else ["coverage"],
        n_questions=last.n_questions if last is not None else None,
        max_cost=max_cost,
        send_texts=not not_permitted(project, base),
        by=by,
    )
