"""A nested line: one document with its summaries, its claims and what people said of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from annotation.imports.fields import RATER_NAMES, Fields, ratings_in, read_ratings
from annotation.imports.files import Record
from annotation.imports.layout import plain
from annotation.imports.problems import Problems, Remedy, Warnings
from annotation.imports.rows import (
    RATER,
    ClaimData,
    Dataset,
    RatingData,
    Row,
    Side,
    Votes,
    majority,
)
from evaluation.judging import LABELS

_LABELS: Mapping[object, str] = {0: "no", 1: "yes", **{label: label for label in LABELS}}

_OF_DOCUMENT = (
    "doc_id",
    "source_text",
    "reference_text",
    "reference_id",
    "target_words",
    "systems",
    "claims",
    "group",
    "language",
    "metadata",
    "questions",
)
_OF_SYSTEM = ("system", "summary_text", "ratings", "claims")
_OF_CLAIM = ("claim_text", "weight", "verdicts", "raw_votes", "reasons", "unit")
CLAIMS = "claims"


def nested_rows(fields: Fields, warnings: Warnings, unread: dict[str, None]) -> list[Row]:
    """A row for each summary of the line, the claims in the first; none where something in it is wrong.

    Every such thing is then noted in `fields`. What a line holds beyond the known fields is left unread and named in
    `unread`.
    """
    _note_unread(fields, _OF_DOCUMENT, "", unread)
    texts = replace(
        fields,
        mapping={**fields.mapping, "reference": fields.column("reference_text")},
        given={"reference_author": None},
    )
    references = texts.references()
    document_id = fields.identifier("doc_id", required=True)
    documents = fields.documents("source_text", required=not references)
    group, language, metadata = fields.identifier("group"), fields.language(), fields.metadata()
    questions, target = fields.questions(), fields.target()
    summaries = _summaries(fields, unread, warnings)
    claims = tuple(_claims(fields, summaries, warnings, unread))
    if claims and len(references) > 1:
        fields.complain(
            "claims",
            "stand beside several references, and do not say of which they are. Write a line with one.",
        )
    if not (fields.is_good and texts.is_good):
        return []
    rows = [
        Row(
            line=fields.line,
            document_id=document_id,
            documents=documents,
            system=system,
            target=target,
            summary=summary,
            references=references,
            group=group,
            language=language,
            metadata=metadata,
            questions=questions,
            ratings=ratings,
            own_claims=own,
        )
        for system, (summary, ratings, own) in summaries.items()
    ]
    for remark in filter(None, (row.remark for row in rows)):
        warnings.add(remark, line=fields.line)
    return [replace(rows[0], claims=claims), *rows[1:]]


def side_of(rows: Sequence[Row]) -> Side | None:
    """What side a line's claims show; None without claims.

    They are peer-side if each belongs to exactly one system and stands word for word in that
    system's summary, white space aside; otherwise they are the reference's.
    """
    claims = rows[0].claims
    if not claims:
        return None
    texts = {row.system: row.summary for row in rows}
    return "peer" if all(_is_of_peer(claim, texts) for claim in claims) else "reference"


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


_Summaries = dict[str, tuple[str, tuple[RatingData, ...], tuple[ClaimData, ...]]]
"""The text, the ratings and the own claims of each system's summary."""


def _summaries(fields: Fields, unread: dict[str, None], warnings: Warnings) -> _Summaries:
    summaries: _Summaries = {}
    for place, item in _items(fields, "systems", required=True):
        _note_unread(item, _OF_SYSTEM, "systems[].", unread)
        system = item.identifier("system", required=True)
        summary = item.required_text("summary_text")
        own = tuple(_claims(item, {system: ()}, warnings, unread))
        fields.is_good &= item.is_good
        ratings, left = read_ratings(ratings_in("rating", item.raw("ratings"), ""))
        for remark in left:
            warnings.add(remark, line=fields.line)
        if system in summaries:
            fields.complain("systems", f"names {system!r} twice, the second time at place {place}.")
        elif system:
            summaries[system] = summary, tuple(ratings), own
    return summaries


