from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.models import (
    Check,
    Claim,
    ClaimSet,
    DocumentSet,
    Project,
    Score,
    Summary,
    System,
    Verdict,
)
from tests.annotation.api.routes import IN_PROJECT, ids_of
from tests.annotation.route_verbs import OWN
from tests.annotation.web.places import addresses
from tests.annotation.web.test_pages import NOT_PAGES, POSTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from django.test import Client

    from tests.annotation.cast import World
    from tests.annotation.conftest import SignIn

pytestmark = pytest.mark.slow

SETS, SYSTEMS, CLAIMS = 800, 5, 10
MOST_ROWS = 2_000
"""The small project has fewer rows of any kind, so a statement that touches more reads rows of others."""
OF_THE_INSTALLATION = ("FROM django_", "FROM auth_", "FROM axes_", "pg_")


@pytest.fixture
def beside_a_large_one(world: World) -> World:
    if connection.vendor != "postgresql":
        pytest.skip("the plans are PostgreSQL's")
    other = Project.objects.create(name="Large", slug="large")
    systems = System.objects.bulk_create(
        System(project=other, name=f"s{number}") for number in range(SYSTEMS)
    )
    sets = DocumentSet.objects.bulk_create(
        DocumentSet(project=other, external_id=f"d{number}") for number in range(SETS)
    )
    references = Summary.objects.bulk_create(
        Summary(document_set=one, is_reference=True, text="The ferry was late.", external_id="m")
        for one in sets
    )
    summaries = Summary.objects.bulk_create(
        Summary(document_set=one, system=system, is_summary=True, text="It was late.")
        for one in sets
        for system in systems
    )
    lists = ClaimSet.objects.bulk_create(
        ClaimSet(summary=reference, origin="judge", origin_name="lexical") for reference in references
    )
    claims = Claim.all_claims.bulk_create(
        (
            Claim(claim_set=one, position=place, text=f"Claim {place}.", origin="judge")
            for one in lists
            for place in range(CLAIMS)
        ),
        batch_size=10_000,
    )
    Score.objects.bulk_create(
        Score(project=other, summary=summary, summary_words=3, coverage=0.5, signature="x")
        for summary in summaries
    )
    checks = Check.objects.bulk_create(
        (
            Check(
                project=other,
                claim=claim,
                summary=summary,
                document_set_id=summary.document_set_id,
                side="summary" if claim.position % 2 else "reference",
                judge_label="yes",
                judge_probability=0.9,
                final_label="no" if claim.position % 5 else "yes",
                final_source="judge",
            )
            for place, summary in enumerate(summaries)
            for claim in claims[place // SYSTEMS * CLAIMS :][:CLAIMS]
        ),
        batch_size=10_000,
    )
    Verdict.objects.bulk_create(
        (
            Verdict(check_row=check, role="judge", judge=world.judge, origin_name="lexical", label="yes")
            for check in checks
        ),
        batch_size=10_000,
    )
    assert Check.objects.filter(project=other).count() == SETS * SYSTEMS * CLAIMS
    # Without statistics of the new rows, the planner may choose a slow join.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return world


def _touched(plan: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    rows = sum(
        plan.get(name, 0)
        for name in ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    )
    if "Relation Name" in plan:
        yield int(rows * plan["Actual Loops"]), plan["Relation Name"]
    for part in plan.get("Plans", ()):
        yield from _touched(part)


def _read_of_others(statements: list[str]) -> list[str]:
    found = []
    for statement in dict.fromkeys(statements):
        if not statement.startswith(("SELECT", "WITH")) or any(
            table in statement for table in OF_THE_INSTALLATION
        ):
            continue
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.replace('%', '%%')}", [])
            [[plans]] = cursor.fetchall()
            transaction.set_rollback(True)
        plans = json.loads(plans) if isinstance(plans, str) else plans
        found += [
            f"{rows:,} rows of {table}: {statement[:300]}"
            for rows, table in _touched(plans[0]["Plan"])
            if rows > MOST_ROWS
        ]
    return found


def _faults(clients: Mapping[str, Client], wanted: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, (address, person) in wanted.items():
        with CaptureQueriesContext(connection) as captured:
            assert clients[person].get(address).status_code in (200, 302, 400, 404, 409, 422)
        if faults := _read_of_others([query["sql"] for query in captured]):
            found[name] = faults
    return found


@pytest.fixture
def clients(beside_a_large_one: World, signed_in: SignIn) -> dict[str, Client]:
    return {name: signed_in(getattr(beside_a_large_one, name)) for name in ("olga", "ana", "mona")}


def test_no_page_of_a_small_project_reads_the_rows_of_a_large_one(
    beside_a_large_one: World, clients: dict[str, Client]
) -> None:
    def reader(name: str) -> str:
        return "ana" if name.startswith(("assess", "work")) else "mona" if OWN.get(name) == "mona" else "olga"

    wanted = {
        name: (address, reader(name))
        for name, address in addresses(beside_a_large_one).items()
        if name not in POSTED | NOT_PAGES
    }
    assert not (found := _faults(clients, wanted)), json.dumps(found, indent=1)


def test_no_list_of_the_api_does(beside_a_large_one: World, clients: dict[str, Client]) -> None:
    ids = ids_of(beside_a_large_one)
    wanted = {
        route.path: (route.address(ids), route.owner or "olga")
        for route in IN_PROJECT
        if route.method == "get" and (route.owner or "olga") in clients
    }
    assert not (found := _faults(clients, wanted)), json.dumps(found, indent=1)
