"""Errors of a judge.

A claim without a usable answer raises no error: its verdict is unscored (label None) and has a reason. No error
message contains an API key.
"""

from typing import ClassVar

from evaluation.errors import JudgeError

# JudgeError of evaluation.errors
# ├── JudgeSettings       judge_settings       the settings are invalid
# ├── JudgeRefused        judge_refused        the service refuses all requests: key, permission, quota
# ├── JudgeUnavailable    judge_unavailable    the service cannot be reached or fails repeatedly
# ├── BudgetSpent         budget_spent         the next call could exceed the budget
# └── UnusableReply       unusable_reply       two replies in a row contain no usable claims


class JudgeSettings(JudgeError):
    """The settings of a judge are invalid."""

    code: ClassVar[str] = "judge_settings"


class JudgeRefused(JudgeError):
    """The judge's service refuses all requests, or its replies cannot be stored. A run stops at once."""

    code: ClassVar[str] = "judge_refused"


class JudgeUnavailable(JudgeError):
    """The service could not be reached or failed at every attempt. The work can be resumed."""

    code: ClassVar[str] = "judge_unavailable"


class BudgetSpent(JudgeError):
    """The next call could exceed the budget. With a higher budget, the work can be resumed."""

    code: ClassVar[str] = "budget_spent"


class UnusableReply(JudgeError):
    """The judge's reply contains no readable claims.

    This is an error, because an empty list of claims would be scored as a text without claims.
    """

    code: ClassVar[str] = "unusable_reply"
