"""NIST's result table of DUC 2002 from our own judgments: 37 header lines, then 33 columns.

One line per peer summary, model summary and assessor whose work is closed. Columns are counted from 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from annotation.exports.duc.duc_files import LeftOut, OwnFormat, Written
from annotation.exports.duc.nist_names import UNKNOWN_SELECTOR, NistNames, SetName
from annotation.exports.peers import peer_batches
from annotation.models import (
    Assignment,
    Comparison,
    Document,
    Project,
    SummaryJudgment,
    Unit,
    UnitJudgment,
)
from annotation.models.judgment import ASKED_AT_PRESENT
from annotation.scoring.records import target_of
from evaluation.metrics import (
    CoverageStatistics,
    Marks,
    brevity,
    coverage_statistics,
    length_adjusted,
    quality_questions,
)
from evaluation.text import LengthUnit, count_length

if TYPE_CHECKING:
    from annotation.core.tables.pseudonyms import People
    from annotation.exports.progress import ExportProgress

NO_DOCUMENT = "-" * 15
DASH = "-"
DUC_PERCENTS = frozenset(range(0, 101, 20))

HEADER = (
    "# Results of assessing peer summaries against model summaries, in the layout of DUC 2002.",
    "# One line for each peer summary, model summary and assessor. Columns stand between white space and are",
    "# counted from 0; a dash stands for what is not known or was not asked.",
    "#    0  document set",
    "#    1  M: a summary of the whole set, P: of one of its documents",
    "#    2  the document, or dashes",
    "#    3  target length",
    "#    4  actual length",
    "#    5  selector of the set",
    "#    6  author of the model summary",
    "#    7  assessor",
    "#    8  peer: letters are people, numbers are systems",
    "#    9  how many of the quality answers are not 0",
    "#   10  question 1: capitals",
    "#   11  question 2: word order",
    "#   12  question 3: agreement in number",
    "#   13  question 4: sentences with parts missing",
    "#   14  question 5: fragments joined that do not belong together",
    "#   15  question 6: articles wrong or missing",
    "#   16  question 7: pronouns without a clear antecedent",
    "#   17  question 8: nouns that leave open whom or what they mean",
    "#   18  question 9: nouns that should be pronouns",
    "#   19  question 10: dangling conjunctions",
    "#   20  question 11: information that is repeated",
    "#   21  question 12: sentences in the wrong place",
    "#       answers: 0 none, 1 one to five, 2 six to ten, 3 more than ten",
    "#   22  share of the unmarked peer units that are related to the subject",
    "#   23  peer units",
    "#   24  marked peer units",
    "#   25  unmarked peer units",
    "#   26  model units",
    "#   27  coverage of the model units, 0 to 1: mean",
    "#   28  median",
    "#   29  standard deviation (n - 1)",
    "#   30  adjusted for length, two thirds coverage and one third brevity: mean",
    "#   31  median; 32 standard deviation",
    "",
)
"""37 lines: one public parser passes over so many, another over all up to the first empty one."""


def write(project: Project, people: People, stream: BinaryIO, progress: ExportProgress) -> Written:
    """Write the table to a stream; returns what is in it and what is not."""
    names, seen = NistNames.of(project, people), Counter[str]()
    stream.write("".join(f"{line}\n" for line in HEADER).encode())
    sets: dict[int, SetName] = {}
    for batch in peer_batches(project):
        for line in _Batch.load(project, [peer.pk for peer in batch]).lines(names, sets, seen):
            stream.write(f"{' '.join(line)}\n".encode())
            seen["lines"] += 1
    return Written(rows=seen["lines"], left_out=_left(project, seen), renamed=names.told())


def _left(project: Project, seen: Counter[str]) -> LeftOut:
    left = LeftOut()
    left.add(
        "percents and marks of single units: a line has their mean, median and deviation", seen["percents"]
    )
    left.add("notes on units", seen["notes"])
    left.add("assignments in a hidden repeat", _repeats(project))
    left.add(
        "percents other than 0, 20, 40, 60, 80 and 100, which are in the means all the same",
        seen["off scale"],
    )
    left.add("weights of units other than 1: the means here are unweighted", seen["weights"])
    left.add("lines over claims in the place of model units", seen["claims"])
    left.add("lines of a peer summary that has lines for another model summary, too", seen["several models"])
    left.add("lines without quality answers of DUC 2002", seen["no quality"])
    left.add("lines with quality answers to other questions than those of DUC 2002", seen["other quality"])
    left.add("lines without an answer about unmarked units", seen["no unmarked"])
    left.add("lines without a target length: no length adjustment", seen["no target"])
    left.add("lines with a length in characters or bytes, not in words", seen["other length"])
    left.add(f"sets without a selector's letter, written as {UNKNOWN_SELECTOR}", seen["no selector"])
    left.add_of(project, "verdicts", "decisions", "published", "documents")
    return left


def _repeats(project: Project) -> int:
    return Assignment.objects.filter(
        comparison__peer__document_set__project=project,
        state=Assignment.State.SUBMITTED,
        repeat_of__isnull=False,
    ).count()


@dataclass(frozen=True, slots=True)
class _Said:
    """What an assessor said of one unit, or of a claim in its place."""

    percent: int
    marks: tuple[int, ...]
    weight: float
    has_note: bool
    is_claim: bool


@dataclass(slots=True)
class _Batch:
    project: Project
    assignments: list[Assignment]
    said: dict[int, list[_Said]]
    wholes: dict[tuple[int, int], SummaryJudgment]
    peer_units: dict[int, int]
    documents: dict[int, int]

    @classmethod
    def load(cls, project: Project, peer_ids: Sequence[int]) -> _Batch:
        assignments = list(
            Assignment.objects.filter(
                comparison__peer_id__in=peer_ids, state=Assignment.State.SUBMITTED, repeat_of=None
            ).select_related(
                "sitting__assessor",
                "comparison__peer__document_set",
                "comparison__peer__system",
                "comparison__model",
            )
        )
        order = {peer_id: place for place, peer_id in enumerate(peer_ids)}
        assignments.sort(key=lambda row: (order[_comparison(row).peer_id], row.comparison_id or 0, row.pk))
        wholes = SummaryJudgment.objects.filter(peer_id__in=peer_ids, is_current=True, is_repeat=False)
        units = Unit.objects.filter(summary_id__in=peer_ids).values_list("summary__pk", flat=True)
        documents = Document.objects.filter(document_set__summaries__in=peer_ids).distinct()
        return cls(
            project=project,
            assignments=assignments,
            said=_said([row.pk for row in assignments]),
            wholes={(row.sitting_id, row.peer_id): row for row in wholes},
            peer_units=Counter(units),
            documents=Counter(row.document_set_id for row in documents.only("document_set")),
        )

    def lines(self, names: NistNames, sets: dict[int, SetName], seen: Counter[str]) -> Iterator[list[str]]:
        of_peer = Counter((row.sitting_id, _comparison(row).peer_id) for row in self.assignments)
        for row in self.assignments:
            said = self.said.get(row.pk, [])
            if not said:
                continue
            comparison = _comparison(row)
            peer = comparison.peer
            if peer.document_set_id not in sets:
                count = self.documents.get(peer.document_set_id, 0)
                sets[peer.document_set_id] = names.of_set(peer.document_set, count)
                seen["no selector"] += sets[peer.document_set_id].selector == UNKNOWN_SELECTOR
            of_set = sets[peer.document_set_id]
            assert row.sitting is not None, "comparisons are judged in sittings"
            assert row.sitting.assessor is not None, "what is submitted was submitted by somebody"
            assert peer.system_id is not None, "a peer summary has a system"
            length = count_length(peer.text, cast("LengthUnit", self.project.length_unit))
            target = target_of(peer, self.project)
            _count(seen, said, target, self.project)
            seen["several models"] += of_peer[row.sitting_id, peer.pk] > 1
            yield [
                of_set.name,
                of_set.summary_type,
                of_set.document or NO_DOCUMENT,
                DASH if target is None else f"{target:03}",
                str(length),
                of_set.selector,
                names.author(comparison.model),
                names.assessor(row.sitting.assessor.pk, row.sitting.assessor.username),
                names.systems[peer.system_id],
                *self._of_whole(row, said, seen),
                *_coverage(said, length, target),
            ]

    def _of_whole(self, row: Assignment, said: list[_Said], seen: Counter[str]) -> list[str]:
        """Columns 9 to 26: the quality answers, the unmarked share, the counts of units."""
        peer_id = _comparison(row).peer_id
        whole = self.wholes.get((row.sitting_id or 0, peer_id))
        peer_units = self.peer_units.get(peer_id, 0)
        marks = Marks.of(
            {
                number: [mark for mark in unit.marks if 1 <= mark <= peer_units]
                for number, unit in enumerate(said, start=1)
            },
            model_units=len(said),
            peer_units=peer_units,
        )
        unmarked = whole.unmarked_percent if whole else None
        if not marks.unmarked:
            unmarked = 0
        seen["no unmarked"] += unmarked is None
        return [
            *self._quality(whole, seen),
            DASH if unmarked is None else f"{unmarked / 100:.2f}",
            str(peer_units),
            str(len(marks.marked)),
            str(len(marks.unmarked)),
            str(len(said)),
        ]

    def _quality(self, whole: SummaryJudgment | None, seen: Counter[str]) -> list[str]:
        answers = whole.quality_answers if whole else {}
        questions = [question.id for question in quality_questions(Project.QuestionSet.DUC_2002)]
        is_duc = self.project.question_set == Project.QuestionSet.DUC_2002
        given = [answers.get(question) if is_duc else None for question in questions]
        seen["other quality"] += bool(answers) and not is_duc
        seen["no quality"] += all(answer is None for answer in given)
        shown = [DASH if answer is None else str(answer) for answer in given]
        return [str(sum(bool(answer) for answer in given)), *shown]


def _comparison(row: Assignment) -> Comparison:
    assert row.comparison is not None, "sittings hold comparisons only"
    return row.comparison


def _said(assignment_ids: Sequence[int]) -> dict[int, list[_Said]]:
    """What stands of each assignment, in the order of the units; nothing of units or claims that are no more."""
    judgments = UnitJudgment.objects.filter(
        ASKED_AT_PRESENT, assignment_id__in=assignment_ids, is_current=True, percent__isnull=False
    ).order_by("unit__position", "claim__position", "pk")
    found: dict[int, list[_Said]] = defaultdict(list)
    for assignment_id, percent, marks, note, claim_id, of_claim, of_unit in judgments.values_list(
        "assignment_id", "percent", "marks", "note", "claim_id", "claim__weight", "unit__weight"
    ):
        found[assignment_id].append(
            _Said(
                percent=percent or 0,
                marks=tuple(marks),
                weight=of_claim or of_unit or 1.0,
                has_note=bool(note),
                is_claim=bool(claim_id),
            )
        )
    return found


def _count(seen: Counter[str], said: Sequence[_Said], target: int | None, project: Project) -> None:
    """Note what a line does not carry."""
    seen["percents"] += len(said)
    seen["notes"] += sum(unit.has_note for unit in said)
    seen["off scale"] += sum(unit.percent not in DUC_PERCENTS for unit in said)
    seen["weights"] += sum(unit.weight != 1 for unit in said)
    seen["claims"] += any(unit.is_claim for unit in said)
    seen["no target"] += target is None
    seen["other length"] += project.length_unit != Project.LengthUnit.WORDS


def _coverage(said: Sequence[_Said], length: int, target: int | None) -> list[str]:
    """Columns 27 to 32."""
    plain = coverage_statistics([unit.percent for unit in said])
    return [*_figures(plain), *_figures(length_adjusted(plain, brevity(length, target)))]


def _figures(statistics: CoverageStatistics) -> list[str]:
    figures = (statistics.mean, statistics.median, statistics.deviation)
    return [DASH if figure is None else f"{figure:.3f}" for figure in figures]


FORMAT = OwnFormat(level="nist2002", format="table", suffix="txt", write=write)
