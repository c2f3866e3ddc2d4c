"""The list of watches, and the report of one: its state, scores by period, tests of the judge and alarms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from statistics import fmean
from typing import Literal

from annotation.core.lists import Choices, Column, Kind, List
from annotation.core.permissions import Verb
from annotation.models import Check, Watch, WatchPeriod
from evaluation.statistics import SampledValue, fit_correction, judge_change_p, mean_interval, watch_level
from evaluation.statistics import watch as looks_at

WatchState = Literal["steady", "worse", "judge_changed", "unknown"]
Cause = Literal["summaries", "judge", "either"]
STATES: Mapping[WatchState, str] = {
    "steady": "Steady",
    "worse": "Worse",
    "judge_changed": "Judge changed",
    "unknown": "Cannot tell yet",
}
EXIT_CODES: Mapping[WatchState, int] = {"steady": 0, "worse": 3, "judge_changed": 4, "unknown": 5}
DOCUMENTS_SHOWN = 5
REFERENCE, COMPARED, ALARM = "Reference", "Compared", "Alarm"
LATER = (COMPARED, ALARM)
RECENT = 2
"""The number of latest periods with summaries of which one must have a value."""
MOST_TESTS = 2
"""The maximum number of tests per period: one at its end, and one more if the judge's server names another model."""
YEAR = timedelta(days=365)

NOT_THE_JUDGE = "This rests on people's answers: the summaries or their documents changed, not the judge."
AFTER_A_DROP = (
    "Read the documents with the lowest scores, and see whether one group fell more than the others. Then ask what "
    "changed in the system or in its input."
)
STEADY_JUDGE = "The judge answers {} known checks as usual, so the summaries are more likely the cause."
AFTER_A_DROP_OF_EITHER = (
    "Read the documents with the lowest scores: if the judge is right about them, the summaries got worse."
)
AFTER_A_CHANGE_OF_JUDGE = (
    "Do not compare its scores with earlier ones. Set the earlier model in the judge's settings; to keep the new one, "
    "stop this watch and make another."
)

_STATES = Choices("WatchState", tuple(STATES.items()))
WATCHES = List(
    name="watches",
    verbs=(Verb.VIEW_SCORES,),
    rows=lambda viewer: Watch.objects.filter(project=viewer.project).select_related("project"),
    order=("name", "pk"),
    empty="No stream of summaries is watched yet.",
    columns=(
        Column("name", head="Watch", order=True, link="watch"),
        Column("id", "public_id"),
        Column("state", lambda watch: watch.latest["state"], choices=_STATES, head="State"),
        Column("sentence", lambda watch: watch.latest["sentence"], head="Found", help="Of the last report."),
        Column("archived_at", head="Stopped", kind=Kind.MOMENT, nullable=True),
    ),
)


@dataclass(frozen=True, slots=True)
class WatchPoint:
    """A score in a period. `answers` counts people's answers. `mean` is None without a value.

    `state` is "Reference", "Compared" or "Alarm", or the reason for a missing comparison. `total` counts the summaries
    of the period. The interval is a 95 % interval of documents; None below 10 documents.
    """

    start: datetime
    state: str
    total: int
    answers: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class GroupShift:
    """The means of a group in the reference and in the compared periods."""

    group: str
    reference: float
    now: float


@dataclass(frozen=True, slots=True)
class WatchedScore:
    """A score by period, with its reference. Without a comparison, `window` is 0 and `drop` is None.

    `is_alarm` is True if the newest comparison gives an alarm. `drop` is the fall from the reference to the last
    `window` periods, at the reference's shares of groups. `detectable` is the smallest fall that would be an alarm.
    `groups` begin with the one that fell most; empty without groups. `lowest` names the documents of the compared
    periods with the lowest values of the judge.
    """

    score: str
    reference: float | None
    reference_low: float | None
    reference_high: float | None
    points: tuple[WatchPoint, ...]
    is_alarm: bool
    window: int
    drop: float | None
    detectable: float | None
    groups: tuple[GroupShift, ...]
    lowest: tuple[str, ...]

    @property
    def words(self) -> str:
        return self.score.replace("_", " ")

    @property
    def latest(self) -> float | None:
        """The mean of the newest period that has a mean."""
        return next((each.mean for each in reversed(self.points) if each.mean is not None), None)


