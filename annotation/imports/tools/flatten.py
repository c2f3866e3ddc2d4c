"""Convert records of annotation tools and published studies to flat rows with people's answers.

Columns that the layout of a tool does not use stay in the record, so that the report lists them as not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import Any, NamedTuple

from annotation.core.text_faults import text_fault
from annotation.imports.containers import Record, Said
from annotation.imports.layout import CRITERIA, GENERAL, document_hash, plain
from annotation.imports.problems import Findings, unreadable
from annotation.imports.row import RATER, RATER_NAMES, Mark, NotJson, load_json, opened, untagged

Values = Mapping[str, Any]
Rows = Iterator[tuple[dict[str, Any], Said]]

_ERROR = re.compile(
    r"wrong|error|halluc|unsupp|not.?supp|incorrect|false|contradict|trinsic|unfaithful|inconsisten|fabricat|invent|"
    r"mistake|untrue|(un|non.?)factual|unverif",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(
    r"no[\s_-]|not an?\b|(supported|entailed|correct|ok|good|true|faithful|factual|accurate|consistent)$",
    re.IGNORECASE,
)
_PROMPT = re.compile(r"\[([^\[\]]+)\]\s+\S")
_GRADE = re.compile(r"\[(PASS|FAIL|ERROR)\](?: \([\d.]+\))?\s*")
_GRADED = re.compile(r"\n+(?:Pass|Fail|Error) Reason:.*\Z", re.DOTALL)
_ASIDE = re.compile(r"comment|note|reason|why|explan|feedback", re.IGNORECASE)
_OF_MTURK = re.compile(
    r"HIT|Title$|Description$|Keywords$|Reward$|Creation|Max|Requester|Assignment|Auto|Expiration$|"
    r"NumberOf|Lifetime|WorkerId$|Accept|Submit|Approv|Reject|WorkTime|Last\d"
)
"""Names of columns that Mechanical Turk adds."""
_CHOSEN = {"true": True, "on": True, "false": False}
_PAIRED = re.compile(r"(.+?)[\s._-]+(\d{1,2}|[a-d])(?:\.(.+))?", re.IGNORECASE)
"""A column such as `summary_a` or `outputs.0.text`."""
_CRITERION, _VALUE = ("criterion", "dimension", "aspect"), ("score", "rating", "value")
_PERSON = {"email", "username", "id", *RATER_NAMES}
_NOTHING = {"", "null", "none", "na", "n/a", "nan"}
KEPT = {"annotations", "completions", "predictions"}
"""Fields of Label Studio to which paths may lead; they are not listed as not read."""
ASKS_MARKS = {"XSum hallucinations", "annotated spans"}
"""Titles of tools whose raters are always asked for marks; a rater without a mark found no error."""
NO_VOTE = "Its rater gives no vote on this summary."
LEFT_OUT = "They are marked as rejected or ignored, or have no output."


class Tool(NamedTuple):
    """The layout of a tool: its title, a function that tests a record, and a function that yields rows.

    If several records make one row, `key` names the columns that are equal in them.
    """

    title: str
    shows: Callable[[Values], object]
    rows: Callable[[Any], Rows]
    key: tuple[str, ...] = ()


def laid_flat(records: Iterator[Record], problems: Findings) -> tuple[str, Iterator[Record]]:
    """Return the title of the tool that wrote the file, and its records as flat rows.

    If the tool is unknown, the title is empty and the records are unchanged. A record that does not fit the tool is a
    problem.
    """
    first = next(records, None)
    if first is None:
        return "", iter(())
    records = chain([first], records)
    tool = next((tool for tool in TOOLS if tool.shows(first.values)), None)
    return (tool.title, _flat(tool, records, problems)) if tool else ("", records)


def _flat(tool: Tool, records: Iterator[Record], problems: Findings) -> Iterator[Record]:
    left_out = 0
    last: Record | None = None
    for _, together in groupby(
        records, lambda record: tuple(map(record.values.get, tool.key)) or record.line
    ):
        group = [(record.line, record.values) for record in together]
        line, values = group[0]
        try:
            rows = list(tool.rows([values for _, values in group] if tool.key else values))
            for _, said in rows:
                _check(said)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            problems.add(
                line,
                "",
                f"is not laid out as {tool.title} writes it, while the first record is. Remove or correct it.",
            )
            continue
        left_out += not rows
        for row, said in rows:
            if last is not None:
                yield last
            last = Record(line, row, said)
    if last is not None:
        if left_out:
            last.said.remarks.append(f"Records left out: {left_out:,}. {LEFT_OUT}")
        yield last


def _check(said: Said) -> None:
    """Raise TypeError for a name or sentence that is no text, and for an offset that is no number."""
    names = [name for criterion, rater, _ in said.ratings for name in (criterion, rater)]
    names += [text for sentence, _, reason in said.claims for text in (sentence, reason)]
    names += [text for mark in said.marks for text in (mark.rater, *mark[3:6])]
    places = [place for mark in said.marks for place in mark[1:3]]
    are_texts = all(type(name) is str and not text_fault(name) for name in names)
    if not are_texts or not all(type(at) is int and at >= 0 for at in places):
        raise TypeError("what people said has names, texts and offsets")


def _rest(values: Values, *consumed: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in consumed}


def _mark(said: Said, rater: str, spans: Iterable[Any] | None, whole: str = "") -> None:
    """Add a rater, and a mark for each span whose labels name an error. `whole` is the text that has the spans.

    A span whose labels name neither an error nor its absence is a mark that is left out.
    """
    said.marks.append(Mark(rater))
    for one in spans or ():
        span = one if isinstance(one, dict) else dict(zip(("start", "end", "label"), one, strict=True))
        start, end = (span[key] if key in span else span[f"{key}_offset"] for key in ("start", "end"))
        given = next((span[key] for key in span if "label" in key), span.get("type"))
        labels = [str(label) for label in (given if isinstance(given, list) else [given])]
        if any(_ERROR.search(label) and not _NO_ERROR.match(label) for label in labels):
            said.marks.append(Mark(rater, start, end, span.get("text", ""), ", ".join(labels), whole))
        else:
            named = " and ".join(f"`{label}`" for label in labels)
            told = f"A mark labelled {named} is not read: no label names an error."
            is_known = all(map(_NO_ERROR.match, labels))
            said.remarks.append(told if is_known else f"{told} {NO_VOTE}")
            said.marks.append(Mark(rater, is_left_out=not is_known))


def _person(given: Any, place: int = 0) -> str:
    """Read a person's name from a number, a text or an object.

    Without a name, the person is named by `place`; the name is "" if `place` is 0.
    """
    if isinstance(given, dict):
        named = (given[name] for name in given if plain(name) in _PERSON and given[name] is not None)
        given = next(named, None)
    return str(given) if given is not None else RATER.format(place) if place else ""


def _only(chosen: Any) -> object:
    return chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen


def _label_studio(values: Values) -> Rows:
    data, said = values["data"], Said()
    for place, annotation in enumerate(values.get("annotations") or values.get("completions") or (), start=1):
        if annotation.get("was_cancelled"):
            continue
        rater = _person(annotation.get("completed_by"), place)
        said.marks.append(Mark(rater))
        for result in annotation["result"]:
            value, name, kind = result["value"], result.get("from_name", ""), result.get("type", "")
            if "labels" in kind:
                _mark(said, rater, [value], str(data.get(result.get("to_name", ""), "")))
            elif kind in {"rating", "number", "choices"}:
                said.ratings.append((name, rater, _only(value[kind])))
            else:
                said.remarks.append(f"Answers of kind `{kind}` (`{name}`) are not read.")
    # Drop the id, which identifies a task; a document may have several tasks.
    yield {**_rest(values, "data", "id", *data), **data}, said


def _label_studio_min(values: Values) -> Rows:
    said, rater = Said(), str(values["annotator"])
    said.marks.append(Mark(rater))
    row: dict[str, object] = {}
    for name, value in _rest(values, "id").items():
        held = opened(value)
        if isinstance(held, dict) and "choices" in held:
            said.ratings.append((name, rater, held["choices"]))
        elif isinstance(held, list) and held and all(isinstance(one, dict) for one in held):
            numbers = ((kind, one) for one in held for kind in ("rating", "number") if kind in one)
            said.ratings.extend((name, rater, one[kind]) for kind, one in numbers)
            _mark(said, rater, [one for one in held if "start" in one])
        else:
            row[name] = value
    yield row, said


def _doccano(values: Values) -> Rows:
    said = Said()
    given = values.get("label", values.get("labels", values.get("entities")))
    row = _rest(values, "id", "label", "labels", "entities")
    if given and all(isinstance(one, str) for one in given):
        # A text with spaces is a summary that a person wrote; a single word is a class.
        row["summary" if any(" " in one for one in given) else "label"] = _only(given)
    else:
        _mark(said, _person(values.get("annotator") or values.get("user"), 1), given, values["text"])
        row = _with_summary(row)
    yield row, said


def _with_summary(row: dict[str, object]) -> dict[str, object]:
    if "summary" in row or not any(name != "text" and plain(name) in GENERAL["document"] for name in row):
        return row
    return {"summary" if name == "text" else name: value for name, value in row.items()}


def _spans(values: Values) -> Rows:
    said = Said()
    for place, one in enumerate(values["annotations"], start=1):
        _mark(said, _person(one, place), one["spans"])
    yield _with_summary(_rest(values, "annotations")), said


def _argilla(values: Values) -> Rows:
    said = Said()
    responses = values["responses"]
    if isinstance(responses, list):
        answers = [
            (name, one | given) for one in responses for name, given in (one.get("values") or {}).items()
        ]
    else:
        answers = [(name, one) for name, given in responses.items() for one in given]
    for name, answer in answers:
        if answer.get("status") in {None, "submitted"}:
            _answered(said, name, _person(answer.get("user_id")), answer["value"])
    yield {**(values.get("metadata") or {}), **values["fields"]}, said


def _answered(said: Said, question: str, rater: str, value: Any) -> None:
    if isinstance(value, list) and all(isinstance(one, dict) and "start" in one for one in value):
        _mark(said, rater, value)
    else:
        said.ratings.append((question, rater, value))


def _argilla_columns(values: Values) -> Rows:
    said, row = Said(), _rest(values, "id", "_server_id", "status")
    for column in [name for name in values if name.endswith(".responses.users")]:
        name = column.removesuffix(".responses.users")
        users, states = values[column] or (), values.get(f"{name}.responses.status") or ()
        for place, (rater, value) in enumerate(zip(users, values[f"{name}.responses"] or (), strict=True)):
            if not states or states[place] == "submitted":
                _answered(said, name, _person(rater), value)
        own = f"{name}.responses", f"{name}.suggestion"
        row = {column: value for column, value in row.items() if not column.startswith(own)}
    yield row, said


def _prodigy(values: Values) -> Rows:
    answer = values.get("answer", "accept")
    if answer == "ignore":
        return
    said, rater = Said(), _person(values.get("_annotator_id") or values.get("_session_id"))
    if values.get("label") and "spans" not in values:
        said.ratings.append((str(values["label"]), rater, answer == "accept"))
    elif answer == "accept":
        if chosen := values.get("accept"):
            said.ratings.append(("choice", rater, _only(chosen)))
        if "spans" in values:
            _mark(said, rater, values["spans"], values["text"])
    elif values.get("spans"):
        said.remarks.append(f"`spans` is not read: the answer is `{answer}`.")
    row = _rest(values, "spans", "tokens", "options", "accept", "answer", "meta", "label")
    row = {name: value for name, value in row.items() if not name.startswith("_")}
    yield _with_summary({**(values.get("meta") or {}), **row}), said


def _promptfoo(values: Values) -> Rows:
    def label(of: Any, *names: str) -> object:
        return next((of[name] for name in names if of.get(name)), None) if isinstance(of, dict) else of

    output = (values.get("response") or {}).get("output")
    if output is not None:
        row = {"system": label(values["provider"], "label", "id"), "summary": output, **values["vars"]}
        if prompt := label(values.get("prompt"), "label", "raw"):
            row = {"prompt": prompt, **row}
        yield {**_rest(values, "id", "vars", "provider", "response", "prompt"), **row}, Said()


def _promptfoo_table(values: Values) -> Rows:
    prompts = {column: found[1] for column in values if (found := _PROMPT.match(column))}
    providers = list(prompts.values())
    for column, provider in prompts.items():
        cell = str(values[column] or "")
        grade = _GRADE.match(cell)
        if grade:
            cell = _GRADED.sub("", cell[grade.end() :]).rstrip()
        if not grade or grade[1] != "ERROR":
            system = provider if providers.count(provider) == 1 else column[:200]
            yield {**_rest(values, *prompts), "system": system, "summary": cell}, Said()


def _mturk(values: Values) -> Rows:
    if values.get("AssignmentStatus") == "Rejected" or str(values.get("Reject") or "").strip():
        return
    said, rater, row = Said(), str(values["WorkerId"]), {}
    answers: dict[str, Any] = {}
    for name, value in values.items():
        kind, _, rest = name.partition(".")
        question, _, choice = rest.rpartition(".")
        if kind == "Input":
            row[rest] = value
        elif name == "Answer.taskAnswers":
            try:
                held: Any = load_json(str(value))
                answers.update(held[0] if isinstance(held, list) else held)
            except NotJson:
                said.remarks.append(f"`{name}` is not read: it is no JSON.")
        elif kind == "Answer" and question and (is_on := _CHOSEN.get(str(value).strip().lower())) is not None:
            # A form may write a column per choice; join them.
            answers.setdefault(question, {})[choice] = is_on
        elif kind == "Answer":
            answers[rest] = value
        elif value and not _OF_MTURK.match(name):
            row[name] = value
    for name, given in answers.items():
        value = given
        if isinstance(given, dict):
            # A single checkbox means yes or no.
            ticked = [choice for choice, is_on in given.items() if is_on]
            value = bool(ticked) if len(given) == 1 else next(iter(ticked), None)
        if _ASIDE.search(name):
            said.remarks.append(f"`Answer.{name}` is not read.")
        elif str(value).strip().lower() not in _NOTHING:
            said.ratings.append((name, rater, value))
    yield row, said


def _qags(values: Values) -> Rows:
    said = Said()
    for sentence in values["summary_sentences"]:
        votes = {str(one["worker_id"]): str(one["response"]).lower() for one in sentence["responses"]}
        said.claims.append((sentence["sentence"], votes, ""))
    yield dict(values), said


def _frank(values: Values) -> Rows:
    said, judged = Said(), values["summary_sentences_annotations"]
    for sentence, raters in zip(values["summary_sentences"], judged, strict=True):
        votes = {rater: "yes" if types == ["NoE"] else "no" for rater, types in raters.items()}
        errors = dict.fromkeys(error for types in raters.values() for error in types if error != "NoE")
        said.claims.append((sentence, votes, ", ".join(errors)))
    yield _rest(values, "summary_sentences", "summary_sentences_annotations"), said


def _tofueval(rows: list[Values]) -> Rows:
    first, said = rows[0], Said()
    ordered = sorted(rows, key=lambda row: int(row["sent_idx"])) if "sent_idx" in first else rows
    for row in ordered:
        label = str(row.get("sent_label", "")).strip().lower()
        if label not in _NOTHING:
            reason = ": ".join(filter(None, (str(row.get("type") or ""), str(row.get("exp") or ""))))
            said.claims.append((row["summ_sent"], {RATER.format(1): label}, reason))
    own = ("doc_id", "topic", "model_name", "sent_idx", "summ_sent", "sent_label", "type", "exp")
    topic = f": {first['topic']}" if first.get("topic") else ""
    made = {
        "document_id": f"{first['doc_id']}{topic}",
        "group": first["doc_id"],
        "system": first["model_name"],
        "summary": " ".join(dict.fromkeys(row["summ_sent"] for row in ordered)),
    }
    yield _rest(first, *own) | made, said


def _xsum_marks(values: Values) -> Rows:
    said, rater = Said(), str(values["worker_id"])
    kind = str(values["hallucination_type"] or "").strip()
    # This file escapes apostrophes, the study's other file does not.
    summary, words = (str(values[name]).replace("\\'", "'") for name in ("summary", "hallucinated_span"))
    given = (str(values.get(f"hallucinated_span_{side}")) for side in ("start", "end"))
    start, end = (int(cell) if cell.isdecimal() else 0 for cell in given)
    span = {"start": start, "end": end or len(words), "text": words, "label": f"{kind} hallucination"}
    _mark(said, rater, [span] if kind.lower() not in _NOTHING else [])
    row = _rest(values, "worker_id") | {"summary": summary}
    yield {name: value for name, value in row.items() if not name.startswith("hallucinat")}, said


def _rose(values: Values) -> Rows:
    outputs: Any = opened(values["system_outputs"])
    judged: Any = opened(values["annotations"])
    claims: list[dict[str, Any]] = [{"claim_text": text, "verdicts": {}} for text in values["reference_acus"]]
    systems = []
    for system, text in outputs.items():
        given = judged.get(system, {})
        systems.append({"system": system, "summary_text": text, **_rest(given, "acu_labels")})
        for claim, label in zip(claims, given.get("acu_labels", [None] * len(claims)), strict=True):
            claim["verdicts"][system] = label
    own = ("source", "reference", "reference_acus", "system_outputs", "annotations", "example_id", "id")
    made = {
        "doc_id": values.get("example_id") or values.get("id") or document_hash([values["source"]]),
        "source_text": values["source"],
        "reference_text": values["reference"],
        "systems": systems,
        "claims": claims,
    }
    yield _rest(values, *own) | made, Said()


def _realsumm(values: Values) -> Rows:
    source = values.get("source", values.get("src"))
    made = {
        "doc_id": values.get("doc_id", values.get("id")),
        **({} if source is None else {"source_text": source}),
        "reference_text": values["ref_summ"],
        "systems": [
            {"system": name, "summary_text": untagged(one["system_summary"]), **_rest(one, "system_summary")}
            for name, one in values["system_summaries"].items()
        ],
    }
    yield _rest(values, "source", "src", "doc_id", "id", "ref_summ", "system_summaries") | made, Said()


def _machine_summaries(values: Values) -> Rows:
    texts = values["machine_summaries"]
    row = _rest(values, "machine_summaries", "human_summaries")
    lists = {name: row.pop(name) for name in values if isinstance(row.get(name), list)}
    dealt = {name: held for name, held in lists.items() if len(held) == len(texts) and _are_numbers(held)}
    row |= {"references": values.get("human_summaries")}
    remarks = [
        f"`{name}` is not read: it has no number for each summary." for name in lists if name not in dealt
    ]
    for place, text in enumerate(texts):
        own = {name: held[place] for name, held in dealt.items()}
        yield {**row, **own, "system": f"system {place + 1}", "summary": text}, Said(remarks=[*remarks])


def _are_numbers(held: list[Any]) -> bool:
    return all(one is None or isinstance(one, int | float) for one in held)


def _columns_of_rating(values: Values) -> list[str]:
    """The columns of criterion and value in a table with a row for each rating; empty in another table."""
    there = {plain(name): name for name in values}
    found = [next(filter(None, map(there.get, names)), "") for names in (_CRITERION, _VALUE)]
    return found if all(found) and plain(str(values[found[0]])) in CRITERIA else []


def _rating_rows(values: Values) -> Rows:
    raters = [name for name in values if plain(name) in GENERAL["rater"]]
    what, how = _columns_of_rating(values)
    rating = (str(values[what]), _person(values[raters[0]]) if raters else "", values[how])
    yield _rest(values, what, how, *raters), Said([rating])


def _pairs(values: Values) -> list[dict[str, str]]:
    """The columns of each system, its summary and its ratings if there are several, such as `model_a`, `summary_a`."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for name in values:
        if parts := _PAIRED.fullmatch(name):
            of, number, part = parts.groups()
            known = plain(part or of)
            is_text = known in GENERAL["summary"] or (part and known in {"text", "content"})
            other = known if known in CRITERIA else ""
            kind = "system" if known in GENERAL["system"] else "summary" if is_text else other
            found.setdefault((part and of, number.lower()), {})[kind] = name
    pairs = [one for one in found.values() if {"system", "summary"} <= one.keys()]
    return pairs if len(pairs) > 1 else []


