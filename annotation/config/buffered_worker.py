"""gunicorn's threads behind a loop that speaks with the clients, so that nobody's slow line costs a thread.

gunicorn gives a thread to each connection before anything has come over it, and reads and writes at the client's speed:
as many idle or slow clients as there are threads stop a server. Here the process's main loop receives and sends, by way
of memory and then a temporary file; a thread has a request once all of it is there, and is free once it has answered.
"""

from __future__ import annotations

import re
import resource
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from http import HTTPStatus
from selectors import EVENT_READ, EVENT_WRITE
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from gunicorn import http
from gunicorn.workers.gthread import TConn, ThreadWorker

MOST_HEAD = 64 * 1024
MOST_BODY = 520 * 1024**2
"""The largest import over the API, and some room for what wraps it."""
IN_MEMORY = 256 * 1024
AT_ONCE = 64 * 1024
FIRST_SECONDS = 20.0
LEAST_BYTES_PER_SECOND = 500
"""What a client has to keep up after its first seconds, in either direction."""
LINGER_SECONDS = 2.0
MOST_CONNECTIONS = 1000
FILES_KEPT_FREE = 100

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,19})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding[ \t]*:", re.IGNORECASE)
_ASKS_FIRST = re.compile(rb"\r\nexpect:[ \t]*100-continue", re.IGNORECASE)


class Transfer:
    """Bytes on their way from or to a client, who has to keep them moving until the deadline."""

    def __init__(self, seconds: float = FIRST_SECONDS) -> None:
        self.file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - outlives every block
        self.passed = 0
        self.began = 0.0
        self._seconds = seconds

    @property
    def deadline(self) -> float:
        return self.began + self._seconds + self.passed / LEAST_BYTES_PER_SECOND


class Arriving(Transfer):
    """A request. It has a socket's `recv`, by which gunicorn's parser reads it once it is whole."""

    head = b""
    length: int | None = None
    """Of head and body, once the head is there."""
    asks_first = False
    """Whether the client waits for a word before it sends the body."""

    @property
    def is_whole(self) -> bool:
        return self.length is not None and self.passed >= self.length

    def take(self, data: bytes) -> HTTPStatus | None:
        """Keep what came; why the request is refused, if it is. Raises OSError where the disk is full."""
        self.file.write(data)
        self.passed += len(data)
        if self.length is not None:
            return None
        self.head += data
        end = self.head.find(_HEAD_END)
        if end < 0:
            return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE if len(self.head) > MOST_HEAD else None
        head, self.head = self.head[: end + len(_HEAD_END)], b""
        if _CHUNKED.search(head):
            # Django reads no body without a length: it would take the request for an empty one.
            return HTTPStatus.LENGTH_REQUIRED
        found = _LENGTH.search(head)
        body = int(found[1]) if found else 0
        self.length = len(head) + body
        self.asks_first = bool(_ASKS_FIRST.search(head)) and not self.is_whole
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE if body > MOST_BODY else None

    def recv(self, _size: int) -> bytes:
        return self.file.read(AT_ONCE)


class Leaving(Transfer):
    """An answer. It has what gunicorn asks of a socket that it writes to."""

    rest = b""
    """Read from the file and not yet sent."""
    will_close = True

    def send(self, data: bytes) -> int:
        return self.file.write(data)

    sendall = send

    def sendfile(self, file: IO[bytes], offset: int = 0, count: int | None = None) -> None:
        file.seek(offset)
        left = sys.maxsize if count is None else count
        while left and (piece := file.read(min(AT_ONCE, left))):
            left -= self.file.write(piece)

    def gettimeout(self) -> float:
        return 0.0

    def setblocking(self, is_blocking: bool) -> None:
        """Nothing waits here."""

    def recv(self, _size: int) -> bytes:
        return b""

    def shutdown(self, _how: int) -> None:
        """The loop ends the connection."""

    def close(self) -> None:
        """As above."""

    def pass_on(self, line: socket.socket) -> bool:
        """Send what the client takes without waiting; whether that is all. Raises OSError where it has gone."""
        while self.rest or (more := self.file.read(AT_ONCE)):
            self.rest = self.rest or more
            try:
                sent = line.send(self.rest)
            except BlockingIOError:
                return False
            self.rest = self.rest[sent:]
            self.passed += sent
        return True


class BufferedWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker whose threads never wait for a client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        # A connection may have a temporary file beside it.
        self.worker_connections = min(MOST_CONNECTIONS, (files - FILES_KEPT_FREE) // 2)
        self.max_keepalived = self.worker_connections // 2
        self.transfers: dict[TConn, Transfer] = {}
        """Whoever the loop waits for, the oldest first."""

    # What gunicorn calls, all but `handle` in the loop

    def accept(self, listener: socket.socket) -> None:
        super().accept(listener)
        if self.nr_conns >= self.worker_connections and self.transfers:
            # Better one that has waited for long than everybody who comes now.
            self._drop(next(iter(self.transfers)))

    def enqueue_req(self, conn: TConn) -> None:
        """Wait for the next request of a connection, of which something may have come already."""
        first = conn.parser.unreader.take_buffered() if conn.parser else b""
        self._wait(conn, Arriving(), EVENT_READ, self._receive)
        if first:
            self._take(conn, first)

    def handle(self, conn: TConn) -> bool:
        keeps = bool(super().handle(conn))
        answer, line = conn.sock, conn.line
        answer.will_close = not keeps
        try:
            answer.file.seek(0)
            conn.is_answered = answer.pass_on(line)
        except OSError:
            answer.will_close = conn.is_answered = True
        return keeps

    def finish_request(self, conn: TConn, done: Future[Any]) -> None:
        answer, conn.sock = conn.sock, conn.line
        conn.request.file.close()
        conn.done = done
        if done.exception() is None and not conn.is_answered:
            self._wait(conn, answer, EVENT_WRITE, self._send)
        else:
            self._finish(conn, answer)

    def murder_pending(self) -> None:
        """Called every second."""
        now = time.monotonic()
        for conn, transfer in list(self.transfers.items()):
            is_idle = isinstance(transfer, Arriving) and not transfer.passed
            if now > transfer.deadline or (is_idle and not self.alive):
                self._drop(conn)

    # What the loop hears of clients

    def _receive(self, conn: TConn) -> None:
        data = _received(conn.sock)
        if data:
            self._take(conn, data)
        elif data is not None:
            self._drop(conn)

    def _take(self, conn: TConn, data: bytes) -> None:
        request = self.transfers[conn]
        assert isinstance(request, Arriving)
        try:
            refused = request.take(data)
        except OSError:
            self.log.exception("A request could not be kept")
            refused = HTTPStatus.SERVICE_UNAVAILABLE
        if refused:
            self._say(conn, f"{refused.value} {refused.phrase}", "Connection: close", "Content-Length: 0")
            self._forget(conn)
            self._linger(conn)
        elif request.is_whole:
            self._forget(conn)
            request.file.seek(0)
            conn.request, conn.line, conn.sock = request, conn.sock, Leaving()
            conn.parser = http.get_parser(self.cfg, request, conn.client)
            conn.initialized = conn.data_ready = True
            super().enqueue_req(conn)
        elif request.asks_first:
            request.asks_first = False
            self._say(conn, "100 Continue")

    def _send(self, conn: TConn) -> None:
        answer = self.transfers[conn]
        assert isinstance(answer, Leaving)
        try:
            if not answer.pass_on(conn.sock):
                return
        except OSError:
            answer.will_close = True
        self._forget(conn)
        self._finish(conn, answer)

    def _finish(self, conn: TConn, answer: Leaving) -> None:
        answer.file.close()
        if answer.will_close:
            self._linger(conn)
        else:
            super().finish_request(conn, conn.done)

    def _linger(self, conn: TConn) -> None:
        """Close once the client has: what it still sends would have the network drop an answer that it has not read."""
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._drop(conn)
            return
        self._wait(conn, Transfer(LINGER_SECONDS), EVENT_READ, self._pour_away)

    def _pour_away(self, conn: TConn) -> None:
        if _received(conn.sock) == b"":
            self._drop(conn)

    # How it waits and ends

    def _wait(self, conn: TConn, transfer: Transfer, event: int, hear: Callable[[TConn], None]) -> None:
        conn.sock.setblocking(False)
        transfer.began = time.monotonic()
        self.transfers[conn] = transfer
        self.poller.register(conn.sock, event, partial(self._hear, conn, hear))

    def _hear(self, conn: TConn, hear: Callable[[TConn], None], _sock: socket.socket) -> None:
        # What was heard before it in the same turn may have dropped it.
        if conn in self.transfers:
            hear(conn)

    def _forget(self, conn: TConn) -> None:
        self.poller.unregister(conn.sock)
        del self.transfers[conn]

    def _drop(self, conn: TConn) -> None:
        if conn in self.transfers:
            self.transfers[conn].file.close()
            self._forget(conn)
        self.nr_conns -= 1
        conn.close()

    def _say(self, conn: TConn, *lines: str) -> None:
        try:
            conn.sock.send("\r\n".join((f"HTTP/1.1 {lines[0]}", *lines[1:], "", "")).encode())
        except OSError:
            self.log.debug("A client went away")


def _received(line: socket.socket) -> bytes | None:
    """What has come; empty where the client is gone, None where nothing has."""
    try:
        return line.recv(AT_ONCE)
    except BlockingIOError:
        return None
    except OSError:
        return b""
