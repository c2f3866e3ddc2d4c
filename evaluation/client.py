"""A client of a Coverdict server: it pushes summaries, starts runs of a judge, and reads the results.

    from evaluation.client import Coverdict

    news = Coverdict("https://coverdict.example", token).project("news")
    news.push(frame)
    news.run(judge="lexical").wait()
    news.leaderboard()

By default, tables are pandas frames if pandas is installed, otherwise Arrow tables if pyarrow is installed, otherwise
lists of dicts. A request that gets no answer is sent again only if the server cannot have received it, or if it reads
or pushes rows.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, ClassVar, Literal, Self, cast

import httpx2

from evaluation.errors import EvaluationError

__all__ = ["ApiError", "Coverdict", "ExportEnded", "Project", "PushResult", "Run", "RunEnded"]

Frames = Literal["auto", "pandas", "arrow", "rows"]
Progress = Callable[[str, int, int], None]
"""A callback with the name of the work, the number of finished parts, and the number of all parts."""

ROWS_AT_ONCE = 200
BYTES_AT_ONCE = 2_000_000
PAGE = 500
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
FIRST_PATIENCE = 20.0
LOOK_EVERY = 1.0
BAR = 30
PROBLEMS_SHOWN = 3
NOT_CARRIED_OUT = frozenset({429, 503})
PASSING = NOT_CARRIED_OUT | {502, 504}
"""Statuses after which the same request may succeed. After a proxy's 502 or 504 it may have been carried out."""


