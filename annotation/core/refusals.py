"""Why a verb was not carried out.

Refusal
├── NotFound      there is no such thing for this person
├── NotAllowed    the thing is there, the person's roles or blindness forbid the verb
├── Conflict      somebody else was quicker, or the state has moved on
├── NotReady      it is being made; ask again
├── TooMany       it was tried too often; wait
├── NoSpace       the server's disk is full
└── Invalid       the request itself makes no sense

Every refusal has a stable machine code and a sentence that says what, where and what to do.
Each door translates them once.
"""

from __future__ import annotations

from collections.abc import Mapping


class Refusal(Exception):
    """The root: raised by services and permissions, translated by doors."""

    default_code = "refused"

    def __init__(
        self, message: str, *, code: str | None = None, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details = dict(details or {})


class NotFound(Refusal):
    default_code = "not_found"


class NotAllowed(Refusal):
    default_code = "not_allowed"


class Conflict(Refusal):
    default_code = "conflict"


class NotNow(Refusal):
    """`wait` says after how many seconds to ask again."""

    def __init__(self, message: str, *, seconds: float, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.wait = seconds


class NotReady(NotNow):
    default_code = "not_ready"


class TooMany(NotNow):
    default_code = "too_many_attempts"


class NoSpace(Refusal):
    default_code = "no_space"


class Invalid(Refusal):
    """`field` names the input that is wrong, where one can be named."""

    default_code = "invalid"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        code: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.field = field
