import asyncio

from evaluation import LexicalJudge
from evaluation.judging.protocol import CoverRequest, DocumentRequest, Text
from evaluation.metrics import JUDGED

SOURCE = Text.of("The dam broke in 1999. The dam flooded the town. Nobody slept. Geese flew over.")


def test_questions_quote_what_the_text_says_most_about() -> None:
    reading = asyncio.run(LexicalJudge().read_document(DocumentRequest(SOURCE, n_questions=2)))
    assert [question.text for question in reading.questions or ()] == [
        'Does the text say: "The dam broke in 1999."?',
        'Does the text say: "The dam flooded the town."?',
    ]
    assert [question.answer.label for question in reading.questions or ()] == ["yes", "yes"]


def test_a_quoted_question_is_answered_by_what_it_quotes() -> None:
    asked = CoverRequest(
        Text.of("The dam broke in 1999."),
        questions=('Does the text say: "The dam broke in 1999."?', 'Does the text say: "Geese flew over."?'),
        criteria=(JUDGED["coherence"],),
    )
    reading = asyncio.run(LexicalJudge().cover_summary(asked))
    assert [answer.label for answer in reading.questions] == ["yes", "no"]
    assert reading.ratings["coherence"].value is None
    assert "cannot rate" in reading.ratings["coherence"].reason


def test_topics_are_the_commonest_words() -> None:
    reading = asyncio.run(LexicalJudge().read_document(DocumentRequest(SOURCE, topics=True)))
    assert (reading.topics or ("",))[0] == "dam"
    assert len(reading.topics or ()) == 5


def test_nothing_is_done_that_is_not_wanted() -> None:
    reading = asyncio.run(LexicalJudge().read_document(DocumentRequest(SOURCE)))
    assert (reading.claims, reading.questions, reading.topics) == ((), (), ())


def test_claims_come_from_the_reference_where_there_is_one() -> None:
    request = DocumentRequest(SOURCE, reference=Text.of("A dam broke."), claims=True)
    reading = asyncio.run(LexicalJudge().read_document(request))
    assert [claim.text for claim in reading.claims or ()] == ["A dam broke."]
