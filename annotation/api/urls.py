"""Routes of the API. What lies in a project is always reached through it."""

from django.urls import URLPattern, URLResolver, include, path, re_path

from annotation.api import (
    checks,
    claims,
    document_sets,
    exports,
    judges,
    nowhere,
    projects,
    runs,
    scores,
    sittings,
    summaries,
    tokens,
)

IN_PROJECT: list[URLPattern | URLResolver] = [
    path("", projects.OneProject.as_view()),
    path("document-sets/", document_sets.DocumentSets.as_view()),
    path("document-sets/<slug:public_id>/", document_sets.OneDocumentSet.as_view()),
    path("summaries/", summaries.Summaries.as_view()),
    path("summaries/<slug:public_id>/", summaries.OneSummary.as_view()),
    path("claims/", claims.Claims.as_view()),
    path("claims/<slug:public_id>/", claims.OneClaim.as_view()),
    path("checks/", checks.Checks.as_view()),
    path("checks/<slug:public_id>/", checks.OneCheck.as_view()),
    path("checks/<slug:public_id>/verdicts/", checks.CheckVerdicts.as_view()),
    path("checks/<slug:public_id>/adjudications/", checks.CheckAdjudications.as_view()),
    path("comparisons/<slug:public_id>/adjudications/", checks.ComparisonAdjudications.as_view()),
    path("verdicts/<slug:public_id>/", checks.OneVerdict.as_view()),
    path("adjudications/<slug:public_id>/", checks.OneAdjudication.as_view()),
    path("judges/", judges.Judges.as_view()),
    path("runs/", runs.Runs.as_view()),
    path("runs/<slug:public_id>/", runs.OneRun.as_view()),
    path("runs/<slug:public_id>/cancel/", runs.RunCancel.as_view()),
    path("runs/<slug:public_id>/resume/", runs.RunResume.as_view()),
    path("scores/", scores.Scores.as_view()),
    path("leaderboard/", scores.LeaderboardView.as_view()),
    path("exports/", exports.Exports.as_view()),
    path("exports/<slug:public_id>/", exports.OneExport.as_view()),
    path("exports/<slug:public_id>/file/", exports.ExportFile.as_view()),
    path("exports/<slug:public_id>/manifest/", exports.ExportManifest.as_view()),
    path("sittings/", sittings.Sittings.as_view()),
    path("sittings/<slug:public_id>/", sittings.OneSitting.as_view()),
    path("sittings/<slug:public_id>/close/", sittings.SittingClose.as_view()),
    path("assignments/<slug:public_id>/", sittings.OneAssignment.as_view()),
    path("assignments/<slug:public_id>/judgments/", sittings.AssignmentJudgments.as_view()),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("tokens/", tokens.Tokens.as_view()),
    path("tokens/current/", tokens.CurrentToken.as_view()),
    path("judges/<slug:name>/try/", judges.JudgeTrial.as_view()),
    path("projects/", projects.Projects.as_view()),
    path("projects/<slug:slug>/", include(IN_PROJECT)),
    re_path("", nowhere.Nowhere.as_view()),
]
