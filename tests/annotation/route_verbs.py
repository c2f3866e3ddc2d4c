"""The verbs of addresses, for the tests of permissions.

A page has the name of its route, a page of the admin the class of its row. The API's routes are in `api/routes`.
"""

from __future__ import annotations

from annotation.core.permissions import Verb

SCRIPTED = {"acts"}
"""Addresses to which our scripts post JSON."""

POSTED = {
    *SCRIPTED,
    "close-assignment",
    "judge-unit",
    "rate",
    "override",
    "withdraw-verdict",
    "next-check",
    "look",
    "check-some",
    "sample-checks",
    "extend-sample",
    "cancel-sample",
    "sample-ratings",
    "next-dispute",
    "decide-dispute",
    "withdraw-decision",
    "start-run",
    "cancel-run",
    "resume-run",
    "assign",
    "assign-sets",
    "unassign",
    "pull-assignment",
    "take-up-assignment",
    "give-back-assignment",
    "join-units",
    "split-unit",
    "add-claim",
    "reword-claim",
    "remove-claim",
    "request-export",
    "cancel-export",
    "import-upload",
    "import-begin",
    "cancel-import",
    "ask-questions",
    "retire-question",
    "add-member",
    "change-roles",
    "invite",
    "revoke-invitation",
    "write-guidelines",
    "rate-summary",
    "save-criterion",
    "add-pack",
    "retire-criterion",
    "comment-claim",
    "withdraw-comment",
    "save-prompt",
    "let-decide",
    "archive-judge",
    "teach-judge",
    "start-trial",
    "decide-trial",
    "answer-again",
    "archive-watch",
}
"""Routes that answer POST; all others answer GET."""

ALSO_READ = {
    "project-settings",
    "close-project",
    "remove-member",
    "next-check",
    "add-judge",
    "judge-profile",
    "new-watch",
}
"""Routes where GET shows the form, or leads to it, and POST sends the form."""

WEB = {
    "project": Verb.VIEW_PROJECT,
    **dict.fromkeys(("work", "assess", "assess-source", "judge-unit", "close-assignment"), Verb.ASSESS),
    **dict.fromkeys(("rate", *SCRIPTED), Verb.ASSESS),
    **dict.fromkeys(("review", "check", "override", "withdraw-verdict"), Verb.REVIEW),
    **dict.fromkeys(("next-check", "look"), Verb.REVIEW),
    **dict.fromkeys(
        ("samples", "check-some", "sample-checks", "extend-sample", "sample-ratings", "cancel-sample"),
        Verb.ASSIGN,
    ),
    **dict.fromkeys(("adjudicate", "dispute", "next-dispute", "decide-dispute"), Verb.ADJUDICATE),
    "withdraw-decision": Verb.ADJUDICATE,
    **dict.fromkeys(
        ("scores", "system", "system-claims", "summary", "questions", "compare", "slices"), Verb.VIEW_SCORES
    ),
    **dict.fromkeys(("document-sets", "side-by-side"), Verb.VIEW_SCORES),
    **dict.fromkeys(("ask-questions", "retire-question"), Verb.CHANGE_PROJECT),
    **dict.fromkeys(("watches", "watch"), Verb.VIEW_SCORES),
    **dict.fromkeys(("new-watch", "archive-watch"), Verb.RUN),
    **dict.fromkeys(("runs", "run"), Verb.VIEW_RUNS),
    **dict.fromkeys(("start-run", "cancel-run", "resume-run", "run-estimate"), Verb.RUN),
    "run-calls": Verb.VIEW_SCORES,
    **dict.fromkeys(("assignments", "assign", "assign-sets", "unassign"), Verb.ASSIGN),
    **dict.fromkeys(("pull-assignment", "take-up-assignment", "give-back-assignment"), Verb.ASSESS),
    **dict.fromkeys(("exports", "request-export", "cancel-export"), Verb.EXPORT),
    **dict.fromkeys(("download-export", "export-manifest"), Verb.EXPORT),
    **dict.fromkeys(("import", "import-upload", "import-progress"), Verb.IMPORT),
    **dict.fromkeys(("import-begin", "cancel-import"), Verb.IMPORT),
    **dict.fromkeys(("unit-texts", "units-of-set", "units", "join-units", "split-unit"), Verb.CHANGE_UNITS),
    **dict.fromkeys(("claims", "add-claim", "reword-claim", "remove-claim"), Verb.CHANGE_CLAIMS),
    "project-settings": Verb.CHANGE_PROJECT,
    "close-project": Verb.CLOSE_PROJECT,
    **dict.fromkeys(("people", "add-member", "change-roles", "remove-member"), Verb.MANAGE_MEMBERS),
    **dict.fromkeys(("invite", "revoke-invitation"), Verb.MANAGE_MEMBERS),
    **dict.fromkeys(("rate-summaries", "rate-summary", "again", "answer-again"), Verb.REVIEW),
    "start-trial": Verb.ASSIGN,
    "trial": Verb.VIEW_SCORES,
    "decide-trial": Verb.CHANGE_PROJECT,
    **dict.fromkeys(("guidelines", "guideline", "criteria"), Verb.VIEW_PROJECT),
    **dict.fromkeys(
        ("write-guidelines", "save-criterion", "add-pack", "retire-criterion"), Verb.CHANGE_PROJECT
    ),
    "log": Verb.VIEW_EVENTS,
    **dict.fromkeys(("claim-comments", "comment-claim", "withdraw-comment"), Verb.COMMENT),
    **dict.fromkeys(("prompts", "judges"), Verb.VIEW_RUNS),
    **dict.fromkeys(("add-judge", "judge-profile", "archive-judge", "let-decide"), Verb.CHANGE_PROJECT),
    "teach-judge": Verb.CHANGE_PROJECT,
    "save-prompt": Verb.CHANGE_PROJECT,
    **dict.fromkeys(("league-file", "pairs-file", "agreement"), Verb.VIEW_SCORES),
    "judge": Verb.VIEW_SCORES,
}
"""The verb that each route of a project needs."""

