"""The erasures that were made, in a file outside of the database: a restored backup is brought up to it.

It names nobody: a person by the key of their row and a keyed hash of when it was made, a project by its public id.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def note_erasure(facts: Mapping[str, object]) -> None:
    """Add a line, on the disk before this returns; before what it tells of is committed."""
    path = settings.COVERDICT_ERASURES
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"at": timezone.now().isoformat(), **facts}) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def noted_erasures() -> list[dict[str, Any]]:
    """All lines, oldest first. Raises ValueError with the number of a line that cannot be read."""
    path = settings.COVERDICT_ERASURES
    if not path.exists():
        return []
    found: list[dict[str, Any]] = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        try:
            noted = json.loads(line)
            _ = [noted[key] for key in _KEYS[noted["kind"]]]
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(
                f"Line {number} of the journal of erasures, {path}, cannot be read. Correct or remove the line, then "
                "repeat the command."
            ) from error
        found.append(noted)
    return found


_KEYS = {"person": ("at", "user", "mark", "pseudonym", "remove_texts"), "project": ("project",)}


def mark_of(person: User) -> str:
    """Tells a person's row from another one of the same key, in another database; leads to nobody."""
    return salted_hmac(
        "annotation.privacy.journal", f"{person.pk} {person.date_joined.isoformat()}"
    ).hexdigest()
