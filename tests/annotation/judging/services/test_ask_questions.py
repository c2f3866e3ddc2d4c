from __future__ import annotations

import pytest

from annotation.core.refusals import Conflict, Invalid
from annotation.judging.question_texts import MAX_QUESTION_CHARACTERS, MOST_QUESTIONS
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.models import Claim, Event, Score
from annotation.scoring.rescore import rescore
from tests.annotation.asking import answer, answers, make_question, questions
from tests.annotation.cast import World


def ask(world: World, *texts: str, **choices: bool) -> list[Claim]:
    return ask_questions(document_set=world.sets["port"], texts=texts, by=world.mona, **choices)


def made_up(world: World, *texts: str) -> list[Claim]:
    return [
        make_question(world.sets["port"], text, position=position, origin="judge")
        for position, text in enumerate(texts, start=1)
    ]


def standing(world: World) -> list[str]:
    rows = (
        questions().filter(claim_set__document_set=world.sets["port"], removed_at=None).order_by("position")
    )
    return list(rows.values_list("text", flat=True))


def question_coverage(world: World) -> float | None:
    return Score.objects.get(summary=world.summaries["port", "alder"]).question_coverage


def test_questions_stand_in_their_order_with_who_gave_them(world: World) -> None:
    ask(world, "Did it rain?")
    ask(world, " Did it snow? ", "Was it cold?")
    assert standing(world) == ["Did it rain?", "Did it snow?", "Was it cold?"]
    assert set(questions().values_list("origin", "claim_set__origin_name")) == {("person", "mona")}


def test_the_act_is_logged(world: World) -> None:
    [old] = made_up(world, "Is it old?")
    [new] = ask(world, "Did it rain?")
    event = Event.objects.get(verb="ask questions")
    assert (event.actor, event.target_id) == (world.mona, world.sets["port"].public_id)
    assert event.data == {"questions": [new.public_id], "retired": [old.public_id]}


def test_given_questions_take_the_place_of_those_made_up(world: World) -> None:
    made_up(world, "Is it old?", "Is it new?")
    ask(world, "Did it rain?")
    assert standing(world) == ["Did it rain?"]
    assert questions().count() == 3


def test_those_made_up_stay_if_wanted(world: World) -> None:
    made_up(world, "Is it old?")
    ask(world, "Did it rain?", retire_made_up=False)
    assert standing(world) == ["Is it old?", "Did it rain?"]


def test_a_made_up_question_may_be_given_in_its_words(world: World) -> None:
    made_up(world, "Is it old?")
    ask(world, "Is it old?")
    rows = questions()
    assert [(row.origin, row.removed_at is None) for row in rows] == [("judge", False), ("person", True)]


@pytest.mark.parametrize("again", ["Did it rain?", "did  it RAIN?"])
def test_what_is_asked_already_is_omitted(world: World, again: str) -> None:
    ask(world, "Did it rain?")
    with pytest.raises(Conflict) as refused:
        ask(world, again)
    assert refused.value.code == "asked_already"
    ask(world, "Did it snow?", again)
    assert standing(world) == ["Did it rain?", "Did it snow?"]


def test_a_retired_question_may_be_asked_anew(world: World) -> None:
    [first] = ask(world, "Did it rain?")
    retire_question(question=first, by=world.mona)
    ask(world, "Did it rain?")
    rows = questions()
    assert [(row.position, row.removed_at is None) for row in rows] == [(1, False), (2, True)]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ([], "contains no question"),
        (["Did it rain?", "  "], "number 2, that contains no words"),
        (["?!"], "number 1, that contains no words"),
        (["x" * (MAX_QUESTION_CHARACTERS + 1)], "has 1,001 characters; a question may have 1,000"),
        (["a\x00b"], "contains a NUL character"),
        (
            ["Did it rain?", "Was it cold?", "did it  rain?"],
            "the same question twice, as number 1 and number 3",
        ),
        ([f"Is it {number}?" for number in range(500)], "holds 500 questions; a document set may have 100"),
    ],
)
def test_what_cannot_be_asked_is_refused_whole(world: World, texts: list[str], told: str) -> None:
    with pytest.raises(Invalid, match=told) as refused:
        ask(world, *texts)
    assert (refused.value.code, refused.value.field) == ("invalid_questions", "questions")
    assert not questions().exists()


def test_a_set_has_no_more_than_it_may(world: World) -> None:
    ask(world, *(f"Is it {number}?" for number in range(MOST_QUESTIONS)))
    with pytest.raises(Invalid, match="this one has 100 already"):
        ask(world, "Did it rain?")


def test_retiring_takes_the_question_out_of_the_scores_and_keeps_its_answers(world: World) -> None:
    alder = world.summaries["port", "alder"]
    first, second = ask(world, "Does it close?", "Is it weak?")
    for question, said in ((first, "yes"), (second, "no")):
        answer(question, "yes", judge=world.judge)
        answer(question, said, judge=world.judge, summary=alder)
    rescore(project=world.project)
    # Both answers from the source are yes, and alder has one yes: 1 / 2, then 1 / 1.
    assert question_coverage(world) == 0.5
    retire_question(question=second, by=world.mona)
    assert question_coverage(world) == 1.0
    assert answers().count() == 4


def test_without_a_standing_question_none_was_asked(world: World) -> None:
    [question] = ask(world, "Does it close?")
    answer(question, "yes", judge=world.judge)
    answer(question, "yes", judge=world.judge, summary=world.summaries["port", "alder"])
    rescore(project=world.project)
    assert question_coverage(world) == 1.0
    retire_question(question=question, by=world.mona)
    assert question_coverage(world) is None


def test_retiring_twice_is_one_act(world: World) -> None:
    [question] = ask(world, "Did it rain?")
    first = retire_question(question=question, by=world.mona).removed_at
    assert retire_question(question=questions().get(), by=world.mona).removed_at == first
    assert Event.objects.filter(verb="retire question").count() == 1
