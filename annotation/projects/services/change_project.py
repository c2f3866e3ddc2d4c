"""Creating a project and changing its rules."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Value
from django.db.models.functions import Mod
from django.utils.crypto import get_random_string
from django.utils.formats import date_format
from django.utils.text import slugify

from annotation.analysis.leaderboard.values import RANKABLE
from annotation.core.criteria import criteria_in_force, criterion_of
from annotation.core.events import log
from annotation.core.permissions import Verb, may_create_projects, require
from annotation.core.refusals import Conflict, Invalid, NotAllowed
from annotation.judging.queries.judges import is_of
from annotation.judging.services.let_decide import require_whole
from annotation.models import (
    CoverageJudgment,
    Membership,
    Project,
    Role,
    Sample,
    SampledCheck,
    Verdict,
)
from annotation.models.assignment import AWAITED
from annotation.models.project import rule_name
from annotation.projects.services.set_criteria import set_criteria
from annotation.scoring.rescore import mark_due, rescore
from evaluation.metrics import UNMARKED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from django.contrib.auth.models import User

    from evaluation import metrics

MOST_WEIGHT = 1_000_000
RULES = (
    "name",
    "description",
    "compares",
    "blend",
    "blend_human_weight",
    "assessor_average",
    "composite_weight",
    "own_weights",
    "summarization_threshold",
    "summarization_strict",
    "summarization_scale",
    "least_scored",
    "length_unit",
    "target_length",
    "over_length",
    "percent_scale",
    "assessors_per_set",
    "lease_minutes",
    "reveal",
    "dispute_threshold",
    "dispute_answers",
    "deciding_judge",
)
"""The rules that owners and managers can change."""

UNSCORED_RULES = frozenset(
    {
        "name",
        "description",
        "compares",
        "percent_scale",
        "criteria",
        "assessors_per_set",
        "lease_minutes",
        "reveal",
        "own_weights",
    }
)
"""The rules that can change without rescoring the project."""

LONGEST_LEASE_MINUTES = 7 * 24 * 60
LONGEST_TARGET = 2**31 - 1

LONGEST_SLUG = 60
SUFFIX_LENGTH = 4
SUFFIX_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


@transaction.atomic
def create_project(*, slug: str = "", name: str = "", by: User | None, **rules: object) -> Project:
    """Create a project and make its creator the owner. `by` is None for a command.

    Without a slug, one is made from the name. Raises NotAllowed if the person may not create projects, Invalid for
    unusable values, and Conflict (code `slug_taken`) if the slug exists.
    """
    if not may_create_projects(by):
        raise NotAllowed(
            "You cannot create projects here. Ask the administrator of this installation.",
            code="no_new_projects",
        )
    name = " ".join(name.split())
    if not slug and not name:
        raise Invalid("Give the project a name.", field="name")
    project = Project(slug=slug or new_slug(name), name=name or slug, **rules)
    _clean(project)
    try:
        with transaction.atomic():
            project.save()
    except IntegrityError as error:
        raise Conflict(
            f"There is already a project {project.slug!r}. Choose another name.", code="slug_taken"
        ) from error
    criterion_of(project, UNMARKED)
    if by is not None:
        Membership.objects.create(project=project, user=by, roles=[Role.OWNER])
    log(project=project, actor=by, verb="create project", target=project, data={"slug": project.slug})
    return project


def own_project(name: str, owner: User) -> Project | None:
    """Find the oldest project with this name that the person owns, ignoring archived projects."""
    rows = Membership.objects.filter(
        user=owner, project__name=" ".join(name.split()), project__archived_at__isnull=True
    )
    owned = rows.select_related("project").order_by("project_id")
    return next((each.project for each in owned if Role.OWNER in each.role_set), None)


def new_slug(name: str) -> str:
    """Make a slug from a project's name: "Harbour study" gives "harbour-study-k7qd".

    The end is random, so that a taken slug does not reveal the name of another person's project.
    """
    stem = slugify(name)[: LONGEST_SLUG - SUFFIX_LENGTH - 1].strip("-_") or "project"
    return f"{stem}-{get_random_string(SUFFIX_LENGTH, SUFFIX_LETTERS)}"


def change_project(
    *,
    project: Project,
    by: User | None,
    criteria: Sequence[metrics.Criterion] | None = None,
    **changes: object,
) -> Project:
    """Change the rules and criteria of a project, and log old and new values.

    Scores and disputes are rebuilt unless only rules in `UNSCORED_RULES` change. Raises Invalid for a name that is not
    in `RULES` and for a value out of range, and the errors of `set_criteria`. Raises Conflict with a code:

    - `judged`: a rule in `fixed_by_judgments` changes, or existing percents do not fit the new scale
    - `sample_open`: `reveal` becomes "shown" while a random sample waits for blind answers
    - `trial_only`: the new deciding judge has judged only samples
    """
    with transaction.atomic():
        project, moved = _with(project, by, changes)
        if criteria is not None and (names := set_criteria(project, criteria)):
            moved["criteria"] = names
        if not moved:
            return project
        project.save(update_fields=list(changes))
        log(project=project, actor=by, verb="change project", target=project, data={"changed": moved})
        is_stale = bool(set(moved) - UNSCORED_RULES)
        if is_stale:
            mark_due(project)
    if is_stale:
        rescore(project=project)
    return project


def _with(
    project: Project, by: User | None, changes: Mapping[str, object]
) -> tuple[Project, dict[str, list[object]]]:
    require(by, project, Verb.CHANGE_PROJECT)
    unknown = set(changes) - set(RULES)
    if unknown:
        raise Invalid(f"A project has no rule named {sorted(unknown)[0]!r}.", field=sorted(unknown)[0])
    before = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
    after = copy(before)
    for name, value in changes.items():
        setattr(after, name, value)
    _clean(after)
    values = {name: [_plain(getattr(each, name)) for each in (before, after)] for name in changes}
    moved = {name: [old, new] for name, (old, new) in values.items() if old != new}
    _check(after, moved.keys())
    return after, moved


def fixed_by_judgments(project: Project) -> frozenset[str]:
    """Return the names of the rules that determine the judged texts and are locked; empty before the first judgment."""
    if not _is_judged(project):
        return frozenset()
    if project.over_length == Project.OverLength.TRUNCATE:
        return frozenset({"over_length", "length_unit", "target_length"})
    return frozenset({"over_length", "length_unit"})


def _check(project: Project, moved: Collection[str]) -> None:
    lengths = {"over_length", "length_unit", "target_length"} & set(moved)
    if lengths and (fixed := lengths & fixed_by_judgments(project)):
        named = ", ".join(rule_name(name) for name in sorted(fixed))
        raise Conflict(
            "Summaries in this project have been judged, and this change would alter the judged text: "
            f"{named}. Import them into a new project instead.",
            code="judged",
        )
    if "deciding_judge" in moved and project.deciding_judge is not None:
        require_whole(project, project.deciding_judge)
    if "own_weights" in moved:
        _check_weights(project)
    if "percent_scale" in moved:
        _check_scale(project)
    if "reveal" in moved:
        _check_samples(project)


def _clean(project: Project) -> None:
    try:
        project.full_clean(validate_unique=False)
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise Invalid(f"{field}: {' '.join(messages)}", field=field) from error
    decides = project.deciding_judge
    if decides is not None and not is_of(decides, project):
        raise Invalid("There is no such judge in this project.", field="deciding_judge")
    if project.lease_minutes > LONGEST_LEASE_MINUTES:
        raise Invalid(
            f"A lease lasts at most {LONGEST_LEASE_MINUTES} minutes (a week).", field="lease_minutes"
        )


def _check_weights(project: Project) -> None:
    # Summarization may be larger than 1.
    known = {*RANKABLE, *criteria_in_force(project).values_list("name", flat=True)} - {"summarization"}
    weights = project.own_weights
    if not isinstance(weights, dict) or (unknown := sorted(weights.keys() - known)):
        told = f"{unknown[0]!r} has no weight" if isinstance(weights, dict) else "Give weights by name"
        raise Invalid(f"{told}. Weights are for {', '.join(sorted(known))}.", field="own_weights")
    if not all(type(weight) in (int, float) and 0 < weight <= MOST_WEIGHT for weight in weights.values()):
        raise Invalid(f"A weight is a number above 0 and at most {MOST_WEIGHT:,}.", field="own_weights")


def _check_scale(project: Project) -> None:
    step = project.percent_step
    percents = CoverageJudgment.objects.filter(
        reading__assignment__document_set__project=project, is_current=True, percent__isnull=False
    )
    off = percents.annotate(off=Mod("percent", Value(step))).filter(off__gt=0).count()
    if off:
        raise Conflict(
            f"{off} percents have been given that do not lie in steps of {step}. Use a new project for another scale.",
            code="judged",
        )


def _check_samples(project: Project) -> None:
    if project.reveal != Project.Reveal.SHOWN:
        return
    waiting = SampledCheck.objects.filter(AWAITED, sample__project=project).order_by("-sample")
    sample = Sample.objects.filter(pk__in=waiting.values("sample")[:1]).first()
    if sample is not None:
        lacking = waiting.filter(sample=sample).count()
        left = "1 blind answer" if lacking == 1 else f"{lacking:,} blind answers"
        raise Conflict(
            f"The random sample of checks of {date_format(sample.created_at, 'j M Y')} (seed {sample.seed}) still "
            f"needs {left}, which would be impossible if the verdict were shown at once. Complete or cancel the sample "
            "first, or choose “after own answer”.",
            code="sample_open",
        )


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | list | dict | None) else str(value)


def _is_judged(project: Project) -> bool:
    return (
        Verdict.objects.filter(check_row__project=project).exists()
        or CoverageJudgment.objects.filter(reading__assignment__document_set__project=project).exists()
    )
