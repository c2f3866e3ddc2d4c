"""In which order an assessor meets the summaries of a document set, and which ones come twice."""

import math
import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from evaluation._guards import checked_share

FEWEST_FOR_REPEATS = 3
"""With fewer peer summaries the second time would follow the first at once."""


class Presented(NamedTuple):
    """A comparison to be judged: its key, that of its peer summary, and the peer's target length."""

    comparison: int
    peer: int
    target: int | None


class Showing(NamedTuple):
    """One place in the order: a comparison, for the first time or once more."""

    comparison: int
    is_repeat: bool


def repeat_count(peers: int, share: float) -> int:
    """How many of so many peer summaries come a second time, to measure the assessor.

    The share rounded half up, at least 1; 0 where the share is 0 or there are fewer than 3 peers.
    Raises InvalidPercent outside 0 to 1.
    Example: `repeat_count(10, 0.25)` is 3.
    """
    checked_share("The share of repeats", share)
    if share == 0 or peers < FEWEST_FOR_REPEATS:
        return 0
    return min(peers, max(1, math.floor(share * peers + 0.5)))


def drawn_repeats(peers: Collection[int], *, count: int, seed: int) -> frozenset[int]:
    """The peers that come twice, at random; all of them where there are no more than `count`.

    Example: `drawn_repeats({1, 2, 3}, count=3, seed=1)` holds all three.
    """
    return frozenset(random.Random(f"repeats:{seed}").sample(sorted(peers), min(count, len(peers))))


def presentation_order(
    comparisons: Sequence[Presented], *, seed: int, repeated: Collection[int] = ()
) -> list[Showing]:
    """The comparisons of one document set in the order in which an assessor judges them.

    Target lengths fall; those without one come last. Within a length peers come at random, and the
    comparisons of a peer follow each other, at random too. A repeated peer's comparisons come once more, all
    of them: behind the others of its length, in the order of the first time, so that each lies as far from its
    first time as the falling lengths allow; of lengths with fewer than 3 peers they stand at the very end.
    The same for the same input, in whatever order, and seed.
    Source: DUC 2002 and 2004 protocol pages; repeats are ours.
    Example: peers 1 and 2 of 100 words and 3 of 10 words come as 1, 2, 3 or 2, 1, 3.
    """
    chance = random.Random(f"order:{seed}")
    lengths: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(comparisons, key=lambda row: (row.peer, row.comparison)):
        lengths[row.target or 0][row.peer].append(row.comparison)
    shown: list[Showing] = []
    at_the_end: list[Showing] = []
    for length in sorted(lengths, reverse=True):
        peers = list(lengths[length])
        chance.shuffle(peers)
        peers.sort(key=lambda peer: peer not in repeated)
        again = [peer for peer in peers if peer in repeated]
        shown += _showings(lengths[length], peers, chance, is_repeat=False)
        later = shown if len(peers) >= FEWEST_FOR_REPEATS else at_the_end
        later += _showings(lengths[length], again, chance, is_repeat=True)
    return shown + at_the_end


def _showings(
    of_peer: dict[int, list[int]], peers: Sequence[int], chance: random.Random, *, is_repeat: bool
) -> list[Showing]:
    return [
        Showing(comparison, is_repeat)
        for peer in peers
        for comparison in chance.sample(of_peer[peer], len(of_peer[peer]))
    ]
