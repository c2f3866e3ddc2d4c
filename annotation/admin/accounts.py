"""Accounts: Django's own pages, and a way back in for who has forgotten the password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account import admin as _email_addresses
from allauth.account.models import EmailAddress
from allauth.mfa import admin as _second_factors
from allauth.mfa.models import Authenticator
from allauth.socialaccount import admin as _identities
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.shortcuts import render

from annotation.accounts.own_account import reset_path
from annotation.accounts.second_factor import reset_second_factor
from annotation.accounts.verified_email import forget_verified
from annotation.admin.reach import person_of
from annotation.core.accounts.clients import client_of
from annotation.core.refusals import Refusal
from annotation.privacy.erase_person import erase_person

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse

    Accounts = UserAdmin[User]
else:
    Accounts = UserAdmin

# Secrets of second factors and whose identity somebody has are nobody's to read or change; the provider is a setting.
assert _email_addresses
assert _second_factors
assert _identities
for _model in (User, Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(_model)


@admin.register(User)
class AccountAdmin(Accounts):
    actions = ("make_reset_link", "reset_second_factor", "erase")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Without the people of imports, as whom nobody signs in."""
        return super().get_queryset(request)

    @admin.action(description="Create a password reset link")
    def make_reset_link(self, request: HttpRequest, people: QuerySet[User]) -> None:
        if people.count() != 1:
            self.message_user(request, "Choose one account at a time.", messages.ERROR)
            return
        person = people.get()
        try:
            path = reset_path(person=person, by=person_of(request), client=client_of(request))
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return
        address = request.build_absolute_uri(path)
        told = f"For {person.get_username()}, good for one use within three days: {address}"
        self.message_user(request, told, messages.SUCCESS)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if "email" in form.changed_data:
            before, by = form.initial.get("email", ""), person_of(request)
            forget_verified(person=obj, before=before, by=by, client=client_of(request))

    @admin.action(description="Reset a lost second factor")
    def reset_second_factor(self, request: HttpRequest, people: QuerySet[User]) -> None:
        if people.count() != 1:
            self.message_user(request, "Choose one account at a time.", messages.ERROR)
            return
        person = people.get()
        try:
            reset_second_factor(person=person, by=person_of(request), client=client_of(request))
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return
        self.message_user(
            request, f"The second factor of {person.get_username()} is reset.", messages.SUCCESS
        )

    @admin.action(description="Erase personal data")
    def erase(self, request: HttpRequest, people: QuerySet[User]) -> HttpResponse | None:
        """Asks first, then erases one person; scores stay the same."""
        if people.count() != 1:
            self.message_user(request, "Choose one account at a time.", messages.ERROR)
            return None
        person = people.get()
        if "confirmed" not in request.POST:
            context = {**admin.site.each_context(request), "person": person, "title": "Erase a person"}
            return render(request, "admin/erase_person.html", context)
        name = person.get_username()
        try:
            texts = "remove_texts" in request.POST
            erase_person(person=person, by=person_of(request), remove_texts=texts)
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return None
        self.message_user(request, f"{name} erased. Their answers stay.", messages.SUCCESS)
        return None
