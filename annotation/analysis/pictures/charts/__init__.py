"""Drawings made by the server: small bars beside numbers, and whole pictures to look at and to take away.

`intervals` draws within tables. Every other module has one picture each: a function that takes plain values and gives a
`Picture`, put together from the shapes of `kit`.
"""

from annotation.analysis.pictures.charts.burn_up import Work, burn_up
from annotation.analysis.pictures.charts.calibration import (
    FEWEST_FOR_CURVE,
    CalibrationPoint,
    calibration,
)
from annotation.analysis.pictures.charts.composite_lines import CompositeLine, composite_lines, named
from annotation.analysis.pictures.charts.coverage_length import LengthPoint, coverage_against_length
from annotation.analysis.pictures.charts.heat_map import ClaimLine, ClaimMark, heat_map
from annotation.analysis.pictures.charts.intervals import (
    Axis,
    Bar,
    League,
    LeagueRow,
    Tick,
    axis_over,
    bar,
    league,
)
from annotation.analysis.pictures.charts.judge_scatter import JudgedSystem, judge_against_people
from annotation.analysis.pictures.charts.picture import Picture
from annotation.analysis.pictures.charts.ranking import RankedSystem, ranking

__all__ = [
    "FEWEST_FOR_CURVE",
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
    "named",
    "ranking",
]
