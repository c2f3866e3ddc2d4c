import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.parts import free_port

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
DEMO_SETTINGS = "annotation.config.settings.demo"
UP_WITHIN_SECONDS = 300
READY = "Coverdict is open at"


@dataclass
class Demo:
    process: subprocess.Popen[str]
    port: int
    var: Path
    output: Path

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def is_up(self) -> bool:
        try:
            with urllib.request.urlopen(self.url("/healthz"), timeout=2) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def wait(self) -> None:
        end = time.monotonic() + UP_WITHIN_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                pytest.fail(f"The demo ended: {self.output.read_text()}")
            if self.is_up() and READY in self.output.read_text():
                return
            time.sleep(0.2)
        pytest.fail(f"The demo did not come up: {self.output.read_text()}")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def environment_of(var: Path) -> dict[str, str]:
    ours = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "CELERY_BROKER_URL")
    }
    return {**ours, "COVERDICT_VAR": str(var), "DJANGO_SETTINGS_MODULE": DEMO_SETTINGS}


def start(var: Path) -> Demo:
    port, output = free_port(), var.parent / "output.txt"
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", str(port), "--no-browser"],
            cwd=ROOT,
            env=environment_of(var),
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
        )
    return Demo(process, port, var, output)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    running = start(tmp_path_factory.mktemp("demo") / "var")
    try:
        running.wait()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def rows(demo: Demo, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(demo.var / "coverdict.sqlite3") as database:
        return list(database.execute(query))


def test_the_leaderboard_stands_in_the_terminal_before_the_address(demo: Demo) -> None:
    said = demo.output.read_text()
    assert said.index("alder-2") < said.index(f"{READY} http://127.0.0.1:{demo.port}/")
    assert "Traceback" not in said


def test_the_sample_was_judged_through_celery(demo: Demo) -> None:
    assert rows(demo, "select distinct state from annotation_job") == [("done",)]
    ((judged,),) = rows(demo, "select count(*) from annotation_verdict where role = 'judge'")
    assert isinstance(judged, int)
    assert judged > 400


def test_no_page_is_empty_people_have_judged_too(demo: Demo) -> None:
    ((percents,),) = rows(demo, "select count(*) from annotation_coveragejudgment")
    ((overrides,),) = rows(demo, "select count(*) from annotation_verdict where role = 'reviewer'")
    ((open_work,),) = rows(demo, "select count(*) from annotation_reading where state = 'open'")
    assert percents
    assert overrides
    assert open_work


def test_one_click_signs_in(demo: Demo) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with browser.open(demo.url("/accounts/login/"), timeout=60) as page:
        html = page.read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', html)
    button = re.search(r'<form[^>]*action="([^"]*demo[^"]*)"', html)
    assert token
    assert button, html
    named = re.search(r'<button[^>]*name="(\w+)"[^>]*value="mona"', html)
    fields = {"csrfmiddlewaretoken": token[1], named[1] if named else "person": "mona"}
    request = urllib.request.Request(
        demo.url(button[1]), urlencode(fields).encode(), {"Referer": demo.url("/accounts/login/")}
    )
    with browser.open(request, timeout=60) as page:
        assert "Harbour study" in page.read().decode()


def test_pages_are_served_without_what_only_work_in_the_background_needs(demo: Demo) -> None:
    code = """
import sys
import django
django.setup()
from django.contrib.auth.models import User
from django.test import Client
import annotation.config.urls
browser = Client(headers={"host": "localhost"})
browser.force_login(User.objects.get(username="mona"))
assert b"alder-2" in browser.get("/p/harbour/review/").content
heavy = ("scipy.special", "scipy.sparse", "scipy.stats", "pyarrow", "openai")
print(*(name for name in heavy if name in sys.modules))
"""
    command, environment = [sys.executable, "-c", code], environment_of(demo.var)
    said = subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    assert said.stdout == "\n", said.stderr


def test_a_killed_worker_is_replaced(demo: Demo) -> None:
    ((before,),) = rows(demo, "select max(id) from annotation_worker")
    (name,) = rows(demo, "select name from annotation_worker order by id desc limit 1")[0]
    os.kill(int(str(name).rpartition(":")[2]), signal.SIGKILL)
    end = time.monotonic() + 60
    while rows(demo, "select max(id) from annotation_worker") == [(before,)]:
        assert time.monotonic() < end, demo.output.read_text()
        time.sleep(0.2)
    assert "starting it again" in demo.output.read_text()


def test_a_taken_port_is_said_at_once(demo: Demo) -> None:
    result = subprocess.run(
        [sys.executable, "manage.py", "demo", "--port", str(demo.port), "--no-browser"],
        cwd=ROOT,
        env=environment_of(demo.var),
        capture_output=True,
        text=True,
        timeout=UP_WITHIN_SECONDS,
        check=False,
    )
    assert result.returncode == 1
    assert f"Port {demo.port} cannot be used" in result.stderr
    assert "Traceback" not in result.stderr


def test_it_stops_cleanly_and_starts_again_with_what_was_there(demo: Demo) -> None:
    verdicts = rows(demo, "select count(*) from annotation_verdict")
    assert demo.stop() == 0
    assert not demo.is_up()
    again = start(demo.var)
    try:
        again.wait()
        assert rows(again, "select count(*) from annotation_verdict") == verdicts
        assert rows(again, "select count(*) from annotation_run") == [(1,)]
    finally:
        assert again.stop() == 0
