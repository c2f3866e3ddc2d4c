import asyncio
import re
from collections.abc import Sequence

import pytest

from evaluation import (
    JudgeError,
    JudgePanel,
    Label,
    LexicalJudge,
    OpenAIJudge,
    Verdict,
    check_claims,
    evaluate_summary,
    extract_claims,
)
from evaluation.errors import InvalidPercent
from evaluation.judging import JudgeSettings
from evaluation.judging.errors import BudgetSpent, JudgeRefused, JudgeUnavailable
from evaluation.judging.panel import majority
from evaluation.judging.protocol import (
    CoverReading,
    CoverRequest,
    DocumentReading,
    DocumentRequest,
    ExtractedClaim,
    Text,
)
from tests.llm_server import LLMServer

TEXT = "The council met. The mayor left."


class Member(LexicalJudge):
    def __init__(self, name: str, label: Label | None = "yes", failure: Exception | None = None) -> None:
        self.name = name
        self.signature = f"{name}:1"
        self._verdict = Verdict(label, None if label is None else 0.8, (1,), f"said {label}")
        self._failure = failure

    async def read_document(self, request: DocumentRequest) -> DocumentReading:
        if self._failure:
            raise self._failure
        units = request.claims_text.numbered_units()
        return DocumentReading(tuple(ExtractedClaim(content, number) for number, content in units))

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        if self._failure:
            raise self._failure
        return tuple(self._verdict for _ in claims)

    async def cover_summary(self, request: CoverRequest) -> CoverReading:
        return CoverReading(await self.check_source(request.claims, request.summary))


def panel_of(*labels: Label | None) -> JudgePanel:
    return JudgePanel([Member(f"m{place}", label) for place, label in enumerate(labels)])


def verdict(panel: JudgePanel) -> Verdict:
    return check_claims(["The council met"], TEXT, judge=panel)[0]


@pytest.mark.parametrize(
    ("labels", "label", "uncertainty"),
    [
        (["yes"], "yes", 0.0),
        (["yes", "yes", "no"], "yes", 1 / 3),
        (["yes", "no"], "unsure", 1.0),
        (["yes", "no", "unsure"], "unsure", 2 / 3),
        (["no", "no", "yes", "yes"], "unsure", 1.0),
        (["yes", None, "yes"], "yes", 0.0),
        ([None, "no"], "no", 0.0),
        ([None, None], None, None),
        ([], None, None),
    ],
)
def test_majority(labels: list[Label | None], label: Label | None, uncertainty: float | None) -> None:
    found, spread = majority(labels)
    assert found == label
    assert spread == (None if uncertainty is None else pytest.approx(uncertainty))


def test_the_verdict_is_the_majority_with_its_votes_and_doubt() -> None:
    found = verdict(panel_of("yes", "no", "yes"))
    assert (found.label, found.uncertainty, found.evidence) == ("yes", pytest.approx(1 / 3), (1,))
    assert found.votes == (("m0", "yes"), ("m1", "no"), ("m2", "yes"))
    assert "m0: said yes" in found.reason
    assert "said no" not in found.reason


def test_a_member_that_cannot_be_reached_has_no_vote() -> None:
    gone = Member("gone", failure=JudgeUnavailable("away"))
    found = verdict(JudgePanel([gone, Member("a", "no"), Member("b", "no")]))
    assert (found.label, found.votes) == ("no", (("a", "no"), ("b", "no")))


def test_where_all_fail_the_failure_is_raised() -> None:
    panel = JudgePanel([Member(name, failure=JudgeUnavailable(f"{name} away")) for name in ("a", "b")])
    with pytest.raises(JudgeUnavailable, match="a away"):
        verdict(panel)


def test_members_need_names_of_their_own() -> None:
    with pytest.raises(JudgeSettings, match="at least one"):
        JudgePanel([])
    with pytest.raises(JudgeSettings, match="got str"):
        JudgePanel(["gpt"])  # type: ignore[list-item]
    with pytest.raises(JudgeSettings, match="list of judges, got NoneType"):
        JudgePanel(None)  # type: ignore[arg-type]
    with pytest.raises(JudgeSettings, match="more than once: m"):
        JudgePanel([Member("m"), Member("m")])


def test_claims_are_taken_by_the_first_that_can() -> None:
    gone = Member("gone", failure=JudgeUnavailable("away"))
    panel = JudgePanel([gone, Member("a"), Member("b", "no")])
    claims = extract_claims(TEXT, judge=panel)
    assert [claim.text for claim in claims] == ["The council met.", "The mayor left."]


def test_a_panel_of_different_kinds_evaluates_a_summary(judge: OpenAIJudge, llm_server: LLMServer) -> None:
    panel = JudgePanel([judge, LexicalJudge()])
    result = evaluate_summary(
        TEXT,
        "The council met. The school burned.",
        judge=panel,
        metrics=["coverage", "alignment", "question_coverage", "coherence"],
        verbose=True,
    )
    assert (result["coverage"], result["alignment"]) == (0.5, 0.5)
    # The lexical judge gives no rating, so the other judge's rating counts.
    assert result["coherence"] == 0.8
    assert result.details is not None
    assert [name for name, _ in result.details.summary_claims[0].verdict.votes] == ["scripted", "lexical"]
    assert len(llm_server.calls) == 3


