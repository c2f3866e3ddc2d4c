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
    bit = {system: 1 << place for place, system in enumerate(order)}
    groups = [(1 << len(order)) - 1] if order else []
    # In the order of the systems: few groups come up on the way that are split again.
    for one, other in sorted(different, key=lambda pair: sorted((bit[pair[0]], bit[pair[1]]))):
        both = bit[one] | bit[other]
        kept = [group for group in groups if group & both != both]
        parts = [group ^ bit[own] for group in groups if group & both == both for own in (one, other)]
        # No group holds another one, so that a part can lie in a kept group alone.
        groups = [*kept, *(part for part in parts if all(part & group != part for group in kept))]
    named = [[place for place in range(len(order)) if group >> place & 1] for group in groups]
    return tuple(tuple(order[place] for place in group) for group in sorted(named))


def compact_letters(order: Sequence[str], groups: Sequence[Collection[str]]) -> dict[str, str]:
    """Letters per system, such that two systems share a letter exactly if they share one of the groups.

    "a" stands for the first of the groups, which are those of `indistinct_groups`. Beyond 26 they are "a1", "b1" and so
    on. A system in no group has no letters. Raises KeyError for a system that `order` does not name.
    Example: of a, b and c in the groups (a, b) and (b, c): "a", "ab" and "b".
    """
    letters = dict.fromkeys(order, "")
    for number, group in enumerate(groups):
        round_, place = divmod(number, len(string.ascii_lowercase))
        for system in group:
            letters[system] += string.ascii_lowercase[place] + (str(round_) if round_ else "")
    return letters


def _check_order(order: Sequence[str], named: Sequence[str]) -> None:
    if len(set(order)) < len(order):
        raise EvaluationError(f"A system stands twice in the order {list(order)!r}.")
    for name in dict.fromkeys(named):
        check_choice("A compared system", name, order)
