"""A link for a new password by mail, where the installation has a mail server."""

from __future__ import annotations

import logging
from itertools import islice

from django.contrib.auth.forms import PasswordResetForm
from django.core.mail import send_mail
from django.template.loader import render_to_string

from annotation.accounts.own_account import reset_path
from annotation.core.jobs import hint
from annotation.core.shared.limits import takes_mail_turn

MAIL_RESET = "annotation.mail_reset"
"""The task that sends the mail."""
MAILS_AN_HOUR = 3
ASKED_FROM_ONE_PLACE_AN_HOUR = 30
ACCOUNTS_OF_ONE_ADDRESS = 3
"""Several accounts may share an address; more than these get no mail."""
SUBJECT = "A new password for Coverdict"

logger = logging.getLogger(__name__)


def ask_for_reset(*, email: str, address: str, asker: str) -> None:
    """Have a link mailed to the accounts that have this e-mail address, if any; the same to its asker in any case.

    `address` is where the installation is reached, `asker` the network address that asks. More than a few times in an
    hour nothing is sent.
    """
    if not takes_mail_turn(f"from {asker}", most=ASKED_FROM_ONE_PLACE_AN_HOUR):
        logger.warning("Reset links were asked for too often from %s", asker)
    elif not takes_mail_turn(f"to {email.casefold()}", most=MAILS_AN_HOUR):
        logger.warning("Reset links were asked for too often for one address, from %s", asker)
    else:
        hint(MAIL_RESET, kwargs={"email": email, "address": address}, waits="a mailed reset link")


def mail_reset_links(*, email: str, address: str) -> int:
    """Mail each account of that e-mail address a link, as `reset_path` makes it; how many were sent.

    Closed accounts and those without a password of their own get none.
    """
    people = list(islice(PasswordResetForm().get_users(email), ACCOUNTS_OF_ONE_ADDRESS))
    for person in people:
        link = f"{address.rstrip('/')}{reset_path(person)}"
        words = render_to_string("accounts/reset_mail.txt", {"username": person.get_username(), "link": link})
        # To the address on file: one that merely looks alike may be somebody else's.
        send_mail(SUBJECT, words, None, [person.email])
        logger.warning("A reset link was mailed to %s", person.get_username())
    return len(people)
