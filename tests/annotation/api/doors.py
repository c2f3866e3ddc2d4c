"""Which operation of the API does what a form of the pages does; or why there is none."""

from __future__ import annotations

IN_API: dict[str, str] = {
    # An assessor's work
    "acts": "save_acts",
    "judge-unit": "save_acts",
    "answer-quality": "save_acts",
    "answer-unmarked": "save_acts",
    "close-assignment": "close_assignment",
    "pull-assignment": "pull_assignment",
    "take-up-assignment": "take_up_assignment",
    "give-back-assignment": "give_back_assignment",
    # A reviewer's and an adjudicator's
    "override": "answer_check",
    "withdraw-verdict": "withdraw_verdict",
    "next-check": "next_check",
    "look": "look_at_check",
    "next-dispute": "take_next_dispute",
    "decide-dispute": "decide_dispute",
    "withdraw-decision": "withdraw_adjudication",
    "comment-claim": "comment_on_claim",
    "withdraw-comment": "withdraw_comment",
    # Samples and assignments
    "draw-checks": "draw_checks",
    "cancel-check-draw": "cancel_check_draw",
    "assign": "assign",
    "assign-sets": "assign_sets",
    "unassign": "unassign",
    # Texts
    "join-units": "join_units",
    "split-unit": "split_unit",
    "add-claim": "add_claim",
    "reword-claim": "reword_claim",
    "remove-claim": "remove_claim",
    "ask-questions": "ask_questions",
    "retire-question": "retire_question",
    # Judges and runs
    "start-run": "start_run",
    "cancel-run": "cancel_run",
    "resume-run": "resume_run",
    "add-judge": "add_judge",
    "judge-profile": "change_judge",
    "archive-judge": "archive_judge",
    "let-decide": "change_project",
    "teach-judge": "teach_judge",
    "save-prompt": "save_prompt",
    # Files in and out
    "import-upload": "import_files",
    "import-begin": "import_files",
    "cancel-import": "cancel_import",
    "request-export": "request_export",
    "cancel-export": "cancel_export",
    # The project and its people
    "new-project": "create_project",
    "close-project": "delete_project",
    "restore-project": "restore_project",
    "project-settings": "change_project",
    "add-member": "add_member",
    "change-roles": "change_roles",
    "remove-member": "remove_member",
    "invite": "invite",
    "revoke-invitation": "revoke_invitation",
    "invitation": "accept_invitation",
    # One's own
    "account": "change_account",
    "set-up-factor": "set_up_second_factor",
    "sign-in": "create_token",
    "sign-out": "revoke_token",
}

ON_PAGES_ALONE: dict[str, str] = {
    "write-guidelines": "is written by a person, in Markdown",
    **dict.fromkeys(("add-sample", "remove-sample"), "is for a first look in a browser"),
    "setup": "makes the first account of an installation, by a link from its shell",
    "demo-sign-in": "is there in the demo alone, for whoever sits at it",
    "forgotten-password": "mails a link for a browser; a program has a token",
    "second-factor": "is the second half of signing in; a program sends its code with the password",
    "sign-on": "leads a browser to the provider; a program has a token",
    "verify-email": "is reached by a mailed link, in the browser where one is signed in",
    "reset-password": "is reached by that link, once",
}