def _pair_rows(values: Values) -> Rows:
    pairs = _pairs(values)
    rest = _rest(values, *(name for one in pairs for kind, name in one.items() if kind))
    for one in pairs:
        yield {**rest, **{kind: values[name] for kind, name in one.items() if kind}}, Said()


def _summhay(values: Values) -> Rows:
    told = "Files of SummHay are not read. Convert them to nested JSONL, one line per subtopic, as docs/columns.md says"
    raise unreadable(f"{told} under “People's answers”.")


def _has(*names: str, **kinds: Any) -> Callable[[Values], bool]:
    """Make a test that a record has these fields, and that the fields in `kinds` have these types."""
    return lambda values: (
        all(name in values for name in names)
        and all(isinstance(values.get(name), kind) for name, kind in kinds.items())
    )


def _are(name: str, *inner: str) -> Callable[[Values], bool]:
    """Make a test that a field is a list of objects with these names."""
    return lambda values: (
        isinstance(given := values.get(name), list)
        and bool(given)
        and all(isinstance(one, dict) and all(key in one for key in inner) for one in given)
    )


def _is_doccano(values: Values) -> bool:
    given = values.get("label", values.get("labels", values.get("entities")))
    return "id" in values and isinstance(values.get("text"), str) and isinstance(given, list)