OWN = {
    **dict.fromkeys(("assess", "assess-source", "judge-unit", "rate"), "ana"),
    **dict.fromkeys(("close-assignment", "take-up-assignment", "give-back-assignment", *SCRIPTED), "ana"),
    **dict.fromkeys(("withdraw-verdict", "withdraw-comment"), "rex"),
}
"""The owner of the row, for rows of one person. Others with the verb are refused."""

NAMED_IN_FORM = {
    *("start-run", "withdraw-verdict", "let-decide", "teach-judge", "reword-claim", "remove-claim")
}
"""Routes whose form names the row. A person with the verb who sends an empty form gets 404."""

OF_TEXT_IN_HAND = {"units", "units-of-set", "join-units", "split-unit"}
"""Routes closed to a person who is judging that text, whatever the person's verbs are."""

OUTSIDE = {
    "projects": False,
    "new-project": True,
    "closed-projects": True,
    "restore-project": True,
    "setup": False,
    "demo-sign-in": False,
    "account": True,
    "new-token": True,
    "admin-sign-in": False,
    # Pages of django-allauth
    **dict.fromkeys(("account_login", "account_logout", "account_inactive", "account_signup"), False),
    **dict.fromkeys(("account_reauthenticate", "account_email", "account_change_password"), True),
    **dict.fromkeys(("account_set_password", "account_confirm_email"), True),
    **dict.fromkeys(("account_email_verification_sent", "account_confirm_login_code"), False),
    **dict.fromkeys(("account_reset_password", "account_reset_password_done"), False),
    **dict.fromkeys(("account_reset_password_from_key", "account_reset_password_from_key_done"), False),
    **dict.fromkeys(("mfa_index", "mfa_reauthenticate", "mfa_activate_totp", "mfa_deactivate_totp"), True),
    **dict.fromkeys(("mfa_view_recovery_codes", "mfa_download_recovery_codes"), True),
    "mfa_generate_recovery_codes": True,
    # This page redirects to the sign-in page without a password.
    "mfa_authenticate": True,
    **dict.fromkeys(("openid_connect_login", "openid_connect_callback"), False),
    **dict.fromkeys(("socialaccount_login_cancelled", "socialaccount_login_error"), False),
    # This page redirects to the sign-in page unless the person comes from the provider.
    "socialaccount_signup": True,
    **{
        f"accounts/social/{name}/": False
        for name in ("login/cancelled", "login/error", "signup", "connections")
    },
    **dict.fromkeys(("socialaccount_connections", "usersessions_list"), True),
    **dict.fromkeys(("sample", "add-sample", "remove-sample"), True),
    "invitation": False,
    "help": False,
    "help-page": False,
    "help-file": False,
    "healthz": False,
    "readyz": False,
    "metrics": False,
    "status": True,
    "allow-server": True,
    "disallow-server": True,
    "favicon.ico": False,
    "api-schema": False,
    "api-docs": False,
}
"""Addresses outside of projects; True if only signed-in people may use them."""
