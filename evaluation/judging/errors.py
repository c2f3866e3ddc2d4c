"""Errors of a judge itself.

A claim that gets no usable answer raises nothing: its verdict is unscored (label None) with the reason.
No message ever holds an API key.
"""

from typing import ClassVar

from evaluation.errors import JudgeError

# JudgeError of evaluation.errors
# ├── JudgeSettings       judge_settings       settings that no judge can work with
# ├── JudgeRefused        judge_refused        the service turned us away for good: key, permission, quota
# ├── JudgeUnavailable    judge_unavailable    the service could not be reached, or kept failing
# ├── BudgetSpent         budget_spent         the next call could exceed the sum allowed
# └── UnusableReply       unusable_reply       a text could not be cut into claims, twice in a row


class JudgeSettings(JudgeError):
    """A judge was asked for with settings that it cannot work with."""

    code: ClassVar[str] = "judge_settings"


class JudgeRefused(JudgeError):
    """The judge's service will not answer us, or its replies cannot be kept; a run stops at once."""

    code: ClassVar[str] = "judge_refused"


class JudgeUnavailable(JudgeError):
    """The service was not reached or kept failing for all attempts allowed; the work can be resumed."""

    code: ClassVar[str] = "judge_unavailable"


class BudgetSpent(JudgeError):
    """The next call could exceed the sum allowed; with more money the work goes on where it stopped."""

    code: ClassVar[str] = "budget_spent"


class UnusableReply(JudgeError):
    """The judge answered, but nothing that can be read as claims.

    Raised instead of returning no claims, which would score as "nothing to find".
    """

    code: ClassVar[str] = "unusable_reply"
