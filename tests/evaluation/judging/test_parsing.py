import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.judging.parsing import (
    LONGEST_REASON,
    parse_aligned,
    parse_claims,
    parse_verdicts,
    read_label,
)

IDS = ["c1", "c2", "c3"]


def reply(*entries: dict[str, Any]) -> str:
    return json.dumps({"answers": list(entries)})


def entry(identity: object = "c1", label: object = "yes", **more: Any) -> dict[str, Any]:
    return {"id": identity, "label": label, **more}


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("yes", "yes"),
        ("Yes.", "yes"),
        (" NO\n", "no"),
        ('"unsure"', "unsure"),
        ("**yes**", "yes"),
        ("ｙｅｓ", "yes"),
        (True, "yes"),
        (False, "no"),
        ("not yes", None),
        ("yes and no", None),
        ("idk", None),
        ("borderline", None),
        ("supported", "yes"),
        ("Unsupported", "no"),
        ("not supported", "no"),
        ("1", "yes"),
        ("0", "no"),
        ("yes?", None),
        ("yes" + " " * 40 + "is wrong", None),
        ("ja", None),
        ("tak", None),
        ("jo", None),
        ("", None),
        (1, "yes"),
        (0.0, "no"),
        (2, None),
        ("True", "yes"),
        ("partially", "unsure"),
        ("Partial.", "unsure"),
        ("partly", "unsure"),
        ("partially supported", None),
        (None, None),
        (["yes"], None),
    ],
)
def test_a_label_is_read_only_where_it_means_one_thing(value: object, label: str | None) -> None:
    assert read_label(value) == label


@pytest.mark.parametrize(
    "text",
    [
        reply(entry()),
        f"```json\n{reply(entry())}\n```",
        f"Here you are [as asked]: {reply(entry())} Anything else?",
        f"<think>{{maybe}} c1?</think>\n{reply(entry())}",
        "\ufeff" + reply(entry()),
        json.dumps([entry()]),
        json.dumps(entry()),
        reply(entry(" C1 ")),
        reply(entry(1)),
        reply(entry("1")),
        reply(entry(label=1)),
        reply(entry(label="true")),
        json.dumps(reply(entry())),
        reply(entry(reason="one|line")).replace("|", "\n\t"),
        '{"answers": [{"id": "c1", "label": "yes",}, ], }',
        f"<think>Maybe {reply(entry(label='no'))}</think>{reply(entry())}",
        f"Maybe {reply(entry(label='no'), entry('c2'))}</think>{reply(entry())}",
        f"<think>a</think>{reply(entry('c2'))}</THINK>{reply(entry())}",
        reply(entry(reason=f"</think>{reply(entry('c2'))}")),
        reply(entry(reason=f"</think>{reply(entry('c2'))}")).replace("}]}", "},]}"),
        json.dumps('{"answers": [{"id": "c1", "label": "yes",}, ], }'),
        json.dumps(json.dumps(f"<think>{reply(entry('c2'))}</think>{reply(entry())}")),
        f"```json\n{reply(entry(reason='It says </think> twice.'))}\n```",
        f"```json\n{reply(entry(reason='It says <think> once.'))}\n```",
        f"<think>{reply(entry('c2', reason='</think>'))}</think>```json\n{reply(entry(reason='</think>'))}\n```",
        f"Maybe {reply(entry('c2', reason='</think>'))} or not.\n</think>\nHere: {reply(entry(reason='</think>'))}",
        f'Maybe {{"answers": [{{"id": "c2", "label": "yes", "reason": "</think>{reply(entry())}',
        f"<think>{'[so] {it} ' * 300}</think>{reply(entry())}",
        f"<|channel|>analysis<|message|>{reply(entry('c2'))}<|end|><|start|>assistant<|channel|>final "
        f"<|constrain|>json<|message|>{reply(entry())}",
        f"<|channel>thought\n{reply(entry('c2'))}<channel|>{reply(entry())}",
        f"&lt;think&gt;{reply(entry('c2'))}&lt;/think&gt;{reply(entry())}",
        f"Draft: {reply(entry('c2'), entry())} Final: {reply(entry())}",
        reply(entry(), entry()),
        reply(entry(), entry(label=None), {"id": "c1"}),
        reply(entry(), entry("c2", "perhaps"), {"label": "yes"}),
    ],
)
def test_what_is_certain_is_repaired(text: str) -> None:
    answers = parse_verdicts(text, IDS, 1)
    assert {identity: answer.label for identity, answer in answers.items()} == {"c1": "yes"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "c1: yes",
        reply(entry("x1")),
        reply(entry(7)),
        reply(entry(True)),
        f"<think>Maybe {reply(entry())}</think>",
        f"Maybe {reply(entry())}</think> I do not know.",
        f"<think>Maybe {reply(entry())}",
        f"[THINK]{reply(entry())}[/THINK]",
        f"<|channel|>analysis<|message|>{reply(entry())}<|end|>",
        '"' * 100_000,
        '"\\' * 100_000,
        "<think>" * 100_000,
        reply(entry("c1 and c2")),
        reply(entry(), entry("C1", "no")),
        reply(entry(), entry(label="contradicted")),
        '{"answers": [{"id": "c1", "label": "no", "label": "yes"}]}',
        f'{reply(entry())} {{"id": "c1", "label": "yes", "label": "no"}}',
        f"{reply(entry())}\nThe claim quotes </think>.",
        f"<think>{reply(entry(reason='</think>'))}",
        f"<think>{reply(entry(reason='</think>'))}</think> I do not know.",
        json.dumps(f"<think>{reply(entry())}</think> I do not know."),
        f"<scratchpad>{reply(entry())}</scratchpad> I do not know.",
        f'<think time="3">{reply(entry())}',
        f"{reply(entry())}< /think > I do not know.",
        f"analysisMaybe {reply(entry())}assistantfinalI do not know.",
        '{"answers": [{"id": "c2", "reason": {"id": "c1", "label": "yes"}, ',
        reply(entry()) + '{"' * 300 + reply(entry(label="no")),
        '{"answers": "c1 yes"}',
        '{"answers": {"c1": "yes"}}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 10_000,
        '{"id": "c1", "label": ' + "9" * 10_000 + "}",
        "\ud800{",
    ],
)
def test_what_is_not_certain_is_no_answer(text: str) -> None:
    assert parse_verdicts(text, IDS, 1) == {}


