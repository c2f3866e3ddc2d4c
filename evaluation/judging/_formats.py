"""What a server can be asked for: the form of its reply, and parameters that it does not refuse."""

import threading
from collections.abc import Callable, Collection

from evaluation.judging.protocol import REPLY_FORMATS, ReplyFormat

OPTIONAL = ("temperature", "seed", "max_tokens", "max_completion_tokens", "stream", "stream_options")
"""Parameters that servers refuse. "stream" stands for whole replies: a server that refuses these is asked for a stream.
Where "max_tokens" is refused the newer name is used."""


class KnownParameters:
    """The parameters that a server is known to refuse; `remember` is told all of them as soon as it answers without.

    Safe to use from several threads.
    """

    def __init__(
        self, remembered: Collection[str], remember: Callable[[tuple[str, ...]], None] | None
    ) -> None:
        self.refused = frozenset(remembered)
        self._remember = remember
        self._guard = threading.Lock()

    def found(self, refused: frozenset[str]) -> None:
        """The server has answered without these."""
        with self._guard:
            known = self.refused | refused
            is_news, self.refused = known != self.refused, known
        if is_news and self._remember is not None:
            self._remember(tuple(sorted(known)))


class KnownFormat:
    """The best format that a server is not known to refuse, and whether it ever answered in it.

    `remembered` is what was found at another time; what is found now is told to `remember`. Formats are only
    ever stepped down from. Safe to use from several threads.
    """

    def __init__(
        self, remembered: ReplyFormat | None, remember: Callable[[ReplyFormat], None] | None
    ) -> None:
        self._best: ReplyFormat = remembered or REPLY_FORMATS[0]
        self._is_known = remembered is not None
        self._remember = remember
        self._guard = threading.Lock()

    @property
    def is_known(self) -> bool:
        """Whether the server has answered in the best format, now or at another time."""
        return self._is_known

    @property
    def to_try(self) -> tuple[ReplyFormat, ...]:
        """The best format and every plainer one, in the order in which to try them."""
        return REPLY_FORMATS[REPLY_FORMATS.index(self._best) :]

    def found(self, answered: ReplyFormat) -> None:
        """The server has answered in this format, after refusing all better ones that were tried."""
        with self._guard:
            best = max(self._best, answered, key=REPLY_FORMATS.index)
            is_news = not self._is_known or best != self._best
            self._best, self._is_known = best, True
        if is_news and self._remember is not None:
            self._remember(best)
