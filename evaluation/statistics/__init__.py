"""Statistics: how sure scores are, how far people and judges agree, whom to ask next.

- `agreement`: alpha, kappa, raw agreement, percents
- `systems`: differences, ranks
- `judges`: a judge against people
- `estimates`: draws, prediction-powered means, plans
"""

from evaluation.statistics._intervals import (
    FEWEST_FOR_INTERVAL,
    Interval,
    IntervalMethod,
    bootstrap_interval,
    bootstrap_means,
    expanded_tails,
)
from evaluation.statistics._resampling import Estimate
from evaluation.statistics.agreement._alpha import (
    Level,
    alpha_interval,
    krippendorff_alpha,
)
from evaluation.statistics.agreement._kappa import KappaWeights, cohen_kappa, kappa_interval
from evaluation.statistics.agreement._observed import observed_agreement, observed_agreement_interval
from evaluation.statistics.estimates._compared import best_estimates, compare_estimates
from evaluation.statistics.estimates._forecast import Forecast, forecast_intervals
from evaluation.statistics.estimates._prediction_powered import PredictionPoweredMean, prediction_powered_mean
from evaluation.statistics.estimates._sample_estimates import (
    FEW_DOCUMENTS,
    TOO_FEW_DOCUMENTS,
    SampledItem,
    SampleEstimate,
    estimate_systems_from_sample,
)
from evaluation.statistics.estimates._sampling import (
    Design,
    fixed_size_sample,
    inclusion_probabilities,
)
from evaluation.statistics.judges._judge_report import (
    JudgeReport,
    judge_report,
    judge_reports,
)
from evaluation.statistics.systems._rank import compact_letters, indistinct_groups
from evaluation.statistics.systems._settled import settled_order
from evaluation.statistics.systems._significance import (
    PairComparison,
    compare_systems,
    may_be_best,
)

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "FEW_DOCUMENTS",
    "TOO_FEW_DOCUMENTS",
    "Design",
    "Estimate",
    "Forecast",
    "Interval",
    "IntervalMethod",
    "JudgeReport",
    "KappaWeights",
    "Level",
    "PairComparison",
    "PredictionPoweredMean",
    "SampleEstimate",
    "SampledItem",
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
    "judge_report",
    "judge_reports",
    "kappa_interval",
    "krippendorff_alpha",
    "may_be_best",
    "observed_agreement",
    "observed_agreement_interval",
    "prediction_powered_mean",
    "settled_order",
]
