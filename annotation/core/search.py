"""Rows of which some text holds what somebody searches for, whatever its case."""

from __future__ import annotations

import re
from functools import reduce
from operator import or_

from django.db import connection
from django.db.models import Q

LONGEST_SEARCH = 200


def searched_for(given: str) -> str:
    """What a search field's text looks for: no more than LONGEST_SEARCH characters, without space around them."""
    return given.replace("\x00", "").strip()[:LONGEST_SEARCH]


def holds(wanted: str, *columns: str) -> Q:
    """The condition that one of the columns holds the words; none where nothing is searched for."""
    if not wanted:
        return Q()
    # SQLite's LIKE knows the cases of A to Z alone, its regular expressions are Python's.
    is_folded = connection.vendor != "sqlite" or wanted.isascii()
    lookup, words = ("icontains", wanted) if is_folded else ("iregex", re.escape(wanted))
    return reduce(or_, (Q(**{f"{column}__{lookup}": words}) for column in columns))
