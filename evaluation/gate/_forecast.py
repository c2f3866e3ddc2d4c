"""What a gate will cost, as far as that can be told before any call is made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evaluation.gate._gate import GateSummary
from evaluation.judging._windows import estimated_tokens
from evaluation.judging.prompts import PROMPTS, Step, canonical
from evaluation.judging.protocol import Price
from evaluation.running import GivenClaim, SummaryInput
from evaluation.running._cases import Options, checked_metrics

_LENGTH_OF_A_QUESTION = 80


@dataclass(frozen=True, slots=True)
class CallForecast:
    """About how many calls a judge needs, and tokens of prompts; what a store holds of them costs nothing.

    Replies come on top: nobody knows how long they are. `cost` is that of the prompts, 0 without a price.
    """

    summaries: int
    documents: int
    calls: int
    prompt_tokens: int
    cost: float


def forecast_calls(
    summaries: Sequence[GateSummary],
    *,
    metrics: Sequence[str],
    n_questions: int = 5,
    price: Price | None = None,
) -> CallForecast:
    """The calls of a language model for these summaries, each text short enough for one call.

    One call for each document whose claims, questions or topics are wanted, up to two for each summary. Tokens are
    estimated from the lengths of texts and prompts.
    Example: `forecast_calls(rows, metrics=["alignment"]).calls` is one for each summary.
    """
    options = Options(checked_metrics(metrics), n_questions=n_questions)
    # The same is asked once: what depends on the document alone, and of equal summaries.
    asked = {
        prompt
        for each in summaries
        for prompt in (*_of_document(each.text, options), *_of_summary(each.text, options))
    }
    tokens = sum(map(_tokens, asked))
    return CallForecast(
        summaries=len(summaries),
        documents=len({each.document_id for each in summaries}),
        calls=len(asked),
        prompt_tokens=tokens,
        cost=0.0 if price is None else price.of(tokens, 0),
    )


class _Asked(NamedTuple):
    """A step of the judge, the parts of it that are wanted, and the texts that it is shown."""

    step: Step
    parts: tuple[str, ...]
    texts: tuple[str, ...]


def _of_document(text: SummaryInput, options: Options) -> Iterable[_Asked]:
    needs_claims = options.needs_claims and text.claims is None
    claims = "claims" if text.reference is None else "reference_claims"
    questions = "questions" if text.questions else "n_questions"
    parts = {
        claims: needs_claims,
        questions: options.asks_questions,
        "topics": options.wants("topic_preservation"),
    }
    wanted = _wanted(parts)
    reference = text.reference if needs_claims else None
    if wanted:
        # The claims of a reference need no document.
        document = "" if reference and wanted == (claims,) else text.document
        yield _Asked("read_document", wanted, (document, reference or ""))


def _of_summary(text: SummaryInput, options: Options) -> Iterable[_Asked]:
    if not text.summary.strip():
        return
    if options.needs_alignment and text.summary_claims is None:
        yield _Asked("align_summary", ("units",), (text.document, text.summary))
    elif options.needs_alignment and (still := _open(text.summary_claims)):
        yield _Asked("check_supported", (), (text.document, still))
    given = text.claims is not None
    # Claims are about as long as the text that they are taken from.
    claims = _open(text.claims) if given else text.reference or text.document
    parts = {
        "claims": options.needs_claims and bool(claims),
        "questions": options.asks_questions,
        "topics": options.wants("topic_preservation"),
        "ratings": bool(options.ratings),
    }
    if any(parts.values()):
        shown = (claims if parts["claims"] else "") + (
            _questions(text, options) if parts["questions"] else ""
        )
        yield _Asked("cover_summary", _wanted(parts), (text.summary, shown))


def _questions(text: SummaryInput, options: Options) -> str:
    return "\n".join(text.questions or ("?" * _LENGTH_OF_A_QUESTION,) * options.n_questions)


def _wanted(parts: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(name for name, is_wanted in parts.items() if is_wanted)


def _open(claims: Sequence[GivenClaim] | None) -> str:
    """The claims that nobody has answered."""
    return "\n".join(claim.text for claim in claims or () if claim.label is None)


def _tokens(asked: _Asked) -> int:
    prompt = PROMPTS[asked.step]
    told = (prompt.render(parts=asked.parts), canonical(prompt.schema_of(asked.parts)))
    return sum(map(estimated_tokens, (*told, *asked.texts)))
