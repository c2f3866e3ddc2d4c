"""Quality questions: what an assessor says of a peer summary before seeing the model summary.

What the sources say, and what they do not:

- DUC 2002: twelve counts, each answered 0, 1 to 5, 6 to 10 or more than 10 and published as 0 to 3. The subjects of
  questions 1 to 4 are known from NIST's page, those of 5 to 12 from the literature; the page's wording was not
  seen, so the wording here is our own.
- DUC 2004: seven questions with five answers each, A the best and E the worst. The subjects of questions 6 and 7
  are known from the literature alone; the wording is our own. A to E are kept as 1 to 5.
- DUC 2006 and 2007: five qualities from 1, very poor, to 5, very good. That the fifth is "structure and coherence"
  is from the literature; the wording is our own.
- SummEval (2021): coherence, consistency, fluency and relevance from 1, worst, to 5, best. The wording is our own.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evaluation.errors import InvalidQuestion

MOST_QUESTIONS = 40
LONGEST_TEXT = 500
LONGEST_ANSWER = 200
MOST_ANSWERS = 11
LARGEST_FIRST = 100
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_KEYS = frozenset({"id", "text", "answers", "first"})


@dataclass(frozen=True, slots=True)
class QualityQuestion:
    """One question with its closed answers, in order; the first of them counts as `first`, the next one more."""

    id: str
    text: str
    answers: tuple[str, ...]
    first: int = 0

    @property
    def values(self) -> range:
        """The whole numbers that may be given, in the order of the answers."""
        return range(self.first, self.first + len(self.answers))

    @property
    def choices(self) -> tuple[tuple[int, str], ...]:
        """Value and words of each answer.

        Example: the first of DUC 2002's gives `(0, "none"), (1, "1 to 5"), (2, "6 to 10"), (3, "more than 10")`.
        """
        return tuple(zip(self.values, self.answers, strict=True))


def own_questions(entries: object) -> tuple[QualityQuestion, ...]:
    """A project's own questions, from what JSON holds: a list of `{"id", "text", "answers", "first"}`.

    `first` is the number of the first answer, 0 unless given. At most 40 questions, with 2 to 11 answers each.
    Raises InvalidQuestion with the place of the fault.
    Example: `own_questions([{"id": "clear", "text": "Is it clear?", "answers": ["no", "yes"]}])[0].values` is
    `range(0, 2)`.
    """
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise InvalidQuestion(
            'Questions are a list such as [{"id": "1", "text": "…", "answers": ["no", "yes"]}].'
        )
    if len(entries) > MOST_QUESTIONS:
        raise InvalidQuestion(f"There are {len(entries)} questions; at most {MOST_QUESTIONS} can be asked.")
    questions = tuple(_question(place, entry) for place, entry in enumerate(entries, start=1))
    ids = [question.id for question in questions]
    repeated = next((each for each in ids if ids.count(each) > 1), None)
    if repeated is not None:
        raise InvalidQuestion(f'Two questions have the id "{repeated}"; each needs its own.')
    return questions


def quality_questions(name: str, own: object = ()) -> tuple[QualityQuestion, ...]:
    """The questions of a set by its name; `own` is read by `own_questions` where the name is "own".

    Names are "none", "duc2002", "duc2004", "duc2006", "summeval" and "own".
    Raises InvalidQuestion for another name, or for faults in the own questions.
    Example: `len(quality_questions("duc2002"))` is 12.
    """
    if name == "own":
        return own_questions(own)
    if name not in QUESTION_SETS:
        known = ", ".join([*QUESTION_SETS, "own"])
        raise InvalidQuestion(f"There is no question set {name!r}; known are {known}.")
    return QUESTION_SETS[name]


def _question(place: int, entry: object) -> QualityQuestion:
    where = f"Question {place}"
    if not isinstance(entry, Mapping):
        raise InvalidQuestion(
            f'{where} is not an object such as {{"id": "1", "text": "…", "answers": ["…"]}}.'
        )
    unknown = sorted(str(key) for key in set(entry) - _KEYS)
    if unknown:
        raise InvalidQuestion(f'{where} has "{unknown[0]}"; known are id, text, answers and first.')
    given = entry.get("id")
    if not isinstance(given, str) or not _ID.fullmatch(given):
        raise InvalidQuestion(f'{where} needs an "id" of 1 to 40 letters, digits, _ or -.')
    first = entry.get("first", 0)
    if not isinstance(first, int) or isinstance(first, bool) or not 0 <= first <= LARGEST_FIRST:
        raise InvalidQuestion(f'"first" of question {place} is a whole number from 0 to {LARGEST_FIRST}.')
    return QualityQuestion(
        id=given,
        text=_words(entry.get("text"), LONGEST_TEXT, f'{where} needs a "text"'),
        answers=_answers(where, entry.get("answers")),
        first=first,
    )


def _answers(where: str, answers: object) -> tuple[str, ...]:
    is_list = isinstance(answers, Sequence) and not isinstance(answers, str)
    if not isinstance(answers, Sequence) or not is_list or not 2 <= len(answers) <= MOST_ANSWERS:
        raise InvalidQuestion(f'{where} needs "answers": a list of 2 to {MOST_ANSWERS} different ones.')
    words = tuple(
        _words(answer, LONGEST_ANSWER, f"Every answer of {where.lower()} needs words") for answer in answers
    )
    if len(set(words)) < len(words):
        raise InvalidQuestion(f"{where} has the same answer twice.")
    return words


def _words(given: object, longest: int, what: str) -> str:
    if not isinstance(given, str) or not 1 <= len(given.strip()) <= longest:
        raise InvalidQuestion(f"{what} of 1 to {longest} characters.")
    return given.strip()


_COUNTS = ("none", "1 to 5", "6 to 10", "more than 10")
_QUALITY = ("1 · very poor", "2 · poor", "3 · barely acceptable", "4 · good", "5 · very good")
_WORST_TO_BEST = ("1 · worst", "2", "3", "4", "5 · best")


def _counts(*texts: str) -> tuple[QualityQuestion, ...]:
    return tuple(
        QualityQuestion(id=str(number), text=text, answers=_COUNTS)
        for number, text in enumerate(texts, start=1)
    )


def _graded(*questions: tuple[str, tuple[str, str, str, str, str]]) -> tuple[QualityQuestion, ...]:
    return tuple(
        QualityQuestion(
            id=str(number),
            text=text,
            answers=tuple(f"{letter} · {answer}" for letter, answer in zip("ABCDE", answers, strict=True)),
            first=1,
        )
        for number, (text, answers) in enumerate(questions, start=1)
    )


def _rated(answers: tuple[str, ...], questions: Mapping[str, str]) -> tuple[QualityQuestion, ...]:
    return tuple(
        QualityQuestion(id=name, text=text, answers=answers, first=1) for name, text in questions.items()
    )


QUESTION_SETS: Mapping[str, tuple[QualityQuestion, ...]] = MappingProxyType(
    {
        "none": (),
        "duc2002": _counts(
            "How many words are capitalised wrongly, or should be and are not?",
            "In how many sentences do words stand in a wrong order?",
            "How often do subject and verb, or noun and pronoun, disagree in number?",
            "How many sentences lack an important part, such as a subject, a verb or an object?",
            "How many sentences join fragments that have nothing to do with each other?",
            "How often is an article missing, or a wrong one used?",
            "How many pronouns refer to the wrong thing, or to nothing that one can find?",
            "For how many nouns is it unclear who or what is meant?",
            "How many nouns or names should rather be a pronoun, because they were named just before?",
            "How many conjunctions, such as and, but or however, join on to nothing?",
            "How often is something said that has been said already?",
            "How many sentences stand in a place where they do not belong?",
        ),
        "duc2004": _graded(
            (
                "Does the summary build from sentence to sentence into one coherent account?",
                ("very well", "fairly well", "in part", "hardly", "not at all"),
            ),
            (
                "How much of it would you cut, as useless, confusing or repeated?",
                ("nothing", "a little", "some", "a lot", "most of it"),
            ),
            (
                "How often does it say the same thing again?",
                ("never", "once or twice", "sometimes", "often", "nearly always"),
            ),
            (
                "How hard is it to tell who or what is meant by names, nouns and pronouns?",
                ("never hard", "hardly ever", "sometimes", "often", "nearly always"),
            ),
            (
                "How often are people or things named in full again where a short form would do?",
                ("never", "once or twice", "sometimes", "often", "nearly always"),
            ),
            (
                "How many sentences are ungrammatical?",
                ("none", "one or two", "some", "many", "nearly all"),
            ),
            (
                "How much is there that does not belong into running text: datelines, layout, wrong capitals?",
                ("nothing", "a little", "some", "a lot", "nearly everything"),
            ),
        ),
        "duc2006": _rated(
            _QUALITY,
            {
                "grammaticality": "Grammaticality: whole, well-formed sentences; no layout or capitals that disturb.",
                "non_redundancy": "Non-redundancy: nothing is repeated without need, neither facts nor names.",
                "referential_clarity": "Referential clarity: it is easy to tell who or what nouns and pronouns mean.",
                "focus": "Focus: every sentence has to do with the rest of the summary.",
                "structure": "Structure and coherence: it is built up, sentence by sentence, and no heap of facts.",
            },
        ),
        "summeval": _rated(
            _WORST_TO_BEST,
            {
                "coherence": "Coherence: the sentences together are well structured and well organised.",
                "consistency": "Consistency: every fact in the summary is supported by the source.",
                "fluency": "Fluency: each sentence for itself reads well.",
                "relevance": "Relevance: what is important in the source, and nothing besides.",
            },
        ),
    }
)
"""The published sets by name."""
