"""Fixtures of `annotation`.

Parts of Django are imported inside functions, because this file is read before Django is set up.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.llm_server import llm_server

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.test import Client
    from pytest_django import DjangoDbBlocker
    from rest_framework.test import APIClient

    from annotation.models import Judge
    from tests.annotation.cast import World
    from tests.annotation.kept_rows import KeptRows
    from tests.llm_server import LLMServer

__all__ = ["llm_server"]

StaffDoor = Callable[[str], "Client"]
ApiDoor = Callable[[str], "APIClient"]
SignIn = Callable[["User"], "Client"]
HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="session")
def kept_world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> KeptRows[World]:
    from tests.annotation.cast import make_world
    from tests.annotation.kept_rows import KeptRows

    with django_db_blocker.unblock():
        return KeptRows.of(make_world)


@pytest.fixture
def world(db: None, kept_world: KeptRows[World]) -> World:
    return kept_world.put_back()


@pytest.fixture
def staff(world: World) -> StaffDoor:
    from django.contrib.auth.models import User
    from django.test import Client

    def sign_in(name: str) -> Client:
        if name == "root":
            person, _ = User.objects.get_or_create(
                username="root", defaults={"is_staff": True, "is_superuser": True}
            )
        else:
            person = world.users[name]
            person.is_staff = True
            person.save(update_fields=["is_staff"])
        client = Client()
        client.force_login(person)
        return client

    return sign_in


@pytest.fixture
def ana(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.ana)


@pytest.fixture
def mona(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.mona)


@pytest.fixture
def olga(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.olga)


@pytest.fixture
def rex(world: World, signed_in: SignIn) -> Client:
    return signed_in(world.rex)


@pytest.fixture
def client_of(world: World) -> ApiDoor:
    from rest_framework.test import APIClient

    def sign_in(name: str) -> APIClient:
        client = APIClient()
        client.force_login(getattr(world, name))
        return client

    return sign_in


@pytest.fixture
def ids(world: World) -> dict[str, str]:
    from tests.annotation.api.routes import ids_of

    return ids_of(world)


@pytest.fixture(autouse=True)
def _forget_attempts() -> Any:
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def mailing(settings: Any) -> Iterator[None]:
    from celery import current_app

    settings.EMAIL_URL, settings.DEFAULT_FROM_EMAIL = "memorymail://", "coverdict@example.org"
    current_app.loader.import_default_modules()
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


@pytest.fixture
def llm_judge(transactional_db: None, llm_server: LLMServer) -> Judge:
    """A thread stores its calls, so tests need committed rows."""
    from annotation.models import Judge

    return Judge.objects.create(
        name="scripted", kind=Judge.Kind.OPENAI, model="scripted", base_url=llm_server.base_url, concurrency=4
    )


@pytest.fixture
def colleague(world: World, transactional_db: None) -> Iterator[None]:
    from django.db import connection

    from annotation import perform_job
    from annotation.models import Job
    from annotation.workers import report_alive

    ended = threading.Event()

    def work() -> None:
        try:
            while not ended.wait(0.05):
                for kind in Job.Kind:
                    perform_job.work_on(kind)
        finally:
            connection.close()

    report_alive("colleague:1")
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    thread = threading.Thread(target=work)
    thread.start()
    yield
    ended.set()
    thread.join(60)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def signed_in() -> SignIn:
    from django.test import Client

    def sign_in(person: User) -> Client:
        client = Client(headers={"Referer": "http://testserver/p/harbour/"})
        client.force_login(person)
        return client

    return sign_in
