"""Questions about document sets, and what source and summaries answer to them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.access import ApiView, only
from annotation.api.fields import LabelField, NamedChoice
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.core.question_texts import MAX_QUESTION_CHARACTERS, MOST_QUESTIONS
from annotation.core.summaries import summary_of
from annotation.judging.services.ask_questions import ask_questions, retire_question
from annotation.models import DocumentSet, Project, Question
from annotation.scoring.questions import (
    STANDINGS,
    AskedQuestion,
    GivenRating,
    QuestionSaid,
    questions_of,
    questions_to,
    ratings_of,
)


class SaidRow(serializers.Serializer[QuestionSaid]):
    """An answer. Without a label it is unscored, and the reason says why."""

    label: Any = LabelField(allow_null=True)
    probability = serializers.FloatField(allow_null=True, help_text="Of yes, where the judge gave one.")
    evidence = serializers.ListField(child=serializers.IntegerField(), help_text="Unit numbers of the text.")
    reason = serializers.CharField()


class NewQuestionRow(serializers.Serializer[Question]):
    """A question as it was given."""

    id = serializers.CharField(source="public_id")
    position = serializers.IntegerField(help_text="From 1, retired ones included.")
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


class QuestionRow(serializers.Serializer[AskedQuestion]):
    """A question and what the source answers to it; null where nobody has answered yet."""

    id = serializers.CharField(source="question_id")
    position = serializers.IntegerField(help_text="From 1, retired ones included.")
    text = serializers.CharField()
    origin = serializers.CharField(help_text="The person, the file, or that a judge made it up.")
    is_made_up = serializers.BooleanField()
    retired_at = serializers.DateTimeField(allow_null=True, help_text="Since when it counts no more.")
    source: Any = serializers.SerializerMethodField()

    @extend_schema_field(SaidRow(allow_null=True))
    def get_source(self, question: AskedQuestion) -> Any:
        return _said(question.source)


class QuestionRows(serializers.Serializer[Any]):
    judge = serializers.CharField(allow_null=True, help_text="The deciding judge, whose answers these are.")
    results = QuestionRow(many=True)


class AnswerRow(serializers.Serializer[AskedQuestion]):
    """A question, what the source and what the summary alone answer, and whether the pair counts."""

    question = serializers.CharField(source="question_id")
    text = serializers.CharField()
    source: Any = serializers.SerializerMethodField()
    answer = serializers.SerializerMethodField()
    counts = serializers.BooleanField(help_text="Whether it is in the denominator of question coverage.")
    standing = NamedChoice("QuestionStanding", list(STANDINGS.items()))

    @extend_schema_field(SaidRow(allow_null=True))
    def get_source(self, question: AskedQuestion) -> Any:
        return _said(question.source)

    @extend_schema_field(SaidRow(allow_null=True))
    def get_answer(self, question: AskedQuestion) -> Any:
        return _said(question.answer)


class RatingRow(serializers.Serializer[GivenRating]):
    """A number for a summary as a whole; null where the judge gave none that could be used."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    judge = serializers.CharField(help_text="Empty where it was computed.")
    reason = serializers.CharField()


class Answers(serializers.Serializer[Any]):
    judge = serializers.CharField(allow_null=True, help_text="The deciding judge, whose answers these are.")
    questions = AnswerRow(many=True)
    ratings = RatingRow(many=True)


class NewQuestions(serializers.Serializer[Any]):
    questions = serializers.ListField(
        child=serializers.CharField(max_length=MAX_QUESTION_CHARACTERS),
        min_length=1,
        max_length=MOST_QUESTIONS,
        help_text="Closed questions, to be answered yes or no from a text alone.",
    )
    retire_made_up = serializers.BooleanField(
        default=True, help_text="Whether they take the place of those that a judge made up."
    )


class SetQuestions(ApiView):
    tag = "questions"
    pagination_class = None

    @operation("list_questions", responses=QuestionRows)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """List the questions about a document set with what its source answers.

        In the order in which they were asked, retired ones included.
        """
        project = self.enter(Verb.VIEW_SCORES)
        found = questions_of(_set(project, public_id))
        return Response(QuestionRows({"judge": _judge(project), "results": found}).data)

    @operation("ask_questions", request=NewQuestions, responses={201: NewQuestionRow(many=True)})
    def post(self, request: Request, slug: str, public_id: str) -> Response:
        """Add questions to those about a document set.

        Needs the verb "change project". The next run for question coverage asks them.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        wanted = self.body(NewQuestions)
        asked: Any = ask_questions(
            document_set=_set(project, public_id),
            texts=wanted["questions"],
            retire_made_up=wanted["retire_made_up"],
            by=self.person,
        )
        return Response(NewQuestionRow(asked, many=True).data, status=status.HTTP_201_CREATED)


class OneQuestion(ApiView):
    tag = "questions"

    @operation("retire_question", responses={204: None})
    def delete(self, request: Request, slug: str, public_id: str) -> Response:
        """Take a question out of the scores.

        Needs the verb "change project". It stays with its answers. Twice changes nothing.
        """
        project = self.enter(Verb.CHANGE_PROJECT)
        rows = Question.objects.filter(document_set__project=project)
        question = only(rows.select_related("document_set__project"), public_id, "question")
        retire_question(question=question, by=self.person)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SummaryAnswers(ApiView):
    tag = "questions"

    @operation("list_answers", responses=Answers)
    def get(self, request: Request, slug: str, public_id: str) -> Response:
        """List what a peer summary answers to the questions about its document set, and its ratings.

        The answers are given without seeing the source.
        """
        project = self.enter(Verb.VIEW_SCORES)
        summary = summary_of(project, public_id)
        found = {
            "judge": _judge(project),
            "questions": questions_to(project, summary),
            "ratings": ratings_of(project, summary),
        }
        return Response(Answers(found).data)


def _set(project: Project, public_id: str) -> DocumentSet:
    return only(project.document_sets.select_related("project"), public_id, "document set")


def _judge(project: Project) -> str | None:
    return project.deciding_judge.name if project.deciding_judge else None


def _said(said: QuestionSaid | None) -> Any:
    return None if said is None else SaidRow(said).data
