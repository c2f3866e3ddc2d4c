"""What workers count for those who watch an installation: in memory at first, as rows at each beat.

A process that is killed takes what it counted since its last beat with it. Web processes count in files of their own.
"""

from __future__ import annotations

import json
import threading
from collections import Counter

from django.db import DatabaseError, transaction
from django.db.models import F

from annotation.models import Tally

LONGEST_VALUE = 60

_Key = tuple[str, str]
_guard = threading.Lock()
_counted: Counter[_Key] = Counter()


def count(name: str, by: float = 1, **labels: str) -> None:
    """Count something, under labels that take few values; never a text of a project or of a person."""
    if not by:
        return
    told = json.dumps({label: value[:LONGEST_VALUE] for label, value in labels.items()}, ensure_ascii=False)
    with _guard:
        _counted[name, told] += by  # type: ignore[assignment]  # a Counter adds fractions too


def write() -> None:
    """Add what this process has counted to the rows. Raises DatabaseError; what it could not write it keeps."""
    with _guard:
        taken = dict(_counted)
        _counted.clear()
    try:
        _add(taken)
    except DatabaseError:
        with _guard:
            _counted.update(taken)
        raise


@transaction.atomic
def _add(counted: dict[_Key, int]) -> None:
    # In one order, so that two workers never deadlock.
    for (name, labels), by in sorted(counted.items()):
        row = Tally.objects.filter(name=name, labels=labels)
        if not row.update(value=F("value") + by):
            Tally.objects.bulk_create([Tally(name=name, labels=labels)], ignore_conflicts=True)
            row.update(value=F("value") + by)
