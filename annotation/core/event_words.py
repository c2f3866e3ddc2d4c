"""The log on screen: what somebody did, in the words that people use for it, and what is told with it."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.models import Project
from annotation.models.project import rule_name

# The log keeps verbs and the screen shows these: renaming a stored verb would split the history.
EVENT_WORDS: Mapping[str, str] = {
    # answers of reviewers
    "override": "answered a claim",
    "set answer aside": "gave an answer that was set aside because someone else answered first",
    "withdraw verdict": "withdrew an answer to a claim",
    "ask for the judge's verdict": "viewed the judge's verdict on request",
    "learn of a planted verdict": "was told of a control item",
    "accept batch": "accepted a list of judge verdicts",
    "withdraw batch": "withdrew a list of accepted judge verdicts",
    "draw checks": "sampled claims for review",
    "cancel draw": "cancelled a random sample",
    "finish sample": "answered the last item of a random sample",
    # disagreements
    "adjudicate": "resolved a dispute",
    "withdraw decision": "withdrew a decision",
    "reopen dispute": "reopened a resolved dispute",
    "release dispute": "released a dispute",
    # claims and units
    "reword claim": "reworded a claim",
    "split claim": "split a claim",
    "join claims": "joined claims",
    "delete claim": "deleted a claim",
    "add claim": "added a claim",
    "undo claim change": "undid a change of claims",
    "split unit": "split a unit",
    "join units": "joined units",
    "undo unit change": "undid a change of units",
    "weigh unit": "changed a unit's weight",
    "reopen units": "unlocked judged units",
    # assessors' work
    "assign": "assigned a set",
    "assign sets": "assigned sets",
    "unassign": "unassigned a set",
    "pull": "took a set from the queue",
    "take up": "resumed an expired set",
    "give back": "returned a set to the queue",
    "close sitting": "submitted a set",
    "reopen sitting": "reopened a submitted set",
    "lapse": "returned an expired set to the queue",
    # judges
    "start run": "started a run",
    "finish run": "finished a run",
    "stop run": "stopped a run",
    "cancel run": "cancelled a run",
    "resume run": "resumed a run",
    "reword prompt": "reworded a prompt",
    "restore prompt": "restored a built-in prompt",
    "ask questions": "asked questions",
    "retire question": "retired a question",
    "add judge": "added a judge",
    "change judge": "changed a judge",
    "archive judge": "archived a judge",
    "restore judge": "unarchived a judge",
    "teach judge": "gave a judge examples of people's answers",
    "permit texts": "permitted sending texts to a judge",
    "end text permission": "stopped sending texts to a judge",
    # the project, its people and files
    "create project": "created the project",
    "add sample project": "added it as a sample project",
    "change project": "changed the settings",
    "archive project": "archived the project",
    "open project again": "unarchived the project",
    "delete project": "deleted the project",
    "restore project": "restored the deleted project",
    "erase person": "erased a person's personal data",
    "write guidelines": "wrote guidelines",
    "import": "imported summaries",
    "request import": "requested an import",
    "cancel export": "cancelled an export",
    "cancel import": "cancelled an import",
    "request export": "requested an export",
    "export": "exported",
    "invite": "invited a person",
    "revoke invitation": "revoked an invitation",
    "accept invitation": "accepted an invitation",
    "add member": "added a member",
    "change member": "changed a member's roles",
    "remove member": "removed a member",
    "comment": "commented",
    "withdraw comment": "deleted a comment",
}
"""By the verb as the log keeps it."""

CHANGED = "changed"
"""Under this name events keep old and new values."""
EMPTY: tuple[object, ...] = (None, "", [], {})


FACT_NAMES: Mapping[str, str] = {
    "answers_fallen": "people's answers that no longer count",
    "decisions_fallen": "adjudicators' decisions that no longer count",
}
"""What is told with an act, where its name in the log would not say it to people."""


def in_words(verb: str) -> str:
    """What somebody did; the verb itself where it has no words yet.

    >>> in_words("override")
    'answered a claim'
    """
    return EVENT_WORDS.get(verb, verb)


def facts_of(data: Mapping[str, object], *, kind: str = "") -> list[tuple[str, str]]:
    """What an event tells, name by name, in words; what holds nothing is left out.

    Of a project, by its `kind`, changed rules are named and valued as its settings show them.

    >>> facts_of({"final_before": "yes", "reason": "", "changed": {"blend": ["human first", "weighted"]}})
    [('final before', 'yes'), ('changed', 'blend human first → weighted')]
    """
    changed = data.get(CHANGED)
    if kind == Project._meta.verbose_name and isinstance(changed, Mapping):
        data = {**data, CHANGED: dict(_rule_in_words(name, told) for name, told in changed.items())}
    return [
        (FACT_NAMES.get(name, name.replace("_", " ")), _told(value, is_change=name == CHANGED))
        for name, value in data.items()
        if value not in EMPTY
    ]


def _rule_in_words(name: str, told: object) -> tuple[str, object]:
    """The label of a project's rule with its old and new value; an import's counts stay as they are."""
    rule = next((field for field in Project._meta.concrete_fields if field.name == name), None)
    if rule is None or not isinstance(told, list):
        return name, told
    shown = dict(rule.flatchoices)
    return rule_name(name), [shown.get(value, value) if isinstance(value, str) else value for value in told]


def _told(value: object, *, is_change: bool = False) -> str:
    """What an event tells, for people; with `is_change` two values are an old and a new one."""
    if value in EMPTY:
        return "none"
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}"
        case dict():
            return "; ".join(
                f"{str(name).replace('_', ' ')} {_told(each, is_change=is_change)}"
                for name, each in value.items()
            )
        case [before, after] if is_change or (isinstance(before, list) and isinstance(after, list)):
            return f"{_told(before)} → {_told(after)}"
        case list():
            return ", ".join(map(_told, value))
    return str(value)
