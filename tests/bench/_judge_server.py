"""A judge's server in a process of its own."""

from __future__ import annotations

import multiprocessing
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.llm_server import LLMServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

LATENCY = 0.2


def claims_of(unit: str) -> list[str]:
    return [" ".join(unit.split()[:9])] if any(character.isdigit() for character in unit) else []


@contextmanager
def scripted_server() -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("stop")
        process.join(10)


def _serve(connection: Connection) -> None:
    with LLMServer(latency=LATENCY, claims_of=claims_of) as server:
        connection.send(server.base_url)
        connection.recv()
