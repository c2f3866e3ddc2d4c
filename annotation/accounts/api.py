"""API tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from allauth.mfa.base.forms import AuthenticateForm
from axes.helpers import get_cool_off
from django.contrib.auth import authenticate
from knox.models import AuthToken
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.accounts.second_factor import has_second_factor, refuse_without
from annotation.accounts.tokens import DAYS, MOST_DAYS, make_token, revoke_token
from annotation.api.access import ApiView
from annotation.api.errors import BadCredentials
from annotation.api.schema import operation
from annotation.api.throttles import LONGEST_PASSWORD, LONGEST_USERNAME, PerAddress
from annotation.core.refusals import Invalid, TooMany
from annotation.core.shared.clients import client_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

LONGEST_CODE = 20


class Credentials(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=LONGEST_USERNAME)
    password = serializers.CharField(
        max_length=LONGEST_PASSWORD, trim_whitespace=False, style={"input_type": "password"}
    )
    days = serializers.IntegerField(
        default=DAYS, min_value=1, max_value=MOST_DAYS, help_text="Days until the token ends."
    )
    code = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_CODE,
        help_text="Code of the second factor, from the app or a recovery code; only for people who have one.",
    )


class TokenRow(serializers.Serializer[AuthToken]):
    key = serializers.CharField(source="token_key", help_text="The first characters of the token.")
    created_at = serializers.DateTimeField(source="created")
    expires_at = serializers.DateTimeField(source="expiry", allow_null=True)


class NewToken(TokenRow):
    token = serializers.CharField(
        help_text='Shown only once. Send it as the header "Authorization: Token <token>".'
    )


class Tokens(ApiView):
    tag = "tokens"
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (PerAddress,)

    @operation("create_token", request=Credentials, responses={201: NewToken}, refusals=("403", "409", "422"))
    def post(self, request: Request) -> Response:
        """Create a token for a username and password.

        The token is shown once. People with a second factor must also send a code; without the code the response is 422
        with `code_needed`.
        """
        given = self.body(Credentials)
        # Pass the API's request: for Django's, the middleware of django-axes would replace the error body by a page.
        http = cast("HttpRequest", request)
        user = authenticate(http, username=given["username"], password=given["password"])
        if getattr(request, "axes_locked_out", False):
            wait = get_cool_off().total_seconds()
            raise TooMany("Too many wrong passwords.", code="locked_out", seconds=wait)
        if user is None:
            raise BadCredentials
        _check_code(user, given["code"])
        row, token = make_token(person=user, days=given["days"], client=client_of(http))
        row.token = token
        return Response(NewToken(row).data, status=status.HTTP_201_CREATED)


def _check_code(person: User, code: str) -> None:
    refuse_without(person)
    if not has_second_factor(person):
        return
    if not code:
        raise Invalid("A code of your second factor is needed.", field="code", code="code_needed")
    form = AuthenticateForm(user=person, data={"code": code})
    if not form.is_valid():
        raise Invalid(" ".join(form.errors["code"]), field="code", code="wrong_code")


class CurrentToken(ApiView):
    tag = "tokens"

    @operation("get_token", responses=TokenRow, refusals=("422",))
    def get(self, request: Request) -> Response:
        """Show the token that authenticates this request, and its expiry."""
        return Response(TokenRow(self._token()).data)

    @operation("revoke_token", responses={204: None}, refusals=("422",))
    def delete(self, request: Request) -> Response:
        """Revoke the token that authenticates this request."""
        token = self._token()
        revoke_token(person=self.person, key=token.token_key, client=client_of(self.request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _token(self) -> AuthToken:
        if not isinstance(self.request.auth, AuthToken):
            raise Invalid("This request was made with a session, not with a token.", code="no_token")
        return self.request.auth