@pytest.mark.parametrize("failure", [BudgetSpent("No money is left."), JudgeRefused("Wrong key.")])
def test_what_stops_one_member_stops_the_panel(failure: JudgeError) -> None:
    panel = JudgePanel([Member("m0", "yes"), Member("m1", failure=failure)])
    with pytest.raises(type(failure)):
        verdict(panel)


@pytest.mark.parametrize("failure", [BudgetSpent("no money"), JudgeRefused("no")], ids=["cap", "key"])
def test_what_others_have_under_way_is_heard_to_the_end_when_one_must_stop(failure: JudgeError) -> None:
    """Calls of other members may be paid for already, so their answers must be stored."""
    ended: list[str] = []

    class Slow(Member):
        async def check_source(
            self, claims: Sequence[str], source: Text, *, instruction: str = ""
        ) -> tuple[Verdict, ...]:
            await asyncio.sleep(0.05)
            ended.append(self.name)
            return await super().check_source(claims, source)

    panel = JudgePanel([Slow("a"), Member("b", failure=failure), Slow("c")])
    with pytest.raises(type(failure)):
        asyncio.run(panel.check_source(["The council met"], Text.of(TEXT)))
    assert ended == ["a", "c"]


def long_panel(name: str, *labels: Label | None, last: str = "z") -> JudgePanel:
    members = [
        Member(f"a model with a rather long name, number {place}", label)
        for place, label in enumerate(labels)
    ]
    return JudgePanel([*members, Member(last)], name=name)


def test_a_long_signature_is_a_digest_of_all_members_in_their_order() -> None:
    signature = long_panel("p", "yes", "no", "no").signature
    assert re.fullmatch(r"panel\[4 members\]#[0-9a-f]{16}", signature)
    assert long_panel("other name", "yes", "no", "no").signature == signature
    assert long_panel("p", "yes", "no", "no", last="y").signature != signature
    members = [Member(f"{letter * 80}") for letter in "ab"]
    assert JudgePanel(members).signature != JudgePanel(members[::-1]).signature


class Recording(Member):
    def __init__(self, name: str, label: Label, probability: float) -> None:
        super().__init__(name, label)
        self.asked: list[list[str]] = []
        self._probability = probability

    async def check_source(
        self, claims: Sequence[str], source: Text, *, instruction: str = ""
    ) -> tuple[Verdict, ...]:
        self.asked.append(list(claims))
        return tuple(
            Verdict("yes", 0.95) if claim == "sure" else Verdict("no", self._probability) for claim in claims
        )


def test_in_turn_the_next_member_answers_only_what_the_one_before_is_unsure_of() -> None:
    # An answer with the probability .4 of yes is a no with the confidence .6. One with .95 is a yes with .95.
    first, second, third = (
        Recording(name, "no", chance) for name, chance in zip("abc", (0.4, 0.1, 0), strict=True)
    )
    panel = JudgePanel([first, second, third], ask_next_below=0.8)
    verdicts = check_claims(["sure", "unsure"], TEXT, judge=panel)
    assert (first.asked, second.asked, third.asked) == ([["sure", "unsure"]], [["unsure"]], [])
    assert [(found.label, found.probability) for found in verdicts] == [("yes", 0.95), ("no", 0.1)]
    assert [found.votes for found in verdicts] == [(("a", "yes"),), (("a", "no"), ("b", "no"))]


def test_in_turn_a_later_member_without_a_usable_answer_changes_nothing() -> None:
    first = Recording("a", "no", 0.4)
    for later in (Member("b", None), Member("b", failure=JudgeUnavailable("away"))):
        (found,) = check_claims(["unsure"], TEXT, judge=JudgePanel([first, later], ask_next_below=0.8))
        assert (found.label, found.probability) == ("no", 0.4)


def test_in_turn_what_the_first_leaves_unscored_goes_to_the_next() -> None:
    for before in (Member("a", None), Member("a", failure=JudgeUnavailable("away"))):
        (found,) = check_claims(
            ["claim"], TEXT, judge=JudgePanel([before, Member("b", "yes")], ask_next_below=0.0)
        )
        assert found.label == "yes"
    away = [Member(name, failure=JudgeUnavailable(f"{name} away")) for name in "ab"]
    with pytest.raises(JudgeUnavailable, match="a away"):
        check_claims(["claim"], TEXT, judge=JudgePanel(away, ask_next_below=0.5))


def test_a_threshold_is_part_of_the_signature_and_lies_in_0_to_1() -> None:
    members = [Member("a"), Member("b")]
    signatures = {JudgePanel(members, ask_next_below=threshold).signature for threshold in (None, 0.5, 0.8)}
    assert len(signatures) == 3
    with pytest.raises(InvalidPercent):
        JudgePanel(members, ask_next_below=1.5)
