"""Gates: checks in a build pipeline that summaries are good enough and not worse than those of a baseline."""

from evaluation._means import is_below
from evaluation.gate._assertion import assert_summary
from evaluation.gate._call_file import FileCallStore
from evaluation.gate._gate import GateCheck, GateReport, GateSummary, run_gate
from evaluation.gate._reports import REPORT_FORMATS, gate_report_text

__all__ = [
    "REPORT_FORMATS",
    "FileCallStore",
    "GateCheck",
    "GateReport",
    "GateSummary",
    "assert_summary",
    "gate_report_text",
    "is_below",
    "run_gate",
]
