"""The report of a watch: its state, scores by period, tests of the judge and alarms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from annotation.models import Check, Watch, WatchPeriod
from annotation.watches.periods import PERIODS_A_YEAR, next_period
from evaluation.statistics import (
    Look,
    Period,
    SampledValue,
    fit_correction,
    judge_change_p,
    mean_interval,
    watch_level,
)
from evaluation.statistics import watch as looks_at

WatchState = Literal["steady", "worse", "judge_changed", "unknown"]
Cause = Literal["summaries", "judge", "either"]
EXIT_CODES: Mapping[WatchState, int] = {"steady": 0, "worse": 3, "judge_changed": 4, "unknown": 5}
DOCUMENTS_SHOWN = 5
RECENT = 2
"""If so many latest periods with summaries have no value, nothing is known about the present."""


@dataclass(frozen=True, slots=True)
class WatchPoint:
    """A score in a period, from `documents` documents and `answers` people's answers; None without a value.

    `total` counts all summaries of the period, `late` summaries that came after it was closed. The interval is a 95 %
    interval of documents; None below 10 documents. `by_people` is True if people's answers correct the value.
    """

    start: datetime
    state: str
    total: int
    late: int
    documents: int
    answers: int
    mean: float | None
    low: float | None
    high: float | None
    by_people: bool
    in_reference: bool
    is_alarm: bool


@dataclass(frozen=True, slots=True)
class GroupShift:
    """The means of a group in the reference and in the compared periods, which have `documents` documents of it."""

    group: str
    reference: float
    now: float
    documents: int


@dataclass(frozen=True, slots=True)
class WatchedScore:
    """A score by period, with its reference. Without a comparison, `window` is 0 and `drop` is None.

    `drop` is the fall from the reference to the last `window` periods, at the reference's shares of groups.
    `detectable` is the smallest fall that would be reported now. `lowest` names documents of the compared periods.
    """

    score: str
    by_people: bool
    reference: float | None
    reference_low: float | None
    reference_high: float | None
    points: tuple[WatchPoint, ...]
    window: int
    drop: float | None
    detectable: float | None
    groups: tuple[GroupShift, ...]
    lowest: tuple[str, ...]

    @property
    def latest(self) -> float | None:
        """The mean of the newest period with one."""
        return next((each.mean for each in reversed(self.points) if each.mean is not None), None)


@dataclass(frozen=True, slots=True)
class AnchorChange:
    """A known check that the judge answered with the label `before` at first and `now` in the test.

    `claim` has its words in the newest test, and is "" in others.
    """

    check: str
    claim: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class AnchorTest:
    """A test of the judge with known checks: it answered `flips` of `count` differently than at first.

    `p` is the p-value that a steady judge flips so many; None for tests of the reference, which show the usual number.
    """

    period: datetime
    at: datetime
    model: str
    count: int
    flips: int
    p: float | None
    is_alarm: bool
    changed: tuple[AnchorChange, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm. The cause is `summaries` (or their documents), `judge`, or `either` if people gave no answers.

    `is_first` is False if the period before had the same alarm.
    """

    key: str
    period: datetime
    cause: Cause
    subject: str
    sentence: str
    advice: str
    is_first: bool


@dataclass(frozen=True, slots=True)
class WatchReport:
    """The state of a watch, with its alarms, newest first. Only periods of the present guidelines and judge count."""

    id: str
    name: str
    state: WatchState
    sentence: str
    advice: str
    alarms: tuple[Alarm, ...]
    scores: tuple[WatchedScore, ...]
    anchors: tuple[AnchorTest, ...]


def era_of(periods: Sequence[WatchPeriod]) -> list[WatchPeriod]:
    """Return the judged periods since the guidelines or the judge's signature last changed."""
    judged = [each for each in sorted(periods, key=lambda each: each.start) if each.basis]
    others = [place for place, each in enumerate(judged) if each.basis != judged[-1].basis]
    return judged[others[-1] + 1 :] if others else judged


def watch_report(watch: Watch) -> WatchReport:
    """Compare the periods of a watch with its reference. Two queries."""
    periods = list(watch.periods.order_by("start"))
    era = era_of(periods)
    anchors = _anchor_tests(watch, era)
    is_changed = bool(anchors) and anchors[-1].is_alarm
    shown = [each for each in periods if era and each.start >= era[0].start]
    series = [_Series(watch, score, shown, era) for score in watch.scores]
    alarms = [alarm for each in series for alarm in each.alarms(anchors)]
    alarms += [
        _judge_alarm(test, not (number and anchors[number - 1].is_alarm))
        for number, test in enumerate(anchors)
        if test.is_alarm
    ]
    alarms.sort(key=lambda alarm: alarm.period, reverse=True)
    worse = [each for each in series if each.looks and each.looks[-1].is_alarm]
    state, said = _state(watch, series, worse, shown, is_changed=is_changed)
    wanted = "judge" if state == "judge_changed" else "summaries" if watch.checks else "either"
    now = next((alarm for alarm in alarms if alarm.cause == wanted), None) if not said else None
    return WatchReport(
        watch.public_id,
        watch.name,
        state,
        now.sentence if now else said,
        now.advice if now else "",
        tuple(alarms),
        tuple(each.facts() for each in series),
        tuple(anchors),
    )


