"""Level `pairs`: one row per better and worse summary of a document set, to train on preferences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, permutations
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from django.db.models import F

from annotation.analysis.leaderboard.leaderboard import RANKABLE, RANKED, check_score
from annotation.core.paging import batches
from annotation.core.refusals import Invalid
from annotation.core.tables.columns import Level, TableRow, columns
from annotation.exports.answers import rater
from annotation.exports.claims import RULE, last_verdicts
from annotation.exports.summaries import ordered_summaries
from annotation.models import Check
from annotation.models.claim import NOT_YES, OF_CLAIMS
from annotation.scoring.own_scores import final_ratings, own_scores
from annotation.scoring.records import judged_text, sources_of

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

COLUMNS = columns(
    "project document_id target_words:integer chosen_system rejected_system score chosen_score:number "
    "rejected_score:number margin:number prompt chosen rejected reasons:json raters:texts"
)
SCORE, MARGIN = RANKED, 0.1
_GROUPS_AT_ONCE = 100
_ROUNDING = 1e-9
"""Scores such as 0.8 and 0.7 differ by a little more than 0.1 as floats."""
_OF_CHECK = "pk summary_id side claim_id claim__text final_label final_source"


def pair_options(project: Project, score: str, margin: float | str) -> dict[str, Any]:
    """Return the options of the level by name. Raises Invalid for an unknown score or a margin outside of [0, 1)."""
    check_score(score, project)
    try:
        least = float(margin)
    except ValueError:
        least = math.nan
    if not 0 <= least < 1:
        raise Invalid("A margin is a number from 0 to less than 1, such as 0.1.", field="margin")
    return {"score": score, "margin": least}


def _rows(
    project: Project, people: People, *, score: str = SCORE, margin: float = MARGIN
) -> Iterator[TableRow]:
    of_one_length = groupby(_scored(project, score), attrgetter("document_set_id", "target_words"))
    lists = (list(some) for _, some in of_one_length)
    groups = (group for group in lists if any(_pairs(group, margin)))
    for batch in batches(groups, _GROUPS_AT_ONCE):
        prompts = sources_of({group[0].document_set_id for group in batch})
        told = [group for group in batch if group[0].document_set_id in prompts]
        reasons = _Reasons(project, people, [summary.pk for group in told for summary in group])
        for group in told:
            for chosen, rejected in _pairs(group, margin):
                systems = (chosen.author, rejected.author)
                yield (
                    *(project.slug, chosen.document_id, chosen.target_words, *systems, score),
                    *(chosen.value, rejected.value, chosen.value - rejected.value),
                    *(prompts[chosen.document_set_id], judged_text(chosen, project)),
                    *(judged_text(rejected, project), *reasons.of(chosen.pk, rejected.pk)),
                )


def _scored(project: Project, score: str) -> Iterator[Any]:
    """Yield the summaries that have a value of the score or own criterion, in their attribute `value`."""
    own = None if score in RANKABLE else own_scores(project).values
    value = F(f"score__{score if own is None else SCORE}")
    rows: Any = ordered_summaries(project).defer("metadata", "computed")
    rows = rows.annotate(document_id=F("document_set__external_id"), author=F("system__name"), value=value)
    by_length = rows.order_by("document_id", F("target_words").asc(nulls_first=True), "author", "pk")
    for summary in by_length.iterator(chunk_size=2000):
        if own is not None:
            summary.value = own.get(summary.pk, {}).get(score)
        if summary.value is not None:
            yield summary


def _pairs(group: Sequence[Any], margin: float) -> Iterator[tuple[Any, Any]]:
    pairs = permutations(group, 2)
    return ((better, worse) for better, worse in pairs if better.value - worse.value > margin + _ROUNDING)


class _Reasons:
    """The final verdicts on claims and the final ratings of some summaries."""

    def __init__(self, project: Project, people: People, summary_ids: Sequence[int]) -> None:
        self._people = people
        checks = Check.objects.filter(
            OF_CLAIMS, summary_id__in=summary_ids, is_current=True, final_label__isnull=False
        ).order_by()
        self._checks: dict[tuple[int, str, bool], dict[int, Any]] = defaultdict(dict)
        for check in sorted(checks.values_list(*_OF_CHECK.split(), named=True), key=attrgetter("claim_id")):
            self._checks[check.summary_id, check.side, check.final_label in NOT_YES][check.claim_id] = check
        self._said = last_verdicts(project, summary_ids)
        self._ratings = _ratings(project, people, summary_ids)

    def of(self, chosen: int, rejected: int) -> tuple[dict[str, Any], list[str]]:
        """Return the reasons why one summary is better than the other, and the authors of these reasons."""
        lacking = self._checks[rejected, Check.Side.REFERENCE, True]
        expressed = self._checks[chosen, Check.Side.REFERENCE, False].items()
        pairs = [(check, lacking[claim]) for claim, check in expressed if claim in lacking]
        unsupported = self._checks[rejected, Check.Side.SUMMARY, True].values()
        better, worse = self._ratings.get(chosen, {}), self._ratings.get(rejected, {})
        differing = [name for name in sorted(better.keys() & worse) if better[name][0] != worse[name][0]]
        raters = {self._author(check) for check in (*(one for pair in pairs for one in pair), *unsupported)}
        for name in differing:
            raters |= better[name][1] | worse[name][1]
        reasons = {
            "expressed": [check.claim__text for check, _ in pairs],
            "unsupported": [check.claim__text for check in unsupported],
            "ratings": [
                {"criterion": name, "chosen": better[name][0], "rejected": worse[name][0]}
                for name in differing
            ],
        }
        return reasons, sorted(raters)

    def _author(self, check: Any) -> str:
        said = self._said.get(check.pk, {}).get(check.final_source)
        return rater(self._people, said) if said else str(RULE.value)


def _ratings(
    project: Project, people: People, summary_ids: Sequence[int]
) -> dict[int, dict[str, tuple[float, set[str]]]]:
    found: dict[int, dict[str, tuple[float, set[str]]]] = defaultdict(dict)
    for _, rows in final_ratings(project, "person__username", "judge__name", summary_id__in=summary_ids):
        who = {
            rater(people, row) if row.person_id or row.judge__name else people.rater(row.origin_name)
            for row in rows
        }
        found[rows[0].summary_id][rows[0].criterion__name] = fmean(row.value for row in rows), who
    return found


LEVEL = Level("pairs", COLUMNS, _rows)
