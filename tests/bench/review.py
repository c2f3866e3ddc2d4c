"""How soon the next claim is there for a reviewer, and what an answer costs: 7,500 checks on SQLite, whole requests.

30 document sets of 600 words, 25 systems, ten claims each, all judged; a reviewer goes through them by document, as
the form does: the answer goes out, and the claim after next is fetched. `override` measures the same among a million.
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.bench import Row, _texts

if TYPE_CHECKING:
    from django.test import Client

    from annotation.models import Project

NAME = "review"
SETS, SYSTEMS = 30, 25
WARM_UP, MEASURED = 10, 60
MOST_MS = 30.0
API_P50_MS, API_P95_MS = 14.0, 22.0
SLUG = "study"


class Spent(NamedTuple):
    """Milliseconds by the clock, and of this process's processor, which other work on the machine disturbs less."""

    ms: float
    work: float


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DATABASE_URL": f"sqlite:///{Path(folder) / 'review.sqlite3'}",
            "COVERDICT_VAR": str(Path(folder) / "var"),
            "DJANGO_SETTINGS_MODULE": "annotation.config.settings.test",
        }
        import django

        django.setup()
        from django.contrib.auth.models import User
        from django.core.management import call_command
        from django.db import transaction
        from django.test import Client

        call_command("migrate", verbosity=0)
        with transaction.atomic():
            fill()
        client = Client(headers={"HX-Request": "true"})
        client.force_login(User.objects.get(username="rex"))
        rows = [row for order in ("document", "doubt", "effect") for row in _walk(client, order)]
        return [*rows, *_through_the_api(client)]


def _walk(client: Client, order: str) -> list[Row]:
    """Answer one claim after the other in this order."""
    spent: dict[str, list[Spent]] = {"next": [], "answer": [], "page": []}
    here, query = "", f"?order={order}"
    for _ in range(WARM_UP + MEASURED):
        asked = {"here": here} if here else {}
        room = _timed(spent["next"], partial(client.post, f"/p/{SLUG}/review/next/{query}", asked))
        found = re.search(r'data-check="(\w+)"', room)
        if found is None:
            raise RuntimeError(f"no claim came of the queue by {order}: {room[:200]}")
        here = found[1]
        answer = {"label": "yes", "seen": ""}
        _timed(spent["answer"], partial(client.post, f"/p/{SLUG}/review/{here}/answer/{query}", answer))
        _timed(spent["page"], partial(client.get, f"/p/{SLUG}/review/{here}/{query}"))
    rows = []
    for what, words, bar in (
        ("next", "next claim", MOST_MS),
        ("answer", "answer", None),
        ("page", "a claim's page", None),
    ):
        measured = spent[what][WARM_UP:]
        times, work = ([each[place] for each in measured] for place in (0, 1))
        note = (
            f"p50 {statistics.median(times):.3g} ms; "
            f"its own work p50 {statistics.median(work):.3g} ms, p95 {_p95(work):.3g} ms"
        )
        rows.append(Row(f"{words}, by {order}, p95", _p95(times), "ms", bar, note=note))
    return rows


def _through_the_api(client: Client) -> list[Row]:
    """Answer claims that nobody has opened, one after the other."""
    from annotation.models import Check

    waiting = Check.objects.filter(human_label=None).order_by("queue_key").values_list("public_id", flat=True)
    spent: list[Spent] = []
    for key in waiting[: WARM_UP + MEASURED]:
        address = f"/api/v1/projects/{SLUG}/checks/{key}/verdicts/"
        answer = {"label": "yes", "seen": ""}
        _timed(spent, partial(client.post, address, answer, content_type="application/json"), status=201)
    times = [each.ms for each in spent[WARM_UP:]]
    note = f"its own work p50 {statistics.median(each.work for each in spent[WARM_UP:]):.3g} ms"
    return [
        Row("answer through the API, p50", statistics.median(times), "ms", API_P50_MS, note=note),
        Row("answer through the API, p95", _p95(times), "ms", API_P95_MS),
    ]


