"""What bringing in published tables would change: lines by file and number, linked to texts that are there.

A figure of a whole summary stands beside the project's scores. A percent of a unit counts in them, where the
project has the two summaries and the model summary has as many units as the table says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db.models import Count

from annotation.core.paging import batches
from annotation.imports.dataset import PublishedLine
from annotation.imports.duc.duc_names import SetNames, other_names
from annotation.imports.duc.nist_units import marks_beyond
from annotation.imports.existing import summary_key
from annotation.imports.planned import Published
from annotation.models import Claim, Comparison, DocumentSet, PublishedPercent, PublishedScore, Summary, Unit
from annotation.scoring.records import judged_text
from evaluation.text import sentence_spans

if TYPE_CHECKING:
    from annotation.imports.planned import ImportPlan

KEYS_AT_ONCE = 500
MAX_TABLE_NAME_CHARACTERS = 200


def plan_published(plan: ImportPlan, rows: Sequence[PublishedLine], *, is_whole: bool) -> None:
    """Add to a plan, whose sets are planned already, what its tables' lines make.

    What the project has from a file of that name and the file no longer holds goes, where it is the whole file.
    """
    if rows:
        _Tables.load(plan, rows).plan_rows(rows, is_whole=is_whole)


@dataclass(slots=True)
class _Tables:
    plan: ImportPlan
    names: SetNames
    peers: dict[str, list[Summary]] = field(default_factory=lambda: defaultdict(list))
    comparisons: dict[int, list[Comparison]] = field(default_factory=lambda: defaultdict(list))
    units: dict[int, int] = field(default_factory=dict)
    peer_units: dict[int, int] = field(default_factory=dict)
    with_claims: set[int] = field(default_factory=set)
    there: dict[tuple[str, int], PublishedScore] = field(default_factory=dict)
    twins: dict[tuple[str, ...], str] = field(default_factory=dict)
    counted: dict[int, int] = field(default_factory=dict)
    judged: dict[tuple[int, str], str] = field(default_factory=dict)
    unlinked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    repeated: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    uncounted: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    @classmethod
    def load(cls, plan: ImportPlan, rows: Sequence[PublishedLine]) -> _Tables:
        is_new = plan.project._state.adding
        there = DocumentSet.objects.none() if is_new else DocumentSet.objects.filter(project=plan.project)
        planned = {row.external_id for row in plan.document_sets}
        made = cls(plan, SetNames({*there.values_list("external_id", flat=True), *planned}))
        wanted = {name for row in rows if (name := made.set_of(row)) is not None}
        made._load_summaries(sorted(wanted))
        if not is_new:
            made._load_published()
        return made

    def set_of(self, row: PublishedLine) -> str | None:
        name = row.document or row.set_name
        return self.names.find(name, other_names(row.set_name, row.document, row.selector))

    def _load_summaries(self, names: Sequence[str]) -> None:
        """Peers and comparisons of those sets, as they will be: rows in the plan stand for themselves."""
        planned = self.plan.updated
        if not self.plan.project._state.adding:
            for some in batches(names, KEYS_AT_ONCE):
                stored = Summary.objects.filter(
                    document_set__project=self.plan.project, document_set__external_id__in=some, is_peer=True
                ).select_related("system", "document_set")
                for peer in stored:
                    self.peers[peer.document_set.external_id].append(planned.get(peer.pk, peer))
                of_peers = Unit.objects.filter(summary__in=stored).values_list("summary_id")
                self.peer_units.update(of_peers.annotate(count=Count("pk")).order_by())
                held = Comparison.objects.filter(
                    peer__document_set__project=self.plan.project, peer__document_set__external_id__in=some
                ).select_related("model__system", "peer")
                for comparison in held:
                    self.comparisons[comparison.peer_id].append(comparison)
        for summary in self.plan.summaries:
            if summary.is_peer:
                self.peers[summary.document_set.external_id].append(summary)
        for comparison in self.plan.comparisons:
            self.comparisons[summary_key(comparison.peer)].append(comparison)

    def _load_published(self) -> None:
        rows = PublishedScore.objects.filter(project=self.plan.project)
        for row in rows:
            self.there[row.origin_name, row.line] = row
            self.twins.setdefault((row.table, *row.cells), row.origin_name)
        percents = PublishedPercent.objects.filter(score__project=self.plan.project)
        for score_id, comparison_id, assessor, origin in percents.values_list(
            "score_id", "comparison_id", "score__assessor", "score__origin_name"
        ):
            self.counted[score_id] = self.counted.get(score_id, 0) + 1
            self.judged[comparison_id, assessor] = origin

    def plan_rows(self, rows: Sequence[PublishedLine], *, is_whole: bool) -> None:
        for row in rows:
            self._plan_row(row)
        self._remark(rows)
        self._plan_gone(rows, is_whole=is_whole)

    def _plan_row(self, row: PublishedLine) -> None:
        origin = row.file[-MAX_TABLE_NAME_CHARACTERS:]
        twin = self.twins.setdefault((row.table, *row.cells), origin)
        count = self.plan.counts.published_scores
        if twin != origin:
            self.repeated[row.file, twin] += 1
            count.unchanged += 1
            return
        before = self.there.get((origin, row.line))
        peer = self._peer(row)
        if peer is None:
            self.unlinked[row.file] += 1
        made = _score(self.plan, row, origin, peer)
        comparison = self._comparison(row, peer, made) if row.percents and peer is not None else None
        percents = self._with_marks_there(row, peer) if comparison is not None and peer is not None else ()
        if before is not None and _is_as_before(before, made, len(percents), self.counted.get(before.pk, 0)):
            count.unchanged += 1
            self.plan.counts.published_percents.unchanged += len(percents)
            return
        count.created += before is None
        count.changed += before is not None
        self.plan.counts.published_percents.created += len(percents)
        if before is not None:
            made.pk, made.public_id, made.created_at = before.pk, before.public_id, before.created_at
        self.plan.published.append(Published(made, comparison, percents, is_known=before is not None))
        if peer is not None and (percents or (before is not None and self.counted.get(before.pk))):
            self.plan.touched[peer.document_set.external_id] = peer.document_set

    def _peer(self, row: PublishedLine) -> Summary | None:
        """The one summary that a line is about: of that length, or without one, or the only one there is."""
        name = self.set_of(row)
        of_system = [
            peer for peer in self.peers.get(name or "", ()) if peer.system and peer.system.name == row.system
        ]
        exact = [peer for peer in of_system if peer.target_words == row.target]
        if len(exact) == 1:
            return exact[0]
        fitting = [peer for peer in of_system if row.target is None or peer.target_words is None]
        return fitting[0] if len(fitting) == 1 else None

    def _comparison(self, row: PublishedLine, peer: Summary, made: PublishedScore) -> Comparison | None:
        """What the line's percents are about; None, with the reason noted, where that cannot be told."""
        held = [
            comparison
            for comparison in self.comparisons.get(summary_key(peer), ())
            if row.model_author in _names_of(comparison.model)
        ]
        if len(held) != 1:
            self.uncounted[
                row.file, f"{len(held) or 'no'} model summaries by their author are compared with them"
            ] += 1
            return None
        comparison = held[0]
        units = self._unit_count(comparison.model)
        if units is None:
            self.uncounted[row.file, "claims stand for the units of the model summary"] += 1
            return None
        if units != len(row.percents):
            self.uncounted[row.file, "the model summary has another number of units"] += 1
            return None
        other = self.judged.get((comparison.pk, row.assessor)) if comparison.pk else None
        if other is not None and other != made.origin_name:
            self.plan.problems.add(
                row.line,
                "",
                f"holds other scores by assessor {row.assessor!r} for a summary than {other}, which is in the "
                "project. One table's scores can count: import this one into a new project.",
                file=row.file,
            )
        return comparison

    def _with_marks_there(
        self, row: PublishedLine, peer: Summary
    ) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        """The line's percents; without any marks where one is of a peer unit that the summary does not have."""
        units = self._units_to_come(peer)
        units = self.peer_units.get(peer.pk, 0) if units is None else units
        beyond = marks_beyond(row, units)
        if not beyond:
            return row.percents
        for column, mark in beyond:
            self.plan.remarks.append(
                f"{row.file}, line {row.line}, column {column}: marks peer unit {mark}, and the summary of "
                f"{row.system!r} has {units:,} units. The unit scores of the line count without its marks."
            )
        return tuple((number, percent, ()) for number, percent, _ in row.percents)

    def _units_to_come(self, summary: Summary) -> int | None:
        """How many units the import gives a summary; None where it leaves them as they are."""
        given = self.plan.given_units.get(summary_key(summary))
        if given is not None:
            return len(given)
        if summary._state.adding or summary.pk in {row.key for row in self.plan.replaced_summaries}:
            text = self.plan.updated.get(summary.pk, summary)
            return len(sentence_spans(judged_text(text, self.plan.project), text.document_set.language))
        return None

    def _unit_count(self, model: Summary) -> int | None:
        """How many units the model summary will have; None where its claims stand for them."""
        to_come = self._units_to_come(model)
        if to_come is not None:
            return to_come
        if model.pk not in self.units:
            self.units[model.pk] = Unit.objects.filter(summary=model).count()
            instead = Claim.objects.filter(claim_set__summary=model, claim_set__is_active=True, unit=None)
            if instead.exists():
                self.with_claims.add(model.pk)
        return None if model.pk in self.with_claims else self.units[model.pk]

    def _plan_gone(self, rows: Sequence[PublishedLine], *, is_whole: bool) -> None:
        """Take away, and name, the lines that the project has from a file of that name and the file does not hold.

        They are published figures: what people and judges said is in other rows.
        """
        held: dict[str, set[int]] = defaultdict(set)
        for row in rows:
            held[row.file[-MAX_TABLE_NAME_CHARACTERS:]].add(row.line)
        gone: dict[str, list[int]] = defaultdict(list)
        for origin, line in sorted(self.there):
            if origin in held and line not in held[origin]:
                gone[origin].append(line)
        for origin, lines in gone.items():
            shown = ", ".join(map(str, lines[:10]))
            more = f" and {len(lines) - 10:,} more" if len(lines) > 10 else ""
            said = f"{origin}: it no longer holds line {shown}{more} of what the project has from it. "
            if not is_whole:
                self.plan.remarks.append(
                    f"{said}They stay, because rows were left out: they may be among those."
                )
                continue
            self._take_away([self.there[origin, line] for line in lines])
            self.plan.remarks.append(
                f"{said}A table replaces what its file said before, so these published figures are removed. "
                "Nothing that people or judges said of a summary goes with them."
            )

    def _take_away(self, rows: Sequence[PublishedScore]) -> None:
        self.plan.gone += [row.pk for row in rows]
        self.plan.counts.published_scores.removed += len(rows)
        self.plan.counts.published_percents.removed += sum(self.counted.get(row.pk, 0) for row in rows)
        counted = [row.peer_id for row in rows if row.peer_id and self.counted.get(row.pk)]
        for some in batches(counted, KEYS_AT_ONCE):
            for document_set in DocumentSet.objects.filter(summaries__in=some).distinct():
                self.plan.touched.setdefault(document_set.external_id, document_set)

    def _remark(self, rows: Sequence[PublishedLine]) -> None:
        totals: dict[str, int] = defaultdict(int)
        for row in rows:
            totals[row.file] += 1
        for file, count in self.unlinked.items():
            self.plan.remarks.append(
                f"{file}: {count:,} of {totals[file]:,} lines are about summaries that the project does not have. "
                "They are kept as published figures; import the table again once the texts are there."
            )
        for (file, twin), count in self.repeated.items():
            self.plan.remarks.append(f"{file}: {count:,} lines are in the project already, from {twin}.")
        for (file, reason), count in self.uncounted.items():
            self.plan.remarks.append(
                f"{file}: the unit scores of {count:,} lines are kept and do not count: {reason}."
            )


def _names_of(model: Summary) -> set[str]:
    """What a table may call the author of a model summary."""
    return {model.external_id, model.system.name if model.system else ""}


def _score(plan: ImportPlan, row: PublishedLine, origin: str, peer: Summary | None) -> PublishedScore:
    return PublishedScore(
        project=plan.project,
        table=row.table,
        origin_name=origin,
        line=row.line,
        cells=list(row.cells),
        set_name=row.set_name,
        document=row.document,
        target_words=row.target,
        selector=row.selector,
        model_author=row.model_author,
        assessor=row.assessor,
        system=row.system,
        figures=dict(row.figures),
        mean=row.mean,
        peer=peer,
    )


def _is_as_before(before: PublishedScore, made: PublishedScore, percents: int, counted: int) -> bool:
    peer_id = made.peer.pk if made.peer else None
    return (
        before.cells == made.cells
        and before.table == made.table
        and before.peer_id == peer_id
        and percents == counted
    )
