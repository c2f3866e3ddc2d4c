"""Files of tools that annotate and of published studies, laid flat: plain columns, and people's answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, replace
from itertools import chain, groupby
from typing import Any, NamedTuple

from annotation.imports.files import Marked, NotJson, Record, Said, load_json
from annotation.imports.layout import GENERAL, document_hash, opened, plain
from annotation.imports.problems import Problems
from annotation.imports.rows import RATER

Values = Mapping[str, Any]
Rows = Iterator[tuple[dict[str, object], Said]]

_ERROR = re.compile(
    r"wrong|error|halluc|unsupp|not.?supp|incorrect|false|contradict|trinsic|unfaithful|inconsisten|fabricat|invent|"
    r"mistake|untrue|(un|non.?)factual|unverif",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(r"no[\s_-]|not an?\b", re.IGNORECASE)
_PROMPT = re.compile(r"\[([^\[\]]+)\]\s+\S")
_GRADE = re.compile(r"\[(PASS|FAIL|ERROR)\](?: \([\d.]+\))?\s*")
_GRADED = re.compile(r"\n+(?:Pass|Fail|Error) Reason:.*\Z", re.DOTALL)
_ASIDE = re.compile(r"comment|note|reason|why|explan|feedback", re.IGNORECASE)
_OF_MTURK = re.compile(
    r"Input\.|Answer\.|HIT|Title$|Description$|Keywords$|Reward$|Creation|Max|Requester|Assignment|Auto|Expiration$|"
    r"NumberOf|Lifetime|WorkerId$|Accept|Submit|Approv|Reject|WorkTime|Last\d"
)
"""Columns that Mechanical Turk itself writes."""
_CHOSEN = {"true": True, "on": True, "false": False}
_KINDS = [str, int, int, str, str, str]
"""The types of the values of a mark."""
LEFT_OUT = "They are marked as rejected or ignored, or have no output."
_TAG = re.compile(r"\s*</?t>\s*")
_NOTHING = {"", "null", "none", "na", "n/a", "nan"}


class Tool(NamedTuple):
    """A layout of one tool: its title, whether a record is one, and the rows in it.

    `key` names the columns that are equal in the records of one row, where it takes several.
    """

    title: str
    shows: Callable[[Values], object]
    rows: Callable[[Any], Rows]
    key: tuple[str, ...] = ()


class _Read(dict[str, Any]):
    """The values of a record, which notes what a tool's function reads of them."""

    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self._asked: set[str] = set()

    @property
    def unread(self) -> list[str]:
        """The names of filled fields that were not asked for."""
        return [
            name
            for name in dict.keys(self)
            if name not in self._asked and dict.get(self, name) not in ("", None)
        ]

    def __getitem__(self, name: str) -> Any:
        self._asked.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._asked.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self._asked.update(dict.keys(self))
        return super().__iter__()

    def keys(self) -> Any:
        self._asked.update(dict.keys(self))
        return super().keys()

    def items(self) -> Any:
        self._asked.update(dict.keys(self))
        return super().items()


def laid_flat(records: Iterator[Record], problems: Problems) -> tuple[str, Iterator[Record]]:
    """The title of the tool whose file this is, and its records laid flat; other records as they are, without a title.

    A record that the tool would not write is a problem.
    """
    first = next(records, None)
    if first is None:
        return "", iter(())
    records = chain([first], records)
    tool = next((tool for tool in TOOLS if tool.shows(first.values)), None)
    return (tool.title, _flat(tool, records, problems)) if tool else ("", records)


def _flat(tool: Tool, records: Iterator[Record], problems: Problems) -> Iterator[Record]:
    def key(record: Record) -> object:
        return tuple(record.values.get(name) for name in tool.key) or record.line

    left_out = 0
    last: Record | None = None
    for _, together in groupby(records, key):
        group = list(together)
        read = [_Read(record.values) for record in group]
        try:
            rows = list(tool.rows(read if tool.key else read[0]))
            for _, said in rows:
                _check(said)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            problems.add(
                group[0].line,
                "",
                f"is not laid out as {tool.title} writes it, while the first record is. Remove or correct it.",
            )
            continue
        left_out += not rows
        for values, said in rows:
            said.unread.extend(chain(*(one.unread for one in read)))
            if last is not None:
                yield last
            last = Record(group[0].line, values, said)
    if last is not None:
        if left_out:
            last.said.remarks.append(f"Records left out: {left_out:,}. {LEFT_OUT}")
        yield last


