from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.core.management import get_commands

import annotation
from annotation.command_line import main as program
from annotation.command_line.main import main, usage
from annotation.operator_commands import SERVER_COMMANDS, as_typed, execute, own_user

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


ROOT = Path(annotation.__file__).parents[1]


@pytest.fixture
def _without_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "find_spec", lambda _: None)


def test_the_help_lists_coverdicts_own_commands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = re.findall(r"^  ([\w-]+) ", capsys.readouterr().out, re.MULTILINE)
    assert listed == ["gate", *SERVER_COMMANDS, "manage"]


def test_manage_alone_lists_the_same_commands() -> None:
    listed = re.findall(r"^  ([\w-]+) ", usage("manage.py"), re.MULTILINE)
    assert listed == ["gate", *SERVER_COMMANDS]


def test_every_command_of_our_own_has_a_name_there() -> None:
    own = {name for name, app in get_commands().items() if app == "annotation"}
    # Django's development server is only for developers in the project's folder.
    assert set(SERVER_COMMANDS) == own - {"runserver"} | {"migrate"}


@pytest.mark.parametrize(
    ("is_installed", "line"),
    [
        (True, "coverdict import_dataset p f.csv"),
        (False, ".venv/bin/python manage.py import_dataset p f.csv"),
    ],
)
def test_a_command_is_told_as_this_installations_operator_types_it(
    is_installed: bool, line: str, settings: SettingsWrapper
) -> None:
    settings.IS_INSTALLED = is_installed
    assert as_typed("import_dataset", "p", "f.csv") == line


def test_without_a_command_the_help_is_told_and_the_call_was_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 2
    assert "coverdict COMMAND --help" in capsys.readouterr().out


@pytest.mark.process
def test_make_puts_the_program_into_the_environment(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(["make", "-s", ".venv/bin/coverdict"], cwd=tmp_path, env=environment, check=True)
    program = str(tmp_path / ".venv" / "bin" / "coverdict")
    said = subprocess.run(
        [program, "--version"], cwd="/", env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout == f"coverdict {annotation.__version__}\n"


def test_the_version_is_the_apps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"coverdict {annotation.__version__}\n"


def test_an_unknown_command_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gates"]) == 2
    assert "There is no command 'gates'. There are gate, demo," in capsys.readouterr().err


@pytest.mark.usefixtures("_without_the_server")
def test_without_the_server_its_commands_say_what_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve"]) == 1
    assert capsys.readouterr().err == 'coverdict serve needs the server: pip install "coverdict[server]".\n'
    assert main(["--help"]) == 0
    assert "need the server" in capsys.readouterr().out


@pytest.mark.django_db
def test_a_command_of_the_server_is_djangos(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["verify_scores", "no-such-project"])
    assert end.value.code == 1
    assert "no-such-project" in capsys.readouterr().err


IMPORT = ["coverdict", "import_dataset", "p", "/locked/x.csv"]
EXPORT = ["coverdict", "export_dataset", "b", "-o", "b.csv"]
FAR = ["coverdict", "export_dataset", "b", "-o", "/locked/b.zip"]


@pytest.mark.parametrize(
    ("words", "number", "name", "told"),
    [
        (IMPORT, errno.EACCES, "/locked/x.csv", "The user {user} has no access to /locked/x.csv. "),
        # A file has a temporary name until it is complete.
        (FAR, errno.EACCES, "/locked/.b.zip.k2", "The user {user} has no access to /locked/b.zip. "),
        (EXPORT, errno.EROFS, "./.b.csv.f0.part", "b.csv cannot be written: its file system is read-only."),
        (FAR, errno.ENOSPC, "/locked/.b.zip.k2/b.part", "/locked/b.zip cannot be written. No space is left"),
        (FAR, errno.ENOSPC, None, "No space is left on the disk. Free some, then repeat the command."),
        (FAR, errno.ENOTDIR, "/locked/b.zip", "/locked/b.zip: Not a directory."),
        (IMPORT, errno.EACCES, "{var}/tmp", "{var}/tmp. {hint}COVERDICT_VAR names the folder {var}."),
    ],
    ids=str,
)  # fmt: skip
def test_a_file_that_is_refused_is_told_as_it_was_typed(
    words: list[str],
    number: int,
    name: str | None,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    settings: SettingsWrapper,
) -> None:
    hint = "Change the permissions of the file and its folders, or use a folder that this user can read and write. "
    filled = {"user": own_user(), "var": settings.VAR_DIR, "hint": hint}

    def refuse(_: list[str]) -> None:
        raise OSError(number, os.strerror(number), name and name.format(**filled))

    monkeypatch.setattr("django.core.management.execute_from_command_line", refuse)
    assert execute(words) == 1
    said = capsys.readouterr().err
    assert told.format(**filled) in said
    assert said.count("\n") == 1


def test_an_error_about_no_file_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: list[str]) -> None:
        raise ConnectionResetError(errno.ECONNRESET, "reset")

    monkeypatch.setattr("django.core.management.execute_from_command_line", refuse)
    with pytest.raises(ConnectionResetError):
        execute(FAR)


def test_a_file_to_import_that_is_not_there_is_told_with_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "gone.csv")
    assert execute(["coverdict", "import_dataset", "p", path]) == 1
    assert capsys.readouterr().err == f"{path} does not exist.\n"
