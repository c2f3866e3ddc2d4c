"""What a person may want to do next in a project, the most pressing first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.analysis.estimates.proposal import proposed_size
from annotation.core.permissions import Verb
from annotation.core.words import counted
from annotation.models import Project, Run
from annotation.sampling.queries.pace import seconds_per_check
from annotation.sampling.words import held_in_words, time_in_words

if TYPE_CHECKING:
    from annotation.projects.queries.overview import (
        CheckCounts,
        Contents,
        ProjectCard,
        SittingCounts,
        Waits,
    )
    from annotation.web.rooms import Room


@dataclass(frozen=True, slots=True)
class Step:
    """`what` names the act, `why` the reason in a sentence, `url_name` and `query` the page where it is done."""

    what: str
    why: str
    url_name: str = ""
    query: str = ""


def next_of(card: ProjectCard) -> Step | None:
    """The one thing that leads a project on, from what its card tells; None where the work is people's."""
    if not card.peer_summaries:
        why = "Nothing to judge yet."
        return Step("Import a file", why, "import") if Verb.IMPORT in card.verbs else None
    if card.active_runs:
        return Step("A run is in progress", "", "runs") if Verb.VIEW_RUNS in card.verbs else None
    if not card.runs and Verb.RUN in card.verbs:
        has_judge = card.project.deciding_judge_id is not None
        return Step("Start a run", "", "runs") if has_judge else Step("Choose a judge", "", "judges")
    return Step("View scores", "", "scores") if Verb.VIEW_SCORES in card.verbs else None


def next_steps(
    room: Room,
    contents: Contents,
    checks: CheckCounts,
    sittings: SittingCounts,
    waits: Waits,
    run: Run | None,
) -> list[Step]:
    return [*_own_work(room, sittings, waits), *_steps(room, contents, checks, sittings, waits, run)]


def _own_work(room: Room, sittings: SittingCounts, waits: Waits) -> Iterator[Step]:
    """What an assessor has in progress, or may take."""
    if Verb.ASSESS not in room.verbs:
        return
    if sittings.own_open_summaries:
        yield Step(
            "Continue your judgments",
            f"{counted(sittings.own_open_summaries, 'peer summary', 'peer summaries')} assigned to you.",
            "work",
        )
    elif waits.sets_in_queue:
        yield Step(
            "Take a set from the queue",
            f"{counted(waits.sets_in_queue, 'set is', 'sets are')} waiting for an assessor.",
            "work",
        )


def _steps(
    room: Room,
    contents: Contents,
    checks: CheckCounts,
    sittings: SittingCounts,
    waits: Waits,
    run: Run | None,
) -> Iterator[Step]:
    verbs, project = room.verbs, room.project
    if not contents.peer_summaries:
        if Verb.IMPORT in verbs:
            yield Step(
                "Import summaries",
                "Use CSV, JSONL or Parquet with one row per peer summary.",
                "import",
            )
        return
    if Verb.CHANGE_PROJECT in verbs and project.deciding_judge_id is None:
        yield Step(
            "Choose a judge",
            "Use a language model on a server, or the built-in offline lexical judge.",
            "judges",
        )
    if Verb.RUN in verbs and (run is None or not checks.total):
        yield Step("Start a run", "No judge has checked these summaries yet.", "runs")
    if waits.disputes:
        yield Step(
            "Resolve disagreements",
            f"{counted(waits.disputes, 'dispute')} over claims or units without a decision, largest "
            "differences first.",
            "adjudicate",
        )
    for draw in waits.draws[:1]:
        yield Step(
            "Answer the sampled claims",
            f"{draw.drawn - draw.answered:,} of {counted(draw.drawn, 'check')} in a random sample have no "
            f"answer. {held_in_words(draw.held)}".rstrip(),
            "review",
            f"draw={draw.draw_id}",
        )
    if waits.lacks_sample and checks.by_judge and checks.waiting:
        page = "plan" if Verb.VIEW_SCORES in verbs else "check-draws"
        yield Step("Take a random sample", _sample_in_words(project), page)
    if Verb.REVIEW in verbs and checks.waiting:
        yield Step(
            "Review claims",
            f"{counted(checks.waiting, 'check')} {'has' if checks.waiting == 1 else 'have'} no answer by a "
            "person yet.",
            "review",
        )
    if Verb.ASSIGN in verbs and contents.comparisons and not (sittings.open or sittings.closed):
        yield Step("Assign a set to an assessor", "No model units have been judged yet.", "assignments")
    if Verb.VIEW_SCORES in verbs and checks.total:
        yield Step("View scores", _blend_in_words(project), "scores")
    if Verb.EXPORT in verbs and checks.total:
        yield Step(
            "Export the scored data set", "Scores, units, claims and judgments, with a manifest.", "exports"
        )


def _sample_in_words(project: Project) -> str:
    size = proposed_size(project)
    why = "Only a random sample gives an estimate of people's answers."
    if size is None:
        return why
    return (
        f"{why} Answer about {counted(size, 'claim')}, {time_in_words(size, seconds_per_check(project)[0])}."
    )


def _blend_in_words(project: Project) -> str:
    if project.blend == Project.Blend.WEIGHTED:
        weight = round(project.blend_human_weight * 100)
        return f"People's percents weigh {weight} %, the claims the rest."
    return "People's answers come first, then the judge's."