TOOLS = (
    Tool("Label Studio", _has(data=dict, annotations=list), _label_studio),
    Tool("Label Studio", _has(data=dict, completions=list), _label_studio),
    Tool("Label Studio", _has("annotation_id", "annotator", "lead_time"), _label_studio_min),
    Tool("Argilla", _has(fields=dict, responses=list | dict), _argilla),
    Tool(
        "Argilla", lambda values: any(name.endswith(".responses.users") for name in values), _argilla_columns
    ),
    Tool("Prodigy", _has("_task_hash"), _prodigy),
    Tool("Promptfoo", _has("vars", "provider", "response"), _promptfoo),
    Tool("Promptfoo", lambda values: any(map(_PROMPT.match, values)), _promptfoo_table),
    Tool("Mechanical Turk", _has("HITId", "WorkerId"), _mturk),
    Tool("doccano", _is_doccano, _doccano),
    Tool("annotated spans", _are("annotations", "spans"), _spans),
    Tool("QAGS", _are("summary_sentences", "responses"), _qags),
    Tool("FRANK", _has("summary_sentences", "summary_sentences_annotations"), _frank),
    Tool("TofuEval", _has("doc_id", "model_name", "summ_sent"), _tofueval, ("doc_id", "topic", "model_name")),
    Tool("XSum hallucinations", _has("summary", "hallucination_type", "worker_id"), _xsum_marks),
    Tool("RoSE", _has("source", "reference", "reference_acus", "system_outputs", "annotations"), _rose),
    Tool("REALSumm", _has("ref_summ", "system_summaries"), _realsumm),
    Tool("SummEval", _has(machine_summaries=list), _machine_summaries),
    Tool("a row for each rating", _columns_of_rating, _rating_rows),
    Tool("a pair of columns for each system", _pairs, _pair_rows),
    Tool("SummHay", _has("subtopics", "documents"), _summhay),
    Tool("SummHay", _has("reference_insights", "summary"), _summhay),
)