def _p95(times: Sequence[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def _timed(spent: list[Spent], act: Callable[[], Any], *, status: int = 200) -> str:
    started, worked = time.perf_counter(), time.process_time()
    answer = act()
    spent.append(Spent(ms=(time.perf_counter() - started) * 1000, work=(time.process_time() - worked) * 1000))
    if answer.status_code != status:
        raise RuntimeError(f"{answer.status_code} came back: {answer.content[:300]!r}")
    return str(answer.content.decode())


def fill(sets: int = SETS) -> None:
    """Document sets of 25 systems and ten claims, all judged, in the database at hand."""
    from annotation.models import Check, DocumentSet, Verdict
    from annotation.scoring.rescore import rescore

    project = _project()
    for number in range(sets):
        document_set = DocumentSet.objects.create(project=project, external_id=f"d{number:03}")
        checks = _of_set(project, document_set, number)
        Check.objects.bulk_create(checks)
        Verdict.objects.bulk_create(
            Verdict(
                check_row=check,
                source="judge",
                judge=project.deciding_judge,
                label="yes" if place % 3 else "no",
                probability=0.5 + place % 50 / 100 if place % 3 else place % 50 / 100,
                evidence=[1],
                reason="Word for word." if place % 3 else "Nothing of it.",
            )
            for place, check in enumerate(checks)
        )
    rescore(project=project)


def _project() -> Project:
    from django.contrib.auth.models import User

    from annotation.models import Judge, Membership, Project, Role, System

    judge = Judge.objects.create(name="lexical", kind=Judge.Kind.LEXICAL)
    project = Project.objects.create(slug=SLUG, name="Study", deciding_judge=judge)
    Membership.objects.create(project=project, user=User.objects.create_user("rex"), roles=[Role.REVIEWER])
    System.objects.bulk_create(System(project=project, name=f"s{number:02}") for number in range(SYSTEMS))
    return project


def _of_set(project: Project, document_set: Any, number: int) -> list[Any]:
    """A set with its texts, units and claims; its checks, not yet stored: every claim against every system."""
    from annotation.models import (
        Check,
        Claim,
        ClaimSet,
        Comparison,
        Document,
        Summary,
        Unit,
    )
    from annotation.models.claim import has_number, new_queue_key
    from evaluation.text import sentence_spans

    words = _texts.claims(number)
    document = Document.objects.create(document_set=document_set, position=1, text=_texts.document(number))
    model = Summary.objects.create(document_set=document_set, is_model=True, text=" ".join(words))
    peers = [
        Summary.objects.create(
            document_set=document_set,
            system=system,
            is_peer=True,
            target_words=100,
            text=_texts.summary(number, place),
        )
        for place, system in enumerate(project.systems.order_by("pk"))
    ]
    Comparison.objects.bulk_create(Comparison(peer=peer, model=model) for peer in peers)
    texts: list[tuple[str, dict[str, Any]]] = [(document.text, {"document": document})]
    texts += [(each.text, {"summary": each}) for each in (model, *peers)]
    for text, owner in texts:
        Unit.objects.bulk_create(
            Unit(position=place, start=span.start, end=span.end, **owner)
            for place, span in enumerate(sentence_spans(text), start=1)
        )
    units = list(model.units.order_by("position"))
    claim_set = ClaimSet.objects.create(summary=model, origin="judge", origin_name="lexical")
    claims = Claim.objects.bulk_create(
        # Where two sentences were taken for one unit, the last unit has the claims that are left.
        Claim(
            claim_set=claim_set,
            unit=units[min(place, len(units)) - 1],
            position=place,
            text=text,
            origin="judge",
        )
        for place, text in enumerate(words, start=1)
    )
    return [
        Check(
            project=project,
            claim=claim,
            peer=peer,
            document_set_id=peer.document_set_id,
            side="reference",
            has_number=has_number(claim.text),
            queue_key=new_queue_key(),
        )
        for peer in peers
        for claim in claims
    ]
