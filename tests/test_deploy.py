from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote

import psycopg
import pytest
import yaml
from django.core.management import load_command_class

from annotation.operator_commands import SERVER_COMMANDS
from annotation.settings_choice import PRODUCTION
from tests import parts, postgres, redis_server
from tests.parts import free_port

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
BACKUP = (ROOT / "docs" / "backup.md").read_text(encoding="utf-8")
UNITS = ("coverdict-web.service", "coverdict-worker.service")
NAME = "coverdict.example.org"
STOP_SECONDS = 60
UP_SECONDS = 120
METRICS_TOKEN = "a-token-of-the-operators-choice"
IDLE_CLIENTS = 50
STALLED_FORMS = 40
MACHINES_OWN = {"apt-get", "adduser", "systemctl", "install", "sed"}
FROM_THE_LOGIN = ("HOME", "LANG", "PATH")
PLACES = (
    "opt/",
    "etc/nginx/sites-enabled/",
    "etc/ssl/private/",
    "etc/ssl/certs/",
    "usr/local/bin/",
    "var/lib/coverdict/",
    "var/log/nginx/",
)
NGINX = """
pid {root}/nginx.pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {root}/body;
    proxy_temp_path {root}/proxied;
    fastcgi_temp_path {root}/unused;
    uwsgi_temp_path {root}/unused;
    scgi_temp_path {root}/unused;
    include {root}/etc/nginx/sites-enabled/*;
}}
"""

pytestmark = pytest.mark.process


def blocks(kind: str = "server", page: str = PAGE) -> list[str]:
    return re.findall(rf"```sh {kind}\n(.*?)```", page, re.DOTALL)


def unit(name: str) -> dict[str, str]:
    return named_values((DEPLOY / name).read_text())


def named_values(text: str) -> dict[str, str]:
    lines = text.splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