def _check(said: Said) -> None:
    """Raises TypeError where a name or a sentence is no text, or an offset no number."""
    for first, second, *_ in (*said.ratings, *((text, reason) for text, _, reason in said.claims)):
        if not isinstance(first, str) or not isinstance(second, str):
            raise TypeError("what people said has names and texts")
    for mark in said.marks:
        if [type(value) for value in astuple(mark)] != _KINDS or mark.start < 0:
            raise TypeError("a mark has offsets and texts")


def _mark(said: Said, mark: Marked, labels: Iterable[str]) -> None:
    """Note a mark whose labels name an error."""
    labels = list(labels)
    if any(_ERROR.search(label) and not _NO_ERROR.match(label) for label in labels):
        said.marks.append(replace(mark, reason=", ".join(labels)))
    else:
        named = " and ".join(f"`{label}`" for label in labels) or "nothing"
        said.remarks.append(f"Stretches labelled {named} are not read: no label names an error.")


def _name(given: object) -> str:
    """The name of a person whom a tool gives as a number, a text or an object."""
    if isinstance(given, dict):
        given = given.get("email") or given.get("username") or given.get("id")
    return "" if given is None else str(given)


def _label_studio(values: Values) -> Rows:
    data, said = values["data"], Said()
    written: dict[str, dict[str, object]] = {}
    for place, annotation in enumerate(values.get("annotations") or values.get("completions") or (), start=1):
        if annotation.get("was_cancelled"):
            continue
        rater = _name(annotation.get("completed_by")) or RATER.format(place)
        said.marks.append(Marked(rater))
        for result in annotation["result"]:
            value, name, kind = result["value"], result.get("from_name", ""), result.get("type", "")
            if "labels" in kind:
                whole = str(data.get(result.get("to_name", ""), ""))
                mark = Marked(rater, value["start"], value["end"], value.get("text", ""), text=whole)
                _mark(said, mark, value.get(kind) or ())
            elif kind == "textarea" and not _ASIDE.search(name):
                text = value["text"]
                written.setdefault(rater, {})[name] = text if isinstance(text, str) else "\n".join(text)
            elif kind in {"rating", "number"}:
                said.ratings.append((name, rater, value[kind]))
            elif kind == "choices":
                chosen = value["choices"]
                said.ratings.append((name, rater, chosen[0] if len(chosen) == 1 else chosen))
    # The id is that of the task: one document has several.
    row = {
        **{name: value for name, value in values.items() if name not in {"data", "id", *data}},
        **data,
    }
    for rater, texts in written.items():
        yield {**row, **texts, **({"annotator": rater} if len(written) > 1 else {})}, said
    if not written:
        yield row, said


def _label_studio_min(values: Values) -> Rows:
    said, rater = Said(), str(values["annotator"])
    said.marks.append(Marked(rater))
    row: dict[str, object] = {}
    for name, value in values.items():
        if name == "id":
            continue
        held = opened(value)
        if isinstance(held, dict) and "choices" in held:
            said.ratings.append((name, rater, held["choices"]))
        elif isinstance(held, list) and held and all(isinstance(one, dict) for one in held):
            for one in held:
                if "rating" in one or "number" in one:
                    said.ratings.append((name, rater, one.get("rating", one.get("number"))))
                else:
                    kind = next(key for key in one if "labels" in key)
                    _mark(said, Marked(rater, one["start"], one["end"], one.get("text", "")), one[kind])
        else:
            row[name] = value
    yield row, said


def _doccano(values: Values) -> Rows:
    said, rater = Said(), _name(values.get("annotator") or values.get("user")) or RATER.format(1)
    given = values.get("label", values.get("labels", values.get("entities")))
    if given and all(isinstance(one, str) for one in given):
        # A project of texts for texts: what people wrote. A word is the name of a class.
        name = "summary" if any(" " in one for one in given) else "label"
        rest = {name: value for name, value in values.items() if value is not given and name != "id"}
        yield {**rest, name: given[0] if len(given) == 1 else given}, said
        return
    said.marks.append(Marked(rater))
    for one in given:
        start, end, label = (
            (one["start_offset"], one["end_offset"], one["label"]) if isinstance(one, dict) else one
        )
        _mark(said, Marked(rater, start, end, text=values["text"]), [label])
    row = {name: value for name, value in values.items() if value is not given and name != "id"}
    yield _with_summary(row), said


