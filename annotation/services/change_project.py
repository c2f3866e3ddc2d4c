"""An owner or manager makes a project or changes its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.models import Membership, Project, Role, UnitJudgment, Verdict
from annotation.permissions import Verb, require
from annotation.refusals import Conflict, Invalid
from annotation.services.events import log
from annotation.services.rescore import rescore

if TYPE_CHECKING:
    from django.contrib.auth.models import User

RULES = (
    "name",
    "description",
    "blend",
    "blend_human_weight",
    "assessor_average",
    "composite_weight",
    "length_unit",
    "over_length",
    "percent_scale",
    "reveal",
    "deciding_judge",
)
"""What an owner or manager may change."""


@transaction.atomic
def create_project(*, slug: str, name: str = "", by: User | None, **rules: object) -> Project:
    """Make a project; its maker becomes the owner. `by` is None where a command makes it."""
    project = Project(slug=slug, name=name or slug, **rules)
    _clean(project)
    try:
        with transaction.atomic():
            project.save()
    except IntegrityError as error:
        raise Conflict(f"There is already a project {slug!r}.", code="slug_taken") from error
    if by is not None:
        Membership.objects.create(project=project, user=by, roles=[Role.OWNER])
    log(project=project, actor=by, verb="create project", target=project, data={"slug": slug})
    return project


def change_project(*, project: Project, by: User | None, **changes: object) -> Project:
    """Change rules of a project, log old and new values, and rescore.

    Raises Invalid for a name outside of `RULES` or a value out of range; Conflict (code
    `judged`) where the over-length policy would change what was judged.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    unknown = set(changes) - set(RULES)
    if unknown:
        raise Invalid(f"A project has no rule named {sorted(unknown)[0]!r}.", field=sorted(unknown)[0])
    with transaction.atomic():
        project = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        before = {name: _plain(getattr(project, name)) for name in changes}
        for name, value in changes.items():
            setattr(project, name, value)
        _clean(project)
        after = {name: _plain(getattr(project, name)) for name in changes}
        moved = {name: [before[name], after[name]] for name in changes if before[name] != after[name]}
        if not moved:
            return project
        if {"over_length", "length_unit"} & moved.keys() and _is_judged(project):
            raise Conflict(
                "Summaries of this project have been judged, and another over-length policy or length "
                "unit would change the text that was judged. Import them into a new project instead.",
                code="judged",
            )
        project.save(update_fields=list(changes))
        log(project=project, actor=by, verb="change project", target=project, data={"changed": moved})
    if set(moved) - {"name", "description", "reveal", "percent_scale"}:
        rescore(project=project)
    return project


def _clean(project: Project) -> None:
    try:
        project.full_clean(validate_unique=False)
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise Invalid(f"{field}: {' '.join(messages)}", field=field) from error


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _is_judged(project: Project) -> bool:
    return (
        Verdict.objects.filter(check_row__project=project).exists()
        or UnitJudgment.objects.filter(assignment__sitting__document_set__project=project).exists()
    )
