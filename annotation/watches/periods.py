"""The periods of a watch: the summaries that are judged in each, and the values of their documents."""

from __future__ import annotations

import hashlib
import heapq
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from statistics import fmean

from django.db.models import Exists, OuterRef

from annotation.core.criteria import criteria_in_force
from annotation.models import SCORE_SIDES, DocumentSet, Rating, Sample, Summary, Watch
from annotation.models.document import cluster_of
from annotation.sampling.queries.sampled_items import framed_items, framed_now
from evaluation.statistics import SampledItem

LANGUAGE = "language"
"""The name by which a watch groups documents by their language instead of by a metadata key."""
GRACE = timedelta(hours=1)
"""A period is closed at the earliest this long after its end."""
READ_AT_ONCE = 2000
DIGITS = 6
"""The number of decimals of stored values."""

Values = dict[str, dict[str, list[float | str]]]
"""By score and document, the fields of a SampledValue and the document's group."""


def next_period(watch: Watch) -> tuple[datetime, datetime]:
    """Return start and end of the first period that is not closed yet. Weeks start on Monday; times are UTC."""
    if last := watch.periods.order_by("-start").first():
        start = last.start + watch.step
    else:
        early = watch.starts_on.weekday() if watch.length == Watch.Length.WEEK else 0
        start = datetime.combine(watch.starts_on - timedelta(days=early), time(), tzinfo=UTC)
    return start, start + watch.step


def choose(watch: Watch, start: datetime, end: datetime) -> tuple[list[int], int]:
    """Return the keys of the period's chosen summaries, and the number of all its summaries of the watched systems.

    The chosen summaries have the smallest hashes of their ids, keyed by the watch. The caller must have locked the
    project.
    """
    # A join instead of Exists would let SQLite read every summary of the project, not those of the period alone.
    own = DocumentSet.objects.filter(pk=OuterRef("document_set"), project=watch.project_id)
    rows = Summary.objects.filter(Exists(own), is_summary=True, created_at__gte=start, created_at__lt=end)
    if watch.systems.exists():
        rows = rows.filter(Exists(watch.systems.filter(pk=OuterRef("system"))))

    def drawn(row: tuple[int, str]) -> bytes:
        return hashlib.blake2b(row[1].encode(), key=watch.public_id.encode(), digest_size=16).digest()

    columns = rows.order_by().values_list("pk", "public_id")
    chosen = heapq.nsmallest(watch.summaries, columns.iterator(chunk_size=READ_AT_ONCE), key=drawn)
    return [pk for pk, _ in chosen], rows.count()


def document_values(watch: Watch, summaries: Collection[int], sample: Sample | None) -> Values:
    """Compute the values of the documents of these summaries, with people's answers if there is a sample.

    A document without a usable answer of the judge is left out.
    """
    made, groups = Values(), _groups(watch, summaries)
    for score in watch.scores:
        items: defaultdict[tuple[str, object], list[SampledItem]] = defaultdict(list)
        for of, item in _items(watch, score, summaries, sample):
            items[str(item.document), of].append(item)
        parts: defaultdict[str, list[list[float]]] = defaultdict(list)
        for (document, _), own in items.items():
            if value := _value(own):
                parts[document].append(value)
        made[score] = {
            name: [*(round(fmean(each), DIGITS) for each in zip(*found, strict=True)), groups[name]]
            for name, found in parts.items()
        }
    return made


def _items(
    watch: Watch, score: str, summaries: Collection[int], sample: Sample | None
) -> Iterator[tuple[object, SampledItem]]:
    if side := SCORE_SIDES.get(score):
        framed = (
            framed_items(watch.project, sample, side=side, among=summaries)
            if sample
            else framed_now(watch.project, side, summaries)
        )
        for target, of_target in framed.items.items():
            for system, of_system in of_target.items():
                yield from (((target, system), item) for item in of_system)
        return
    of_criterion = criteria_in_force(watch.project).filter(name=score)
    given = Rating.objects.filter(criterion__in=of_criterion, judge=watch.project.deciding_judge_id)
    given = given.filter(summary__in=summaries, value__isnull=False).order_by("pk")
    # The latest rating of each summary.
    for row in {
        each.summary_id: each for each in given.select_related("criterion", "summary__document_set")
    }.values():
        judged = row.criterion.fact.share(row.value or 0.0)
        yield (
            row.summary_id,
            SampledItem(row.summary.document_set.cluster, 1.0, judged, 1.0, is_sampled=False),
        )


def _value(items: Sequence[SampledItem]) -> list[float]:
    known = [(item.share, item.judge) for item in items if item.judge is not None]
    if not known:
        return []
    # An unusable answer counts as the mean of the others.
    judge = math.fsum(share * value for share, value in known) / math.fsum(share for share, _ in known)
    people = again = sampled = 0.0
    for item in items:
        if item.is_sampled and item.answer is not None:
            weight = item.share / item.probability
            people += weight * item.answer
            again += weight * (judge if item.judge is None else item.judge)
            sampled += weight
    return [judge, people, again, sampled]


def _groups(watch: Watch, summaries: Collection[int]) -> dict[str, str]:
    rows = DocumentSet.objects.filter(summaries__in=summaries).distinct()
    columns = ("external_id", "group", "language", "metadata")
    return {
        cluster_of(name, group): str({**metadata, LANGUAGE: language}.get(watch.group_by, ""))
        for name, group, language, metadata in rows.values_list(*columns)
    }
