"""Document sets with given texts, assigned to Ana."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from annotation.assessing.services.assign import assign
from annotation.models import Assignment, Comparison, Document, DocumentSet, Summary, System
from evaluation.metrics import Criterion
from tests.annotation.cast import add_units
from tests.annotation.rated import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Page

    from tests.annotation.cast import World

REFERENCE = (
    "The port closes in April. Its wall is weak. The repair costs 40 million crowns. "
    "It takes two years. Ferries move to the south. Crews fear for their berths."
)
"""Six units."""
SECOND_REFERENCE = "A weak wall closes the port. Ferries move."
SUMMARY = "The port will be closed in April. Ferries move south. A spokeswoman is calm."
"""Three units, 14 words."""
SAVED = re.compile("^Saved$")
OTHER_SUMMARY = "Nothing happens in the port. Nobody minds."
QUESTIONS = [
    Criterion("clear", "Is it clear?", points=((0, "no"), (1, "partly"), (2, "yes"))),
    Criterion("short", "Is it short?", "yes_no"),
]


def lay_set(
    world: World,
    *,
    references: Sequence[str] = (REFERENCE,),
    summaries: Sequence[str] = (SUMMARY,),
    target_words: int = 50,
    name: str = "quay",
    criteria: Sequence[Criterion] = (),
    **settings: object,
) -> Assignment:
    """The summaries keep the given order: each target is one word below the one before it."""
    ask(world.project, *criteria)
    for setting, value in settings.items():
        setattr(world.project, setting, value)
    world.project.save()
    document_set = DocumentSet.objects.create(project=world.project, external_id=name)
    Document.objects.create(document_set=document_set, position=1, text="The port closes. A wall is weak.")
    made = []
    for number, text in enumerate(references):
        reference = Summary.objects.create(
            document_set=document_set, is_reference=True, text=text, external_id=f"reference {number}"
        )
        add_units(text, summary=reference)
        made.append(reference)
    for number, text in enumerate(summaries):
        system = System.objects.create(project=world.project, name=f"{name} {number}")
        summary = Summary.objects.create(
            document_set=document_set,
            system=system,
            is_summary=True,
            target_words=target_words - number,
            text=text,
        )
        add_units(text, summary=summary)
        Comparison.objects.bulk_create(Comparison(summary=summary, reference=reference) for reference in made)
    return assign(document_set=document_set, assessor=world.ana, by=None, seed=1)


def open_set(page: Page, assignment: Assignment, number: int = 1) -> None:
    reading = assignment.readings.order_by("position")[number - 1]
    page.goto(f"/p/harbour/work/{reading.public_id}/")
    page.locator("#see").wait_for()


def saved(page: Page) -> None:
    page.locator("#saved", has_text=SAVED).wait_for()
