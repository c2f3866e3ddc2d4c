"""The refusals of services.

Refusal
├── NotFound      the thing does not exist for this person
├── NotAllowed    the thing exists, but roles or blindness forbid the verb
├── Conflict      the present state does not allow it
├── NotNow        another attempt makes sense after some seconds
│   ├── NotReady  a worker is still computing it
│   └── TooMany   there were too many attempts
├── NoSpace       the server's disk is full
└── Invalid       the request itself is wrong
"""

from __future__ import annotations

from collections.abc import Mapping


class Refusal(Exception):
    """The base class of refusals."""

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
    """A temporary refusal. `wait` is the number of seconds after which another attempt makes sense."""

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
    """The request itself is wrong; `field` names the wrong input, or is None."""

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