def _with_summary(row: dict[str, object]) -> dict[str, object]:
    """The row, in which the text that was judged is the summary where another column holds the document."""
    if "summary" in row or not any(name != "text" and plain(name) in GENERAL["document"] for name in row):
        return row
    return {"summary" if name == "text" else name: value for name, value in row.items()}


def _argilla(values: Values) -> Rows:
    said = Said()
    responses = values["responses"]
    if isinstance(responses, list):
        answers = [
            (name, {"user_id": one.get("user_id"), "status": one.get("status"), **given})
            for one in responses
            for name, given in (one.get("values") or {}).items()
        ]
    else:
        answers = [(name, one) for name, given in responses.items() for one in given]
    for name, answer in answers:
        if answer.get("status") not in {None, "submitted"}:
            continue
        _answered(said, name, _name(answer.get("user_id")), answer["value"])
    yield {**(values.get("metadata") or {}), **values["fields"]}, said


def _answered(said: Said, question: str, rater: str, value: Any) -> None:
    """Note an answer of Argilla: marks, or a rating."""
    if isinstance(value, list) and all(isinstance(one, dict) and "start" in one for one in value):
        said.marks.append(Marked(rater))
        for one in value:
            _mark(said, Marked(rater, one["start"], one["end"]), [one["label"]])
    else:
        said.ratings.append((question, rater, value))


def _argilla_columns(values: Values) -> Rows:
    said, row = Said(), dict(values)
    for name in [
        name.removesuffix(".responses.users") for name in values if name.endswith(".responses.users")
    ]:
        users, states = values[f"{name}.responses.users"] or (), values.get(f"{name}.responses.status") or ()
        for place, (rater, value) in enumerate(zip(users, values[f"{name}.responses"] or (), strict=True)):
            if not states or states[place] == "submitted":
                _answered(said, name, _name(rater), value)
        own = f"{name}.responses", f"{name}.suggestion"
        row = {column: value for column, value in row.items() if not column.startswith(own)}
    yield (
        {column: value for column, value in row.items() if column not in {"id", "_server_id", "status"}},
        said,
    )


def _prodigy(values: Values) -> Rows:
    answer = values.get("answer", "accept")
    if answer == "ignore":
        return
    said = Said()
    rater = _name(values.get("_annotator_id") or values.get("_session_id"))
    if values.get("label") and "spans" not in values:
        said.ratings.append((str(values["label"]), rater, answer == "accept"))
    elif answer == "accept":
        if chosen := values.get("accept"):
            said.ratings.append(("choice", rater, chosen[0] if len(chosen) == 1 else chosen))
        if "spans" in values:
            said.marks.append(Marked(rater))
        for span in values.get("spans") or ():
            _mark(said, Marked(rater, span["start"], span["end"], text=values["text"]), [span["label"]])
    hidden = {"spans", "tokens", "options", "accept", "answer", "meta", "label"}
    row = {name: value for name, value in values.items() if name not in hidden and not name.startswith("_")}
    yield _with_summary({**(values.get("meta") or {}), **row}), said


def _promptfoo(values: Values) -> Rows:
    provider = values["provider"]
    named = provider.get("label") or provider.get("id") if isinstance(provider, dict) else provider
    output = (values.get("response") or {}).get("output")
    if output is not None:
        prompt = values.get("prompt")
        label = prompt.get("label") or prompt.get("raw") if isinstance(prompt, dict) else prompt
        yield (
            {**({"prompt": label} if label else {}), **values["vars"], "system": named, "summary": output},
            Said(),
        )


def _promptfoo_table(values: Values) -> Rows:
    prompts = {column: found[1] for column in values if (found := _PROMPT.match(column))}
    providers = list(prompts.values())
    rest = {name: value for name, value in values.items() if name not in prompts}
    for column, provider in prompts.items():
        cell = str(values[column] or "")
        grade = _GRADE.match(cell)
        if grade:
            cell = _GRADED.sub("", cell[grade.end() :]).rstrip()
        if grade and grade[1] == "ERROR":
            continue
        system = provider if providers.count(provider) == 1 else column[:200]
        yield {**rest, "system": system, "summary": cell}, Said()


