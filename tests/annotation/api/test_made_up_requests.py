"""Requests that are generated from the API's description."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from django.core.cache import cache
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from knox.models import AuthToken
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotation.core.permissions import Verb, verbs_in
from annotation.models import Membership, Role
from tests.annotation.api.routes import IN_PROJECT, OUTSIDE, PREFIX, as_pattern

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker

    from tests.annotation.cast import World

EXAMPLES = int(os.environ.get("MADE_UP_EXAMPLES", "4"))
"""The most valid and invalid requests to an operation with input."""
BLIND = "blind"
"""Ana with every role and with open work."""
PEOPLE = ("olga", "mona", "rex", "cleo", "ana", "vic", BLIND)
PARTS = 4
"""The number of tests that share the operations, so that several processes can run them."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
MODES = tuple(schemathesis.GenerationMode)


@pytest.fixture(scope="module")
def application() -> Iterator[Any]:
    """Return the WSGI application without the end of a request, which would close the test's connection."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    answer = get_wsgi_application()
    yield lambda environ, start: answer({"REMOTE_ADDR": "127.0.0.1", **environ}, start)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture(scope="module")
def described(application: Any, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> tuple[Any, ...]:
    with django_db_blocker.unblock():
        schema = schemathesis.openapi.from_wsgi("/api/schema/", application)
    return tuple(result.ok() for result in schema.get_all_operations())


@pytest.mark.parametrize("part", range(PARTS))
def test_every_answer_is_one_that_is_described(
    world: World, ids: dict[str, str], described: tuple[Any, ...], part: int
) -> None:
    askers = [_asker(world, name) for name in PEOPLE]
    routes = {_as_described(*as_pattern(route)): route for route in (*IN_PROJECT, *OUTSIDE)}
    faults: list[str] = []
    for operation in described[part::PARTS]:
        route = routes[operation.method, operation.path]
        let_in = [each for each in askers if not route.verbs or not each.verbs.isdisjoint(route.verbs)]
        if let_in:
            faults += _faults(operation, _parameters(operation.path, route.address(ids)), let_in)
    assert not faults, "\n\n".join(faults)


@dataclass(frozen=True)
class Asker:
    member: Membership
    roles: list[str]
    verbs: frozenset[Verb]
    token: str

    def answer(self, case: Any) -> Any:
        with transaction.atomic():
            Membership.objects.filter(pk=self.member.pk).update(roles=self.roles)
            answer = case.call(headers={"Authorization": f"Token {self.token}"})
            transaction.set_rollback(True)
        return answer


def _asker(world: World, name: str) -> Asker:
    person = world.ana if name == BLIND else getattr(world, name)
    member = Membership.objects.get(project=world.project, user=person)
    roles = list(Role.values) if name == BLIND else member.roles
    with transaction.atomic():
        Membership.objects.filter(pk=member.pk).update(roles=roles)
        verbs = verbs_in(person, world.project)
        transaction.set_rollback(True)
    return Asker(member, roles, verbs, AuthToken.objects.create(person)[1])


def _faults(operation: Any, rows: dict[str, str], askers: list[Asker]) -> list[str]:
    faults: list[str] = []

    @settings(_BOUNDED, max_examples=EXAMPLES if operation.query or operation.body else 1)
    @given(st.one_of([operation.as_strategy(generation_mode=mode) for mode in MODES]))
    def ask(case: Any) -> None:
        case.path_parameters = rows
        for asker in askers:
            # The cache counts attempts, and too many of them would be refused.
            cache.clear()
            try:
                case.validate_response(asker.answer(case), checks=CHECKS)
            except FailureGroup as fault:
                faults.append(str(fault))

    ask()
    return faults


_BOUNDED = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def _as_described(method: str, pattern: str) -> tuple[str, str]:
    return method, "/" + PREFIX.strip("/") + "/" + re.sub(r"<\w+:(\w+)>", r"{\1}", pattern)


def _parameters(path: str, address: str) -> dict[str, str]:
    pairs = zip(path.split("/"), address.split("/"), strict=True)
    return {part[1:-1]: value for part, value in pairs if part.startswith("{")}
