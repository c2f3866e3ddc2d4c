from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.management.setup_link import own_address, setup_words
from annotation.models import SetupLink

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


pytestmark = pytest.mark.django_db

GIVEN = {
    "username": "nora",
    "password": "six tall harbours",
    "again": "six tall harbours",
    "full_name": "Nora N",
}


def link() -> str:
    found = re.search(r"http://127\.0\.0\.1:8000(/setup/\S+/)", setup_words("http://127.0.0.1:8000/"))
    assert found
    return found[1]


def test_the_link_makes_an_administrator_once_and_signs_them_in() -> None:
    path, client = link(), Client()
    assert "Create the first account" in client.get(path).content.decode()
    assert client.post(path, GIVEN)["Location"] == "/"
    nora = User.objects.get()
    assert (nora.is_staff, nora.is_superuser, nora.get_full_name()) == (True, True, "Nora N")
    page = client.get("/").content.decode()
    assert "Welcome, nora. Create your first project." in page
    assert "New project" in page
    assert Client().get(path).status_code == 404
    assert Client().post(path, {**GIVEN, "username": "second"}).status_code == 404
    assert not SetupLink.objects.exists()


def test_no_link_is_issued_or_good_once_there_is_an_administrator() -> None:
    path = link()
    User.objects.create_superuser("somebody")
    assert Client().post(path, GIVEN).status_code == 404
    assert setup_words("http://127.0.0.1:8000") == ""
    with pytest.raises(CommandError, match=r"already an administrator.*reset_link USERNAME$"):
        call_command("setup_link")
    assert User.objects.count() == 1


def test_where_no_administrator_is_left_an_operator_gets_a_link_and_no_server_prints_one() -> None:
    User.objects.create_user("somebody")
    User.objects.create_superuser("gone", is_active=False)
    out = StringIO()
    assert setup_words("http://127.0.0.1:8000") == ""
    call_command("setup_link", stdout=out)
    assert "/setup/" in out.getvalue()


def test_a_new_link_ends_the_one_before_and_time_ends_any() -> None:
    first, second = link(), link()
    assert [Client().get(path).status_code for path in (first, second)] == [404, 200]
    SetupLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = Client().post(second, GIVEN)
    assert answer.status_code == 409
    assert "manage.py setup_link" in answer.content.decode()
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"again": "other"}, "passwords do not match"),
        ({"password": "123", "again": "123"}, "too short"),
        ({"username": ""}, ""),
    ],
)
def test_what_will_not_do_is_said_and_the_link_stays_good(changes: dict[str, str], told: str) -> None:
    path = link()
    answer = Client().post(path, {**GIVEN, **changes})
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not User.objects.exists()
    assert Client().post(path, GIVEN).status_code == 302


def test_the_secret_is_kept_as_a_hash_and_the_command_prints_it() -> None:
    out = StringIO()
    call_command("setup_link", address="https://coverdict.example.org", stdout=out)
    secret = re.search(r"https://coverdict\.example\.org/setup/(\S+)/", out.getvalue())
    assert secret
    assert SetupLink.objects.get().secret_hash not in out.getvalue()
    assert not SetupLink.objects.filter(secret_hash=secret[1]).exists()


def test_in_production_the_link_leads_to_the_first_plain_host(settings: SettingsWrapper) -> None:
    assert own_address() == "http://127.0.0.1:8000"
    settings.SESSION_COOKIE_SECURE = True
    settings.ALLOWED_HOSTS = [".example.org", "coverdict.example.org", "other.example.org"]
    out = StringIO()
    call_command("setup_link", stdout=out)
    assert "\nhttps://coverdict.example.org/setup/" in out.getvalue()
    settings.ALLOWED_HOSTS = [".example.org"]
    assert own_address() == "https://example.org"


def test_an_empty_installation_says_where_the_link_is() -> None:
    assert "manage.py setup_link" in Client().get("/").content.decode()
