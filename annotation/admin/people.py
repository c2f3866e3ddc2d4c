"""How people come into a project, what it tells them, what they tell each other, and what they did."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from annotation.admin.rows import READ_ANSWERS, Rows
from annotation.core.accounts.clients import browser_of
from annotation.core.permissions import Verb
from annotation.models import (
    AccountEvent,
    AccountSession,
    CachedValue,
    Comment,
    Event,
    Guideline,
    Invitation,
    MailTurn,
    SetupLink,
)

TAKEN_BACK = "(withdrawn)"


@admin.register(Guideline)
class GuidelineAdmin(Rows):
    """Versions are never changed: new words are written where people read them."""

    project_paths = ("project",)
    view_verbs = (Verb.VIEW_PROJECT,)
    list_display = ("version", "project", "note", "by", "created_at")
    list_select_related = ("project", "by")
    search_fields = ("public_id__exact", "note")


@admin.register(Invitation)
class InvitationAdmin(Rows):
    """The secret itself is kept nowhere; its hash stays hidden, too."""

    project_paths = ("project",)
    view_verbs = (Verb.MANAGE_MEMBERS,)
    list_display = (
        "public_id",
        "project",
        "note",
        "email",
        "by",
        "created_at",
        "expires_at",
        "accepted_by",
        "revoked_at",
    )
    list_select_related = ("project", "by", "accepted_by")
    search_fields = ("public_id__exact", "note", "by__username__exact")
    exclude = ("secret_hash",)


@admin.register(SetupLink)
class SetupLinkAdmin(Rows):
    """For superusers; there is none once anybody has an account."""

    list_display = ("public_id", "created_at", "expires_at")
    search_fields = ("public_id__exact",)
    exclude = ("secret_hash",)


@admin.register(MailTurn)
class MailTurnAdmin(Rows):
    """For superusers: how often mail was asked for, without addresses."""

    list_display = ("hour", "nth")
    search_fields = ("key__exact",)
    exclude = ("key",)


@admin.register(CachedValue)
class CachedValueAdmin(Rows):
    """For superusers: what is counted here, where no Redis is; keys may hold network addresses."""

    list_display = ("cache_key", "expires")
    search_fields = ("cache_key__exact",)
    exclude = ("value",)


@admin.register(AccountEvent)
class AccountEventAdmin(Rows):
    """For superusers: sign-ins, failures, locks, and what was done to passwords, tokens and sessions."""

    list_display = ("at", "kind", "person", "address", "browser", "by", "note")
    list_select_related = ("person", "by")
    list_filter = ("kind",)
    search_fields = ("person__username__exact", "address__startswith")
    exclude = ("name_key", "device", "network")

    @admin.display(description="browser")
    def browser(self, event: AccountEvent) -> str:
        return browser_of(event.agent)


@admin.register(AccountSession)
class AccountSessionAdmin(Rows):
    """For superusers: who is signed in. The keys, which would open the sessions, are not shown: rows have no page."""

    list_display = ("person", "address", "browser", "began_at", "seen_at", "expire_date")
    list_display_links = None
    list_select_related = ("person",)
    search_fields = ("person__username__exact", "address__startswith")
    exclude = ("session_key", "session_data")

    @admin.display(description="browser")
    def browser(self, session: AccountSession) -> str:
        return browser_of(session.agent)


@admin.register(Comment)
class CommentAdmin(Rows):
    """Not open to mere reviewers: on the screen what others say of a claim waits for their own answer.

    Words that were taken back are not shown here either.
    """

    project_paths = ("project",)
    view_verbs = READ_ANSWERS
    list_display = ("public_id", "project", "author", "words", "created_at", "withdrawn_at")
    list_select_related = ("project", "author")
    search_fields = ("public_id__exact", "author__username__exact")

    @admin.display(description="text")
    def words(self, comment: Comment) -> str:
        return str(comment) if comment.withdrawn_at is None else TAKEN_BACK

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found = super().get_object(request, object_id, from_field)
        if found.withdrawn_at is not None:
            found.text = TAKEN_BACK
        return found


@admin.register(Event)
class EventAdmin(Rows):
    """The log: rows are only ever added, by the services."""

    project_paths = ("project",)
    view_verbs = (Verb.VIEW_EVENTS,)
    list_display = ("created_at", "project", "actor", "verb", "target_kind", "target_id")
    list_select_related = ("project", "actor")
    search_fields = ("public_id__exact", "target_id__exact", "actor__username__exact", "verb__exact")
