"""The routes of the API. The address of everything in a project begins with the project's address."""

from django.urls import URLPattern, URLResolver, include, path, re_path

from annotation.accounts import api as tokens
from annotation.adjudicating import api as disputes
from annotation.analysis.agreement import api as agreement
from annotation.analysis.explanation import api as explanations
from annotation.analysis.judge import api as judge_quality
from annotation.analysis.leaderboard import api as scores
from annotation.analysis.slices import api as slices
from annotation.api import nowhere
from annotation.assessing.api import assignments, desk
from annotation.exports import api as exports
from annotation.imports import api as imports
from annotation.judging.api import judges, runs
from annotation.projects.api import members, projects
from annotation.reviewing.api import checks, comments, review
from annotation.sampling.api import samples
from annotation.texts.api import claims, document_sets, summaries
from annotation.trials import api as trials
from annotation.watches import api as watches

IN_PROJECT: list[URLPattern | URLResolver] = [
    path("", projects.OneProject.as_view()),
    path("document-sets/", explanations.DocumentSets.as_view()),
    path("document-sets/<slug:public_id>/", document_sets.OneDocumentSet.as_view()),
    path("summaries/", summaries.Summaries.as_view()),
    path("summaries/<slug:public_id>/", summaries.OneSummary.as_view()),
    path("summaries/<slug:public_id>/explanation/", explanations.SummaryExplanation.as_view()),
    path("claims/", claims.Claims.as_view()),
    path("claims/<slug:public_id>/", claims.OneClaim.as_view()),
    path("claims/<slug:public_id>/reword/", claims.ClaimReword.as_view()),
    path("claims/<slug:public_id>/remove/", claims.ClaimRemove.as_view()),
    path("checks/", checks.Checks.as_view()),
    path("checks/answers/", checks.CheckAnswersAtOnce.as_view()),
    path("checks/next/", review.CheckNext.as_view()),
    path("checks/<slug:public_id>/", checks.OneCheck.as_view()),
    path("checks/<slug:public_id>/looks/", checks.CheckLooks.as_view()),
    path("checks/<slug:public_id>/verdicts/", checks.CheckVerdicts.as_view()),
    path("guideline-trials/", trials.GuidelineTrials.as_view()),
    path("samples/", samples.CheckSamples.as_view()),
    path("samples/ratings/", samples.RatingSamples.as_view()),
    path("verdicts/<slug:public_id>/", checks.OneVerdict.as_view()),
    path("adjudications/<slug:public_id>/", disputes.OneAdjudication.as_view()),
    path("disputes/", disputes.Disputes.as_view()),
    path("disputes/next/", disputes.DisputeNext.as_view()),
    path("disputes/<slug:public_id>/", disputes.OneDispute.as_view()),
    path("disputes/<slug:public_id>/decisions/", disputes.DisputeDecisions.as_view()),
    path("comments/", comments.Comments.as_view()),
    path("comments/<slug:public_id>/", comments.OneComment.as_view()),
    path("members/", members.Members.as_view()),
    path("members/<slug:public_id>/", members.OneMember.as_view()),
    path("judges/", judges.Judges.as_view()),
    path("judges/<slug:public_id>/", judges.OneJudge.as_view()),
    path("runs/", runs.Runs.as_view()),
    path("runs/<slug:public_id>/", runs.OneRun.as_view()),
    path("runs/<slug:public_id>/cancel/", runs.RunCancel.as_view()),
    path("runs/<slug:public_id>/resume/", runs.RunResume.as_view()),
    path("watches/", watches.Watches.as_view()),
    path("watches/<slug:public_id>/", watches.OneWatch.as_view(), name="api-watch"),
    path("scores/", scores.Scores.as_view()),
    path("leaderboard/", scores.LeaderboardView.as_view(), name="api-leaderboard"),
    path("slices/", slices.SlicesView.as_view()),
    path("agreement/", agreement.AgreementView.as_view(), name="api-agreement"),
    path("judge-quality/", judge_quality.JudgeQualityView.as_view(), name="api-judge-quality"),
    path("push/", imports.Pushes.as_view()),
    path("imports/", imports.Imports.as_view()),
    path("imports/<slug:public_id>/", imports.OneImport.as_view(), name="api-import"),
    path("exports/", exports.Exports.as_view()),
    path("exports/<slug:public_id>/", exports.OneExport.as_view()),
    path("exports/<slug:public_id>/file/", exports.ExportFile.as_view()),
    path("exports/<slug:public_id>/manifest/", exports.ExportManifest.as_view()),
    path("assignments/sets/", assignments.SetsAssigned.as_view()),
    path("assignments/pull/", assignments.AssignmentPull.as_view()),
    path("assignments/<slug:public_id>/", desk.OneAssignment.as_view()),
    path("assignments/<slug:public_id>/close/", desk.AssignmentClose.as_view()),
    path("assignments/<slug:public_id>/acts/", desk.AssignmentActs.as_view()),
    path("assignments/<slug:public_id>/take-up/", assignments.AssignmentTakeUp.as_view()),
    path("assignments/<slug:public_id>/give-back/", assignments.AssignmentGiveBack.as_view()),
    path("assignments/<slug:public_id>/unassign/", assignments.AssignmentUnassign.as_view()),
    path("assignments/", assignments.Assignments.as_view()),
    path("assessors/", assignments.Assessors.as_view()),
    path("own-work/", desk.OwnWork.as_view()),
    path("readings/<slug:public_id>/", desk.OneReading.as_view()),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("tokens/", tokens.Tokens.as_view()),
    path("tokens/current/", tokens.CurrentToken.as_view()),
    path("projects/", projects.Projects.as_view()),
    path("projects/<slug:slug>/", include(IN_PROJECT)),
    re_path("", nowhere.Nowhere.as_view()),
]