class _Series:
    """The values of a score. Periods are compared in the order in which they were settled, each once."""

    def __init__(
        self, watch: Watch, score: str, shown: Sequence[WatchPeriod], era: Sequence[WatchPeriod]
    ) -> None:
        self.watch, self.score, self.shown = watch, score, shown
        settled = [
            each
            for each in era
            if each.settled_at and each.values.get(score) and (each.answers or not watch.checks)
        ]
        settled.sort(key=lambda each: (each.settled_at, each.start))
        self.first = settled[: watch.reference_periods]
        self.later = settled[watch.reference_periods :]
        self.is_whole = len(self.first) == watch.reference_periods
        self._values = {each.pk: _sampled(each, score) for each in shown}
        reference = [value for each in self.first for value in self._values[each.pk].values()]
        self._correction = fit_correction(reference) if watch.checks else None
        self.reference = [self.period_of(each) for each in self.first]
        self.compared = [self.period_of(each) for each in self.later] if self.is_whole else []
        level = watch_level(
            watch.yearly_rate, len(watch.scores) + 1, PERIODS_A_YEAR[Watch.Length(watch.length)]
        )
        self.looks: list[Look] = looks_at(
            self.reference, self.compared, level=level, smallest_drop=watch.smallest_drop
        )

    def period_of(self, row: WatchPeriod) -> Period:
        correction = self._correction if row.answers else None
        values: dict[Hashable, float] = {
            document: value.judge if correction is None else correction.of(value)
            for document, value in self._values[row.pk].items()
        }
        return Period(
            values, {document: found[-1] for document, found in row.values.get(self.score, {}).items()}
        )

    def alarms(self, anchors: Sequence[AnchorTest]) -> list[Alarm]:
        tested = anchors[-1] if anchors and not anchors[-1].is_alarm else None
        before, found = False, []
        for row, look in zip(self.later, self.looks, strict=False):
            if look.is_alarm:
                found.append(self._alarm(row, look, tested, is_first=not before))
            before = look.is_alarm
        return found

    def _alarm(self, row: WatchPeriod, look: Look, tested: AnchorTest | None, *, is_first: bool) -> Alarm:
        noun, name = self.watch.length, self.score.capitalize()
        over = f"the last {noun}" if look.window == 1 else f"the last {look.window} {noun}s"
        fell = f"fell by {look.drop:.2f} in {over}, compared with the reference."
        if self.watch.checks:
            cause: Cause = "summaries"
            sentence = f"{name} {fell} People's answers correct this figure: the summaries or their documents changed."
            advice = "Look at the groups and documents that fell, then at the system and its input."
        else:
            cause = "either"
            sentence = f"The judge's {self.score} {fell} Either the summaries or the judge changed."
            advice = "People's answers to a random sample would tell the two causes apart."
            if tested:
                steady = (
                    f"The judge answers {tested.count} known checks as usual, so look at the summaries first."
                )
                advice = f"{steady} {advice}"
        key = f"{self.score} {row.public_id}"
        return Alarm(key, row.start, cause, f"{name} fell", sentence, advice, is_first)

    def facts(self) -> WatchedScore:
        look = self.looks[-1] if self.looks else Look(0, None, None, None, is_alarm=False)
        alarmed = {row.pk for row, each in zip(self.later, self.looks, strict=False) if each.is_alarm}
        mean, low, high = mean_interval([value for each in self.reference for value in each.values.values()])
        window = self.compared[-look.window :] if look.window else []
        return WatchedScore(
            self.score,
            bool(self.watch.checks),
            mean,
            low,
            high,
            tuple(self._point(row, row.pk in alarmed) for row in self.shown),
            look.window,
            look.drop,
            look.detectable,
            _shifts(self.reference, window) if self.watch.group_by else (),
            _lowest(self.later[-look.window :] if look.window else [], self.score),
        )

    def _point(self, row: WatchPeriod, is_alarm: bool) -> WatchPoint:
        values = list(self.period_of(row).values.values())
        return WatchPoint(
            row.start,
            row.get_state_display() if row.total else "No summaries",
            row.total,
            row.late,
            len(values),
            row.answers,
            *mean_interval(values),
            by_people=row.answers > 0,
            in_reference=row in self.first,
            is_alarm=is_alarm,
        )