@pytest.mark.parametrize("places", [(0, 1, 2), ("0", "1", "2"), (2, 3, 4)])
def test_numbers_of_another_count_name_no_id(places: tuple[object, ...]) -> None:
    """A judge that counts from 0 puts the answer for c2 under 1."""
    text = reply(*map(entry, places, ["yes", "no", "yes"]))
    assert parse_verdicts(text, IDS, 1) == {}


@pytest.mark.parametrize(
    ("label", "value", "probability"),
    [
        ("yes", 0.75, 0.75),
        ("yes", "0.75", 0.75),
        ("yes", "75%", 0.75),
        ("no", 0, 0.0),
        ("unsure", 0.5, 0.5),
        ("yes", 0.2, None),
        ("no", 0.8, None),
        ("yes", 1.5, None),
        ("yes", -1, None),
        ("yes", float("nan"), None),
        ("yes", float("inf"), None),
        ("yes", True, None),
        ("yes", "very", None),
        ("yes", None, None),
    ],
)
def test_a_probability_is_kept_only_where_it_agrees_with_the_label(
    label: str, value: object, probability: float | None
) -> None:
    answers = parse_verdicts(reply(entry(label=label, probability=value)), IDS, 1)
    assert answers["c1"].probability == probability


@pytest.mark.parametrize(
    ("value", "evidence"),
    [
        ([2, 1, 2], (1, 2)),
        (["2", 3.0], (2, 3)),
        (3, (3,)),
        ([0, 4, -1, 1.5, "two", None, True], ()),
        (None, ()),
        ({"unit": 1}, ()),
    ],
)
def test_evidence_is_kept_where_it_names_units_of_the_text(value: object, evidence: tuple[int, ...]) -> None:
    answers = parse_verdicts(reply(entry(evidence=value)), IDS, 3)
    assert answers["c1"].evidence == evidence


def test_a_reason_becomes_one_storable_line() -> None:
    answers = parse_verdicts(reply(entry(reason="one\x00\n two\ud800  " + "x" * 1000)), IDS, 1)
    reason = answers["c1"].reason
    assert reason.startswith("one two x")
    assert len(reason) == LONGEST_REASON
    reason.encode("utf-8")


def test_claims_are_read_by_unit() -> None:
    text = (
        '{"units": [{"unit": "2", "claims": ["It rained.", " It rained. ", ""]}, {"unit": 1, "claims": []}]}'
    )
    assert parse_claims(text, [1, 2, 3], 3) == {1: (), 2: ("It rained.",)}


