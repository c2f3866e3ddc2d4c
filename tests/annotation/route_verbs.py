"""Which verb opens which address, for every door: the table that the tests of permissions go by.

A route of the web is named as in its URL configuration, one of the admin by its row's class; the API's routes stand
with their bodies in `api/routes`. A route without an entry fails `test_permission_matrix`, which names it.
"""

from __future__ import annotations

from annotation.core.permissions import Verb

SCRIPTED = {"acts", "pen", "alive"}
"""Addresses that a script of ours posts JSON to."""

POSTED = {
    *SCRIPTED,
    "close-sitting",
    "judge-unit",
    "answer-quality",
    "answer-unmarked",
    "override",
    "withdraw-verdict",
    "next-check",
    "reveal-verdict",
    "look",
    "accept-batch",
    "withdraw-batch",
    "draw-checks",
    "cancel-check-draw",
    "draw-plan",
    "next-dispute",
    "decide-dispute",
    "withdraw-decision",
    "reopen-dispute",
    "start-run",
    "cancel-run",
    "resume-run",
    "follow-model",
    "assign",
    "assign-sets",
    "unassign",
    "pull-sitting",
    "take-up-sitting",
    "give-back-sitting",
    "join-units",
    "split-unit",
    "undo-units",
    "weigh-unit",
    "reopen-units",
    "add-claim",
    "reword-claim",
    "split-claim",
    "join-claims",
    "delete-claim",
    "undo-claims",
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
    "preview-guidelines",
    "comment-claim",
    "comment-unit",
    "withdraw-comment",
    "preview-prompt",
    "reword-prompt",
    "restore-prompt",
    "let-decide",
    "archive-judge",
    "permit-texts",
    "teach-judge",
}
"""Routes that answer POST; all others answer GET."""

ALSO_READ = {
    "project-settings",
    "close-project",
    "remove-member",
    "next-check",
    "add-judge",
    "judge-profile",
    "compared",
}
"""Of these GET shows the form, or leads back to it, and POST sends it."""

