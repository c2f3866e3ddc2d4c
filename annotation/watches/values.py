"""The values of a period's documents."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import astuple
from statistics import fmean
from typing import TYPE_CHECKING

from annotation.models import SCORE_SIDES, DocumentSet, Sample
from annotation.models.document import cluster_of
from annotation.sampling.queries.sampled_items import framed_items, framed_now
from annotation.watches.make_watch import LANGUAGE
from evaluation.statistics import SampledItem, SampledValue

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from annotation.models import Watch

DIGITS = 6
"""The digits of stored values: a year of them is read for each page."""

Values = dict[str, dict[str, list[float | str]]]
"""By score and document, the fields of a SampledValue and the document's group."""


def document_values(watch: Watch, summaries: Collection[int], sample: Sample | None) -> Values:
    """Compute the values of the documents of these summaries, with people's answers if there is a sample.

    A document's value is the mean over its summaries. A document without a usable answer of the judge is left out.
    """
    groups = _groups(watch, summaries)
    made: Values = {}
    for score in watch.scores:
        side = SCORE_SIDES[score]
        frame = (
            framed_now(watch.project, side, summaries)
            if sample is None
            else framed_items(watch.project, sample, side=side, among=summaries)
        )
        parts: defaultdict[str, list[SampledValue]] = defaultdict(list)
        for of_target in frame.items.values():
            for items in of_target.values():
                for document, value in _of_system(items).items():
                    parts[document].append(value)
        made[score] = {name: [*_means(found), groups[name]] for name, found in parts.items()}
    return made


def _means(found: Sequence[SampledValue]) -> list[float]:
    return [round(fmean(numbers), DIGITS) for numbers in zip(*map(astuple, found), strict=True)]


def _of_system(items: Sequence[SampledItem]) -> dict[str, SampledValue]:
    documents: defaultdict[str, list[SampledItem]] = defaultdict(list)
    for item in items:
        documents[str(item.document)].append(item)
    found = {}
    for document, own in documents.items():
        known = [(item.share, item.judge) for item in own if item.judge is not None]
        if not known:
            continue
        # An unusable answer counts as the mean of the others: a prediction, which people's answers correct.
        judge = math.fsum(share * value for share, value in known) / math.fsum(share for share, _ in known)
        people = again = sampled = 0.0
        for item in own:
            if item.is_sampled and item.answer is not None:
                weight = item.share / item.probability
                people += weight * item.answer
                again += weight * (judge if item.judge is None else item.judge)
                sampled += weight
        found[document] = SampledValue(judge, people, again, sampled)
    return found


def _groups(watch: Watch, summaries: Collection[int]) -> dict[str, str]:
    rows = DocumentSet.objects.filter(summaries__in=summaries).distinct()
    return {
        cluster_of(name, group): str({**metadata, LANGUAGE: language}.get(watch.group_by, ""))
        for name, group, language, metadata in rows.values_list(
            "external_id", "group", "language", "metadata"
        )
    }
