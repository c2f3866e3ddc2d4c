"""Groups of systems that cannot be told apart."""

import string
from collections.abc import Collection, Sequence

from evaluation._guards import check_choice
from evaluation.errors import EvaluationError


def indistinct_groups(
    order: Sequence[str], different: Collection[tuple[str, str]]
) -> tuple[tuple[str, ...], ...]:
    """The largest groups of systems in which no two differ: what a line beside a table joins.

    `order` names all systems, best first; `different` the pairs that do differ, in either order. Every two systems that
    do not differ stand together in some group, and no two that differ in any; a group need not be a run of `order`.
    Groups come in the order of their best members, then of their next.
    Raises EvaluationError for a pair with a system that `order` does not name, or a name that it has twice.
    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, 2004
    (insert and absorb).
    Example: of a, b and c with only a and c different: (a, b) and (b, c).
    """
    _check_order(order, [name for pair in different for name in pair])
    groups = [frozenset(order)] if order else []
    for one, other in different:
        split = [group for group in groups if {one, other} <= group]
        kept = [group for group in groups if not {one, other} <= group]
        parts = {part for group in split for part in (group - {one}, group - {other})}
        groups = _absorbed([*kept, *parts])
    places = {system: place for place, system in enumerate(order)}
    ordered = sorted(tuple(sorted(places[system] for system in group)) for group in groups)
    return tuple(tuple(order[place] for place in group) for group in ordered)


def compact_letters(order: Sequence[str], different: Collection[tuple[str, str]]) -> dict[str, str]:
    """Letters per system, such that two systems share a letter exactly if they do not differ.

    Letters stand for `indistinct_groups`, "a" for the first. Beyond 26 groups they are "a1", "b1" and so on.
    Errors as `indistinct_groups`.
    Example: of a, b and c with only a and c different: "a", "ab" and "b".
    """
    letters = dict.fromkeys(order, "")
    for number, group in enumerate(indistinct_groups(order, different)):
        round_, place = divmod(number, len(string.ascii_lowercase))
        for system in group:
            letters[system] += string.ascii_lowercase[place] + (str(round_) if round_ else "")
    return letters


def _absorbed(groups: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """The groups that lie in no other."""
    distinct = set(groups)
    return [group for group in distinct if not any(group < other for other in distinct)]


def _check_order(order: Sequence[str], named: Sequence[str]) -> None:
    if len(set(order)) < len(order):
        raise EvaluationError(f"A system stands twice in the order {list(order)!r}.")
    for name in dict.fromkeys(named):
        check_choice("A compared system", name, order)