def _claims(
    fields: Fields, summaries: Mapping[str, object], warnings: Warnings, unread: dict[str, None]
) -> Iterator[ClaimData]:
    said: dict[tuple[str, str], str] = {}
    for _, item in _items(fields, "claims", required=False):
        _note_unread(item, _OF_CLAIM, "claims[].", unread)
        text = item.required_text("claim_text")
        if item.is_good and not text.strip():
            item.complain("claim_text", "is empty.")
        votes = _votes(item, summaries, warnings)
        together = {system: majority(label for _, label in of_system) for system, of_system in votes.items()}
        verdicts = {**together, **_verdicts(item, summaries)}
        for system, verdict in verdicts.items():
            if said.setdefault((text, system), verdict) != verdict:
                item.complain(
                    "claim_text", f"repeats an earlier claim with another verdict on {system!r}. Remove one."
                )
        weight, systems = _weight(item), _systems_named(item) & summaries.keys()
        reasons = {
            system: given
            for system, given in _by_system(item, "reasons", "to a text", summaries)
            if isinstance(given, str)
        }
        unit = item.raw("unit")
        number = unit if isinstance(unit, int) and unit > 0 else None
        claim = ClaimData(text, weight, verdicts, votes=votes, systems=systems, reasons=reasons, unit=number)
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


def _verdicts(item: Fields, summaries: Mapping[str, object]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for system, given in _by_system(item, "verdicts", 'to 0 or 1, such as {"lead": 1}', summaries):
        if (label := label_of(given)) is not None:
            labels[system] = label
        else:
            item.complain("verdicts", f"gives {system!r} {NO_LABEL}.")
    return labels


def _votes(item: Fields, summaries: Mapping[str, object], warnings: Warnings) -> dict[str, Votes]:
    """What each rater said of each system's summary, who is named, or numbered by place; gaps left out."""
    found: dict[str, Votes] = {}
    wanted = 'to its votes, such as {"lead": [1, 0, 1]}'
    for system, given in _by_system(item, "raw_votes", wanted, summaries):
        if isinstance(given, list):
            named = [_named_vote(place, vote) for place, vote in enumerate(given, start=1)]
        elif isinstance(given, dict):
            named = [(str(name).strip(), vote) for name, vote in given.items()]
        else:
            item.complain("raw_votes", f"gives {system!r} no list of votes and no object from rater to vote.")
            continue
        votes = [(name, vote) for name, vote in named if vote is not None]
        labels = tuple((name, label) for name, vote in votes if (label := label_of(vote)) is not None)
        if len(labels) < len(votes):
            item.complain("raw_votes", f"gives {system!r} {NO_LABEL} among its votes.")
        elif len({name for name, _ in labels if name}) < len(labels):
            item.complain("raw_votes", f"names a rater of {system!r} twice, or not at all.")
        elif labels:
            found[system] = labels
        else:
            warnings.add(f"`{item.prefix}raw_votes` gives {system!r} no vote.", line=item.line)
    return found


def _named_vote(place: int, vote: object) -> tuple[str, object]:
    """A vote with its rater's name: of an object such as {"worker": 7, "vote": 1} what it says, else by place."""
    if not isinstance(vote, dict) or "vote" not in vote:
        return RATER.format(place), vote
    names = (str(value) for name, value in vote.items() if plain(name) in RATER_NAMES)
    return next(names, RATER.format(place)), vote["vote"]


def _systems_named(item: Fields) -> frozenset[str]:
    """The systems that a claim names, with an answer or with null."""
    values = [item.raw(name) for name in ("verdicts", "raw_votes", "reasons")]
    return frozenset(str(key).strip() for value in values if isinstance(value, dict) for key in value)


NO_LABEL = f"something else than 0 or 1 (or {', '.join(LABELS)})"


def label_of(given: object) -> str | None:
    """The label that a file means: 1 and 0, yes, no and unsure; None for anything else."""
    return _LABELS.get(given) if isinstance(given, int | float | str) else None


def _by_system(
    item: Fields, name: str, wanted: str, summaries: Mapping[str, object]
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
