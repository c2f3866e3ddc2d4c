"""Inputs, metrics and options of an evaluation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self, TypedDict, cast, get_args

from evaluation._guards import checked_scale, checked_share, checked_weight
from evaluation._labels import LEAST_SCORED, Label, checked_labels
from evaluation.errors import EvaluationError, InvalidBudget
from evaluation.judging.protocol import DocumentRequest, Text
from evaluation.metrics._criteria import JUDGED, Criterion, checked_criteria

Metric = Literal[
    "coverage",
    "claim_coverage",
    "alignment",
    "factual_consistency",
    "faithfulness",
    "factual_alignment",
    "question_coverage",
    "summarization",
    "completeness",
    "conciseness",
    "topic_preservation",
    "redundancy",
    "coherence",
    "brevity",
]
METRICS: tuple[Metric, ...] = get_args(Metric)
"""The known metrics. Higher is better. All are in [0, 1], except `summarization` in [0, scale].

- `coverage`: mean over the reference's sentences with scored claims of the share of yes. Each claim of a document, and
  each given claim with its weight, is a unit of its own.
- `claim_coverage`: the share of all claims of the reference that the summary expresses. Without a reference,
  this and `coverage` use the claims of the document.
- `alignment`, also named `factual_consistency` and `faithfulness`: the share of the summary's claims that the
  document supports.
- `summarization`: the lower of alignment and question coverage; claim coverage replaces the latter if no
  questions were asked.
