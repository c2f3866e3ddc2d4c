"""A nested line: one document with its summaries, its claims and what people said of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from annotation.imports.dataset import ClaimData, Dataset, FlatRow, NestedRow, Side, Votes
from annotation.imports.fields import Fields
from annotation.imports.problems import Problems, Remedy, Warnings
from annotation.imports.streams import Record
from evaluation.judging import LABELS

_LABELS: Mapping[object, str] = {0: "no", 1: "yes", **{label: label for label in LABELS}}

_OF_DOCUMENT = (
    "doc_id",
    "source_text",
    "reference_text",
    "systems",
    "claims",
    "group",
    "language",
    "metadata",
    "questions",
)
_OF_SYSTEM = ("system", "summary_text")
_OF_CLAIM = ("claim_text", "weight", "verdicts", "raw_votes")
CLAIMS = "claims"
RATER = "rater {}"
"""What one who has no name in the file is called, by place from 1."""


def nested_row(fields: Fields, warnings: Warnings, unread: dict[str, None]) -> NestedRow | None:
    """The line, or None where something in it is wrong; every such thing is then noted in `fields`.

    What a line holds beyond the known fields is left unread and named in `unread`.
    """
    _note_unread(fields, _OF_DOCUMENT, "", unread)
    reference = fields.optional_text("reference_text")
    summaries = _summaries(fields, unread)
    document_id, documents = fields.identifier("doc_id", required=True), fields.documents("source_text")
    claims = tuple(_claims(fields, summaries, warnings, unread))
    group, language, metadata = fields.identifier("group"), fields.language(), fields.metadata()
    questions = fields.questions()
    if not fields.is_good:
        return None
    rows = tuple(
        FlatRow(
            line=fields.line,
            document_id=document_id,
            documents=documents,
            system=system,
            target=None,
            summary=summary,
            reference=reference if reference.strip() else None,
            group=group,
            language=language,
            questions=questions,
        )
        for system, summary in summaries.items()
    )
    for remark in filter(None, (row.remark for row in rows)):
        warnings.add(remark, line=fields.line)
    return NestedRow(rows, claims, metadata)


def side_of(row: NestedRow) -> Side | None:
    """What side a line's claims show; None without claims.

    They are peer-side if each belongs to exactly one system and stands word for word in that
    system's summary, white space aside; otherwise they are the reference's.
    """
    if not row.claims:
        return None
    texts = {one.system: one.summary for one in row.rows}
    return "peer" if all(_is_of_peer(claim, texts) for claim in row.claims) else "reference"


def drop_ownerless(dataset: Dataset, problems: Problems) -> None:
    """Note and leave out documents whose claims cannot be peer-side: not of exactly one system."""
    for document_id in list(dataset.sets):
        one = dataset.sets[document_id]
        wrong = [place for place, claim in enumerate(one.claims, start=1) if len(claim.systems) != 1]
        for place in wrong:
            problems.add(
                one.line,
                f"claims[{place}].verdicts",
                f"names {len(one.claims[place - 1].systems)} systems; a peer-side claim belongs to "
                "exactly one. Take the claims as the reference's, or leave it to the file.",
                remedy=Remedy.CLAIMS_SIDE,
            )
        if wrong:
            del dataset.sets[document_id]


def _is_of_peer(claim: ClaimData, texts: Mapping[str, str]) -> bool:
    if len(claim.systems) != 1:
        return False
    (system,) = claim.systems
    return _spaced(claim.text) in _spaced(texts[system])


def _spaced(text: str) -> str:
    """The text between single spaces, so that a word is not found inside of another."""
    return f" {' '.join(text.split())} "


def _summaries(fields: Fields, unread: dict[str, None]) -> dict[str, str]:
    summaries: dict[str, str] = {}
    for place, item in _items(fields, "systems", required=True):
        _note_unread(item, _OF_SYSTEM, "systems[].", unread)
        system = item.identifier("system", required=True)
        summary = item.required_text("summary_text")
        fields.is_good &= item.is_good
        if system in summaries:
            fields.complain("systems", f"names {system!r} twice, the second time at place {place}.")
        elif system:
            summaries[system] = summary
    return summaries


def _claims(
    fields: Fields, summaries: Mapping[str, str], warnings: Warnings, unread: dict[str, None]
) -> Iterator[ClaimData]:
    said: dict[tuple[str, str], str] = {}
    for _, item in _items(fields, "claims", required=False):
        _note_unread(item, _OF_CLAIM, "claims[].", unread)
        text = item.required_text("claim_text")
        if item.is_good and not text.strip():
            item.complain("claim_text", "is empty.")
        votes = _votes(item, summaries, warnings)
        together = {system: _majority(of_system) for system, of_system in votes.items()}
        verdicts = {**together, **_verdicts(item, summaries)}
        for system, verdict in verdicts.items():
            if said.setdefault((text, system), verdict) != verdict:
                item.complain(
                    "claim_text", f"repeats an earlier claim with another verdict on {system!r}. Remove one."
                )
        weight, systems = _weight(item), _systems_named(item) & summaries.keys()
        claim = ClaimData(text=text, weight=weight, verdicts=verdicts, votes=votes, systems=systems)
        fields.is_good &= item.is_good
        yield claim


def _items(fields: Fields, name: str, *, required: bool) -> Iterator[tuple[int, Fields]]:
    value = fields.raw(name)
    if value is None and not required:
        return
    if not isinstance(value, list) or (required and not value):
        fields.complain(
            name, "must be a list of objects" + (" with at least one in it." if required else ".")
        )
        return
    column = fields.column(name)
    for place, values in enumerate(value, start=1):
        prefix = f"{fields.prefix}{column}[{place}]."
        if not isinstance(values, dict):
            fields.complain(name, f"must be a list of objects; the one at place {place} is none.")
            continue
        yield place, Fields(Record(fields.line, values), fields.mapping, fields.problems, prefix)


def _weight(item: Fields) -> float:
    value = item.raw("weight")
    if value is None:
        return 1.0
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    weight = float(value) if is_number and isinstance(value, int | float) else math.nan
    if not weight > 0:
        item.complain("weight", "must be a number above 0.")
        return 1.0
    return weight


def _verdicts(item: Fields, summaries: Mapping[str, str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for system, given in _by_system(item, "verdicts", 'to 0 or 1, such as {"lead": 1}', summaries):
        if (label := _label(given)) is not None:
            labels[system] = label
        else:
            item.complain("verdicts", f"gives {system!r} {_NO_LABEL}.")
    return labels


def _votes(item: Fields, summaries: Mapping[str, str], warnings: Warnings) -> dict[str, Votes]:
    """What each rater said of each system's summary, who is named, or numbered by place; gaps left out."""
    found: dict[str, Votes] = {}
    wanted = 'to its votes, such as {"lead": [1, 0, 1]}'
    for system, given in _by_system(item, "raw_votes", wanted, summaries):
        if isinstance(given, list):
            named = [(RATER.format(place), vote) for place, vote in enumerate(given, start=1)]
        elif isinstance(given, dict):
            named = [(str(name).strip(), vote) for name, vote in given.items()]
        else:
            item.complain("raw_votes", f"gives {system!r} no list of votes and no object from rater to vote.")
            continue
        votes = [(name, vote) for name, vote in named if vote is not None]
        labels = tuple((name, label) for name, vote in votes if (label := _label(vote)) is not None)
        if len(labels) < len(votes):
            item.complain("raw_votes", f"gives {system!r} {_NO_LABEL} among its votes.")
        elif len({name for name, _ in labels if name}) < len(labels):
            item.complain("raw_votes", f"names a rater of {system!r} twice, or not at all.")
        elif labels:
            found[system] = labels
        else:
            warnings.add(f"`{item.prefix}raw_votes` gives {system!r} no vote.", line=item.line)
    return found


