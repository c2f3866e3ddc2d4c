"""Who judges what, so that everybody has as much to do and nobody meets an item twice."""

import random
from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from evaluation.errors import EvaluationError

Item = TypeVar("Item", bound=Hashable)
Person = TypeVar("Person", bound=Hashable)


def balanced_plan(
    needs: Mapping[Item, int],
    people: Sequence[Person],
    *,
    seed: int,
    barred: Collection[tuple[Item, Person]] = (),
) -> dict[Item, tuple[Person, ...]]:
    """The people who are to judge each item, as evenly as can be, at random otherwise.

    `needs` says how many different people each item wants. An item gets fewer only where fewer may have it;
    a pair in `barred` never meets. Loads (items per person) differ by at most one where nobody is barred, and
    otherwise no exchange of items could make them more even. The same for the same input and seed.
    Raises EvaluationError for a negative need, or for people named twice.
    Source: Harvey, Ladner, Lovasz and Tamir, Semi-matchings for bipartite graphs and load balancing, 2006:
    loads are optimal once no chain of exchanges leads from a person to one with two items fewer.
    Example: `balanced_plan({"p": 2, "q": 1}, ["ana", "ben", "eve"], seed=1)` gives each of the three one item.
    """
    if len(set(people)) != len(people):
        raise EvaluationError("Somebody is named twice among the people of a plan.")
    if any(need < 0 for need in needs.values()):
        raise EvaluationError("An item cannot want fewer than 0 people.")
    chance = random.Random(f"plan:{seed}")
    hands = _Hands(people, barred)
    items = list(needs)
    chance.shuffle(items)
    for item in items:
        for person in hands.freest(item, needs[item], chance):
            hands.give(item, person)
    while hands.even_out():
        pass
    return {item: tuple(person for person in people if item in hands.of[person]) for item in needs}


class _Hands(Generic[Item, Person]):
    """What everybody holds while a plan is made; items stand in the order in which they were given."""

    def __init__(self, people: Sequence[Person], barred: Collection[tuple[Item, Person]]) -> None:
        self.of: dict[Person, dict[Item, None]] = {person: {} for person in people}
        self._barred: dict[Person, set[Item]] = defaultdict(set)
        for item, person in barred:
            self._barred[person].add(item)

    def freest(self, item: Item, count: int, chance: random.Random) -> list[Person]:
        """So many of those who may have the item, those with least first, at random among equals."""
        able = [person for person in self.of if item not in self._barred[person]]
        chance.shuffle(able)
        able.sort(key=lambda person: len(self.of[person]))
        return able[:count]

    def give(self, item: Item, person: Person) -> None:
        self.of[person][item] = None

    def even_out(self) -> bool:
        """Pass items along one chain from a person to one with two fewer; whether there was such a chain."""
        for person in sorted(self.of, key=lambda person: -len(self.of[person])):
            chain = self._chain_from(person)
            if chain:
                for giver, item, taker in chain:
                    del self.of[giver][item]
                    self.give(item, taker)
                return True
        return False

    def _chain_from(self, first: Person) -> list[tuple[Person, Item, Person]]:
        lightest = min(len(held) for held in self.of.values())
        target = len(self.of[first]) - 2
        if lightest > target:
            return []
        came: dict[Person, tuple[Person, Item]] = {}
        seen, waiting = {first}, deque([first])
        while waiting:
            giver = waiting.popleft()
            for taker in self.of:
                if taker in seen:
                    continue
                item = self._passable(giver, taker)
                if item is None:
                    continue
                came[taker] = (giver, item)
                if len(self.of[taker]) <= target:
                    return _steps_back(came, first, taker)
                seen.add(taker)
                waiting.append(taker)
        return []

    def _passable(self, giver: Person, taker: Person) -> Item | None:
        barred, held = self._barred[taker], self.of[taker]
        return next((item for item in self.of[giver] if item not in held and item not in barred), None)


def _steps_back(
    came: Mapping[Person, tuple[Person, Item]], first: Person, last: Person
) -> list[tuple[Person, Item, Person]]:
    """The chain from its first person to its last one, the last exchange first."""
    steps, taker = [], last
    while taker != first:
        giver, item = came[taker]
        steps.append((giver, item, taker))
        taker = giver
    return steps