def _mturk(values: Values) -> Rows:
    if values.get("AssignmentStatus") == "Rejected" or str(values.get("Reject") or "").strip():
        return
    said, rater = Said(), str(values["WorkerId"])
    for name, given in _mturk_answers(values, said).items():
        value = given
        if isinstance(given, dict):
            # A single box is ticked or not.
            ticked = [choice for choice, is_on in given.items() if is_on]
            value = bool(ticked) if len(given) == 1 else next(iter(ticked), None)
        if str(value).strip().lower() in _NOTHING:
            continue
        if _ASIDE.search(name):
            said.unread.append(f"Answer.{name}")
        else:
            said.ratings.append((name, rater, value))
    said.unread.extend(name for name, value in values.items() if value and not _OF_MTURK.match(name))
    inputs = {name: value for name, value in values.items() if name.startswith("Input.")}
    yield {name.removeprefix("Input."): value for name, value in inputs.items()}, said


def _mturk_answers(values: Values, said: Said) -> dict[str, Any]:
    """The answers by question; those to choices by choice."""
    answers: dict[str, Any] = {}
    for name, value in values.items():
        if name == "Answer.taskAnswers":
            try:
                held: Any = load_json(str(value))
                answers.update(held[0] if isinstance(held, list) else held)
            except NotJson:
                said.unread.append(name)
        elif name.startswith("Answer."):
            question, _, choice = name.removeprefix("Answer.").rpartition(".")
            if question and (is_on := _CHOSEN.get(str(value).strip().lower())) is not None:
                # A form without scripts writes a column for each choice.
                answers.setdefault(question, {})[choice] = is_on
            else:
                answers[name.removeprefix("Answer.")] = value
    return answers


def _qags(values: Values) -> Rows:
    said = Said()
    for sentence in values["summary_sentences"]:
        votes = {str(one["worker_id"]): str(one["response"]).lower() for one in sentence["responses"]}
        said.claims.append((sentence["sentence"], votes, ""))
    yield dict(values), said


def _frank(values: Values) -> Rows:
    said = Said()
    sentences, judged = values["summary_sentences"], values["summary_sentences_annotations"]
    for sentence, raters in zip(sentences, judged, strict=True):
        votes = {rater: "yes" if types == ["NoE"] else "no" for rater, types in raters.items()}
        errors = dict.fromkeys(error for types in raters.values() for error in types if error != "NoE")
        said.claims.append((sentence, votes, ", ".join(errors)))
    yield {name: value for name, value in values.items() if not name.startswith("summary_sentences")}, said


def _tofueval(rows: list[Values]) -> Rows:
    first, said = rows[0], Said()
    ordered = sorted(rows, key=lambda row: int(row["sent_idx"])) if "sent_idx" in first else rows
    texts: dict[str, None] = {}
    for row in ordered:
        sentence = row["summ_sent"]
        texts[sentence] = None
        label = str(row.get("sent_label", "")).strip().lower()
        if label not in _NOTHING:
            reason = ": ".join(filter(None, (str(row.get("type") or ""), str(row.get("exp") or ""))))
            said.claims.append((sentence, {RATER.format(1): label}, reason))
    topic = f": {first['topic']}" if first.get("topic") else ""
    yield (
        {
            "document_id": f"{first['doc_id']}{topic}",
            "group": first["doc_id"],
            "system": first["model_name"],
            "summary": " ".join(texts),
            **{name: first[name] for name in ("document", "reference") if name in first},
        },
        said,
    )


def _xsum_marks(values: Values) -> Rows:
    said, rater = Said(), str(values["worker_id"])
    said.marks.append(Marked(rater))
    kind = str(values["hallucination_type"] or "").strip()
    if kind.lower() not in _NOTHING:
        words = str(values["hallucinated_span"])
        start, end = (_offset(values.get(f"hallucinated_span_{side}")) for side in ("start", "end"))
        said.marks.append(Marked(rater, start, end or len(words), words, f"{kind} hallucination"))
    row = {name: value for name, value in values.items() if not name.startswith("hallucinat")}
    yield {name: value for name, value in row.items() if name != "worker_id"}, said


def _offset(cell: object) -> int:
    return int(str(cell)) if str(cell).isdecimal() else 0


