"""A project of many checks, and a person who requests the next claim of each queue.

The argument is the number of checks. The last line of output is JSON: by queue, the 95th percentile in milliseconds.
"""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import django
from django.core.management import call_command
from django.core.management.color import no_style
from django.db import connection
from django.urls import reverse

from tests.bench import _study
from tests.bench._serving import p95
from tests.bench._study import SLUG

if TYPE_CHECKING:
    from django.db.models import Model
    from django.test import Client

SETS, CHECKS_A_SET = 40, 250
REVIEWED, AGAINST = 400, 5
"""Claims with reviewers' answers before the rows are multiplied; two reviewers differ on every fifth."""
SAMPLED = 2000
WARM_UP, ASKED = 10, 60
QUEUES = {
    "set": "",
    "uncertainty": "sort=uncertainty",
    "impact": "sort=impact",
    "random sample": "sample={sample}",
    "only numbers": "numbers=true",
    "only disagreements": "only=disputed",
    "people against the judge": "only=against",
}
HELD = 30
"""Claims at the head of each queue that other people hold."""
FORM = "application/x-www-form-urlencoded"


def fill(checks: int) -> None:
    from annotation import models as rows
    from annotation.reviewing.services.review import override

    call_command("migrate", verbosity=0)
    project = _study.fill(SETS)
    first, second = _study.members(project, rows.Role.REVIEWER, 2)
    waiting = rows.Check.objects.select_related("project", "summary").order_by("queue_key")[:REVIEWED]
    for place, check in enumerate(waiting):
        override(check=check, by=first, label=check.judge_label or "yes")
        if place % AGAINST == 0:
            override(check=check, by=second, label="no" if check.judge_label == "yes" else "yes")
    _multiply(
        (
            rows.DocumentSet,
            rows.Document,
            rows.Summary,
            rows.Unit,
            rows.Comparison,
            rows.ClaimSet,
            rows.Claim,
            rows.Check,
            rows.Verdict,
            rows.Dispute,
            rows.Score,
        ),
        times=checks // (SETS * CHECKS_A_SET) - 1,
    )
    sample = rows.Sample.objects.create(
        project=project, method="uniform", share=SAMPLED / checks, seed=1, frame=[]
    )
    keys = rows.Check.objects.filter(human_label=None).order_by("public_id").values_list("pk", flat=True)
    rows.SampledCheck.objects.bulk_create(
        rows.SampledCheck(sample=sample, check_row_id=key, inclusion_probability=SAMPLED / checks)
        for key in keys[:SAMPLED]
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _multiply(kinds: tuple[type[Model], ...], times: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # do not look up each foreign key
        steps = {}
        for kind in kinds:
            cursor.execute(f'SELECT max(id) FROM "{kind._meta.db_table}"')
            steps[kind] = cursor.fetchone()[0] or 0
        for kind in kinds:
            columns = {
                f'"{field.column}"': _copied(kind, field, steps)
                for field in kind._meta.concrete_fields
                if not field.generated
            }
            cursor.execute(
                f'INSERT INTO "{kind._meta.db_table}" ({", ".join(columns)}) '
                f"SELECT {', '.join(columns.values())} "
                f'FROM "{kind._meta.db_table}" CROSS JOIN generate_series(1, {times}) nth'
            )
        for statement in connection.ops.sequence_reset_sql(no_style(), list(kinds)):
            cursor.execute(statement)
        cursor.execute("SET session_replication_role = origin")


def _copied(kind: type[Model], field: Any, steps: dict[type[Model], int]) -> str:
    target = kind if field.primary_key else field.related_model
    if target in steps:
        return f'"{field.column}" + nth * {steps[target]}'
    return {
        "public_id": "substr(md5(public_id || nth), 1, 16)",
        "external_id": "external_id || ' ' || nth",
        "queue_key": "('x' || substr(md5(queue_key::text || nth), 1, 15))::bit(60)::bigint",
    }.get(field.column, f'"{field.column}"')


class Desk:
    def __init__(self) -> None:
        from django.contrib.auth.models import User
        from django.test import Client

        self.client: Client = Client(headers={"HX-Request": "true"})
        self.client.force_login(User.objects.get(username="reviewer00"))
        self.here = ""

    def p95(self, query: str) -> float:
        self.here = ""
        return p95([self._next(query) for _ in range(WARM_UP + ASKED)][WARM_UP:])

    def _next(self, query: str) -> float:
        address = f"{reverse('next-check', kwargs={'slug': SLUG})}?{query}"
        asked = urlencode({"here": self.here}) if self.here else ""
        began = time.perf_counter()
        answer: Any = self.client.post(address, asked, content_type=FORM)
        ms = (time.perf_counter() - began) * 1000
        found = re.search(r'data-check="(\w+)"', answer.content.decode())
        if answer.status_code != 200 or found is None:
            raise RuntimeError(f"no claim came of the queue {query!r}: {answer.status_code}")
        self.here = found[1]
        return ms


def hold(query: str) -> None:
    from django.contrib.auth.models import User
    from django.http import QueryDict

    from annotation.core.lists import Viewer
    from annotation.models import Project
    from annotation.reviewing.queries.review_queue import QUEUE
    from annotation.reviewing.services.lease_check import hand_out

    other = Viewer.now(User.objects.get(username="reviewer01"), Project.objects.get())
    look, after = QUEUE.look(other, QueryDict(query).dict()), None
    for _ in range(HELD):
        after = hand_out(look=look, after=after)


def main() -> None:
    django.setup()
    fill(int(sys.argv[1]))
    from annotation.models import Sample

    sample, desk, found = Sample.objects.get().public_id, Desk(), {}
    for name, words in QUEUES.items():
        query = words.format(sample=sample)
        if "sample" not in words:
            hold(query)
        found[name] = desk.p95(query)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