def _sampled(row: WatchPeriod, score: str) -> dict[str, SampledValue]:
    return {document: SampledValue(*found[:-1]) for document, found in row.values.get(score, {}).items()}


def _by_group(periods: Sequence[Period]) -> dict[str, list[float]]:
    values: defaultdict[str, list[float]] = defaultdict(list)
    for period in periods:
        for document, value in period.values.items():
            values[period.groups[document]].append(value)
    return values


def _shifts(reference: Sequence[Period], now: Sequence[Period]) -> tuple[GroupShift, ...]:
    """The groups that fell most come first."""
    before, after = _by_group(reference), _by_group(now)
    found = [
        GroupShift(name, sum(before[name]) / len(before[name]), sum(values) / len(values), len(values))
        for name, values in after.items()
        if name in before
    ]
    return tuple(sorted(found, key=lambda each: each.now - each.reference))


def _lowest(rows: Sequence[WatchPeriod], score: str) -> tuple[str, ...]:
    """By the judge's values, because people's few answers to a document say little about it alone."""
    values = {name: value.judge for row in rows for name, value in _sampled(row, score).items()}
    names = sorted(values, key=values.__getitem__)[:DOCUMENTS_SHOWN]
    return tuple(name.partition(" ")[2] for name in names)


def _anchor_tests(watch: Watch, era: Sequence[WatchPeriod]) -> list[AnchorTest]:
    asked = [(row, each) for row in era for each in row.asked if each["count"]]
    start = {row.pk for row in era[: watch.reference_periods]}
    # Without a test in the reference, the first test shows how many answers flip by chance.
    usual = [each for row, each in asked if row.pk in start] or [each for _, each in asked[:1]]
    flips, count = (
        sum(numbers)
        for numbers in ((len(each["changed"]) for each in usual), (each["count"] for each in usual))
    )
    # A period can have two tests, so each has half of the level of a look.
    level = watch_level(
        watch.yearly_rate, len(watch.scores) + 1, 2 * PERIODS_A_YEAR[Watch.Length(watch.length)]
    )
    first = watch.anchors.get("checks", {})
    newest = asked[-1][1]["changed"] if asked else {}
    texts = dict(Check.objects.filter(public_id__in=newest).values_list("public_id", "claim__text"))
    made = []
    for row, each in asked:
        words = texts if each["changed"] is newest else {}
        changed = tuple(
            AnchorChange(key, words.get(key, ""), first.get(key, ""), now)
            for key, now in each["changed"].items()
        )
        p = None if each in usual else judge_change_p(len(changed), each["count"], flips, count)
        at = datetime.fromisoformat(each["at"])
        is_alarm = p is not None and p <= level
        made.append(
            AnchorTest(row.start, at, each["model"], each["count"], len(changed), p, is_alarm, changed)
        )
    return made


def _judge_alarm(test: AnchorTest, is_first: bool) -> Alarm:
    return Alarm(
        f"judge {test.at.isoformat()}",
        test.period,
        "judge",
        "The judge changed",
        f"The judge changed: it answered {test.flips} of {test.count} known checks differently than at first.",
        "Do not compare its scores with earlier ones. Look at the checks that it answers differently, and at the "
        "model that its server names.",
        is_first,
    )


def _state(
    watch: Watch,
    series: Sequence[_Series],
    worse: Sequence[_Series],
    shown: Sequence[WatchPeriod],
    *,
    is_changed: bool,
) -> tuple[WatchState, str]:
    """Return the state, and a sentence about it unless an alarm says it."""
    if worse and (watch.checks or not is_changed):
        return "worse", ""
    if is_changed:
        return "judge_changed", ""
    noun, first = watch.length, series[0]
    waiting = sum(each.state == WatchPeriod.State.ANSWERING for each in shown)
    waits = (
        f" {waiting} {noun}{' waits' if waiting == 1 else 's wait'} for people's answers." if waiting else ""
    )
    if not shown:
        _, end = next_period(watch)
        return (
            "unknown",
            f"Nothing to compare yet: the first {noun} with summaries ends on {end:%d %b %Y} at the earliest.",
        )
    if not first.is_whole:
        of = f"{len(first.first)} of {watch.reference_periods} {noun}s of the reference are complete"
        return "unknown", f"Nothing to compare yet: {of}.{waits}"
    known = {row.pk for row in (*first.first, *first.later)}
    if not any(row.pk in known for row in [each for each in shown if each.total][-RECENT:]):
        return "unknown", f"The last {RECENT} {noun}s have no value, so the present is unknown.{waits}"
    found = [each.looks[-1].detectable for each in series if each.looks and each.looks[-1].detectable]
    if not found:
        return "unknown", f"The reference is complete; the next {noun} will be compared with it.{waits}"
    return (
        "steady",
        f"Steady: no watched score fell noticeably. A drop of {max(found):.2f} would be reported.{waits}",
    )
