"""Statistics: intervals, agreement, judge reports, samples and estimates."""

from evaluation.statistics._agreement import (
    KappaWeights,
    Level,
    alpha_interval,
    cohen_kappa,
    kappa_interval,
    krippendorff_alpha,
    observed_agreement,
    observed_agreement_interval,
)
from evaluation.statistics._difference import MeanDifference, ValueOf, mean_difference
from evaluation.statistics._estimates import (
    FEW_DOCUMENTS,
    TOO_FEW_DOCUMENTS,
    SampledItem,
    SampleEstimate,
    best_estimates,
    compare_estimates,
    estimate_systems_from_sample,
)
from evaluation.statistics._forecast import Forecast, forecast_intervals
from evaluation.statistics._judge_report import JudgeReport, judge_report, judge_reports
from evaluation.statistics._pooled import PooledEstimates, pool_estimates
from evaluation.statistics._prediction_powered import PredictionPoweredMean, prediction_powered_mean
from evaluation.statistics._resampling import (
    FEWEST_FOR_INTERVAL,
    Estimate,
    Interval,
    IntervalMethod,
    bootstrap_interval,
    bootstrap_means,
    expanded_tails,
)
from evaluation.statistics._sampling import Design, fixed_size_sample, inclusion_probabilities
from evaluation.statistics._scale_ends import widen_at_ends
from evaluation.statistics._self_agreement import LENGTHS, SelfAgreement, self_agreement
from evaluation.statistics._slices import (
    FEWEST_IN_SLICE,
    SliceDifference,
    SliceMean,
    slice_differences,
    slice_mean,
    weighted_mean,
)
from evaluation.statistics._systems import (
    PairComparison,
    compact_letters,
    compare_systems,
    indistinct_groups,
    may_be_best,
    settled_order,
)
from evaluation.statistics._watch import Look, Period, judge_change_p, watch, watch_level

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "FEWEST_IN_SLICE",
    "FEW_DOCUMENTS",
    "LENGTHS",
    "TOO_FEW_DOCUMENTS",
    "Design",
    "Estimate",
    "Forecast",
    "Interval",
    "IntervalMethod",
    "JudgeReport",
    "KappaWeights",
    "Level",
    "Look",
    "MeanDifference",
    "PairComparison",
    "Period",
    "PooledEstimates",
    "PredictionPoweredMean",
    "SampleEstimate",
    "SampledItem",
    "SelfAgreement",
    "SliceDifference",
    "SliceMean",
    "ValueOf",
    "alpha_interval",
    "best_estimates",
    "bootstrap_interval",
    "bootstrap_means",
    "cohen_kappa",
    "compact_letters",
    "compare_estimates",
    "compare_systems",
    "estimate_systems_from_sample",
    "expanded_tails",
    "fixed_size_sample",
    "forecast_intervals",
    "inclusion_probabilities",
    "indistinct_groups",
    "judge_change_p",
    "judge_report",
    "judge_reports",
    "kappa_interval",
    "krippendorff_alpha",
    "may_be_best",
    "mean_difference",
    "observed_agreement",
    "observed_agreement_interval",
    "pool_estimates",
    "prediction_powered_mean",
    "self_agreement",
    "settled_order",
    "slice_differences",
    "slice_mean",
    "watch",
    "watch_level",
    "weighted_mean",
    "widen_at_ends",
]
