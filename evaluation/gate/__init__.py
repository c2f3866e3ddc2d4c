"""Gates: whether the summaries of a release are good enough, and no worse than those of the one before."""

from evaluation._means import is_below
from evaluation.gate._assertion import assert_summary
from evaluation.gate._call_file import FileCallStore
from evaluation.gate._forecast import CallForecast, forecast_calls
from evaluation.gate._gate import (
    Answer,
    BaselineComparison,
    GateCheck,
    GatedSystem,
    GateReport,
    GateSummary,
    ScoredRow,
    SystemMean,
    run_gate,
)
from evaluation.gate._reports import REPORT_FORMATS, ReportFormat, gate_report_text, without_commands

__all__ = [
    "REPORT_FORMATS",
    "Answer",
    "BaselineComparison",
    "CallForecast",
    "FileCallStore",
    "GateCheck",
    "GateReport",
    "GateSummary",
    "GatedSystem",
    "ReportFormat",
    "ScoredRow",
    "SystemMean",
    "assert_summary",
    "forecast_calls",
    "gate_report_text",
    "is_below",
    "run_gate",
    "without_commands",
]
