"""Errors of a judge."""

from typing import ClassVar

from evaluation.errors import JudgeError


class JudgeSettings(JudgeError):
    """The settings of a judge are invalid."""

    code: ClassVar[str] = "judge_settings"


class JudgeRefused(JudgeError):
    """The judge's service refuses requests, or its replies cannot be stored."""

    code: ClassVar[str] = "judge_refused"


class JudgeUnavailable(JudgeError):
    """The service could not be reached, failed at every attempt, or asked for too long a pause."""

    code: ClassVar[str] = "judge_unavailable"


class BudgetSpent(JudgeError):
    """The next call could exceed the budget."""

    code: ClassVar[str] = "budget_spent"


class UnusableReply(JudgeError):
    """The judge gave no readable claims for a text or unit."""

    code: ClassVar[str] = "unusable_reply"
