"""Tell people inside the app that something waits for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from django.urls import reverse

from annotation.core.refusals import Invalid
from annotation.models import Notice

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project

LONGEST = 300


def tell(*, project: Project, people: Iterable[User | int], kind: str, text: str, address: str) -> int:
    """Leave a notice for each of some people (or keys of people); how many were left.

    Call it inside the transaction of the act that it tells of. `text` is one line that names no system and no
    answer, for its reader may turn blind before they read it; it is cut to 300 characters. `address` is the path
    of the page where the thing is seen. Nobody is told twice by one call. Raises Invalid for an unknown kind or an
    address outside of the app.
    """
    if kind not in Notice.Kind.values:
        raise Invalid(f"There is no notice kind {kind!r}.", field="kind")
    if not address.startswith("/") or address.startswith("//") or len(address) > LONGEST:
        raise Invalid(f"A notice leads to a path of this app, not to {address!r}.", field="address")
    keys = dict.fromkeys(person if isinstance(person, int) else person.pk for person in people)
    line = " ".join(text.split())
    if len(line) > LONGEST:
        line = f"{line[: LONGEST - 1]}…"
    made = Notice.objects.bulk_create(
        Notice(project=project, person_id=key, kind=kind, text=line, address=address) for key in keys
    )
    return len(made)


def tell_of_work(
    *, project: Project, sets: Mapping[int | None, int], by: User | None, kind: str, did: str, more: str = ""
) -> None:
    """Leave notices to assessors whose work somebody else has changed; whoever did it to themselves knows.

    `sets` counts document sets by the key of the person, where None stands for nobody. `did` is said in the
    sentence "mona {did} 2 document sets".
    """
    who = by.username if by else "The operator"
    address = reverse("work", args=[project.slug])
    people: defaultdict[int, list[int]] = defaultdict(list)
    for person, count in sets.items():
        if person is not None and (by is None or person != by.pk):
            people[count].append(person)
    for count, keys in people.items():
        what = "a document set" if count == 1 else f"{count:,} document sets"
        tell(project=project, people=keys, kind=kind, text=f"{who} {did} {what}{more}.", address=address)


def count_up(
    *, project: Project, counts: Mapping[int, int], kind: str, words: Callable[[int], str], address: str
) -> None:
    """Let the one unread notice of a kind that each person has in a project tell of so many more things.

    `counts` is by the key of the person; `words` makes the line of how many it tells of by now. Whoever has no unread
    one gets one. Call it last in the transaction of the act: it holds these notices, so that two acts at once both
    count. `text` and `address` as for `tell`.
    """
    open_ones = Notice.objects.filter(project=project, person__in=counts, kind=kind, read_at=None)
    held = list(open_ones.select_for_update().order_by("person"))
    missing = sorted(set(counts) - {notice.person_id for notice in held})
    if missing:
        Notice.objects.bulk_create(
            [Notice(project=project, person_id=key, kind=kind, address=address, count=0) for key in missing],
            # Another act may have left one since: it counts up as well.
            ignore_conflicts=True,
        )
        held = list(open_ones.select_for_update().order_by("person"))
    for notice in held:
        notice.count += counts[notice.person_id]
        notice.text = words(notice.count)
    Notice.objects.bulk_update(held, ["count", "text"])
