"""The request format that the server of an LLM judge accepts, and the parameters that it refuses."""

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evaluation.judging.pace import Pace
from evaluation.judging.protocol import REPLY_FORMATS, Budget, CallStore, Json, Limits, Price, ReplyFormat

if TYPE_CHECKING:
    import httpx2

LOGPROBS = ("logprobs", "top_logprobs")
OPTIONAL = (
    "temperature",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "stream",
    "stream_options",
    *LOGPROBS,
)
"""Parameters that servers may refuse. A refused "stream" means that the server refuses whole replies; requests then ask
for a stream. If "max_tokens" is refused, the newer name is used.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """The address and parameters of a judge's calls. Requests contain those `parameters` that the server does not
    refuse.
    """

    judge: str
    base_url: str
    api_key: str | None = field(repr=False)
    parameters: Mapping[str, Json]
    limits: Limits
    store: CallStore
    http_client: "httpx2.AsyncClient | None" = None
    price: Price | None = None
    budget: Budget | None = None
    reply_format: ReplyFormat | None = None
    pace: Pace | None = None
    refused: Collection[str] = ()
    remember: Callable[[ReplyFormat, tuple[str, ...]], None] | None = None


class KnownServer:
    """The best reply format that a server accepts and the parameters that it refuses, as far as known.

    The first values come from the settings; `remember` of the settings gets every new value. The format can only
    become simpler. Several threads can use one object.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._best: ReplyFormat = settings.reply_format or REPLY_FORMATS[0]
        self.is_known = settings.reply_format is not None
        self.refused = frozenset(settings.refused)
        self._guard = threading.Lock()

    @property
    def to_try(self) -> tuple[ReplyFormat, ...]:
        """Return the formats to try, in order: the best known format, then every simpler format."""
        return REPLY_FORMATS[REPLY_FORMATS.index(self._best) :]

    def answered(self, chosen: ReplyFormat, refused: frozenset[str]) -> None:
        """Record that the server answered in this format without the refused parameters."""
        with self._guard:
            best, known = max(self._best, chosen, key=REPLY_FORMATS.index), self.refused | refused
            is_news = (True, best, known) != (self.is_known, self._best, self.refused)
            self.is_known, self._best, self.refused = True, best, known
        if is_news and self._settings.remember is not None:
            self._settings.remember(best, tuple(sorted(known)))