- `brevity`: needs `target_words`. The judge is not asked about an empty summary.
"""
DEFAULT_METRICS: tuple[Metric, ...] = ("coverage", "alignment", "question_coverage", "summarization")


class EvaluationOptions(TypedDict, total=False):
    """The options of `evaluate_summary`, for calls that evaluate many summaries."""

    metrics: Sequence[str]
    questions: Sequence[str] | None
    n_questions: int
    target_words: int | None
    custom_instruction: str | None
    threshold: float
    strict: bool
    scale: float
    include_reason: bool
    verbose: bool
    least_scored: float
    criteria: Sequence[Criterion]


MOST_QUESTIONS = 100
"""The largest number of questions that a judge may write about one document."""


@dataclass(frozen=True, slots=True)
class GivenClaim:
    """A claim that the caller gives, with people's answer to it. If `label` is None, the judge answers the claim.

    Raises InvalidLabel, InvalidWeight, and EvaluationError for an empty text.
    """

    text: str
    label: Label | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise EvaluationError("A given claim must be a text that says something, got an empty one.")
        checked_labels((self.label,))
        checked_weight("The weight of a given claim", self.weight)


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """One summary to evaluate.

    Content is measured against `reference`, or against the document if there is no reference. `questions` and
    `target_words` override the options. `key` is the caller's own name for the summary. `claims` replace the claims
    that the judge would extract from the reference or document; each claim is a unit of its own with its weight.
    `summary_claims` replace the claims that the judge would extract from the summary. The judge is not asked about
    claims with a label.
    """

    document: str
    summary: str
    reference: str | None = None
    questions: Sequence[str] | None = None
    target_words: int | None = None
    language: str = "en"
    key: str | None = None
    claims: Sequence[GivenClaim] | None = None
    summary_claims: Sequence[GivenClaim] | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """The metrics and options for every summary; they are described at `evaluate_summary`.

    Raises EvaluationError for invalid options.
    """

    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    questions: tuple[str, ...] = ()
    n_questions: int = 5
    target_words: int | None = None
    instruction: str = ""
    threshold: float = 0.5
    strict: bool = False
    scale: float = 1.0
    include_reason: bool = True
    verbose: bool = False
    least_scored: float = LEAST_SCORED
    criteria: tuple[Criterion, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Check the options of a caller and build an instance. Raises the errors of `Options`."""
        left = dict(given)
        if unknown := left.keys() - EvaluationOptions.__annotations__:
            known = ", ".join(EvaluationOptions.__annotations__)
            raise EvaluationError(f"There is no option {min(unknown)!r}. Options: {known}.")
        left["criteria"] = criteria = checked_own_criteria(left.pop("criteria", ()))
        metrics = left.pop("metrics", DEFAULT_METRICS)
        return cls(
            () if criteria and metrics in ((), []) else checked_metrics(metrics),
            checked_questions(left.pop("questions", None)),
            instruction=checked_instruction(left.pop("custom_instruction", None)),
            **left,
        )

    def __post_init__(self) -> None:
        checked_target(self.target_words)
        if not (_is(self.n_questions, Integral) and 0 <= self.n_questions <= MOST_QUESTIONS):
            raise EvaluationError(
                f"n_questions must be a whole number of 0 to {MOST_QUESTIONS}, got {self.n_questions!r}."
            )
        checked_share("The threshold", self.threshold)
        checked_scale("The scale", self.scale)
        checked_share("least_scored", self.least_scored)
        for name in ("strict", "verbose", "include_reason"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise EvaluationError(f"{name} must be True or False, got {value!r}.")

    def wants(self, *names: Metric) -> bool:
        return any(name in self.metrics for name in names)

    @property
    def asks_questions(self) -> bool:
        """Return True if the judge answers questions: given questions, or questions that it generates."""
        can_ask = bool(self.questions or self.n_questions)
        return can_ask and self.wants("question_coverage", "summarization")

    @property
    def needs_claims(self) -> bool:
        """Return True if a metric needs claims of the reference, or of the document without a reference."""
        by_claims = self.wants("summarization") and not self.asks_questions
        return by_claims or self.wants("coverage", "claim_coverage", "factual_alignment")

    @property
    def needs_alignment(self) -> bool:
        """Return True if a metric needs the claims of the summary."""
        return self.wants(
            "factual_alignment", "summarization", "alignment", "factual_consistency", "faithfulness"
        )

    @property
    def rated(self) -> tuple[Criterion, ...]:
        """Return the criteria that the judge rates: the built-in ones among the metrics, and the user's."""
        names = [name for name in ("coherence", "conciseness") if name in self.metrics]
        return *(JUDGED[name] for name in names), *self.criteria


@dataclass(frozen=True, slots=True)
class Case:
    """One summary to judge: its texts, split into units, and its options."""

    item: SummaryInput
    options: Options
    document: Text
    summary: Text
    reference: Text | None

    @property
    def request(self) -> DocumentRequest:
        options = self.options
        needs_claims = options.needs_claims and self.item.claims is None
        return DocumentRequest(
            self.document,
            self.reference if needs_claims else None,
            claims=needs_claims,
            questions=options.questions if options.asks_questions else (),
            n_questions=0 if options.questions or not options.asks_questions else options.n_questions,
            topics=options.wants("topic_preservation"),
            instruction=options.instruction,
        )


def checked_own_criteria(criteria: object) -> tuple[Criterion, ...]:
    given: list[Any] = [*criteria] if isinstance(criteria, Iterable) else [criteria]
    if not all(isinstance(each, Criterion) for each in given):
        raise EvaluationError(f"criteria is a list of Criterion, got {criteria!r}.")
    if taken := [each.name for each in given if each.name in METRICS]:
        raise EvaluationError(f"{taken[0]} is a metric; the criterion needs another name.")
    return checked_criteria(given)


def checked_metrics(metrics: object) -> tuple[Metric, ...]:
    if isinstance(metrics, str):
        raise EvaluationError(f"metrics is a list of names, got one string; write [{metrics!r}].")
    if not isinstance(metrics, Iterable):
        raise EvaluationError(f"metrics is a list of names, got {metrics!r}. Known: {', '.join(METRICS)}.")
    names = tuple(metrics)
    if unknown := [str(name) for name in names if name not in METRICS]:
        raise EvaluationError(f"Unknown metrics: {', '.join(unknown)}. Known: {', '.join(METRICS)}.")
    if not names:
        raise EvaluationError(f"No metrics are asked for. Known: {', '.join(METRICS)}.")
    return cast("tuple[Metric, ...]", tuple(dict.fromkeys(names)))


def checked_items(items: object) -> Iterable[object]:
    """Return the summaries to evaluate. Raises EvaluationError for a single summary and for an object that is no
    collection.
    """
    wanted = "items is a list of summaries, each a SummaryInput or (document, summary)"
    if isinstance(items, SummaryInput):
        raise EvaluationError(f"{wanted}, got one SummaryInput; write [item].")
    if isinstance(items, tuple | list) and items and all(isinstance(each, str) for each in items):
        raise EvaluationError(f"{wanted}, got {len(items)} texts; write [(document, summary)].")
    if isinstance(items, str | Mapping) or not isinstance(items, Iterable):
        raise EvaluationError(f"{wanted}, got {type(items).__name__}.")
    return items


def checked_instruction(instruction: object) -> str:
    """Return the user's addition to the judge's instructions; "" if there is none. Raises EvaluationError unless it
    is a text or None.
    """
    if not isinstance(instruction, str | None):
        raise EvaluationError(f"custom_instruction must be a text or None, got {instruction!r}.")
    return (instruction or "").strip()


def _is(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def checked_questions(questions: object) -> tuple[str, ...]:
    if isinstance(questions, str):
        raise EvaluationError("questions is a list of questions, got one string; write [question].")
    if not isinstance(questions, Iterable | None):
        raise EvaluationError(f"questions is a list of questions, got {type(questions).__name__}.")
    given = () if questions is None else tuple(questions)
    if odd := [each for each in given if not isinstance(each, str)]:
        raise EvaluationError(f"Every question must be a text, got {type(odd[0]).__name__}.")
    if blank := [position for position, each in enumerate(given, start=1) if not each.strip()]:
        raise EvaluationError(f"Question {blank[0]} is empty. Write it out or leave it away.")
    return tuple(dict.fromkeys(given))


def checked_target(target_words: object) -> None:
    if target_words is None:
        return
    # Accept whole numbers of other types too, such as those in numpy columns.
    if isinstance(target_words, bool) or not isinstance(target_words, Integral):
        raise InvalidBudget(f"A target length must be a whole number, got {target_words!r}.")
    if int(target_words) < 1:
        raise InvalidBudget(f"A target length must be at least 1, got {target_words}.")


def checked_input(item: SummaryInput) -> None:
    texts: dict[str, object] = {"document": item.document, "summary": item.summary, "language": item.language}
    if item.reference is not None:
        texts["reference"] = item.reference
    for name, text in texts.items():
        if not isinstance(text, str):
            raise EvaluationError(
                f"The {name} must be a text, got {type(text).__name__}; an empty one is ''."
            )
    for claims in (item.claims, item.summary_claims):
        if claims is not None and not all(isinstance(each, GivenClaim) for each in claims):
            raise EvaluationError(f"Claims that are given are a list of GivenClaim, got {claims!r}.")
    checked_target(item.target_words)


def input_of(given: object) -> SummaryInput:
    if isinstance(given, tuple | list) and len(given) in (2, 3):
        return SummaryInput(*given)
    raise EvaluationError(
        "A summary to evaluate is a SummaryInput, or (document, summary) or (document, summary, reference); "
        f"got {type(given).__name__}."
    )