@dataclass(frozen=True, slots=True)
class AnchorChange:
    """A known check that the judge answered with the label `before` at first and `now` in the test."""

    check: str
    claim: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class AnchorTest:
    """A test of the judge after a period: it answered `flips` of `count` known checks differently than at first.

    `p` is the p-value for a judge that has not changed; None for the first tests, which give the usual number of flips.
    `changed` has the differently answered checks in the newest test, and is empty in others.
    """

    period: datetime
    model: str
    count: int
    flips: int
    p: float | None
    is_alarm: bool
    changed: tuple[AnchorChange, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """The first period of an alarm. `cause` is `summaries` (or their documents), `judge`, or `either` if the watch asks
    no people.
    """

    period: datetime
    cause: Cause
    subject: str


@dataclass(frozen=True, slots=True)
class WatchReport:
    """The report of a watch, with its alarms, newest first.

    Only periods since the last change of the basis count (see `era_of`).
    """

    id: str
    name: str
    state: WatchState
    sentence: str
    advice: str
    alarms: tuple[Alarm, ...]
    scores: tuple[WatchedScore, ...]
    anchors: tuple[AnchorTest, ...]


def era_of(periods: Sequence[WatchPeriod]) -> list[WatchPeriod]:
    """Return the periods with a basis since the basis last changed, in their order."""
    judged = [each for each in periods if each.basis]
    others = [place for place, each in enumerate(judged) if each.basis != judged[-1].basis]
    return judged[others[-1] + 1 :] if others else judged


def watch_report(watch: Watch) -> WatchReport:
    """Compare the periods of a watch with its reference."""
    periods = list(watch.periods.order_by("start"))
    era = era_of(periods)
    shown = [each for each in periods if era and each.start >= era[0].start]
    tests = _anchor_tests(watch, era)
    scores = [_watched(watch, score, era, shown) for score in watch.scores]
    alarms = [
        Alarm(at, "judge", "The judge changed") for at in _begins((e.period, e.is_alarm) for e in tests)
    ]
    for each in scores:
        compared = ((point.start, point.state == ALARM) for point in each.points if point.state in LATER)
        cause: Cause = "summaries" if watch.checks else "either"
        alarms += [Alarm(at, cause, f"{each.words.capitalize()} fell") for at in _begins(compared)]
    alarms.sort(key=lambda alarm: alarm.period, reverse=True)
    said = _said(watch, scores, tests)
    return WatchReport(watch.public_id, watch.name, *said, tuple(alarms), tuple(scores), tuple(tests))


def _begins(alarms: Iterable[tuple[datetime, bool]]) -> Iterator[datetime]:
    before = False
    for at, is_alarm in alarms:
        if is_alarm and not before:
            yield at
        before = is_alarm


Values = dict[str, list[float]]
"""The values of documents by group."""


def _watched(
    watch: Watch, score: str, era: Sequence[WatchPeriod], shown: Sequence[WatchPeriod]
) -> WatchedScore:
    settled = [
        each
        for each in era
        if each.settled_at and each.values.get(score) and (each.answers or not watch.checks)
    ]
    # Periods are compared in the order in which they were settled.
    settled.sort(key=lambda each: (each.settled_at, each.start))
    first, later = settled[: watch.reference_periods], settled[watch.reference_periods :]
    sampled = {
        row.pk: {name: SampledValue(*found[:-1]) for name, found in row.values.get(score, {}).items()}
        for row in shown
    }
    correction = fit_correction([value for row in first for value in sampled[row.pk].values()])

    def values(*rows: WatchPeriod) -> Values:
        found: defaultdict[str, list[float]] = defaultdict(list)
        for row in rows:
            for name, value in sampled[row.pk].items():
                group = row.values[score][name][-1]
                found[group].append(correction.of(value) if row.answers else value.judge)
        return found

    level = _level(watch)
    looks = looks_at(
        list(map(values, first)), list(map(values, later)), level=level, smallest_drop=watch.smallest_drop
    )
    states = {row.pk: REFERENCE for row in first}
    for row, each in zip(later, looks, strict=True):
        states[row.pk] = ALARM if each and each.is_alarm else COMPARED
    look = looks[-1] if looks else None
    compared = later[-look.window :] if look else []
    lowest = {name: value.judge for row in compared for name, value in sampled[row.pk].items()}
    return WatchedScore(
        score,
        *mean_interval([*chain(*values(*first).values())]),
        tuple(_point(row, states.get(row.pk, ""), [*chain(*values(row).values())]) for row in shown),
        bool(look and look.is_alarm),
        look.window if look else 0,
        look.drop if look else None,
        look.detectable if look else None,
        _shifts(values(*first), values(*compared)) if watch.group_by else (),
        # Choose by the judge's values.
        tuple(name.partition(" ")[2] for name in sorted(lowest, key=lowest.__getitem__)[:DOCUMENTS_SHOWN]),
    )


def _point(row: WatchPeriod, state: str, values: list[float]) -> WatchPoint:
    state = state or (row.get_state_display() if row.total else "No summaries")
    return WatchPoint(row.start, state, row.total, row.answers, *mean_interval(values))


def _shifts(before: Values, now: Values) -> tuple[GroupShift, ...]:
    found = [GroupShift(group, _mean(before[group]), _mean(now[group])) for group in now if group in before]
    return tuple(sorted(found, key=lambda each: each.now - each.reference))


def _mean(values: Sequence[float]) -> float:
    # Corrected values may lie outside of [0, 1].
    return min(1.0, max(0.0, fmean(values)))


def _level(watch: Watch) -> float:
    return watch_level(watch.yearly_rate, len(watch.scores) + 1, YEAR // watch.step)


def _anchor_tests(watch: Watch, era: Sequence[WatchPeriod]) -> list[AnchorTest]:
    asked = [(row, test) for row in era for test in row.asked if test["count"]]
    # Without a test in the reference, the first test shows how many answers flip by chance.
    usual = sum(row in era[: watch.reference_periods] for row, _ in asked) or 1
    flips = sum(len(test["changed"]) for _, test in asked[:usual])
    count = sum(test["count"] for _, test in asked[:usual])
    first, newest = watch.anchors.get("checks", {}), asked[-1][1]["changed"] if asked else {}
    texts = Check.objects.filter(public_id__in=newest).values_list("public_id", "claim__text")
    changed = tuple(AnchorChange(key, text, first.get(key, ""), newest[key]) for key, text in texts)
    made = []
    for place, (row, test) in enumerate(asked, start=1):
        own, of = len(test["changed"]), test["count"]
        p = None if place <= usual else judge_change_p(own, of, flips, count)
        # The tests of a period share its level.
        is_alarm = p is not None and p <= _level(watch) / MOST_TESTS
        shown = changed if place == len(asked) else ()
        made.append(AnchorTest(row.start, test["model"], of, own, p, is_alarm, shown))
    return made


def _said(
    watch: Watch, scores: Sequence[WatchedScore], tests: Sequence[AnchorTest]
) -> tuple[WatchState, str, str]:
    test, noun = tests[-1] if tests else None, watch.length
    worse = next((each for each in scores if each.is_alarm), None)
    if worse and (watch.checks or not (test and test.is_alarm)):
        score = worse.words.capitalize() if watch.checks else f"The judge's {worse.words}"
        lost = f"{100 * (worse.drop or 0):.0f} points in {_last(watch, worse.window)}"
        fell = f"{score} fell by {lost}, compared with the reference."
        if watch.checks:
            return "worse", f"{fell} {NOT_THE_JUDGE}", AFTER_A_DROP
        steady = f"{STEADY_JUDGE.format(test.count)} " if test else ""
        return (
            "worse",
            f"{fell} Either the summaries or the judge changed.",
            f"{steady}{AFTER_A_DROP_OF_EITHER}",
        )
    if test and test.is_alarm:
        changed = f"it answered {test.flips} of {test.count} known checks differently than at first."
        names = f"Its server names the model {test.model}; at first it named {tests[0].model}. "
        advice = f"{names if test.model != tests[0].model else ''}{AFTER_A_CHANGE_OF_JUDGE}"
        return "judge_changed", f"The judge changed: {changed}", advice
    states = [point.state for point in scores[0].points if point.total]
    waiting = states.count(WatchPeriod.State.ANSWERING.label)
    waits = f" {noun.capitalize()}s that wait for people's answers: {waiting}." if waiting else ""
    compared = [(each.detectable, each.window) for each in scores if each.detectable is not None]
    if (done := states.count(REFERENCE)) < watch.reference_periods:
        of = f"{done} of {watch.reference_periods} {noun}s of the reference are complete"
        said = f"Nothing to compare yet: {of}."
    elif not any(state in (REFERENCE, *LATER) for state in states[-RECENT:]):
        said = f"The last {RECENT} {noun}s have no value, so the present is unknown."
    elif not compared:
        said = f"The reference is complete; the next {noun} will be compared with it."
    else:
        drop, window = max(compared)
        told = f"A drop of {100 * drop:.0f} points in {_last(watch, window)} would be reported."
        return "steady", f"Steady: no watched score fell noticeably. {told}{waits}", ""
    return "unknown", f"{said}{waits}", ""


def _last(watch: Watch, window: int) -> str:
    return f"the last {watch.length}" if window == 1 else f"the last {window} {watch.length}s"