def _systems_named(item: Fields) -> frozenset[str]:
    """The systems that a claim names, with an answer or with null."""
    values = [item.raw(name) for name in ("verdicts", "raw_votes")]
    return frozenset(str(key).strip() for value in values if isinstance(value, dict) for key in value)


_NO_LABEL = f"something else than 0 or 1 (or {', '.join(LABELS)})"


def _label(given: object) -> str | None:
    return _LABELS.get(given) if isinstance(given, int | float | str) else None


def _majority(votes: Votes) -> str:
    """What most raters said; unsure where no answer leads."""
    (label, most), *others = Counter(label for _, label in votes).most_common()
    return "unsure" if others and others[0][1] == most else label


def _by_system(
    item: Fields, name: str, wanted: str, summaries: Mapping[str, str]
) -> Iterator[tuple[str, object]]:
    """What a claim holds of each system that has a summary in the line; what is null left out."""
    value = item.raw(name)
    if value is None:
        return
    if not isinstance(value, dict):
        item.complain(name, f"must be an object from system {wanted}.")
        return
    for key, given in value.items():
        system = str(key).strip()
        if system not in summaries:
            item.complain(name, f"names the system {system!r}, which has no summary in this line.")
        elif given is not None:
            yield system, given


def _note_unread(fields: Fields, known: tuple[str, ...], prefix: str, unread: dict[str, None]) -> None:
    read = {fields.column(name) for name in known}
    if CLAIMS in fields.record.values and CLAIMS not in read:
        fields.complain(
            CLAIMS, "is not read here. Claims stand beside `systems`, each with its verdicts by system."
        )
    unread.update(dict.fromkeys(f"{prefix}{name}" for name in fields.record.values if name not in read))
