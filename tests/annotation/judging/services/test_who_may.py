from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from annotation.core.refusals import NotAllowed
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.judging.services.check_connection import check_connection
from annotation.judging.services.let_decide import let_decide
from annotation.judging.services.start_run import cancel_run, resume_run, start_run

if TYPE_CHECKING:
    from tests.annotation.cast import World


def test_a_viewer_starts_stops_asks_and_chooses_nothing(world: World) -> None:
    project, judge, port = world.project, world.judge, world.sets["port"]
    run = start_run(project=project, judge=judge, by=None)
    [question] = ask_questions(document_set=port, texts=["Did it rain?"], by=None)
    for act in (
        lambda: start_run(project=project, judge=judge, by=world.vic),
        lambda: cancel_run(run=run, by=world.vic),
        lambda: resume_run(run=run, by=world.vic),
        lambda: ask_questions(document_set=port, texts=["Was it cold?"], by=world.vic),
        lambda: retire_question(question=question, by=world.vic),
        lambda: check_connection(project=project, judge=judge, by=world.vic),
        lambda: let_decide(project=project, judge=judge, by=world.vic),
    ):
        with pytest.raises(NotAllowed):
            act()
