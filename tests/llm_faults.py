"""Known faults of servers and networks, grouped by a judge's reaction.

A fault with a reason names words that the reason of the unscored results must contain.
"""

import json
from collections.abc import Callable, Mapping

from tests.llm_server import Answer, Fault, faults

TIMEOUT_SECONDS = 2.0
"""The timeout of judges whose server never answers; the reasons of their unscored results contain it."""


def each(change: Callable[[Answer], Answer]) -> Callable[[Answer], Answer]:
    def changed(entry: Answer) -> Answer:
        nested = entry.get("claims", [])
        if nested and isinstance(nested[0], dict):
            entry = {**entry, "claims": [change(claim) for claim in nested]}
        return change(entry)

    return lambda answer: {name: [changed(entry) for entry in entries] for name, entries in answer.items()}


def listed(change: Callable[[list[Answer]], list[Answer]]) -> Callable[[Answer], Answer]:
    return lambda answer: {name: change(entries) for name, entries in answer.items()}


def with_strings(entry: Answer) -> Answer:
    changed = dict(entry)
    for name in ("unit", "probability", "value"):
        if name in changed:
            changed[name] = str(changed[name])
    if "evidence" in changed:
        changed["evidence"] = [str(number) for number in changed["evidence"]]
    return changed


def renamed(entry: Answer) -> Answer:
    return {**entry, "id": f"x{entry.get('id')}", "unit": 1000 + int(entry.get("unit", 0))}


def relabelled(entry: Answer) -> Answer:
    changes = {"label": "borderline"} if "label" in entry else {"value": "good"} if "value" in entry else {}
    return {**entry, **changes}


def opposite(entry: Answer) -> Answer:
    if "value" in entry:
        return {**entry, "value": 0.1}
    if "label" in entry:
        return {**entry, "label": {"yes": "no", "no": "yes"}[entry["label"]]}
    return {**entry, "claims": ["Something else was said"]}


def each_opposite(entry: Answer) -> Answer:
    nested = entry.get("claims", [])
    if nested and isinstance(nested[0], dict):
        return {**entry, "claims": [opposite(claim) for claim in nested]}
    return opposite(entry)


def draft(text: str) -> str:
    return json.dumps(
        {
            name: [each_opposite(entry) if isinstance(entry, dict) else entry for entry in entries]
            for name, entries in json.loads(text).items()
        }
    )


def labelled(entry: Answer, labels: Mapping[str, object]) -> Answer:
    return {**entry, "label": labels[entry["label"]]} if entry.get("label") in labels else entry


MENDED: Mapping[str, Fault] = {
    "prose around the JSON": faults.prose(),
    "fences": faults.fenced(),
    "numbers as strings": faults.changed(each(with_strings)),
    "surplus ids": faults.changed(
        listed(lambda entries: [*entries, {**entries[0], "id": "c99", "unit": 99}])
    ),
    "duplicate ids that agree": faults.changed(listed(lambda entries: [*entries, *entries])),
    "fields that nobody asked for": faults.changed(each(lambda entry: {**entry, "mood": "good"})),
    **{
        f"thinking with a draft, {name}": faults.around(
            lambda text, begin=begin, end=end: f"{begin}Maybe {draft(text)}?{end}{text}"
        )
        for name, (begin, end) in {
            "think": ("<think>", "</think>\n"),
            "its end alone": ("", "</think>"),
            "thinking": ("<thinking>", "</THINKING>"),
            "brackets": ("[THINK]", "[/THINK]"),
            "channels": (
                "<|channel|>analysis<|message|>",
                "<|end|><|start|>assistant<|channel|>final<|message|>",
            ),
            "twice": ("<think>So</think><think>", "</think>"),
        }.items()
    },
    "a quoted tag": faults.changed(each(lambda entry: {**entry, "reason": "It says </think> twice."})),
    "line breaks inside strings": faults.around(
        lambda text: json.dumps(json.loads(text) | {"note": "a|b"}).replace("a|b", "a\nb\tc")
    ),
    "a comma after the last item": faults.around(
        lambda text: text.replace("}]", "},\n ]").replace("]}", "], }")
    ),
    "a JSON string": faults.around(json.dumps),
    "true and false as labels": faults.changed(
        each(lambda entry: labelled(entry, {"yes": True, "no": False}))
    ),
    "1 and 0 as labels": faults.changed(each(lambda entry: labelled(entry, {"yes": 1, "no": 0}))),
    "labels in other dress": faults.changed(
        each(lambda entry: {**entry, "label": f" {entry['label'].upper()}. "} if "label" in entry else entry)
    ),
}
"""Faults whose replies the judge can read."""

