"""Criteria, which are questions about a whole summary with a scale, and built-in packs of criteria.

Sources of the packs:

- DUC 2002: twelve counts, each answered 0, 1 to 5, 6 to 10 or more than 10 and published as 0 to 3. The subjects of
  questions 1 to 4 are known from NIST's page, the subjects of 5 to 12 from the literature. NIST's wording was not
  seen, so the wording here is our own.
- DUC 2004: seven questions with five answers each, A the best and E the worst. The subjects of questions 6 and 7 are
  known from the literature alone; the wording is our own. A to E are kept as 1 to 5.
- DUC 2006 and 2007: five qualities from 1, very poor, to 5, very good. That the fifth is "structure and coherence" is
  from the literature; the wording is our own.
- SummEval (2021): coherence, consistency, fluency and relevance from 1, worst, to 5, best. The wording is our own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Scale = Literal["points", "yes_no", "percent", "share"]
Reads = Literal["summary", "reference", "source", "unmarked"]
AnsweredBy = Literal["people", "judge", "both"]
Asked = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A question about a whole summary with its scale.

    `scale` is one of:

    - points: whole numbers with a text each, at least two
    - yes_no: 1 and 0
    - percent: 0 to 100, or only the values in `points` if there are any
    - share: any number from 0 to 1

    `reads` names the text that people see beside the summary. With "unmarked" they see the summary units that are not
    marked for any reference unit; if all units are marked, the answer is automatically the lowest value. `asked` says
    whether the question comes `before` or `after` people see the reference.
    """

    name: str
    question: str
    scale: Scale = "points"
    points: tuple[tuple[int, str], ...] = ()
    higher_is_better: bool = True
    reads: Reads = "summary"
    answered_by: AnsweredBy = "people"
    asked: Asked = "before"

    @property
    def values(self) -> tuple[int, ...]:
        """Return the allowed whole numbers in ascending order; none for a share.

        Example: `Criterion("neutral", "Is the tone neutral?", "yes_no").values` is `(0, 1)`.
        """
        if self.points:
            return tuple(value for value, _ in self.points)
        return {"yes_no": (0, 1), "percent": tuple(range(101))}.get(self.scale, ())

    @property
    def choices(self) -> tuple[tuple[int, str], ...]:
        """Return the value and text of each possible answer; none if the answer is a typed number.

        Example: DUC 2002's first question has `(0, "none"), (1, "1 to 5"), (2, "6 to 10"), (3, "more than 10")`.
        """
        if self.scale == "yes_no":
            return (0, "no"), (1, "yes")
        return tuple((value, words or f"{value} %") for value, words in self.points)


def counted(words: tuple[str, ...], first: int = 0) -> tuple[tuple[int, str], ...]:
    """Number texts from `first`, as the points of a criterion.

    Example: `counted(("no", "yes"))` is `((0, "no"), (1, "yes"))`.
    """
    return tuple(enumerate(words, start=first))


UNMARKED = Criterion(
    name="unmarked",
    question="How many of the unmarked summary units are still related to the subject?",
    scale="percent",
    points=tuple((percent, "") for percent in range(0, 101, 20)),
    reads="unmarked",
    asked="after",
)
"""The criterion of every new project, as in DUC."""

JUDGED: Mapping[str, Criterion] = MappingProxyType(
    {
        criterion.name: criterion
        for criterion in (
            Criterion("conciseness", "Does the summary get to the point?", "share", answered_by="judge"),
            Criterion(
                "coherence",
                "Do the sentences build on each other in a clear order?",
                "share",
                answered_by="judge",
            ),
            Criterion(
                "topic_preservation",
                "What share of the source's topics does the summary deal with?",
                "share",
                reads="source",
                answered_by="judge",
            ),
        )
    }
)
"""The criteria that judges rate on request, by the name of the score."""


_COUNTS = ("none", "1 to 5", "6 to 10", "more than 10")
_QUALITY = ("1 · very poor", "2 · poor", "3 · barely acceptable", "4 · good", "5 · very good")
_WORST_TO_BEST = ("1 · worst", "2", "3", "4", "5 · best")


def _counts(*questions: str) -> tuple[Criterion, ...]:
    return tuple(
        Criterion(f"duc2002_{number}", question, points=counted(_COUNTS), higher_is_better=False)
        for number, question in enumerate(questions, start=1)
    )


def _graded(*questions: tuple[str, tuple[str, ...]]) -> tuple[Criterion, ...]:
    return tuple(
        Criterion(
            f"duc2004_{number}",
            question,
            points=counted(
                tuple(f"{letter} · {words}" for letter, words in zip("ABCDE", answers, strict=True)), 1
            ),
            higher_is_better=False,
        )
        for number, (question, answers) in enumerate(questions, start=1)
    )


def _rated(answers: tuple[str, ...], questions: Mapping[str, str]) -> tuple[Criterion, ...]:
    return tuple(Criterion(name, text, points=counted(answers, 1)) for name, text in questions.items())


PACKS: Mapping[str, tuple[Criterion, ...]] = MappingProxyType(
    {
        "DUC 2002": _counts(
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
        "DUC 2004": _graded(
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
        "DUC 2006": _rated(
            _QUALITY,
            {
                "grammaticality": "Grammaticality: whole, well-formed sentences; no layout or capitals that disturb.",
                "non_redundancy": "Non-redundancy: nothing is repeated without need, neither facts nor names.",
                "referential_clarity": "Referential clarity: it is easy to tell who or what nouns and pronouns mean.",
                "focus": "Focus: every sentence has to do with the rest of the summary.",
                "structure": "Structure and coherence: it is built up, sentence by sentence, and no heap of facts.",
            },
        ),
        "SummEval": _rated(
            _WORST_TO_BEST,
            {
                "summeval_coherence": "Coherence: the sentences together are well structured and well organised.",
                "summeval_consistency": "Consistency: every fact in the summary is supported by the source.",
                "summeval_fluency": "Fluency: each sentence for itself reads well.",
                "summeval_relevance": "Relevance: what is important in the source, and nothing besides.",
            },
        ),
    }
)
"""Published sets of questions for people, by name."""