WEB = {
    "project": Verb.VIEW_PROJECT,
    **dict.fromkeys(("work", "assess", "assess-source", "judge-unit", "close-sitting"), Verb.ASSESS),
    **dict.fromkeys(("answer-quality", "answer-unmarked", *SCRIPTED), Verb.ASSESS),
    **dict.fromkeys(("review", "check", "override", "withdraw-verdict"), Verb.REVIEW),
    **dict.fromkeys(("next-check", "reveal-verdict", "look"), Verb.REVIEW),
    **dict.fromkeys(("batch-offer", "withdraw-batch"), Verb.REVIEW),
    # For reviewers too, but where the judge's verdicts are kept back from them, as in the project of the tests.
    "accept-batch": Verb.ADJUDICATE,
    **dict.fromkeys(("check-draws", "draw-checks", "cancel-check-draw", "draw-plan"), Verb.ASSIGN),
    **dict.fromkeys(("adjudicate", "dispute", "next-dispute", "decide-dispute"), Verb.ADJUDICATE),
    **dict.fromkeys(("withdraw-decision", "reopen-dispute"), Verb.ADJUDICATE),
    **dict.fromkeys(("scores", "system", "system-claims", "summary", "questions"), Verb.VIEW_SCORES),
    **dict.fromkeys(("document-sets", "side-by-side"), Verb.VIEW_SCORES),
    **dict.fromkeys(("ask-questions", "retire-question"), Verb.CHANGE_PROJECT),
    **dict.fromkeys(("runs", "run"), Verb.VIEW_RUNS),
    **dict.fromkeys(("start-run", "cancel-run", "resume-run", "run-estimate", "run-permission"), Verb.RUN),
    "run-calls": Verb.VIEW_SCORES,
    **dict.fromkeys(("assignments", "assign", "assign-sets", "unassign"), Verb.ASSIGN),
    **dict.fromkeys(("pull-sitting", "take-up-sitting", "give-back-sitting"), Verb.ASSESS),
    **dict.fromkeys(("exports", "request-export", "cancel-export"), Verb.EXPORT),
    **dict.fromkeys(("download-export", "export-manifest"), Verb.EXPORT),
    **dict.fromkeys(("import", "import-upload", "import-progress", "import-rejects"), Verb.IMPORT),
    **dict.fromkeys(("import-begin", "cancel-import"), Verb.IMPORT),
    **dict.fromkeys(("unit-texts", "units", "join-units", "split-unit"), Verb.CHANGE_UNITS),
    **dict.fromkeys(("undo-units", "weigh-unit"), Verb.CHANGE_UNITS),
    "reopen-units": Verb.REOPEN_UNITS,
    **dict.fromkeys(("claims", "add-claim", "reword-claim", "split-claim"), Verb.CHANGE_CLAIMS),
    **dict.fromkeys(("join-claims", "delete-claim", "undo-claims"), Verb.CHANGE_CLAIMS),
    "project-settings": Verb.CHANGE_PROJECT,
    "close-project": Verb.CLOSE_PROJECT,
    **dict.fromkeys(("people", "add-member", "change-roles", "remove-member"), Verb.MANAGE_MEMBERS),
    **dict.fromkeys(("invite", "revoke-invitation"), Verb.MANAGE_MEMBERS),
    **dict.fromkeys(("guidelines", "guideline"), Verb.VIEW_PROJECT),
    **dict.fromkeys(("write-guidelines", "preview-guidelines"), Verb.CHANGE_PROJECT),
    **dict.fromkeys(("log", "log-file"), Verb.VIEW_EVENTS),
    **dict.fromkeys(("bias", "bias-file"), Verb.VIEW_BIAS),
    **dict.fromkeys(("claim-comments", "comment-claim", "unit-comments", "comment-unit"), Verb.COMMENT),
    "withdraw-comment": Verb.COMMENT,
    **dict.fromkeys(("prompts", "prompt", "judges"), Verb.VIEW_RUNS),
    **dict.fromkeys(
        (
            "add-judge",
            "judge-profile",
            "judge-trial",
            "archive-judge",
            "let-decide",
            "compared",
            "follow-model",
        ),
        Verb.CHANGE_PROJECT,
    ),
    "permit-texts": Verb.RUN,
    "teach-judge": Verb.CHANGE_PROJECT,
    **dict.fromkeys(("preview-prompt", "reword-prompt", "restore-prompt"), Verb.CHANGE_PROJECT),
    **dict.fromkeys(("league-file", "differences", "agreement", "agreement-file"), Verb.VIEW_SCORES),
    **dict.fromkeys(("judge", "judge-file"), Verb.VIEW_SCORES),
    **dict.fromkeys(("plan", "plan-file"), Verb.VIEW_SCORES),
}
"""What each route of a project asks for."""

OWN = {
    **dict.fromkeys(("assess", "assess-source", "judge-unit", "answer-quality", "answer-unmarked"), "ana"),
    **dict.fromkeys(("close-sitting", "take-up-sitting", "give-back-sitting", *SCRIPTED), "ana"),
    "judge-trial": "mona",
    **dict.fromkeys(("withdraw-verdict", "withdraw-batch", "withdraw-comment"), "rex"),
}
"""Whose row it is, where it is one person's own: others who hold the verb are refused all the same."""

READ_CONTENT = (Verb.VIEW_SCORES, Verb.REVIEW)

NAMED_IN_FORM = {
    *("start-run", "withdraw-verdict", "let-decide", "teach-judge"),
    *("reword-claim", "split-claim", "delete-claim", "undo-claims"),
}
"""Whose row is named in the form: whoever holds the verb and sends an empty one is told that there is none."""

OF_TEXT_IN_HAND = {"units", "join-units", "split-unit", "undo-units", "weigh-unit"}
"""Closed to whoever is judging that very text, whatever verbs they hold."""

