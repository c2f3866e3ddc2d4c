"""Statistics: how sure scores are, how far people and judges agree, whom to ask next.

- `agreement`: alpha, kappa, raw agreement, percents
- `systems`: differences, ranks
- `judges`: a judge against people, calibration
- `estimates`: draws, prediction-powered means, plans
"""

from evaluation.statistics._intervals import (
    FEWEST_FOR_INTERVAL,
    Interval,
    IntervalMethod,
    bootstrap_interval,
    bootstrap_means,
    expanded_tails,
    system_intervals,
)
from evaluation.statistics._resampling import Estimate
from evaluation.statistics.agreement._alpha import (
    Level,
    alpha_interval,
    item_disagreements,
    krippendorff_alpha,
)
from evaluation.statistics.agreement._kappa import KappaWeights, cohen_kappa, kappa_interval
from evaluation.statistics.agreement._observed import observed_agreement, observed_agreement_interval
from evaluation.statistics.agreement._percents import PERCENT_STEP, PercentAgreement, percent_agreement
from evaluation.statistics.estimates._compared import compare_estimates
from evaluation.statistics.estimates._draw_estimates import (
    FEW_DOCUMENTS,
    TOO_FEW_DOCUMENTS,
    DrawEstimate,
    DrawnItem,
    estimate_from_draw,
    estimate_systems_from_draw,
)
from evaluation.statistics.estimates._planner import (
    AnsweredDocuments,
    Design,
    Forecast,
    documents_for_all,
    forecast_widths,
    forecast_without_pilot,
    with_pooled_variance,
)
from evaluation.statistics.estimates._planner_extremes import median_fewest, median_widest
from evaluation.statistics.estimates._prediction_powered import PredictionPoweredMean, prediction_powered_mean
from evaluation.statistics.estimates._raters import RaterSpread, Rating, rater_spread
from evaluation.statistics.estimates._sampling import (
    UNIFORM_FLOOR,
    active_probabilities,
    fixed_size_draw,
    neyman_allocation,
    neyman_draw,
    stratified_draw,
    uniform_draw,
)
from evaluation.statistics.judges._calibration import (
    Binning,
    CalibrationBin,
    CalibrationCurve,
    calibration_curve,
)
from evaluation.statistics.judges._judge_report import (
    JudgeComparison,
    JudgeReport,
    compare_judges,
    judge_report,
    judge_reports,
)
from evaluation.statistics.systems._rank import RankRange, compact_letters, indistinct_groups, rank_ranges
from evaluation.statistics.systems._settled import SettledOrder, settled_order
from evaluation.statistics.systems._significance import (
    PairComparison,
    PermutationTest,
    compare_systems,
    holm,
    permutation_test,
)

__all__ = [
    "FEWEST_FOR_INTERVAL",
    "FEW_DOCUMENTS",
    "PERCENT_STEP",
    "TOO_FEW_DOCUMENTS",
    "UNIFORM_FLOOR",
    "AnsweredDocuments",
    "Binning",
    "CalibrationBin",
    "CalibrationCurve",
    "Design",
    "DrawEstimate",
    "DrawnItem",
    "Estimate",
    "Forecast",
    "Interval",
    "IntervalMethod",
    "JudgeComparison",
    "JudgeReport",
    "KappaWeights",
    "Level",
    "PairComparison",
    "PercentAgreement",
    "PermutationTest",
    "PredictionPoweredMean",
    "RankRange",
    "RaterSpread",
    "Rating",
    "SettledOrder",
    "active_probabilities",
    "alpha_interval",
    "bootstrap_interval",
    "bootstrap_means",
    "calibration_curve",
    "cohen_kappa",
    "compact_letters",
    "compare_estimates",
    "compare_judges",
    "compare_systems",
    "documents_for_all",
    "estimate_from_draw",
    "estimate_systems_from_draw",
    "expanded_tails",
    "fixed_size_draw",
    "forecast_widths",
    "forecast_without_pilot",
    "holm",
    "indistinct_groups",
    "item_disagreements",
    "judge_report",
    "judge_reports",
    "kappa_interval",
    "krippendorff_alpha",
    "median_fewest",
    "median_widest",
    "neyman_allocation",
    "neyman_draw",
    "observed_agreement",
    "observed_agreement_interval",
    "percent_agreement",
    "permutation_test",
    "prediction_powered_mean",
    "rank_ranges",
    "rater_spread",
    "settled_order",
    "stratified_draw",
    "system_intervals",
    "uniform_draw",
    "with_pooled_variance",
]
