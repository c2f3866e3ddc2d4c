"""What is there already of some document sets, fetched with a few queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Max, Q

from annotation.imports.dataset import TargetWords, Votes
from annotation.models import (
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Comparison,
    CoverageJudgment,
    Document,
    DocumentSet,
    Project,
    Rating,
    SampledCheck,
    Summary,
    Verdict,
)
from annotation.models.claim import CHANGED_BY_PEOPLE, QUESTIONS

ORIGIN = "import:"
"""What the origin of an imported verdict begins with."""

OwnerOfClaims = Summary | DocumentSet


@dataclass(slots=True)
class Existing:
    """The rows of some document sets, by what a file calls them. Empty for a project not saved yet."""

    sets: dict[str, DocumentSet] = field(default_factory=dict)
    documents: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    summaries: dict[int, list[Summary]] = field(default_factory=lambda: defaultdict(list))
    comparisons: set[tuple[int, int]] = field(default_factory=set)
    claims: dict[tuple[type[OwnerOfClaims], int], list[Claim]] = field(
        default_factory=lambda: defaultdict(list)
    )
    versions: dict[tuple[type[OwnerOfClaims], int], int] = field(default_factory=dict)
    checks: dict[tuple[int, int], int] = field(default_factory=dict)
    answers: dict[int, dict[str, tuple[str | None, Votes]]] = field(default_factory=lambda: defaultdict(dict))
    questions: dict[int, list[Claim]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def load(
        cls,
        project: Project,
        document_ids: Collection[str],
        *,
        with_verdicts: bool,
    ) -> Existing:
        found = cls()
        if project._state.adding:
            return found
        rows = DocumentSet.objects.filter(project=project, external_id__in=document_ids)
        found.sets = {row.external_id: row for row in rows}
        if not found.sets:
            return found
        keys = [row.pk for row in found.sets.values()]
        for document in Document.objects.filter(document_set__in=keys).order_by("position"):
            found.documents[document.document_set_id].append(document.text)
        by_key = {row.pk: row for row in found.sets.values()}
        for summary in Summary.objects.filter(document_set__in=keys).select_related("system").order_by("pk"):
            summary.document_set = by_key[summary.document_set_id]
            found.summaries[summary.document_set_id].append(summary)
        found.comparisons = set(
            Comparison.objects.filter(peer__document_set__in=keys).values_list("peer_id", "model_id")
        )
        questions = Claim.all_claims.filter(QUESTIONS, claim_set__document_set__in=keys)
        for question in questions.select_related("claim_set").order_by("position"):
            found.questions[question.claim_set.document_set_id or 0].append(question)
        found._load_claims(keys)
        if with_verdicts:
            found._load_verdicts(keys)
        return found

    def _load_claims(self, set_ids: list[int]) -> None:
        of_sets = Q(summary__document_set__in=set_ids) | Q(document_set__in=set_ids)
        versions = ClaimSet.objects.filter(of_sets, kind=ClaimSet.Kind.CLAIMS).values_list(
            "summary_id", "document_set_id"
        )
        for summary_id, document_set_id, latest in versions.annotate(latest=Max("version")).order_by():
            self.versions[_owner_key(summary_id, document_set_id)] = latest
        claims = Claim.all_claims.filter(
            Q(claim_set__summary__document_set__in=set_ids) | Q(claim_set__document_set__in=set_ids),
            ~QUESTIONS,
            claim_set__is_active=True,
        )
        lists: dict[tuple[type[OwnerOfClaims], int], list[Claim]] = defaultdict(list)
        for claim in claims.select_related("claim_set").order_by("claim_set_id", "pk"):
            owner = _owner_key(claim.claim_set.summary_id, claim.claim_set.document_set_id)
            lists[owner].append(claim)
        # As they came: a file that is read again finds its own, also where people have reworded some since.
        for owner, rows in lists.items():
            self.claims[owner] = [row for row in rows if row.origin != ClaimOrigin.PERSON] or rows

    def _load_verdicts(self, set_ids: list[int]) -> None:
        checks = Check.objects.filter(peer__document_set__in=set_ids)
        for check_id, claim_id, peer_id in checks.values_list("pk", "claim_id", "peer_id"):
            self.checks[claim_id, peer_id] = check_id
        imported = Verdict.objects.filter(
            check_row__peer__document_set__in=set_ids,
            role=Verdict.Role.REVIEWER,
            person=None,
            origin_name__startswith=ORIGIN,
        )
        for check_id, origin, label, votes in imported.order_by("pk").values_list(
            "check_row_id", "origin_name", "label", "votes"
        ):
            # The order of a dict is that of the first time: the latest must come last.
            self.answers[check_id].pop(origin, None)
            self.answers[check_id][origin] = label, tuple((name, vote) for name, vote in votes)

    def peer(self, document_set: DocumentSet, system: str, target: TargetWords) -> Summary | None:
        rows = (row for row in self.of_set(document_set) if row.is_peer and row.target_words == target)
        return next((row for row in rows if row.system and row.system.name == system), None)

    def model(self, document_set: DocumentSet, reference_id: str, target: TargetWords) -> Summary | None:
        rows = (row for row in self.of_set(document_set) if row.is_model and row.target_words == target)
        return next((row for row in rows if row.external_id == reference_id), None)

    def reference_by(
        self, document_set: DocumentSet, author: str, target: TargetWords, text: str
    ) -> Summary | None:
        """A reference that is no peer yet and has this author, target and text."""
        rows = (row for row in self.of_set(document_set) if not row.is_peer and row.target_words == target)
        return next(
            (row for row in rows if row.text == text and row.system and row.system.name == author), None
        )

    def of_set(self, document_set: DocumentSet) -> list[Summary]:
        """All summaries of a set, in whatever role."""
        return self.summaries.get(document_set.pk, []) if document_set.pk else []

    def served(self, model: Summary) -> set[TargetWords]:
        """The target lengths of the summaries that are compared with a reference."""
        return {
            peer.target_words
            for peer in self.of_set(model.document_set)
            if (peer.pk, model.pk) in self.comparisons
        }

    def is_compared_with(self, model: Summary, system: str) -> bool:
        """Whether a summary of that system is compared with the reference already."""
        return any(
            (peer.pk, model.pk) in self.comparisons and peer.system and peer.system.name == system
            for peer in self.of_set(model.document_set)
        )

    def active_claims(self, owner: OwnerOfClaims) -> list[Claim]:
        return self.claims.get((type(owner), owner.pk), []) if owner.pk else []

    def next_version(self, owner: OwnerOfClaims) -> int:
        return self.versions.get((type(owner), owner.pk), 0) + 1 if owner.pk else 1

    def has_answer(self, check_id: int, origin: str, label: str, votes: Votes) -> bool:
        """Whether a file of that name said so last of this check, or, if it never spoke, any file did."""
        said = self.answers.get(check_id)
        if not said:
            return False
        return (said[origin] if origin in said else list(said.values())[-1]) == (label, votes)


def _owner_key(summary_id: int | None, document_set_id: int | None) -> tuple[type[OwnerOfClaims], int]:
    return (Summary, summary_id) if summary_id is not None else (DocumentSet, document_set_id or 0)


def summary_key(summary: Summary) -> int:
    """What a summary is found by: its key or, unsaved, its place in memory, below all keys."""
    return -id(summary) if summary._state.adding else summary.pk


def judged_document_sets(keys: Iterable[int]) -> set[int]:
    """Of which of these sets the documents have been judged against, or judged by, in some verdict."""
    return _reached(
        keys,
        (Verdict.objects.filter(check_row__side=Check.Side.PEER), "check_row__peer__document_set"),
        (Verdict.objects, "check_row__claim__claim_set__document_set"),
        # Completeness and conciseness hold a summary's length and words against the documents'.
        (Rating.objects.filter(judge__isnull=False), "summary__document_set"),
        (Summary.objects.exclude(computed={}), "document_set"),
    )


def judged_claim_sets(keys: Iterable[int]) -> set[int]:
    """Of which of these claim sets a claim has been answered, sampled, given a percent or changed by somebody."""
    return _reached(
        keys,
        (Verdict.objects, "check_row__claim__claim_set"),
        (CoverageJudgment.objects, "claim__claim_set"),
        (SampledCheck.objects, "check_row__claim__claim_set"),
        (Claim.all_claims.filter(CHANGED_BY_PEOPLE), "claim_set"),
    )


def _reached(keys: Iterable[int], *statements: tuple[Any, str]) -> set[int]:
    """Those of the keys that some of these rows lead to, each by its path; one query for each."""
    wanted = set(keys)
    if not wanted:
        return set()
    found: set[int] = set()
    for rows, path in statements:
        found.update(
            rows.filter(**{f"{path}__in": wanted}).order_by().values_list(path, flat=True).distinct()
        )
    return found