def _rose(values: Values) -> Rows:
    outputs, judged, said = opened(values["system_outputs"]), opened(values["annotations"]), Said()
    _note_unread(said, "annotations.*", judged, {"acu_labels"})  # type: ignore[arg-type]
    claims: list[dict[str, object]] = [
        {"claim_text": text, "verdicts": {}} for text in values["reference_acus"]
    ]
    for system, given in judged.items():  # type: ignore[attr-defined]
        for claim, label in zip(claims, given["acu_labels"], strict=True):
            claim["verdicts"][system] = label  # type: ignore[index]
    yield (
        {
            "doc_id": values.get("example_id") or values.get("id") or document_hash([values["source"]]),
            "source_text": values["source"],
            "reference_text": values["reference"],
            "systems": [{"system": name, "summary_text": text} for name, text in outputs.items()],  # type: ignore[attr-defined]
            "claims": claims,
        },
        said,
    )


def _realsumm(values: Values) -> Rows:
    source, said = values.get("source", values.get("src")), Said()
    _note_unread(said, "system_summaries.*", values["system_summaries"], {"system_summary"})
    yield (
        {
            "doc_id": values.get("doc_id", values.get("id")),
            **({} if source is None else {"source_text": source}),
            "reference_text": _without_tags(values["ref_summ"]),
            "systems": [
                {"system": name, "summary_text": _without_tags(given["system_summary"])}
                for name, given in values["system_summaries"].items()
            ],
        },
        said,
    )


def _without_tags(text: str) -> str:
    """The text without the tags <t> and </t> around its sentences."""
    return _TAG.sub(" ", text).strip()


def _note_unread(said: Said, path: str, given: Mapping[str, Values], known: set[str]) -> None:
    names = dict.fromkeys(name for one in given.values() for name in one if name not in known)
    said.unread.extend(f"{path}.{name}" for name in names)


def _machine_summaries(values: Values) -> Rows:
    rest = {name: value for name, value in values.items() if not isinstance(value, list)}
    for place, text in enumerate(values["machine_summaries"], start=1):
        yield (
            {
                **rest,
                "references": values.get("human_summaries"),
                "system": f"system {place}",
                "summary": text,
            },
            Said(),
        )


def _has(*names: str) -> Callable[[Values], bool]:
    return lambda values: all(name in values for name in names)


def _are_sentences(values: Values) -> bool:
    sentences = values.get("summary_sentences")
    return isinstance(sentences, list) and all(
        isinstance(one, dict) and "responses" in one for one in sentences
    )


def _is_argilla(values: Values) -> bool:
    return isinstance(values.get("fields"), dict) and isinstance(values.get("responses"), list | dict)


def _is_label_studio(values: Values) -> bool:
    return isinstance(values.get("data"), dict) and isinstance(
        values.get("annotations", values.get("completions")), list
    )


def _is_doccano(values: Values) -> bool:
    given = values.get("label", values.get("labels", values.get("entities")))
    return "id" in values and isinstance(values.get("text"), str) and isinstance(given, list)


TOOLS = (
    Tool("Label Studio", _is_label_studio, _label_studio),
    Tool("Label Studio", _has("annotation_id", "annotator", "lead_time"), _label_studio_min),
    Tool("Argilla", _is_argilla, _argilla),
    Tool(
        "Argilla", lambda values: any(name.endswith(".responses.users") for name in values), _argilla_columns
    ),
    Tool("Prodigy", _has("_task_hash"), _prodigy),
    Tool("Promptfoo", _has("vars", "provider", "response"), _promptfoo),
    Tool("Promptfoo", lambda values: any(map(_PROMPT.match, values)), _promptfoo_table),
    Tool("Mechanical Turk", _has("HITId", "WorkerId"), _mturk),
    Tool("doccano", _is_doccano, _doccano),
    Tool("QAGS", _are_sentences, _qags),
    Tool("FRANK", _has("summary_sentences", "summary_sentences_annotations"), _frank),
    Tool(
        "TofuEval",
        _has("doc_id", "model_name", "summ_sent"),
        _tofueval,
        ("doc_id", "topic", "model_name"),
    ),
    Tool("XSum hallucinations", _has("summary", "hallucination_type", "worker_id"), _xsum_marks),
    Tool("RoSE", _has("source", "reference", "reference_acus", "system_outputs", "annotations"), _rose),
    Tool("REALSumm", _has("ref_summ", "system_summaries"), _realsumm),
    Tool("SummEval", lambda values: isinstance(values.get("machine_summaries"), list), _machine_summaries),
)
