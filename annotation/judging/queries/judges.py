"""Which judges a project may use, and where their servers are."""

from __future__ import annotations

from django.db.models import Min, Q, QuerySet

from annotation.models import Judge, Project
from evaluation.judging.openai import DEFAULT_BASE_URL


def judges_of(project: Project | None) -> QuerySet[Judge]:
    """The project's own judges and the shared ones; without a project the shared ones alone."""
    if project is None:
        return Judge.objects.filter(project=None)
    return Judge.objects.filter(Q(project=None) | Q(project=project))


def is_of(judge: Judge, project: Project) -> bool:
    """Whether the project may use the judge."""
    return judge.project_id in (None, project.pk)


def members_of(judge: Judge) -> list[Judge]:
    """The judges that are asked: the members of a panel, else the judge itself.

    Members are ordered by name, those of a panel that asks in turn by price.
    """
    if judge.kind != Judge.Kind.PANEL:
        return [judge]
    by_price = () if judge.ask_next_below is None else ("prompt_price", "completion_price")
    return list(judge.members.order_by(*by_price, "name"))


def address_of(judge: Judge) -> str:
    """The base URL that a judge with a server calls."""
    return judge.base_url or DEFAULT_BASE_URL


def served_models(judge: Judge) -> list[str]:
    """The models that its server named in the replies, in the order of their first."""
    named = judge.calls.exclude(served_model="").values("served_model").annotate(first=Min("pk"))
    return list(named.order_by("first").values_list("served_model", flat=True))


def addresses_of(judge: Judge) -> list[str]:
    """The servers that a judge, or each member of a panel, sends texts to; none for the lexical one."""
    members = (member for member in members_of(judge) if member.kind == Judge.Kind.OPENAI)
    return sorted({address_of(member) for member in members})
