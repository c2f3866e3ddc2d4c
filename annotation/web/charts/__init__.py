"""Drawings made by the server: small bars beside numbers, and whole pictures to look at and to take away.

`intervals` draws within tables. Every other module has one picture each: a function that takes plain values and gives a
`Picture`, put together from the shapes of `kit`.
"""

from annotation.web.charts.burn_up import Work, burn_up
from annotation.web.charts.calibration import CalibrationPoint, calibration
from annotation.web.charts.composite_lines import CompositeLine, composite_lines
from annotation.web.charts.coverage_length import LengthPoint, coverage_against_length
from annotation.web.charts.heat_map import ClaimLine, ClaimMark, heat_map
from annotation.web.charts.intervals import (
    Axis,
    Bar,
    League,
    LeagueRow,
    Tick,
    axis_over,
    bar,
    league,
)
from annotation.web.charts.judge_scatter import JudgedSystem, judge_against_people
from annotation.web.charts.picture import Picture
from annotation.web.charts.ranking import RankedSystem, ranking

__all__ = [
    "Axis",
    "Bar",
    "CalibrationPoint",
    "ClaimLine",
    "ClaimMark",
    "CompositeLine",
    "JudgedSystem",
    "League",
    "LeagueRow",
    "LengthPoint",
    "Picture",
    "RankedSystem",
    "Tick",
    "Work",
    "axis_over",
    "bar",
    "burn_up",
    "calibration",
    "composite_lines",
    "coverage_against_length",
    "heat_map",
    "judge_against_people",
    "league",
    "ranking",
]
