"""Add closed questions about a document set, and retire questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.core.current_checks import take_out
from annotation.core.events import log
from annotation.core.permissions import Verb, require
from annotation.core.refusals import Conflict, Invalid
from annotation.judging.question_texts import MOST_QUESTIONS, question_key, questions_fault
from annotation.judging.services.running.questions import add_questions, questions_about
from annotation.models import Claim, ClaimOrigin, DocumentSet
from annotation.scoring.records import hold_set
from annotation.scoring.rescore import rescore_now

if TYPE_CHECKING:
    from django.contrib.auth.models import User

OPERATOR = "the operator"


@transaction.atomic
def ask_questions(
    *, document_set: DocumentSet, texts: Sequence[str], retire_made_up: bool = True, by: User | None
) -> list[Claim]:
    """Add questions about a document set.

    Needs the verb "change project". Questions that a judge generated are retired, unless `retire_made_up` is False.
    Raises Invalid (code `invalid_questions`) if the list is empty, if a question is empty, too long or repeated, or if
    there would be more than MOST_QUESTIONS. Questions that exist already are omitted; Conflict (`asked_already`) if no
    other is left.
    """
    project = document_set.project
    require(by, project, Verb.CHANGE_PROJECT)
    given = [text.strip() for text in texts]
    reason = questions_fault(given) if given else "contains no question. Write one per line."
    if reason:
        raise Invalid(f"The list {reason}", field="questions", code="invalid_questions")
    held = hold_set(document_set.pk)
    standing = questions_about(document_set.pk).filter(removed_at=None)
    made_up = [row for row in standing if retire_made_up and row.origin == ClaimOrigin.JUDGE]
    known = {question_key(row.text) for row in standing if row not in made_up}
    new = [text for text in given if question_key(text) not in known]
    if not new:
        raise Conflict("All of these questions are asked already.", code="asked_already")
    if len(known) + len(new) > MOST_QUESTIONS:
        told = f"A document set may have {MOST_QUESTIONS} questions, and this one has {len(known)} already."
        raise Invalid(f"{told} Retire some first.", field="questions", code="invalid_questions")
    take_out([row.pk for row in made_up])
    name = by.get_username() if by else OPERATOR
    asked = add_questions(document_set.pk, new, origin=ClaimOrigin.PERSON, origin_name=name)
    rescore_now(project=project, summary_ids=[summary.pk for summary in held])
    log(
        project=project,
        actor=by,
        verb="ask questions",
        target=document_set,
        data={"questions": [row.public_id for row in asked], "retired": [row.public_id for row in made_up]},
    )
    return asked


@transaction.atomic
def retire_question(*, question: Claim, by: User | None) -> Claim:
    """Retire a question: it keeps its answers but does not count in scores and is not asked again.

    Needs the verb "change project". The scores of the set's summaries are recomputed. Idempotent.
    """
    document_set = DocumentSet.objects.select_related("project").get(claim_sets=question.claim_set_id)
    require(by, document_set.project, Verb.CHANGE_PROJECT)
    held = hold_set(document_set.pk)
    if take_out([question.pk]):
        rescore_now(project=document_set.project, summary_ids=[summary.pk for summary in held])
        log(
            project=document_set.project,
            actor=by,
            verb="retire question",
            target=question,
            data={"text": question.text},
        )
    question.refresh_from_db()
    return question