IN_SIGHT = {
    **dict.fromkeys(("claim-comments", "comment-claim", "unit-comments", "comment-unit"), READ_CONTENT),
    "projects/{slug}/claims/{claim}/comments/": READ_CONTENT,
    "projects/{slug}/units/{unit}/comments/": READ_CONTENT,
}
"""What brings the row into sight, where that is asked for beside the verb: without it there is no such row."""

OUTSIDE = {
    "projects": False,
    "new-project": True,
    "closed-projects": True,
    "restore-project": True,
    "setup": False,
    "sign-in": False,
    "demo-sign-in": False,
    "sign-out": False,
    "account": True,
    # Leads who has not given the password to the sign-in page.
    "second-factor": True,
    "set-up-factor": True,
    "sign-on": False,
    "openid_connect_callback": False,
    "admin-sign-in": False,
    "verify-email": True,
    **dict.fromkeys(("samples", "add-sample", "remove-sample"), True),
    "reset-password": False,
    "forgotten-password": False,
    "invitation": False,
    "help": False,
    "help-page": False,
    "help-file": False,
    "notices": True,
    "read-notices": True,
    "open-notice": True,
    "read-notice": True,
    "healthz": False,
    "readyz": False,
    "metrics": False,
    "status": True,
    "favicon.ico": False,
    "api-schema": False,
    "api-docs": False,
}
"""Addresses outside of projects, and whether they are for people signed in alone."""

ADMIN: dict[str, tuple[Verb, ...]] = {
    **dict.fromkeys(("DocumentSet", "Document", "Project", "Guideline", "Notice"), (Verb.VIEW_PROJECT,)),
    **dict.fromkeys(("System", "Summary", "Unit", "UnitChange", "Comparison"), (Verb.VIEW_SCORES,)),
    **dict.fromkeys(("ClaimSet", "Claim", "ClaimChange"), (Verb.VIEW_SCORES,)),
    **dict.fromkeys(("Check", "Verdict", "VerdictBatch", "Adjudication", "Comment"), (Verb.VIEW_SCORES,)),
    **dict.fromkeys(("Draw", "DrawnCheck", "Sitting", "Assignment"), (Verb.VIEW_SCORES,)),
    **dict.fromkeys(("UnitJudgment", "SummaryJudgment", "Score", "Analysis"), (Verb.VIEW_SCORES,)),
    **dict.fromkeys(("PublishedScore", "PublishedPercent"), (Verb.VIEW_SCORES,)),
    "Question": READ_CONTENT,
    **dict.fromkeys(("QuestionAnswer", "Rating"), (Verb.VIEW_SCORES,)),
    "CheckLook": (Verb.VIEW_BIAS,),
    "Dispute": (Verb.ADJUDICATE,),
    "Event": (Verb.VIEW_EVENTS,),
    "Export": (Verb.EXPORT,),
    "Import": (Verb.IMPORT,),
    **dict.fromkeys(("ImportedPerson", "Invitation"), (Verb.MANAGE_MEMBERS,)),
    "Membership": (Verb.MANAGE_MEMBERS, Verb.ASSIGN),
    "Judge": (Verb.RUN, Verb.CHANGE_PROJECT),
    **dict.fromkeys(("Run", "Job", "PromptVersion"), (Verb.VIEW_RUNS,)),
    "TextPermission": (Verb.RUN,),
    **dict.fromkeys(("JudgeExamples",), (Verb.VIEW_SCORES,)),
    **dict.fromkeys(
        (
            "AccountEvent",
            "AccountSession",
            "JudgeCall",
            "JudgeShare",
            "JudgeTrial",
            "CallClaim",
            "CachedValue",
            "CallStart",
            "MailTurn",
            "SetupLink",
            "Worker",
        ),
        (),
    ),
}
"""What opens the admin's lists and rows of each class; nothing but being a superuser where no verb is named."""

ADMIN_CHANGES: dict[str, Verb] = {
    "Project": Verb.CHANGE_PROJECT,
    "Membership": Verb.MANAGE_MEMBERS,
    "Dispute": Verb.ADJUDICATE,
}
"""What sends a row's form, where there is one for others than superusers."""