class ApiError(EvaluationError):
    """The server refused a request, did not answer, or sent an unreadable or damaged answer.

    `status` is the HTTP status, or None without an answer and for a damaged file. `reason` is a stable code, and
    `details` are further fields of the server's refusal.
    """

    code: ClassVar[str] = "api_error"

    def __init__(self, message: str, *, status: int | None, reason: str, details: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.status, self.reason, self.details = status, reason, dict(details)


class RunEnded(EvaluationError):
    """A run stopped, failed or was cancelled. `run` is the run with its last loaded state."""

    code: ClassVar[str] = "run_ended"

    def __init__(self, run: Run) -> None:
        reason = run.facts.get("stop_reason") or "See its page."
        super().__init__(f"The run ended as {run.state}. {reason}")
        self.run = run


class ExportEnded(EvaluationError):
    """An export was cancelled or failed. `facts` is the server's description of it."""

    code: ClassVar[str] = "export_ended"

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__(f"The export ended as {facts['state']}. {facts['error']}".rstrip())
        self.facts = facts


@dataclass(frozen=True, slots=True)
class PushResult:
    """The result of a push: the numbers of rows that it created, changed and left unchanged, and the refused rows.

    Each item of `refused` has the sent `row` and its `problems`; a problem has `column` and `reason`.
    """

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    refused: tuple[Mapping[str, Any], ...] = ()


class Coverdict:
    """A server at an address, used with the access token of one account.

    - `timeout`: the time limit in seconds for one step of a request, such as connecting or waiting for data
    - `patience`: the seconds for which the client repeats a request that gets no answer or a temporary refusal. Until
      the server has answered once, `ask` repeats for at most 20 seconds.
    - `frames`: the type of tables
    - `progress`: True shows a progress bar on a terminal, False shows none; a function gets the name of the work, the
      finished and the total number
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 60.0,
        patience: float = 300.0,
        frames: Frames = "auto",
        progress: bool | Progress = True,
    ) -> None:
        if not url.lower().startswith(("http://", "https://")):
            raise EvaluationError(
                f"A server's address begins with http:// or https://, such as http://127.0.0.1:8000, not {url!r}."
            )
        self._http = httpx2.Client(
            base_url=f"{url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Token {token}"},
            timeout=timeout,
            trust_env=False,
        )
        self.patience = patience
        self._has_answered = False
        self.frames: Frames = frames
        self._progress = progress

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self._http.close()

    def projects(self) -> Any:
        """Fetch a table of the projects that the token can open."""
        return self.table(self.pages("projects/"))

    def project(self, slug: str) -> Project:
        """Return the project with this slug. No request is sent."""
        return Project(self, slug)

    def create_project(self, name: str, **choices: Any) -> Project:
        """Create a project, or open the caller's own project with this name.

        `choices` are `description` and `compares`.
        Raises ApiError.
        """
        return self.project(str(self.ask("POST", "projects/", {"name": name, **choices})["slug"]))

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        params: Mapping[str, Any] | None = None,
    ) -> Any:
        """Send a request below `/api/v1/` and return the answer; None if it is empty. Raises ApiError.

        A request that gets no answer is sent again only if the server cannot have received it, or if it reads or pushes
        rows.
        """
        is_repeatable = method == "GET" or path.endswith("/push/")
        # Until the server has answered once, the address may be wrong, so stop repeating early.
        patience = _RetryLimit(self.patience if self._has_answered else min(self.patience, FIRST_PATIENCE))
        while True:
            try:
                answer = self._http.request(method, path, json=body, params=params)
            except httpx2.TransportError as broken:
                # If the connection failed, the server did not get the request, so any request can be sent again.
                if not is_repeatable and not isinstance(broken, httpx2.ConnectError):
                    raise self._no_answer(broken, "It may have been carried out.") from broken
                patience.wait(self._no_answer(broken))
                continue
            if not self._has_answered:
                # The address is right, so a temporary refusal gets the whole time limit.
                self._has_answered, patience = True, _RetryLimit(self.patience)
            if answer.is_success:
                return _content(answer)
            patience.wait_after(answer, PASSING if is_repeatable else NOT_CARRIED_OUT)

    def download(self, path: str, to: Path) -> None:
        """Download a file below `/api/v1/` to the path `to`. The file appears there when it is complete.

        An interrupted download starts again (see `patience`). Raises ApiError and OSError.
        """
        part = to.with_name(f".{to.name}.part")
        try:
            with part.open("w+b") as out:
                tag = self._download(path, out, to.name)
                out.seek(0)
                if hashlib.file_digest(out, "sha256").hexdigest() != tag.strip('"'):
                    message = f"{to.name} came otherwise than the server has it. Download it again."
                    raise ApiError(message, status=None, reason="damaged", details={})
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)

    def _download(self, path: str, out: IO[bytes], name: str) -> str:
        patience, furthest, tag, size = _RetryLimit(self.patience), 0, "", -1
        # Ask for an uncompressed file, whose length is known.
        headers = {"Accept-Encoding": "identity"}
        while out.tell() != size:
            out.seek(0)
            out.truncate()
            try:
                with self._http.stream("GET", path, headers=headers) as answer:
                    if not answer.is_success:
                        answer.read()
                        patience.wait_after(answer)
                        continue
                    if "ETag" not in answer.headers or "Content-Length" not in answer.headers:
                        raise _unreadable(answer, "one of its files")
                    tag, size = answer.headers["ETag"], int(answer.headers["Content-Length"])
                    for block in answer.iter_raw():
                        out.write(block)
                        if out.tell() > furthest:
                            # More bytes have arrived, so start the time limit again.
                            furthest, patience = out.tell(), _RetryLimit(self.patience)
                        self.report_progress(name, out.tell(), size)
            except httpx2.TransportError as broken:
                patience.wait(self._no_answer(broken))
        return tag

    def _no_answer(self, broken: Exception, more: str = "") -> ApiError:
        message = f"{self._http.base_url} did not answer: {broken} {more}".rstrip()
        return ApiError(message, status=None, reason="no_answer", details={})

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page by page."""
        params = {"limit": PAGE, **{name: value for name, value in params.items() if value is not None}}
        while True:
            page = self.ask("GET", path, params=params)
            yield from page["results"]
            if not page.get("next"):
                return
            params["after"] = httpx2.URL(page["next"]).params["after"]

    def table(self, rows: Iterable[Mapping[str, Any]]) -> Any:
        """Convert rows to the table type of `frames`. Raises ImportError if `frames` names a package that is not
        installed.
        """
        found = [dict(row) for row in rows]
        for name, module in (("pandas", "pandas"), ("arrow", "pyarrow")):
            if self.frames not in ("auto", name):
                continue
            try:
                made = importlib.import_module(module)
            except ImportError:
                if self.frames == name:
                    raise
                continue
            return made.DataFrame(found) if name == "pandas" else made.Table.from_pylist(found)
        return found

    def report_progress(self, what: str, done: int, total: int) -> None:
        """Report the progress of the work `what`: `done` of `total` items."""
        if callable(self._progress):
            self._progress(what, done, total)
        elif self._progress and sys.stderr.isatty():
            filled = BAR * done // total if total else BAR
            end = "\n" if done >= total else ""
            sys.stderr.write(f"\r{what} [{'=' * filled}{' ' * (BAR - filled)}] {done:,} of {total:,}{end}")
            sys.stderr.flush()


@dataclass(frozen=True, slots=True)
class Project:
    """A project on a server."""

    server: Coverdict = field(repr=False)
    slug: str

    def push(self, rows: Any, *, skip_invalid: bool = False) -> PushResult:
        """Import summaries: a frame of pandas or polars, an Arrow table, or dicts, with one row per summary.

        Rows have the columns of imported files: `document_id, document, system, summary`, and optionally `reference`,
        `target_words` and the further columns. Empty cells are ignored. An existing row with equal values
        changes nothing.

        Rows are sent in batches; if a batch is refused, earlier batches stay imported. Raises ApiError for invalid
        rows, with the numbers of the first ones in its message; with `skip_invalid` these rows are in `refused`
        instead.
        """
        given = [_plain(row) for row in _rows(rows)]
        counts = dict.fromkeys(("created", "changed", "unchanged"), 0)
        refused: list[Mapping[str, Any]] = []
        done = 0
        for batch in _batches(given):
            body = {"rows": batch, "skip_invalid": skip_invalid}
            with _named_rows(done):
                answer = self._ask("POST", "push/", body)
            for row, outcome in zip(batch, answer["rows"], strict=True):
                if outcome["state"] == "refused":
                    refused.append({"row": row, "problems": outcome["problems"]})
                else:
                    counts[outcome["state"]] += 1
            done += len(batch)
            self.server.report_progress("push", done, len(given))
        return PushResult(**counts, refused=tuple(refused))

    def run(
        self,
        judge: str = "lexical",
        *,
        metrics: Sequence[str] = ("coverage",),
        max_cost: float | None = None,
        **choices: Any,
    ) -> Run:
        """Start a run of a judge and return it at once; `Run.wait` waits for its end. Raises ApiError."""
        body = {"judge": judge, "metrics": list(metrics), "max_cost": max_cost}
        return Run(self, self._ask("POST", "runs/", body | choices))

    def scores(self, *, system: str | None = None, target_words: int | None = None) -> Any:
        """Fetch a table of the scores of summaries; an empty cell is a missing score."""
        return self._table("scores/", system=system, target_words=target_words)

    def claims(self, *, system: str | None = None) -> Any:
        """Fetch a table of the claims; `system` selects the claims about one system's summaries."""
        return self._table("claims/", system=system)

    def checks(self, **filters: Any) -> Any:
        """Fetch a table of the checks."""
        return self._table("checks/", **filters)

    def summaries(self, *, system: str | None = None, role: str | None = None) -> Any:
        """Fetch a table of the summaries, without their texts; `role` is "reference" or "summary"."""
        return self._table("summaries/", system=system, role=role)

    def watch(self, watch_id: str) -> dict[str, Any]:
        """Fetch what a watch found: its state, a sentence about the state, alarms, scores by period, and the anchors
        (checks that the judge answers again in each period).
        """
        found: dict[str, Any] = self._ask("GET", f"watches/{watch_id}/")
        return found

    def watches(self) -> Any:
        """Fetch a table of the watches, with the state and sentence of their last reports."""
        return self._table("watches/")

    def leaderboard(self, score: str = "coverage", *, target_words: int | None = None) -> Any:
        """Fetch a table with a row for each system and target length: mean, low and high of the score, n and rank.

        `n` counts the document sets with a value. While a worker computes the intervals, the call waits (see
        `patience`). `basis` names the source of the values, as the leaderboard page does. If there is no mean or
        interval, its cells are empty (NaN in pandas) and `why` has the reason.
        """
        params = {"score": score} | ({} if target_words is None else {"target_words": target_words})
        board = self._ask("GET", "leaderboard/", params=params)
        return self.server.table(
            {
                "target_words": table["target_words"],
                "rank": row["rank"],
                "system": row["system"],
                **{name: row["scores"][score][name] for name in ("mean", "low", "high", "n")},
                "basis": table["bases"][score]["name"],
                "why": _why_empty(row["scores"][score]),
            }
            for table in board["tables"]
            for row in table["rows"]
        )

    def answers(self, rows: Any, *, skip_invalid: bool = False) -> list[dict[str, Any]]:
        """Answer checks as a reviewer: a frame or dicts with `check` and `label`, and optionally `reason`.

        Returns one result per row, in order, with its `verdict`. With `skip_invalid`, a refused row has an `error`
        instead. Raises ApiError.
        """
        given, outcomes = [_plain(row) for row in _rows(rows)], list[dict[str, Any]]()
        for batch in _batches(given):
            body = {"answers": batch, "skip_invalid": skip_invalid}
            with _named_rows(len(outcomes)):
                outcomes += self._ask("POST", "checks/answers/", body)["results"]
            self.server.report_progress("answers", len(outcomes), len(given))
        return outcomes

    def export(
        self,
        level: str,
        to: str | Path,
        *,
        format: str = "csv",  # noqa: A002 - the word of the API
        timeout: float | None = None,
        **options: object,
    ) -> Path:
        """Export a level of the project's data (`scores`, …, `bundle`), download it to `to`, and return the path.

        `format` is csv, jsonl or parquet; `options` are those of the API, such as `key`. Raises ExportEnded if the
        export was cancelled or failed, TimeoutError after `timeout` seconds, and the errors of `download`.
        """
        body = {"level": level, "format": format, **options}
        until = None if timeout is None else time.monotonic() + timeout
        facts = self._ask("POST", "exports/", body)
        while facts["state"] in ("waiting", "working"):
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"The export is not written after {timeout:g} seconds.")
            time.sleep(LOOK_EVERY)
            facts = self._ask("GET", f"exports/{facts['id']}/")
        if facts["state"] != "done":
            raise ExportEnded(facts)
        self.server.download(f"projects/{self.slug}/exports/{facts['id']}/file/", Path(to))
        return Path(to)

    def _ask(self, method: str, path: str, body: Any = None, params: Mapping[str, Any] | None = None) -> Any:
        return self.server.ask(method, f"projects/{self.slug}/{path}", body, params=params)

    def _table(self, path: str, **params: Any) -> Any:
        return self.server.table(self.server.pages(f"projects/{self.slug}/{path}", **params))


