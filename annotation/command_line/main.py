"""The program `coverdict`: gates for plain files and, if the server is installed, projects, server and worker."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

import annotation
from annotation.operator_commands import SERVER_COMMANDS, execute
from annotation.settings_choice import name_settings

WRONG_CALL = 2
FAILED = 1
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code, which is 2 for an invalid call."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] in ([], ["-h"], ["--help"], ["help"]):
        sys.stdout.write(usage())
        return 0 if words else WRONG_CALL
    if words[0] == "--version":
        sys.stdout.write(f"coverdict {annotation.__version__}\n")
        return 0
    command, *rest = words
    try:
        return _work_of(command)(rest)
    except KeyboardInterrupt:
        return INTERRUPTED


def usage(program: str = "coverdict") -> str:
    """Return the text of `--help`."""
    lines = [
        f"Coverdict judges summaries claim by claim. `{program} COMMAND --help` lists a command's options.",
        "",
        *_listed({"gate": "judge a file of summaries against thresholds and a baseline; needs no project"}),
    ]
    if _has_server():
        lines += _listed(SERVER_COMMANDS)
        lines += _listed({"manage": "any other command of Django"} if program == "coverdict" else {})
    else:
        lines += ["", f"{', '.join(SERVER_COMMANDS)}: {_INSTALL}"]
    return "\n".join([*lines, ""])


_INSTALL = 'need the server: pip install "coverdict[server]".'


def _listed(commands: Mapping[str, str]) -> list[str]:
    return [f"  {name:<20} {does}" for name, does in commands.items()]


def _has_server() -> bool:
    return all(find_spec(name) for name in ("django", "celery"))


def _work_of(command: str) -> Callable[[list[str]], int]:
    if command == "gate":
        from annotation.command_line.gate import gate  # noqa: PLC0415 - numbers take half a second

        return gate
    if command not in SERVER_COMMANDS and command != "manage":
        known = ", ".join(("gate", *SERVER_COMMANDS))
        return _refused(f"There is no command {command!r}. There are {known}.", WRONG_CALL)
    if not _has_server():
        return _refused(f"coverdict {command} {_INSTALL.replace('need ', 'needs ', 1)}", FAILED)
    return lambda rest: _django(command, rest)


def _refused(message: str, code: int) -> Callable[[list[str]], int]:
    def refuse(_: list[str]) -> int:
        sys.stderr.write(f"{message}\n")
        return code

    return refuse


def _django(command: str, rest: list[str]) -> int:
    name_settings(command)
    words = rest if command == "manage" else [command, *rest]
    makes_tables = command not in {"manage", "migrate"} and not {"-h", "--help"} & set(rest)
    return execute(["coverdict", *words], makes_tables=makes_tables)


if __name__ == "__main__":
    sys.exit(main())
