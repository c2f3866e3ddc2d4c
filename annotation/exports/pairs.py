"""Level `pairs`: one row per better and worse summary of a document set, to train on preferences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby, permutations
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from django.db.models import F, Q

from annotation.analysis.leaderboard.leaderboard import RANKED, check_score
from annotation.core.paging import batches
from annotation.core.refusals import Invalid
from annotation.core.tables.columns import Level, TableRow, columns
from annotation.exports.answers import rater
from annotation.exports.claims import RULE
from annotation.models import Check, DocumentSet, Rating, Summary, Verdict
from annotation.models.claim import NOT_YES, OF_CLAIMS
from annotation.scoring.records import judged_text, sources_of

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.models import Project

SCORE, MARGIN = RANKED, 0.1
OF_PAIRS = {"score": SCORE, "margin": MARGIN}
"""The options of the level, which are arguments of its rows."""
MARGIN_WORDS = "A margin is a number from 0 to less than 1, such as 0.1."
_GROUPS_AT_ONCE = 100
_ROUNDING = 1e-9
"""Scores such as 0.8 and 0.7 differ by a little more than 0.1 as floats."""
_OF_CHECK = "pk peer_id side claim_id claim__text final_label final_source"
_AUTHOR = "role person_id person__username judge__name origin_name"


def pair_options(score: str, margin: float) -> dict[str, Any]:
    """Return the options of the level by name. Raises Invalid (field `score` or `margin`)."""
    check_score(score)
    if not 0 <= margin < 1:
        raise Invalid(MARGIN_WORDS, field="margin")
    return {"score": score, "margin": margin}


def sets_without_document(project: Project) -> int:
    """Count the document sets that have no pairs because they have no document."""
    return DocumentSet.objects.filter(project=project, documents=None).count()


def _rows(
    project: Project, people: People, *, score: str = SCORE, margin: float = MARGIN
) -> Iterator[TableRow]:
    """Yield pairs by document set, target length, better system and worse system."""
    scored = Summary.objects.filter(
        document_set__project=project, is_peer=True, **{f"score__{score}__isnull": False}
    ).annotate(
        value=F(f"score__{score}"), document_id=F("document_set__external_id"), author=F("system__name")
    )
    peers = scored.order_by("document_id", F("target_words").asc(nulls_first=True), "author", "pk").defer(
        "metadata", "computed"
    )
    of_one_length = groupby(peers.iterator(chunk_size=2000), attrgetter("document_set_id", "target_words"))
    lists = (list(some) for _, some in of_one_length)
    groups = (group for group in lists if any(_pairs(group, margin)))
    for batch in batches(groups, _GROUPS_AT_ONCE):
        prompts = sources_of({group[0].document_set_id for group in batch})
        told = [group for group in batch if group[0].document_set_id in prompts]
        reasons = _Reasons(project, people, [peer.pk for group in told for peer in group])
        for group in told:
            for chosen, rejected in _pairs(group, margin):
                yield (
                    project.slug,
                    chosen.document_id,
                    chosen.target_words,
                    chosen.author,
                    rejected.author,
                    score,
                    chosen.value,
                    rejected.value,
                    chosen.value - rejected.value,
                    prompts[chosen.document_set_id],
                    judged_text(chosen, project),
                    judged_text(rejected, project),
                    *reasons.of(chosen.pk, rejected.pk),
                )


def _pairs(group: Sequence[Any], margin: float) -> Iterator[tuple[Any, Any]]:
    pairs = permutations(group, 2)
    return ((better, worse) for better, worse in pairs if better.value - worse.value > margin + _ROUNDING)


class _Reasons:
    """The final verdicts on claims and the final ratings of some summaries, in three queries."""

    def __init__(self, project: Project, people: People, peer_ids: Sequence[int]) -> None:
        self._judge = project.deciding_judge.name if project.deciding_judge else ""
        self._people = people
        checks = Check.objects.filter(
            OF_CLAIMS, peer_id__in=peer_ids, is_current=True, final_label__isnull=False
        ).order_by()
        self._checks: dict[tuple[int, str, bool], dict[int, Any]] = defaultdict(dict)
        for check in sorted(checks.values_list(*_OF_CHECK.split(), named=True), key=attrgetter("claim_id")):
            self._checks[check.peer_id, check.side, check.final_label in NOT_YES][check.claim_id] = check
        verdicts = Verdict.objects.filter(
            check_row__peer_id__in=peer_ids, judge=None, label__isnull=False, withdrawn_at=None
        )
        self._authors = {
            (row.check_row_id, row.role): rater(people, row)
            for row in verdicts.order_by("pk").values_list("check_row_id", *_AUTHOR.split(), named=True)
        }
        self._ratings = _ratings(project, people, peer_ids)

    def of(self, chosen: int, rejected: int) -> tuple[dict[str, Any], list[str]]:
        """Return the reasons for which one summary is better than the other, and who gave them."""
        lacking = self._checks[rejected, Check.Side.REFERENCE, True]
        expressed = self._checks[chosen, Check.Side.REFERENCE, False].items()
        pairs = [(check, lacking[claim]) for claim, check in expressed if claim in lacking]
        unsupported = self._checks[rejected, Check.Side.PEER, True].values()
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
        program = RULE.value if check.final_source == RULE else self._judge
        return self._authors.get((check.pk, check.final_source), program)


def _ratings(
    project: Project, people: People, peer_ids: Sequence[int]
) -> dict[int, dict[str, tuple[float, set[str]]]]:
    """The final rating of each criterion by summary, with those who gave it.

    It is the latest decision, else the mean of people's latest answers, else the deciding judge's latest usable one.
    """
    judge = Rating.Role.JUDGE
    rows = Rating.objects.filter(
        Q(judge=None) | Q(judge=project.deciding_judge_id),
        summary_id__in=peer_ids,
        criterion__retired_at=None,
        withdrawn_at=None,
    ).exclude(assignment__isnull=False, assignment__closed_at__isnull=True)
    names = ("summary_id", "criterion__name", "value", *_AUTHOR.split())
    latest: dict[tuple[int, str], dict[tuple[int, Hashable], Any]] = defaultdict(dict)
    for row in rows.order_by("pk").values_list(*names, named=True):
        # A person's empty answer withdraws the answer before it; a judge's empty answer does not.
        if row.value is not None or row.role != judge:
            rank = {Rating.Role.ADJUDICATOR.value: 0, judge.value: 2}.get(row.role, 1)
            author = (row.person_id or row.origin_name) if rank == 1 else ""
            latest[row.summary_id, row.criterion__name][rank, author] = row
    found: dict[int, dict[str, tuple[float, set[str]]]] = defaultdict(dict)
    for (peer, name), answers in latest.items():
        given = {key: row for key, row in answers.items() if row.value is not None}
        first = min((rank for rank, _ in given), default=None)
        counting = [row for (rank, _), row in given.items() if rank == first]
        if counting:
            who = {
                rater(people, row) if row.person_id or row.role == judge else people.rater(row.origin_name)
                for row in counting
            }
            found[peer][name] = fmean(row.value for row in counting), who
    return found


LEVEL = Level(
    "pairs",
    columns(
        "project document_id target_words:integer chosen_system rejected_system score chosen_score:number "
        "rejected_score:number margin:number prompt chosen rejected reasons:json raters:texts"
    ),
    _rows,
)