@dataclass
class Machine:
    root: Path
    sockets: str
    redis: str
    ports: dict[str, int] = field(
        default_factory=lambda: {name: free_port() for name in ("80", "443", "8000")}
    )

    def here(self, text: str) -> str:
        text = text.replace("/usr/bin/python3 ", "python3 ")
        text = text.replace("/usr/sbin/runuser -u coverdict -- ", "")
        text = text.replace("runuser -u postgres -- ", "PGUSER=postgres ")
        text = re.sub(r"(?<![\w.])/(opt|etc|usr|var)/(?=[a-z])", rf"{self.root}/\1/", text)
        text = re.sub(r" -[og] coverdict\b", "", text)
        text = re.sub(r"(listen |:)(80|443|8000)\b", lambda hit: f"{hit[1]}{self.ports[hit[2]]}", text)
        text = text.replace("https://$name/readyz", f"https://$name:{self.ports['443']}/readyz")
        text = text.replace("nginx -t", f"nginx -t -p {self.root} -c {self.root}/nginx.conf")
        text = text.replace("redis://127.0.0.1:6379/0", self.redis)
        return text.replace(quote("/var/run/postgresql", safe=""), quote(self.sockets, safe=""))

    @property
    def environment(self) -> dict[str, str]:
        login = {name: os.environ[name] for name in FROM_THE_LOGIN if name in os.environ}
        packages = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        path = os.pathsep.join([f"{self.root}/usr/local/bin", str(postgres.binaries()), login["PATH"]])
        # Compile modules only when they are imported.
        packages["PIP_COMPILE"] = "0"
        return {**login, **packages, "PATH": path, "PGHOST": self.sockets, "name": NAME}

    def run(self, commands: str) -> str:
        done = subprocess.run(
            ["bash", "-euc", self.here(commands)],
            cwd=self.root / "project",
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if "No matching distribution" in done.stderr or "Could not find a version" in done.stderr:
            parts.missing("packages", done.stderr.strip().splitlines()[-1])
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @contextmanager
    def service(self, name: str) -> Iterator[None]:
        asked = unit(name)
        own = named_values(Path(self.here(asked["EnvironmentFile"])).read_text())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            notices.bind(f"{self.root}/{name}.notices")
            notices.settimeout(UP_SECONDS)
            process = subprocess.Popen(
                shlex.split(self.here(asked["ExecStart"])),
                env={**self.environment, **own, "NOTIFY_SOCKET": f"{self.root}/{name}.notices"},
                cwd="/",
            )
            try:
                if asked["Type"] == "notify":
                    assert b"READY=1" in notices.recv(1000)
                yield
                process.send_signal(signal.SIGTERM)
                assert process.wait(STOP_SECONDS) == 0, name
            finally:
                process.kill()
                process.wait()

    @contextmanager
    def nginx(self) -> Iterator[None]:
        process = subprocess.Popen(
            ["nginx", "-p", self.root, "-c", self.root / "nginx.conf", "-g", "daemon off;"]
        )
        try:
            # On a busy machine, nginx listens only some time after its start.
            self.run(
                f"curl --insecure --silent --output /dev/null --retry 3 --retry-connrefused --retry-delay 1"
                f" --max-time 30 https://127.0.0.1:{self.ports['443']}/nothing || [ $? -ne 7 ]"
            )
            yield
            process.send_signal(signal.SIGQUIT)
            assert process.wait(STOP_SECONDS) == 0
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def slow_clients(self) -> Iterator[None]:
        trust = ssl.create_default_context(cafile=self.root / "etc/ssl/certs/coverdict.pem")
        form = f"POST /accounts/login/ HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 1000\r\n\r\nusername=a"
        with ExitStack() as stack:
            for number in range(IDLE_CLIENTS + STALLED_FORMS):
                plain = stack.enter_context(socket.create_connection(("127.0.0.1", self.ports["443"])))
                client = stack.enter_context(trust.wrap_socket(plain, server_hostname=NAME))
                if number < STALLED_FORMS:
                    client.sendall(form.encode())
            yield

    def ask(self, path: str, header: str = "") -> str:
        return self.run(
            "curl --silent --show-error --retry 20 --retry-connrefused --retry-delay 1 --include"
            " --cacert /etc/ssl/certs/coverdict.pem"
            f' --header "{header}" --resolve "$name:443:127.0.0.1" "https://$name:{self.ports["443"]}{path}"'
        )


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with ExitStack() as stack:
        try:
            server = postgres.start()
            stack.callback(server.stop)
            redis = stack.enter_context(redis_server.running())
        except postgres.NoPostgres as reason:
            parts.missing("postgresql", str(reason))
        except redis_server.NoRedis as reason:
            parts.missing("redis", str(reason))
        sockets = unquote(server.url.partition("@")[2].partition("/")[0])
        with psycopg.connect(host=sockets, user="postgres", dbname="postgres", autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {postgres.DATABASE}")
        made = Machine(tmp_path_factory.mktemp("machine"), sockets, redis)
        for place in PLACES:
            (made.root / place).mkdir(parents=True)
        left_out = shutil.ignore_patterns(".git", ".venv", "var", "*_cache", "__pycache__", "tests")
        shutil.copytree(ROOT, made.root / "project", ignore=left_out)
        for sample in ("coverdict", "coverdict.env", "nginx.conf"):
            path = made.root / "project" / "deploy" / sample
            path.write_text(made.here(path.read_text()))
        (made.root / "nginx.conf").write_text(NGINX.format(root=made.root))
        yield made


@pytest.mark.slow
def test_the_page_leads_to_a_judged_project_behind_nginx_with_tls(machine: Machine) -> None:
    begin, program, database, certificate, readiness, project = blocks()
    assert begin.strip() == f"name={NAME}"
    machine.run(program)
    machine.run(database)
    with (machine.root / "etc/coverdict/coverdict.env").open("a") as file:
        file.write(f"METRICS_TOKEN={METRICS_TOKEN}\n")
    with machine.service(UNITS[0]), machine.service(UNITS[1]):
        if shutil.which("nginx") is None:
            # The other parts continue, and the end of the run reports this part as skipped.
            said = machine.run(project)
        else:
            machine.run(certificate)
            with machine.nginx():
                page = machine.ask("/accounts/login/")
                assert page.startswith("HTTP/1.1 200")
                assert re.search(r"Set-Cookie: coverdict_csrf=.*; Secure", page)
                (style,) = re.findall(r'href="(/static/css/base[^"]*\.css)"', page)
                assert machine.ask(style).startswith("HTTP/1.1 200")
                said = machine.run(project)
                assert '"ready": true' in machine.run(readiness)
                (link,) = re.findall(rf"https://{NAME}(/setup/\S+)", said)
                assert "coverdict_csrf" in machine.ask(link)
                figures = machine.ask("/metrics", f"Authorization: Bearer {METRICS_TOKEN}")
                assert 'view="account_login"' in figures
                assert re.search(r"^django_db_execute_total\{.*\} [1-9]", figures, re.MULTILINE)
                with machine.slow_clients():
                    assert machine.ask("/healthz").startswith("HTTP/1.1 200")
    assert re.search(r"^ +\d +\w+ .*0\.\d\d", said, re.MULTILINE)
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not on PATH, so its part was left out; all before and after it was run")
    # Without the application, nginx logs errors.
    with machine.nginx():
        for path in (link, f"/accounts/login/?next={link}"):
            address = f"https://127.0.0.1:{machine.ports['443']}{path}"
            assert " 502 " in machine.run(f'curl --insecure --silent --include "{address}"')
    logged = "".join(each.read_text() for each in (machine.root / "var/log/nginx").iterdir())
    assert "GET /setup/..." in logged
    assert link not in logged


def test_what_is_not_run_is_the_machines_own() -> None:
    found = [*blocks("machine")]
    lines = [line for block in found for line in block.splitlines()]
    assert {shlex.split(line)[0] for line in lines} == MACHINES_OWN
    named = {word for line in lines for word in shlex.split(line) if word.startswith("deploy/")}
    assert all((ROOT / path).is_file() for path in named)
    assert {f"deploy/{name}" for name in UNITS} <= named


def test_every_command_of_coverdict_is_one_that_there_is() -> None:
    texts = [
        *blocks(),
        *blocks("local"),
        *blocks("containers"),
        BACKUP,
        *(unit(name)["ExecStart"] for name in UNITS),
    ]
    called = re.findall(r"(?:^|/bin/| web )coverdict ([a-z_]+.*)$", "\n".join(texts), re.MULTILINE)
    called += [
        shlex.join(service["command"][1:])
        for service in compose()["services"].values()
        if "command" in service
    ]
    assert len(called) > 10
    for line in called:
        name, *words = shlex.split(line)
        assert name in SERVER_COMMANDS
        # This raises SystemExit for an option that does not exist.
        load_command_class("annotation", name).create_parser("coverdict", name).parse_args(words)


def test_the_sample_environment_names_settings_that_there_are() -> None:
    told = (ROOT / "docs" / "settings.md").read_text()
    known = set(re.findall(r"^\| `([A-Z_]+)` \|", told, re.MULTILINE))
    assert set(named_values((DEPLOY / "coverdict.env").read_text())) <= known
    assert set(compose()["x-coverdict"]["environment"]) <= known


def test_settings_are_read_by_the_command_as_systemd_reads_them(tmp_path: Path) -> None:
    told = {
        "COVERDICT_FILES": "s3://bucket/prefix?endpoint=https://s3.example.org&region=eu",
        "OIDC_NAME": "Example login",
        "DEFAULT_FROM_EMAIL": "Coverdict <mail@example.org>",
        "COVERDICT_JUDGE_URLS": "https://a.example.org, http://b.example.org:8000/v1",
        "SECRET_KEY": "$HOME`id`#;'",
        "SENTRY_DSN": "",
        "own_key": "for a judge",
    }
    lines = [
        "# A=comment",
        "",
        *(f"{name}={value}" for name, value in told.items()),
        '  QUOTED="in quotes"  ',
    ]
    (tmp_path / "coverdict.env").write_text("\n".join(lines))
    script = (DEPLOY / "coverdict").read_text().replace("/etc/coverdict", str(tmp_path))
    run = re.search(r"^exec .*$", script, re.MULTILINE)
    assert run
    done = subprocess.run(
        ["sh", "-c", script.replace(run[0], "env -0")], capture_output=True, text=True, check=True, env={}
    )
    read = dict(each.split("=", 1) for each in done.stdout.split("\0") if each)
    assert {name: read.get(name) for name in (*told, "QUOTED")} == {**told, "QUOTED": "in quotes"}
    assert "A" not in read
    assert read["DJANGO_SETTINGS_MODULE"] == PRODUCTION


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_is_one_that_systemd_takes(name: str, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not on PATH")
    # systemd-analyze requires that the unit's program exists.
    text = (DEPLOY / name).read_text().replace("/opt/coverdict/bin/coverdict", sys.executable)
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / name], capture_output=True, text=True, check=False
    )
    assert (done.returncode, [line for line in done.stderr.splitlines() if name in line]) == (0, [])


def compose() -> dict[str, dict[str, dict[str, object]]]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())  # type: ignore[no-any-return]


def test_what_the_image_copies_is_there() -> None:
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    copied = [line.split()[1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    assert copied == ["requirements", "."]
    assert "requirements/runtime.txt" in "\n".join(lines)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert not {"requirements", "annotation", "evaluation", "docs", "static", "templates"} & set(ignored)
