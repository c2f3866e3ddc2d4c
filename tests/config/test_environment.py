import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from annotation.config import environment


def test_sqlite_gets_a_write_ahead_log_and_immediate_transactions() -> None:
    options = environment.database("sqlite:///data/coverdict.sqlite3")["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 20
    assert "journal_mode=WAL" in options["init_command"]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgres://ana@db.example.org/coverdict", "db.example.org"),
        ("postgres://ana@%2Frun%2Fpostgresql/coverdict", "/run/postgresql"),
    ],
)
def test_postgresql_is_found_by_name_or_by_socket_folder(url: str, host: str) -> None:
    config = environment.database(url)
    assert (config["HOST"], config["NAME"], config["USER"]) == (host, "coverdict", "ana")


def test_postgresql_keeps_what_the_url_says_of_its_own() -> None:
    config = environment.database(
        "postgres://ana@host/name?sslmode=require", keep_seconds=7, server_side_cursors=False
    )
    assert config["OPTIONS"] == {
        "connect_timeout": environment.POSTGRESQL_CONNECT_SECONDS,
        "prepare_threshold": None,
        "sslmode": "require",
    }
    assert (config["CONN_MAX_AGE"], config["CONN_HEALTH_CHECKS"]) == (7, True)
    assert config["DISABLE_SERVER_SIDE_CURSORS"] is True


def test_the_queue_of_files_gets_its_folders(tmp_path: Path) -> None:
    options = environment.broker_options("filesystem://", tmp_path / "queue")
    assert options["polling_interval"] == 0.1
    assert options["data_folder_in"] == options["data_folder_out"]
    assert Path(options["data_folder_in"]).is_dir()
    assert Path(options["control_folder"]).is_dir()


@pytest.mark.parametrize("url", ["redis://127.0.0.1/0", "amqp://127.0.0.1"])
def test_another_broker_makes_no_folders(tmp_path: Path, url: str) -> None:
    options = environment.broker_options(url, tmp_path / "queue")
    assert "polling_interval" not in options
    assert not (tmp_path / "queue").exists()


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "below" / "key"
    first = environment.kept_secret(path)
    assert len(first) >= 50
    assert environment.kept_secret(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_all_who_ask_at_once_get_the_same_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        secrets = set(pool.map(lambda _: environment.kept_secret(tmp_path / "key"), range(64)))
    assert len(secrets) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_a_mail_server_is_named_by_a_url() -> None:
    found = environment.mail("smtp+tls://ana:p%40ss@mail.example.org:587", "coverdict@example.org")
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == (
        "mail.example.org",
        587,
        True,
    )
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("ana", "p@ss")
    assert environment.mail("", "") == {}


@pytest.mark.parametrize(
    ("url", "sender", "told"),
    [
        ("smtp://ana:hushhush@mail.example.org", "", "DEFAULT_FROM_EMAIL"),
        ("post://ana:hushhush@mail.example.org", "a@example.org", "names no mail server"),
        ("smtp://ana:hushhush@mail.example.org:port", "a@example.org", "names no mail server"),
    ],
)
def test_a_mail_server_without_a_sender_or_a_known_kind_is_refused(url: str, sender: str, told: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=told) as refused:
        environment.mail(url, sender)
    assert "hushhush" not in str(refused.value)


POSTGRESQL = {"ENGINE": "django.db.backends.postgresql"}
SQLITE = {"ENGINE": "django.db.backends.sqlite3"}


@pytest.mark.parametrize(
    ("url", "broker", "database", "kind", "place"),
    [
        ("redis://cache/1", "redis://broker/0", POSTGRESQL, "RedisCache", "redis://cache/1"),
        ("", "rediss://broker/0", POSTGRESQL, "RedisCache", "rediss://broker/0"),
        ("", "amqp://broker", POSTGRESQL, "TableCache", "annotation_cachedvalue"),
        ("redis://cache/1", "filesystem://", SQLITE, "RedisCache", "redis://cache/1"),
        ("", "filesystem://", SQLITE, "LocMemCache", None),
    ],
)
def test_what_is_counted_lies_where_all_processes_see_it(
    url: str, broker: str, database: dict[str, str], kind: str, place: str | None
) -> None:
    made = environment.caches(url, broker=broker, database=database)["default"]
    assert (made["BACKEND"].rpartition(".")[2], made.get("LOCATION")) == (kind, place)


def test_a_cache_that_is_no_redis_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="CACHE_URL names no Redis"):
        environment.caches("memcached://host", broker="", database=POSTGRESQL)


@pytest.mark.parametrize(
    "read",
    [
        lambda url: environment.judge_urls(["https://api.example.org", url]),
        lambda url: environment.judge_keys([f"A_KEY={url}"]),
    ],
    ids=["urls", "keys"],
)
def test_an_allowed_url_with_a_password_is_refused_and_not_repeated(read: Callable[[str], object]) -> None:
    assert read("https://llm.example.org/v1")
    with pytest.raises(ImproperlyConfigured, match="neither user, password") as refused:
        read("https://user:pw-of-mine@llm.example.org/v1")
    assert "pw-of-mine" not in str(refused.value)


def test_single_sign_on_is_named_whole_or_not_at_all() -> None:
    assert environment.single_sign_on("", "", "", "SSO") == {}
    for issuer in ("https://login.example.org/realms/main", "http://127.0.0.1:9400"):
        [provider] = environment.single_sign_on(issuer, "coverdict", "x", "SSO")["openid_connect"]["APPS"]
        assert (provider["name"], provider["settings"]["server_url"]) == ("SSO", issuer)
    with pytest.raises(ImproperlyConfigured, match="needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET too"):
        environment.single_sign_on("https://login.example.org", "", "", "SSO")
    for issuer in ("http://login.example.org", "login.example.org", "https://"):
        with pytest.raises(ImproperlyConfigured, match="https:// address"):
            environment.single_sign_on(issuer, "coverdict", "x", "SSO")


def test_who_gets_an_account_is_a_domain_or_invited() -> None:
    assert environment.new_accounts([" Example.org", "invited", ""]) == ["example.org", "invited"]
    for entry in ("*", "everybody", "@example.org", "example", "a@example.org"):
        with pytest.raises(ImproperlyConfigured, match="OIDC_NEW_ACCOUNTS"):
            environment.new_accounts([entry])


def test_every_port_may_be_named_of_this_machine_alone_and_never_for_a_key() -> None:
    assert environment.judge_urls(["http://127.0.0.1:*", "http://[::1]:*/v1"])
    with pytest.raises(ImproperlyConfigured, match="Name the port"):
        environment.judge_urls(["https://llm.example.org:*"])
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        environment.judge_keys(["A_KEY=http://127.0.0.1:*"])