@dataclass(slots=True)
class Run:
    """A run of a judge in a project; `facts` is the server's last description of it."""

    project: Project
    facts: Mapping[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        """Return the id of the run in the API."""
        return str(self.facts["id"])

    @property
    def state(self) -> str:
        """Return the state: active, finished, stopped, failed or cancelled."""
        return str(self.facts["state"])

    def refresh(self) -> Run:
        """Load the current state, and return the run itself."""
        server, slug = self.project.server, self.project.slug
        self.facts = server.ask("GET", f"projects/{slug}/runs/{self.id}/")
        return self

    def wait(self, *, timeout: float | None = None) -> Run:
        """Wait until the run is finished, and return the run itself.

        Raises RunEnded if it ended in another state, TimeoutError after `timeout` seconds.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            progress = self.facts["progress"]
            self.project.server.report_progress("run", progress["done"], progress["total_jobs"])
            if self.state == "finished":
                return self
            if self.state != "active":
                raise RunEnded(self)
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"The run is not finished after {timeout:g} seconds.")
            time.sleep(LOOK_EVERY)
            self.refresh()


class _RetryLimit:
    def __init__(self, seconds: float) -> None:
        self._until, self._pause = time.monotonic() + seconds, FIRST_PAUSE

    def wait(self, error: ApiError, *, seconds: float = 0.0) -> None:
        wait = seconds or self._pause
        if time.monotonic() + wait > self._until:
            raise error
        time.sleep(wait)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def wait_after(self, answer: httpx2.Response, passing: Container[int] = PASSING) -> None:
        error = _refusal(answer)
        if answer.status_code not in passing:
            raise error
        self.wait(error, seconds=_seconds(answer.headers.get("Retry-After")))


def _why_empty(found: Mapping[str, Any]) -> str:
    if found["mean"] is None:
        return "no summary has this score"
    if found["low"] is None:
        return "no interval: fewer than 5 document sets or groups, or all values are alike"
    return ""


@contextmanager
def _named_rows(before: int) -> Iterator[None]:
    """`before` is the number of rows in earlier batches."""
    try:
        yield
    except ApiError as refused:
        details = refused.details
        problems = [
            f"Row {before + each['line']}{each['column'] and ', '}{each['column']}: {each['reason']}"
            for each in details.get("problems", ())[:PROBLEMS_SHOWN]
            if each.get("line")
        ]
        if "row" in details:
            problems = [f"It is row {before + details['row']}."]
        if not problems:
            raise
        raise ApiError(
            " ".join((str(refused), *problems)), status=refused.status, reason=refused.reason, details=details
        ) from None


def _content(answer: httpx2.Response) -> Any:
    try:
        return answer.json() if answer.content else None
    except ValueError as error:
        raise _unreadable(answer, "JSON") from error


def _unreadable(answer: httpx2.Response, wanted: str) -> ApiError:
    fault = f"{answer.url} answered {answer.status_code} with something other than {wanted}. Is it a Coverdict server?"
    return ApiError(fault, status=answer.status_code, reason="unreadable", details={})


def _refusal(answer: httpx2.Response) -> ApiError:
    try:
        fault = answer.json()["error"]
        message, reason, details = fault["message"], fault["code"], fault["details"]
    except (ValueError, KeyError, TypeError):
        message, reason, details = f"The server answered {answer.status_code}.", "unreadable", {}
    return ApiError(message, status=answer.status_code, reason=reason, details=details)


def _seconds(text: str | None) -> float:
    return float(text) if text and text.isascii() and text.isdigit() else 0.0


def _rows(given: Any) -> list[Mapping[str, Any]]:
    for name, how in (("to_pylist", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        if hasattr(given, name) and not isinstance(given, Mapping):
            return cast("list[Mapping[str, Any]]", getattr(given, name)(*how))
    return [given] if isinstance(given, Mapping) else list(given)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()}
    return {name: value for name, value in plain.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    """NaN differs from itself. Comparing pandas' NA gives NA, and `bool` of it raises TypeError."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _batches(rows: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        length = len(json.dumps(row))
        if batch and (len(batch) == ROWS_AT_ONCE or size + length > BYTES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch
