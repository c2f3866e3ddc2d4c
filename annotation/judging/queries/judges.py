"""The judges that a project may use, with the addresses of their servers."""

from __future__ import annotations

from django.db.models import BooleanField, ExpressionWrapper, Min, Q, QuerySet

from annotation.core.lists import Choices, Column, Kind, List, Viewer, sees_scores
from annotation.core.permissions import Verb
from annotation.models import Judge, Project
from evaluation.judging.openai import DEFAULT_BASE_URL


def judges_of(project: Project | None) -> QuerySet[Judge]:
    """The judges that a project may use: its own and the shared ones. Without a project, only the shared ones."""
    return Judge.objects.filter(Q(project=None) | Q(project=project))


def is_of(judge: Judge, project: Project) -> bool:
    """True if the judge belongs to the project or is shared by all projects."""
    return judge.project_id in (None, project.pk)


def members_of(judge: Judge) -> list[Judge]:
    """The members of a panel; for another judge, the judge itself.

    Members are ordered by name, or by price if the panel asks them in turn.
    """
    if judge.kind != Judge.Kind.PANEL:
        return [judge]
    by_price = () if judge.ask_next_below is None else ("prompt_price", "completion_price")
    return list(judge.members.order_by(*by_price, "name"))


def address_of(judge: Judge) -> str:
    """The base URL of an OpenAI-compatible judge."""
    return judge.base_url or DEFAULT_BASE_URL


def served_models(judge: Judge) -> list[str]:
    """The model names in the replies of the judge's server, in the order in which they first appeared."""
    named = judge.calls.exclude(served_model="").values("served_model").annotate(first=Min("pk"))
    return list(named.order_by("first").values_list("served_model", flat=True))


def addresses_of(judge: Judge) -> list[str]:
    """The addresses to which a judge or the members of a panel send texts, sorted; the lexical judge has none."""
    asked = judge.members.all() if judge.kind == Judge.Kind.PANEL else [judge]
    return sorted({address_of(one) for one in asked if one.kind == Judge.Kind.OPENAI})


def _rows(viewer: Viewer) -> QuerySet[Judge]:
    decides = ExpressionWrapper(Q(pk=viewer.project.deciding_judge_id or 0), BooleanField())
    is_archived = ExpressionWrapper(Q(archived_at__isnull=False), BooleanField())
    rows = judges_of(viewer.project).prefetch_related("members")
    return rows.annotate(is_deciding=decides, is_archived=is_archived)


JUDGES = List(
    name="judges",
    verbs=(Verb.VIEW_RUNS,),
    rows=_rows,
    order=("is_archived", "name", "pk"),
    empty="No judges yet.",
    columns=(
        Column("name", head="Judge", order=True, search=True, cell="judging/judges/_name.html"),
        Column("id", "public_id"),
        Column("kind", choices=Choices("JudgeKind", Judge.Kind.choices), head="Kind", order=True),
        Column("model", head="Model", order=True, search=True, help="The model's name at the provider."),
        Column(
            "is_deciding",
            kind=Kind.FLAG,
            seen_by=sees_scores,
            help="Whether its verdicts decide in this project; left out while you are blind.",
        ),
        Column(
            "is_shared", lambda row: row.project_id is None, kind=Kind.FLAG, help="All projects share it."
        ),
        Column(
            "addresses",
            addresses_of,
            kind=Kind.TEXTS,
            head="Sends texts to",
            seen_by=lambda viewer: Verb.RUN in viewer.verbs,
            cell="judging/judges/_addresses.html",
            help="Addresses that it sends texts to.",
        ),
        Column(
            "archived_at",
            kind=Kind.MOMENT,
            nullable=True,
            head="Use",
            cell="judging/judges/_use.html",
            help="When it was archived; runs cannot use it since.",
        ),
    ),
)
