"""The routes of the pages. Ids are public ids; a project is named by its slug."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.urls import URLPattern, URLResolver, include, path

from annotation.accounts import web as accounts
from annotation.adjudicating.web import adjudicate
from annotation.analysis.agreement import web as agreement
from annotation.analysis.explanation import web as explanations
from annotation.analysis.judge import web as judge
from annotation.analysis.leaderboard import web as scores
from annotation.analysis.slices import web as slices
from annotation.assessing.web import assess, assignments
from annotation.demo import web as demo
from annotation.exports import web as exports
from annotation.help import web as manual
from annotation.imports import web as imports
from annotation.judging.web import judges, prompts, questions, runs
from annotation.projects.web import (
    close_project,
    criteria,
    event_log,
    guidelines,
    invitations,
    new_project,
    people,
    projects,
    settings,
)
from annotation.reviewing.web import comments, ratings, review, review_queue
from annotation.sampling.web import samples as random_samples
from annotation.texts.web import claims, units
from annotation.trials import web as guideline_trials
from annotation.watches import web as watches
from annotation.watching import web as watching

project_urls = [
    path("", projects.project, name="project"),
    path("work/", assess.work, name="work"),
    path("work/pull/", assess.pull, name="pull-assignment"),
    path("work/sets/<slug:assignment_id>/take-up/", assess.take_up, name="take-up-assignment"),
    path("work/sets/<slug:assignment_id>/give-back/", assess.give_back, name="give-back-assignment"),
    path("work/sets/<slug:assignment_id>/close/", assess.close_assignment, name="close-assignment"),
    path("work/sets/<slug:assignment_id>/acts/", assess.acts, name="acts"),
    path("work/<slug:reading_id>/", assess.assess, name="assess"),
    path("work/<slug:reading_id>/ratings/", assess.rate, name="rate"),
    path("work/<slug:reading_id>/source/", assess.source, name="assess-source"),
    path("work/<slug:reading_id>/units/<slug:unit_id>/", assess.judge_unit, name="judge-unit"),
    path("review/", review_queue.review, name="review"),
    path("review/next/", review.next_check, name="next-check"),
    path("review/samples/", random_samples.check_samples_page, name="samples"),
    path("review/samples/extend/", random_samples.extend_sample_page, name="extend-sample"),
    path("review/samples/sample/", random_samples.sample_checks, name="sample-checks"),
    path("review/samples/check/", review.check_some, name="check-some"),
    path("review/samples/ratings/", random_samples.sample_ratings_page, name="sample-ratings"),
    path("review/samples/<slug:sample_id>/cancel/", random_samples.cancel_sample_page, name="cancel-sample"),
    path("review/ratings/", ratings.rate_summaries, name="rate-summaries"),
    path("review/ratings/<slug:summary_id>/", ratings.rate_summary, name="rate-summary"),
    path("review/again/", guideline_trials.again, name="again"),
    path("review/again/<slug:answer_id>/", guideline_trials.answer_again, name="answer-again"),
    path("review/<slug:check_id>/", review.check, name="check"),
    path("review/<slug:check_id>/answer/", review.override, name="override"),
    path("review/<slug:check_id>/withdraw/", review.withdraw_verdict, name="withdraw-verdict"),
    path("review/<slug:check_id>/look/", review.look, name="look"),
    path("adjudicate/", adjudicate.adjudicate, name="adjudicate"),
    path("adjudicate/next/", adjudicate.next_dispute, name="next-dispute"),
    path(
        "adjudicate/decisions/<slug:decision_id>/withdraw/",
        adjudicate.withdraw_decision,
        name="withdraw-decision",
    ),
    path("adjudicate/<slug:dispute_id>/", adjudicate.dispute, name="dispute"),
    path("adjudicate/<slug:dispute_id>/decide/", adjudicate.decide_dispute, name="decide-dispute"),
    path("scores/", scores.scores, name="scores"),
    path("scores/file/", scores.league_file, name="league-file"),
    path("scores/pairs/file/", scores.pairs_file, name="pairs-file"),
    path("scores/slices/", slices.slices_page, name="slices"),
    path("scores/compare/", explanations.compare, name="compare"),
    path("scores/agreement/", agreement.agreement, name="agreement"),
    path("scores/judge/", judge.judge, name="judge"),
    path("scores/judge/teach/", judge.teach, name="teach-judge"),
    path("scores/systems/<slug:system_id>/", scores.system, name="system"),
    path("scores/systems/<slug:system_id>/claims/", explanations.claims_of_system, name="system-claims"),
    path("scores/summaries/<slug:summary_id>/", explanations.summary, name="summary"),
    path("scores/sets/", explanations.document_sets, name="document-sets"),
    path("scores/sets/<slug:set_id>/", explanations.summaries_of_set, name="side-by-side"),
    path("scores/sets/<slug:set_id>/questions/", questions.questions, name="questions"),
    path("scores/sets/<slug:set_id>/questions/ask/", questions.ask_questions, name="ask-questions"),
    path("scores/questions/<slug:question_id>/retire/", questions.retire_question, name="retire-question"),
    path("watches/", watches.watches, name="watches"),
    path("watches/new/", watches.new_watch, name="new-watch"),
    path("watches/<slug:watch_id>/", watches.watch, name="watch"),
    path("watches/<slug:watch_id>/archive/", watches.archive_watch, name="archive-watch"),
    path("runs/", runs.runs, name="runs"),
    path("runs/start/", runs.start_run, name="start-run"),
    path("runs/estimate/", runs.estimate, name="run-estimate"),
    path("runs/<slug:run_id>/", runs.run, name="run"),
    path("runs/<slug:run_id>/calls/", runs.calls, name="run-calls"),
    path("runs/<slug:run_id>/cancel/", runs.cancel, name="cancel-run"),
    path("runs/<slug:run_id>/resume/", runs.resume, name="resume-run"),
    path("assignments/", assignments.assignments, name="assignments"),
    path("assignments/assign/", assignments.assign, name="assign"),
    path("assignments/sets/", assignments.assign_sets, name="assign-sets"),
    path("assignments/<slug:assignment_id>/unassign/", assignments.unassign, name="unassign"),
    path("import/", imports.imports, name="import"),
    path("import/upload/", imports.import_upload, name="import-upload"),
    path("import/<slug:import_id>/", imports.import_progress, name="import-progress"),
    path("import/<slug:import_id>/begin/", imports.import_begin, name="import-begin"),
    path("import/<slug:import_id>/cancel/", imports.cancel_import, name="cancel-import"),
    path("units/", units.unit_texts, name="unit-texts"),
    path("units/sets/<slug:set_id>/", units.units_of_set, name="units-of-set"),
    path("units/<slug:summary_id>/", units.units, name="units"),
    path("units/<slug:summary_id>/join/", units.join, name="join-units"),
    path("units/<slug:summary_id>/split/", units.split, name="split-unit"),
    path("claims/<slug:text_id>/", claims.claims, name="claims"),
    path("claims/<slug:text_id>/add/", claims.add, name="add-claim"),
    path("claims/<slug:text_id>/reword/", claims.reword, name="reword-claim"),
    path("claims/<slug:text_id>/remove/", claims.remove, name="remove-claim"),
    path("exports/", exports.exports, name="exports"),
    path("exports/request/", exports.request_export, name="request-export"),
    path("exports/<slug:export_id>/download/", exports.download_export, name="download-export"),
    path("exports/<slug:export_id>/cancel/", exports.cancel_export, name="cancel-export"),
    path("exports/<slug:export_id>/manifest/", exports.export_manifest, name="export-manifest"),
    path("settings/", settings.project_settings, name="project-settings"),
    path("close/", close_project.close_project, name="close-project"),
    path("settings/people/", people.people, name="people"),
    path("settings/people/add/", people.add_member, name="add-member"),
    path("settings/people/<slug:member_id>/roles/", people.change_roles, name="change-roles"),
    path("settings/people/<slug:member_id>/remove/", people.remove_member, name="remove-member"),
    path("settings/invitations/invite/", people.invite, name="invite"),
    path(
        "settings/invitations/<slug:invitation_id>/revoke/",
        people.revoke_invitation,
        name="revoke-invitation",
    ),
    path("settings/guidelines/", guidelines.guidelines, name="guidelines"),
    path("settings/guidelines/write/", guidelines.write_guidelines, name="write-guidelines"),
    path("settings/guidelines/<int:version>/", guidelines.guideline, name="guideline"),
    path("settings/guidelines/trials/start/", guideline_trials.start_trial, name="start-trial"),
    path("settings/guidelines/trials/<slug:trial_id>/", guideline_trials.trial, name="trial"),
    path(
        "settings/guidelines/trials/<slug:trial_id>/decide/",
        guideline_trials.decide_trial,
        name="decide-trial",
    ),
    path("settings/criteria/", criteria.criteria, name="criteria"),
    path("settings/criteria/save/", criteria.save_criterion, name="save-criterion"),
    path("settings/criteria/pack/", criteria.add_pack, name="add-pack"),
    path("settings/criteria/retire/", criteria.retire_criterion, name="retire-criterion"),
    path("settings/log/", event_log.event_log, name="log"),
    path("comments/claims/<slug:claim_id>/", comments.claim_comments, name="claim-comments"),
    path("comments/claims/<slug:claim_id>/write/", comments.comment_claim, name="comment-claim"),
    path("comments/<slug:comment_id>/withdraw/", comments.withdraw_comment, name="withdraw-comment"),
    path("settings/prompts/", prompts.prompts, name="prompts"),
    path("settings/prompts/save/", prompts.save_prompt, name="save-prompt"),
    path("settings/judges/", judges.judges, name="judges"),
    path("settings/judges/add/", judges.add, name="add-judge"),
    path("settings/judges/decide/", judges.decide, name="let-decide"),
    path("settings/judges/<slug:judge_id>/", judges.judge, name="judge-profile"),
    path("settings/judges/<slug:judge_id>/archive/", judges.archive, name="archive-judge"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", projects.projects, name="projects"),
    path("projects/new/", new_project.new_project, name="new-project"),
    path("projects/closed/", close_project.closed_projects, name="closed-projects"),
    path("projects/closed/<slug:public_id>/restore/", close_project.restore, name="restore-project"),
    path("setup/<str:secret>/", accounts.setup, name="setup"),
    path("account/", accounts.account, name="account"),
    path("account/tokens/", accounts.new_token, name="new-token"),
    path("accounts/demo/", accounts.demo_sign_in, name="demo-sign-in"),
    # This page replaces the page of django-allauth with the same address.
    path("accounts/password/set/", accounts.no_password, name="account_set_password"),
    path(
        "accounts/confirm-email/<str:key>/",
        login_required(accounts.ConfirmOwnEmail.as_view()),
        name="account_confirm_email",
    ),
    path("accounts/2fa/totp/activate/", accounts.SetUpFactor.as_view(), name="mfa_activate_totp"),
    path("accounts/oidc/<str:provider_id>/login/", accounts.to_provider, name="openid_connect_login"),
    path(
        "accounts/oidc/<str:provider_id>/login/callback/",
        accounts.from_provider,
        name="openid_connect_callback",
    ),
    path("accounts/", include("allauth.urls")),
    path("invitations/<str:secret>/", invitations.invitation, name="invitation"),
    path("help/", manual.help_index, name="help"),
    path("help/files/<str:name>", manual.help_attachment, name="help-file"),
    path("help/<str:name>/", manual.help_text, name="help-page"),
    path("status/", watching.status, name="status"),
    path("status/servers/allow/", watching.allow_server, name="allow-server"),
    path("status/servers/<slug:server_id>/disallow/", watching.disallow_server, name="disallow-server"),
    path("sample/", demo.sample, name="sample"),
    path("sample/add/", demo.add, name="add-sample"),
    path("sample/remove/", demo.remove, name="remove-sample"),
    path("p/<slug:slug>/", include(project_urls)),
]