ASKED_AGAIN: Mapping[str, tuple[Fault, str]] = {
    "absent ids": (faults.changed(listed(lambda entries: entries[:-1])), "the reply l"),
    "no entry at all": (faults.changed(listed(lambda _: [])), "the reply l"),
    "unknown ids": (
        faults.changed(listed(lambda entries: [renamed(entry) for entry in entries])),
        "the reply",
    ),
    "duplicate ids that disagree": (
        faults.changed(listed(lambda entries: [*entries, *[each_opposite(entry) for entry in entries]])),
        "the reply",
    ),
    "wrong labels": (faults.changed(each(relabelled)), "the reply"),
    "truncation": (faults.truncated(), "cut off"),
    "empty content": (faults.text(""), "empty"),
    "white space alone": (faults.text(" \n\t "), "empty"),
    "no content": (faults.text(None), "empty"),
    "a draft alone": (
        faults.around(lambda text: f"<think>{text}</think>"),
        "the reply holds no JSON",
    ),
    "thinking without an end": (faults.around(lambda text: f"<think>So: {text}"), "the reply"),
    "prose alone": (faults.text("All of it is supported: yes."), "the reply holds no JSON"),
    "half of the JSON": (faults.text('{"units": [{"unit": 1, "cl'), "the reply holds no JSON"),
    "a page": (faults.body(b"<html>try later</html>"), "not a chat completion"),
    "an error with status 200": (faults.body(b'{"error": {"message": "tired"}}'), "tired"),
}
"""Faults after which the judge asks once more."""


FINAL: Mapping[str, tuple[Fault, str]] = {
    "refusal": (faults.refusal("I will not judge this."), "I will not judge this"),
    "content filter": (faults.filtered(), "content filter"),
    "too long for it": (faults.status(400, "too long", "context_length_exceeded"), "too long"),
    "a reply without end": (faults.endless(), "longer than 4 MiB"),
    "a reply without end, packed": (faults.endless(packed=True), "longer than 4 MiB"),
    "rejected": (faults.status(422, "cannot be processed"), "cannot be processed"),
}
"""Faults after which the judge does not ask again."""

TRIED_AGAIN: Mapping[str, tuple[Fault, str]] = {
    "429 with Retry-After": (faults.rate_limited("0"), "HTTP 429"),
    "429 without Retry-After": (faults.rate_limited(), "HTTP 429"),
    "408": (faults.status(408), "HTTP 408"),
    "500": (faults.status(500), "HTTP 500"),
    "502": (faults.status(502), "HTTP 502"),
    "503": (faults.status(503), "HTTP 503"),
    "504": (faults.status(504), "HTTP 504"),
    "529": (faults.status(529), "HTTP 529"),
    "hang": (faults.hang(), f"did not answer within {TIMEOUT_SECONDS:g} s"),
    "trickle": (faults.trickle(), f"did not answer within {TIMEOUT_SECONDS:g} s"),
    "reset": (faults.reset(), "connection failed"),
    "an encoding that nobody asked for": (faults.unknown_encoding(), "connection failed"),
    "reset in mid-answer": (faults.reset_in_answer(), "connection failed"),
    "an end without an answer": (faults.wire(b""), "connection failed"),
    "no HTTP": (faults.wire(b"220 mail ready\r\n"), "connection failed"),
    "a body that is not what its header says": (
        faults.body(b"plain", Content_Encoding="gzip"),
        "connection failed",
    ),
}
"""Faults after which the judge tries the same request again."""

CLOSED: Mapping[str, tuple[Fault, str]] = {
    "401": (faults.status(401, "key sk-test-4711 is wrong"), "check the API key"),
    "402": (faults.status(402), "cannot pay"),
    "403": (faults.status(403), "may not use"),
    "404": (faults.status(404), "model's name"),
    "no quota": (faults.status(429, "pay", "insufficient_quota"), "no quota"),
}
"""Faults that end a run."""

LASTING: Mapping[str, tuple[Fault, str]] = {**ASKED_AGAIN, **FINAL, **TRIED_AGAIN}
"""Faults that, if they last, leave the results of their text unscored and those of other texts scored."""
