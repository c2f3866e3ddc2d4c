"""Saving a new version of a project's guidelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core import text_faults
from annotation.core.events import log
from annotation.core.guidelines import current
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict
from annotation.models import Guideline, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_TEXT = 60_000
LONGEST_NOTE = 200


@transaction.atomic
def write_guidelines(
    *,
    project: Project,
    text: str,
    by: User | None,
    note: str = "",
    seen: int | None = None,
) -> Guideline:
    """Save guidelines as a new version. If `text` equals the current text, only return the current row.

    `seen` is the version on the caller's screen, 0 for none. With None, versions are not compared. If there is a newer
    version with another text, nothing is written, and Conflict (code `newer_guidelines`) is raised with both versions
    in its details. Raises Invalid for an unusable text or note, and the errors of `require`.
    """
    require(by, project, Verb.CHANGE_PROJECT)
    text, note = checked_text(text), _checked_note(note)
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    now = current(project)
    if now is not None and now.text == text:
        return now
    version = now.version if now else 0
    if seen is not None and seen != version:
        raise _conflict(now, text, note)
    row = Guideline.objects.create(project=project, version=version + 1, text=text, note=note, by=by)
    log(
        project=project,
        actor=by,
        verb="write guidelines",
        target=row,
        data={"version": row.version, "note": note, "characters": len(text)},
    )
    return row


def checked_text(text: str) -> str:
    r"""Trim the text and convert its line ends to "\n". Raises Invalid for an empty or too long text."""
    if_long = f"Guidelines take at most {LONGEST_TEXT:,} characters."
    return text_faults.checked_text(
        text, most=LONGEST_TEXT, if_empty="Enter the guidelines.", if_long=if_long
    )


def _checked_note(note: str) -> str:
    return text_faults.checked_note(
        note, most=LONGEST_NOTE, if_long=f"A note takes at most {LONGEST_NOTE} characters."
    )


def _conflict(now: Guideline | None, text: str, note: str) -> Conflict:
    who = now.by.get_username() if now and now.by else "The operator"
    version = now.version if now else 0
    theirs = {"version": version, "text": now.text if now else "", "note": now.note if now else ""}
    return Conflict(
        f"{who} has saved version {version} since you began. Yours is not saved: look at both, then save again on "
        f"top of version {version}.",
        code="newer_guidelines",
        details={"yours": {"text": text, "note": note}, "theirs": theirs},
    )
