"""Suggested next steps for a person in a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.template.defaultfilters import pluralize

from annotation.assessing.queries.assignments import queue_offer
from annotation.core.lists import Viewer
from annotation.core.permissions import Verb
from annotation.projects.queries.overview import has_assessors, has_assignments, open_disputes, open_summaries
from annotation.reviewing.queries.ratings import next_to_rate
from annotation.reviewing.queries.review_queue import sample_first
from annotation.sampling.queries.check_samples import check_samples

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from annotation.models import Project
    from annotation.projects.queries.overview import Contents
    from annotation.web.rooms import Room


@dataclass(frozen=True, slots=True)
class Step:
    """A suggested step. `what` is its title and `why` the reason; `url_name` and `query` give the address of its
    page.
    """

    what: str
    why: str
    url_name: str
    query: str = ""


def next_steps(room: Room, person: User, contents: Contents) -> Iterator[Step]:
    verbs, project = room.verbs, room.project
    if Verb.ASSESS in verbs:
        yield from _own_work(project, person)
    if not contents.summaries:
        if Verb.IMPORT in verbs:
            yield Step("Import summaries", "Use CSV, JSONL or Parquet with one row per summary.", "import")
        return
    if Verb.CHANGE_PROJECT in verbs and project.deciding_judge_id is None:
        why = "Use a language model on a server, or the built-in offline lexical judge."
        yield Step("Choose a judge", why, "judges")
    is_judged = bool(contents.checks) or project.runs.exists()
    if Verb.RUN in verbs and not is_judged:
        yield Step("Start a run", "No judge has checked these summaries yet.", "runs")
    if Verb.ADJUDICATE in verbs and (disputes := open_disputes(project)):
        why = (
            f"{disputes:,} disagreement{pluralize(disputes)} wait{pluralize(disputes, 's,')} for a decision."
        )
        yield Step("Resolve disagreements", why, "adjudicate")
    done = next((each for each in check_samples(project, of_watches=False) if each.is_finished), None)
    if Verb.REVIEW in verbs:
        waiting = contents.checks - contents.answered
        if first := sample_first(Viewer(person, project, verbs)):
            claims = f"{first.left:,} of {first.sample.sampled:,} claim{pluralize(first.sample.sampled)}"
            why = f"{claims} in a random sample wait{pluralize(first.left, 's,')} for your answer."
            yield Step("Answer the sampled claims", why, "review", f"sample={first.sample.sample_id}")
        elif waiting and done is None:
            have = pluralize(waiting, "check has,checks have")
            yield Step("Review claims", f"{waiting:,} {have} no answer by a person yet.", "review")
        if rated := next_to_rate(project, person):
            why = f"{rated.left:,} {pluralize(rated.left, 'summary waits,summaries wait')} for your rating."
            yield Step("Rate summaries", why, "rate-summaries")
    if Verb.ASSIGN in verbs and has_assessors(project) and not has_assignments(project):
        yield Step("Assign a set to an assessor", "No reference units have been judged yet.", "assignments")
    if Verb.VIEW_SCORES in verbs and is_judged:
        claims = f"{done.sampled:,} claim{pluralize(done.sampled)}" if done else ""
        checked = f"People checked a random sample of {claims}. " if claims else ""
        yield Step("View the ranking", f"{checked}Each average has an interval.", "scores")


def _own_work(project: Project, person: User) -> Iterator[Step]:
    if left := open_summaries(project, person):
        why = f"{left:,} {pluralize(left, 'summary,summaries')} assigned to you."
        yield Step("Continue your judgments", why, "work")
        return
    offer = queue_offer(project, person)
    if offer.sets and offer.in_hand is None:
        why = f"{offer.sets:,} {pluralize(offer.sets, 'set is,sets are')} waiting for an assessor."
        yield Step("Take a set from the queue", why, "work")
