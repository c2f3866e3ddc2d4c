"""Addresses of the web. Ids in them are public ids; a project is named by its slug."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from annotation.web import (
    assess,
    assignments,
    exports,
    projects,
    prompts,
    questions,
    review,
    runs,
    scores,
    settings,
    sign_in,
)

project_urls = [
    path("", projects.project, name="project"),
    path("work/", assess.work, name="work"),
    path("work/sets/<slug:sitting_id>/close/", assess.close_sitting, name="close-sitting"),
    path("work/<slug:assignment_id>/", assess.assess, name="assess"),
    path("work/<slug:assignment_id>/source/", assess.source, name="assess-source"),
    path("work/<slug:assignment_id>/units/<slug:unit_id>/", assess.judge_unit, name="judge-unit"),
    path("review/", review.review, name="review"),
    path("review/<slug:check_id>/", review.check, name="check"),
    path("review/<slug:check_id>/answer/", review.override, name="override"),
    path("review/<slug:check_id>/withdraw/", review.withdraw_verdict, name="withdraw-verdict"),
    path("scores/", scores.scores, name="scores"),
    path("scores/systems/<slug:system_id>/", scores.system, name="system"),
    path("scores/summaries/<slug:summary_id>/", scores.summary, name="summary"),
    path("scores/sets/<slug:set_id>/questions/", questions.questions, name="questions"),
    path("scores/sets/<slug:set_id>/questions/ask/", questions.ask_questions, name="ask-questions"),
    path("scores/questions/<slug:question_id>/retire/", questions.retire_question, name="retire-question"),
    path("runs/", runs.runs, name="runs"),
    path("runs/start/", runs.start_run, name="start-run"),
    path("runs/<slug:run_id>/", runs.run, name="run"),
    path("runs/<slug:run_id>/cancel/", runs.cancel, name="cancel-run"),
    path("runs/<slug:run_id>/resume/", runs.resume, name="resume-run"),
    path("assignments/", assignments.assignments, name="assignments"),
    path("assignments/assign/", assignments.assign, name="assign"),
    path("exports/", exports.exports, name="exports"),
    path("exports/request/", exports.request_export, name="request-export"),
    path("exports/<slug:export_id>/download/", exports.download_export, name="download-export"),
    path("exports/<slug:export_id>/manifest/", exports.export_manifest, name="export-manifest"),
    path("settings/", settings.project_settings, name="project-settings"),
    path("settings/prompts/", prompts.prompts, name="prompts"),
    path("settings/prompts/<slug:step>/", prompts.prompt, name="prompt"),
    path("settings/prompts/<slug:step>/preview/", prompts.preview_prompt, name="preview-prompt"),
    path("settings/prompts/<slug:step>/reword/", prompts.reword_prompt, name="reword-prompt"),
    path("settings/prompts/<slug:step>/restore/", prompts.restore_prompt, name="restore-prompt"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", projects.projects, name="projects"),
    path("sign-in/", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/demo/", sign_in.demo_sign_in, name="demo-sign-in"),
    path("sign-out/", sign_in.SignOut.as_view(), name="sign-out"),
    path("p/<slug:slug>/", include(project_urls)),
]
