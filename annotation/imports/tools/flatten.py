"""Convert records of annotation tools and published studies to rows with people's answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby, product
from typing import Any, NamedTuple

from annotation.core.text_faults import text_fault
from annotation.imports.containers import Record, Said, Table
from annotation.imports.layout import (
    CRITERIA,
    GENERAL,
    LABELS,
    OF_MTURK,
    REFUSED,
    WRAPPERS,
    plain,
)
from annotation.imports.problems import unreadable
from annotation.imports.row import RATER, RATER_NAMES, Mark, listed, load_json, opened, untagged

Values = Mapping[str, Any]
Row = dict[str, Any] | None
"""A row; None for a record that is marked as rejected or ignored."""

_CHOSEN = {"true": True, "on": True, "false": False}
_CRITERION, _VALUE = ("criterion", "dimension", "aspect"), ("score", "rating", "value")
_PERSON = {"email", "username", "id", *RATER_NAMES}
_NOTHING = {"", "null", "none", "na", "n/a", "nan"}
KEPT = {"annotations", "predictions"}
"""Fields of Label Studio that do not count as unread."""
ASKS_MARKS = {"XSum hallucinations", "annotated spans"}
"""Titles of tools whose raters are always asked for marks; a rater without a mark found no error."""
NO_VOTE = "Its rater gives no vote on this summary."


class Tool(NamedTuple):
    """The layout of a tool: its title, a function that tests a record, and a function that makes a row of it.

    The second function adds people's answers to its second argument. If several records make one row, `key` names the
    columns that are equal in them, and the function receives their list.
    """

    title: str
    shows: Callable[[Values], object]
    row: Callable[[Any, Said], Row | list[Row]]
    key: tuple[str, ...] = ()


def laid_flat(table: Table) -> tuple[str, Iterator[Record]]:
    """Return the title of the tool that wrote the file, and its records as rows.

    If the tool is unknown, the title is empty, and columns that only wrap those of a row are unwrapped.
    """
    first = next(table.records, None)
    if first is None:
        return "", iter(())
    for one, name in product(REFUSED.values(), first.values):
        if re.fullmatch(one["column"], name, re.DOTALL) and "systems" not in first.values:
            raise unreadable(" ".join(one["advice"].split()))
    records = chain([first], table.records)
    tool = next((tool for tool in TOOLS if tool.shows(first.values)), None)
    return (tool.title, _flat(tool, records, table)) if tool else ("", map(_unwrapped, records))


def _unwrapped(record: Record) -> Record:
    values = {name: opened(value) for name, value in record.values.items() if name in WRAPPERS}
    inner = {name: value for name, value in values.items() if isinstance(value, dict)}
    parts = [_rest(record.values, *inner), *inner.values()]
    merged = {name: value for part in parts for name, value in part.items()}
    is_clear = len(merged) == sum(map(len, parts))
    return Record(record.line, merged) if inner and is_clear else record


def _flat(tool: Tool, records: Iterator[Record], table: Table) -> Iterator[Record]:
    left_out = 0
    for _, some in groupby(records, lambda one: tuple(map(one.values.get, tool.key)) or one.line):
        record, *others = some
        values, said = record.values, Said()
        try:
            row = tool.row([values, *(one.values for one in others)] if tool.key else values, said)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError):
            told = f"is not laid out as {tool.title} writes it. Remove or correct it; where a cell holds a list, save"
            table.problems.add(record.line, "", f"{told} the table as JSON.")
            continue
        left_out += row is None
        yield from (Record(record.line, one, said) for one in listed(row))
    if left_out:
        table.warnings.remark(f"Records left out: {left_out:,}. They are marked as rejected or ignored.")


def _rest(values: Values, *consumed: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in consumed}


def _mark(said: Said, rater: str, spans: Iterable[Any] | None, whole: str = "") -> None:
    """Add a rater, and a mark for each span whose labels name an error. `whole` is the text that has the spans."""
    said.marks.append(Mark(rater))
    for one in spans or ():
        span = one if isinstance(one, dict) else dict(zip(("start", "end", "label"), one, strict=True))
        start, end = (span[key] if key in span else span[f"{key}_offset"] for key in ("start", "end"))
        given = next((span[key] for key in span if "label" in key), span.get("type"))
        labels = list(map(str, given if isinstance(given, list) else [given]))
        if any(LABELS["error"].search(label) and not LABELS["none"].match(label) for label in labels):
            words, reason = str(span.get("text", "")), ", ".join(labels)
            if text_fault(f"{words} {reason}"):
                raise ValueError
            said.marks.append(Mark(rater, int(start), int(end), words, reason, whole))
        else:
            named = " and ".join(f"`{label}`" for label in labels)
            is_known = all(map(LABELS["none"].match, labels))
            told = f"A mark labelled {named} is not read: no label names an error."
            said.remarks.append(told if is_known else f"{told} {NO_VOTE}")
            said.marks.append(Mark(rater, is_left_out=not is_known))


def _person(given: Any, place: int = 0) -> str:
    """Without a name, the person is named by `place`; the name is "" if `place` is 0.

    Raises ValueError for a name that cannot be stored.
    """
    if isinstance(given, dict):
        named = (given[name] for name in given if plain(name) in _PERSON and given[name] is not None)
        given = next(named, None)
    name = str(given) if given is not None else RATER.format(place) if place else ""
    if text_fault(name):
        raise ValueError
    return name


def _only(chosen: Any) -> object:
    return chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen


def _with_summary(row: dict[str, Any]) -> dict[str, Any]:
    """Rename `text` to `summary` beside a document, if there is no summary."""
    if "summary" in row or not any(name != "text" and plain(name) in GENERAL["document"] for name in row):
        return row
    return {"summary" if name == "text" else name: value for name, value in row.items()}


def _result(said: Said, rater: str, name: str, value: Values, whole: str = "") -> None:
    kind = next((kind for kind in ("rating", "number", "choices", "taxonomy") if kind in value), "")
    if kind:
        said.ratings.append((name, rater, _only(value[kind])))
    elif "start" in value and not isinstance(value.get("text"), list):
        # A list of texts is a comment on a mark.
        _mark(said, rater, [value], whole)
    else:
        said.remarks.append(f"Answers `{name}` are not read: they hold {', '.join(value)}.")


def _label_studio(values: Values, said: Said) -> Row:
    data = values["data"]
    for place, annotation in enumerate(values["annotations"] or (), start=1):
        if annotation.get("was_cancelled"):
            continue
        rater = _person(annotation.get("completed_by"), place)
        said.marks.append(Mark(rater))
        for one in annotation["result"]:
            whole = str(data.get(one.get("to_name", ""), ""))
            _result(said, rater, str(one.get("from_name", "")), one["value"], whole)
    # Drop the id, which identifies a task; a document may have several tasks.
    return {**_rest(values, "data", "id", *data), **data}


def _doccano(values: Values, said: Said) -> Row:
    given, row = values["label"], _rest(values, "id", "label")
    if given and all(isinstance(one, str) for one in given):
        # A text with spaces is a summary that a person wrote; a single word is a class.
        return {**row, "summary" if any(" " in one for one in given) else "label": _only(given)}
    _mark(said, _person(values.get("annotator") or values.get("user"), 1), given, values["text"])
    return _with_summary(row)


def _spans(values: Values, said: Said) -> Row:
    for place, one in enumerate(values["annotations"], start=1):
        _mark(said, _person(one, place), one["spans"])
    return _with_summary(_rest(values, "annotations"))


def _argilla(values: Values, said: Said) -> Row:
    for name, answer in ((name, one) for name, given in values["responses"].items() for one in given):
        if answer.get("status") not in {None, "submitted"}:
            continue
        rater, value = _person(answer.get("user_id")), answer["value"]
        if isinstance(value, list) and all(isinstance(one, dict) and "start" in one for one in value):
            _mark(said, rater, value)
        else:
            said.ratings.append((name, rater, value))
    return {**(values.get("metadata") or {}), **values["fields"]}


def _prodigy(values: Values, said: Said) -> Row:
    answer, spans, label = values.get("answer", "accept"), values.get("spans"), values.get("label")
    if answer == "ignore" or (answer == "reject" and (spans or not label)):
        return None
    rater = _person(values.get("_annotator_id") or values.get("_session_id"))
    if spans is not None:
        _mark(said, rater, spans, values["text"])
    elif label:
        said.ratings.append((str(label), rater, answer == "accept"))
    if values.get("accept"):
        said.ratings.append(("choice", rater, _only(values["accept"])))
    row = _rest(values, "spans", "tokens", "options", "accept", "answer", "meta", "label")
    row = {name: value for name, value in row.items() if not name.startswith("_")}
    return _with_summary({**(values.get("meta") or {}), **row})


def _mturk(values: Values, said: Said) -> Row:
    if values.get("AssignmentStatus") == "Rejected" or str(values.get("Reject") or "").strip():
        return None
    row = {name: value for name, value in values.items() if value and not OF_MTURK.match(name)}
    answers: dict[str, Any] = {}
    for name, value in values.items():
        kind, _, rest = name.partition(".")
        question, _, choice = rest.rpartition(".")
        is_on = _CHOSEN.get(str(value).strip().lower())
        if name == "Answer.taskAnswers":
            answers |= listed(load_json(str(value)))[0]
        elif kind == "Answer" and question and is_on is not None:
            # A form may write a column per choice.
            answers.setdefault(question, {})[choice] = is_on
        elif kind == "Answer":
            answers[rest] = value
    for name, given in answers.items():
        value = given
        if isinstance(given, dict) and all(isinstance(is_on, bool) for is_on in given.values()):
            ticked = [choice for choice, is_on in given.items() if is_on]
            # A single checkbox means yes or no.
            value = bool(ticked) if len(given) == 1 else next(iter(ticked), None)
        said.ratings.append((name, str(values["WorkerId"]), value))
    return {name.removeprefix("Input."): value for name, value in row.items()}


def _qags(values: Values, said: Said) -> Row:
    for sentence in values["summary_sentences"]:
        votes = {str(one["worker_id"]): str(one["response"]).lower() for one in sentence["responses"]}
        said.claims.append((sentence["sentence"], votes, ""))
    return dict(values)


def _frank(values: Values, said: Said) -> Row:
    _error_types(values["summary_sentences"], values["summary_sentences_annotations"], said)
    return _rest(values, "summary_sentences", "summary_sentences_annotations")


def _finesure(values: Values, said: Said) -> Row:
    given = {rater: one["factuality_types"] for rater, one in values["raw_annotations"].items()}
    judged = [{r: [t] for r, t in zip(given, one, strict=True)} for one in zip(*given.values(), strict=True)]
    _error_types(values["sentences"], judged, said)
    return _rest(values, "raw_annotations")


def _error_types(sentences: Iterable[str], judged: Iterable[Mapping[str, Any]], said: Said) -> None:
    for sentence, raters in zip(sentences, judged, strict=True):
        votes = {rater: "yes" if types == ["NoE"] else "no" for rater, types in raters.items()}
        errors = dict.fromkeys(error for types in raters.values() for error in types if error != "NoE")
        said.claims.append((sentence, votes, ", ".join(errors)))


def _tofueval(rows: list[Values], said: Said) -> Row:
    first = rows[0]
    ordered = sorted(rows, key=lambda row: int(row["sent_idx"])) if "sent_idx" in first else rows
    for row in ordered:
        label = str(row.get("sent_label", "")).strip().lower()
        if label not in _NOTHING:
            reason = ": ".join(str(row[name]) for name in ("type", "exp") if row.get(name))
            said.claims.append((row["summ_sent"], {RATER.format(1): label}, reason))
    own = ("doc_id", "topic", "model_name", "sent_idx", "summ_sent", "sent_label", "type", "exp")
    return _rest(first, *own) | {
        "document_id": ": ".join(filter(None, (str(first["doc_id"]), str(first.get("topic") or "")))),
        "group": first["doc_id"],
        "system": first["model_name"],
        "summary": " ".join(dict.fromkeys(row["summ_sent"] for row in ordered)),
    }


def _xsum_marks(values: Values, said: Said) -> Row:
    kind = str(values["hallucination_type"] or "").strip()
    # The study's file escapes apostrophes.
    summary, words = (str(values[name]).replace("\\'", "'") for name in ("summary", "hallucinated_span"))
    given = (str(values.get(f"hallucinated_span_{side}")) for side in ("start", "end"))
    start, end = (int(cell) if cell.isdecimal() else 0 for cell in given)
    span = {"start": start, "end": end or len(words), "text": words, "label": f"{kind} hallucination"}
    _mark(said, _person(values["worker_id"]), [span] if kind.lower() not in _NOTHING else [])
    own = ("worker_id", *(name for name in values if name.startswith("hallucinat")))
    return _rest(values, *own) | {"summary": summary}


def _realsumm(values: Values, said: Said) -> list[Row]:
    row = _rest(values, "ref_summ", "system_summaries") | {"reference": values["ref_summ"]}
    return [
        row | _rest(one, "system_summary") | {"system": name, "summary": untagged(one["system_summary"])}
        for name, one in values["system_summaries"].items()
    ]


def _columns_of_rating(values: Values) -> list[str]:
    """Return the columns of criterion, value and rater in a table; "" for one that it lacks."""
    there = {plain(name): name for name in values}
    return [next(filter(None, map(there.get, n)), "") for n in (_CRITERION, _VALUE, GENERAL["rater"])]


def _are_rating_rows(values: Values) -> bool:
    what, how, who = _columns_of_rating(values)
    return bool(what and how and (who or plain(str(values[what])) in CRITERIA))


def _rating_rows(values: Values, said: Said) -> Row:
    what, how, who = _columns_of_rating(values)
    said.ratings.append((str(values[what]), _person(values[who]) if who else "", values[how]))
    return _rest(values, what, how, who)


def _has(*names: str, **kinds: Any) -> Callable[[Values], bool]:
    """Make a test that a record has these fields, and that the fields in `kinds` have these types."""
    return lambda values: (
        all(name in values for name in names)
        and all(isinstance(values.get(name), kind) for name, kind in kinds.items())
    )


def _are(name: str, *inner: str) -> Callable[[Values], bool]:
    """Make a test that a field is a non-empty list of objects with these names."""
    return lambda values: (
        isinstance(given := values.get(name), list)
        and bool(given)
        and all(isinstance(one, dict) and {*inner} <= one.keys() for one in given)
    )


TOOLS = (
    Tool("Label Studio", _has(data=dict, annotations=list), _label_studio),
    Tool("Argilla 2", _has(fields=dict, responses=list | dict), _argilla),
    Tool("Prodigy", _has("_task_hash"), _prodigy),
    Tool("Mechanical Turk", _has("HITId", "WorkerId"), _mturk),
    Tool("doccano", _has("id", text=str, label=list), _doccano),
    Tool("annotated spans", _are("annotations", "spans"), _spans),
    Tool("QAGS", _are("summary_sentences", "responses"), _qags),
    Tool("FRANK", _has("summary_sentences", "summary_sentences_annotations"), _frank),
    Tool("FineSurE", _has("sentences", raw_annotations=dict), _finesure),
    Tool("TofuEval", _has("doc_id", "model_name", "summ_sent"), _tofueval, ("doc_id", "topic", "model_name")),
    Tool("XSum hallucinations", _has("summary", "hallucination_type", "worker_id"), _xsum_marks),
    Tool("REALSumm", _has("ref_summ", "system_summaries"), _realsumm),
    Tool("a row for each rating", _are_rating_rows, _rating_rows),
)