@pytest.mark.parametrize(
    "units",
    [
        [{"unit": 4, "claims": ["a"]}],
        [{"unit": 1, "claims": "a"}],
        [{"unit": 1, "claims": ["a", 2]}],
        [{"unit": 1.5, "claims": ["a"]}],
        [{"unit": 1, "claims": ["a"]}, {"unit": 1, "claims": ["b"]}],
        [{"claims": ["a"]}],
        [{"unit": 0, "claims": ["a"]}, {"unit": "1", "claims": ["b"]}],
    ],
)
def test_claims_of_no_certain_unit_are_no_answer(units: list[dict[str, Any]]) -> None:
    assert parse_claims(json.dumps({"units": units}), [1, 2, 3], 3) == {}


@given(st.text() | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")))
def test_no_soup_is_an_answer(text: str) -> None:
    # A valid answer needs the key "label".
    if '"label"' not in text:
        assert parse_verdicts(text, IDS, 3) == {}
    if '"claims"' not in text:
        assert parse_claims(text, [1, 2, 3], 3) == {}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["c1", "C2", "yes", "Yes.", "x"]),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.sampled_from(["answers", "id", "label", "evidence", "x"]), children, max_size=4)
    ),
    max_leaves=12,
)


def well_formed(value: object) -> set[str]:
    listed = value.get("answers", value) if isinstance(value, dict) else value
    entries = listed if isinstance(listed, list) else [listed]
    return {
        one["id"].strip().lower()
        for one in entries
        if isinstance(one, dict)
        and isinstance(one.get("id"), str)
        and read_label(one.get("label")) is not None
    } & set(IDS)


@given(json_values, st.text(alphabet="abc .,:`\n"), st.text(alphabet="abc .,:`\n"))
def test_only_a_well_formed_answer_for_a_known_id_counts(value: object, before: str, after: str) -> None:
    answers = parse_verdicts(before + json.dumps(value) + after, IDS, 3)
    assert set(answers) <= well_formed(value)


@given(st.dictionaries(st.sampled_from(IDS), st.sampled_from(["yes", "no", "unsure"])))
def test_every_well_formed_answer_counts(labels: dict[str, str]) -> None:
    answers = parse_verdicts(reply(*(entry(identity, label) for identity, label in labels.items())), IDS, 3)
    assert {identity: answer.label for identity, answer in answers.items()} == labels


@given(st.text())
def test_cutting_a_reply_anywhere_changes_no_answer(reason: str) -> None:
    whole = reply(entry("c1", "yes", reason=reason), entry("c2", "no"))
    for end in range(len(whole)):
        answers = parse_verdicts(whole[:end], IDS, 3)
        assert {identity: answer.label for identity, answer in answers.items()}.items() <= {
            "c1": "yes",
            "c2": "no",
        }.items()


def test_an_answer_may_come_in_parts() -> None:
    assert set(parse_verdicts(reply(entry()) + reply(entry("c2"), entry("c3", "no")), IDS, 3)) == set(IDS)


@pytest.mark.parametrize("letter", ["c", "q"])
def test_ids_counted_from_0_name_nothing(letter: str) -> None:
    entries = [{"id": f"{letter}{number}", "label": "yes"} for number in range(3)]
    asked = [f"{letter}{number}" for number in (1, 2, 3)]
    assert parse_verdicts(json.dumps({"answers": entries}), asked, 3) == {}


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param({"c1": 5, "c2": 1}, id="1 to 5, where 1 may be the worst"),
        pytest.param({"c1": 0, "c2": 1, "c3": 2}, id="the place of yes, no and unsure in the list"),
        pytest.param({"c2": "yes", "c3": "no", "c4": "yes"}, id="an id that was not asked"),
    ],
)
def test_a_judge_with_ids_or_labels_of_its_own_answers_nothing(labels: dict[str, object]) -> None:
    entries = [{"id": identity, "label": label} for identity, label in labels.items()]
    assert parse_verdicts(json.dumps({"answers": entries}), IDS, 3) == {}


def test_a_unit_that_is_not_in_the_text_means_that_claims_were_numbered() -> None:
    units = [
        {"unit": number, "claims": [{"claim": f"Claim {number}.", "label": "yes"}]} for number in (1, 2, 3)
    ]
    assert parse_aligned(json.dumps({"units": units}), [1, 2], 2, 4) == {}
    assert set(parse_aligned(json.dumps({"units": units}), [1, 2], 3, 4)) == {1, 2}
    texts = [{"unit": each["unit"], "claims": ["A claim."]} for each in units]
    assert parse_claims(json.dumps({"units": texts}), [1, 2], 2) == {}
    on_a_scale = [{"unit": 1, "claims": [{"claim": "A.", "label": 1}, {"claim": "B.", "label": 4}]}]
    assert parse_aligned(json.dumps({"units": on_a_scale}), [1], 1, 4) == {}
