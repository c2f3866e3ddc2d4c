"""API tokens."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import authenticate
from django.http import HttpRequest
from knox.models import AuthToken
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.accounts.lock_out import refuse_if_locked
from annotation.accounts.own_account import (
    DAYS,
    MOST_DAYS,
    ask_for_token,
    revoke_token,
)
from annotation.api.access import ApiView
from annotation.api.errors import BadCredentials
from annotation.api.schema import operation
from annotation.api.throttles import LONGEST_PASSWORD, LONGEST_USERNAME, PerAddress
from annotation.core.refusals import Invalid
from annotation.core.shared.clients import client_of

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
        """Exchange username and password for a token.

        The token is shown once, and only its hash is stored. Attempts are counted and limited. People with a second
        factor also send a code; without one the answer is 422 with `code_needed`.
        """
        given = self.body(Credentials)
        secret = {name: given.pop(name) for name in ("username", "password")}
        # The API's request, because the lock's middleware would replace the error body by a page.
        user = authenticate(cast("HttpRequest", request), **secret)
        refuse_if_locked(cast("HttpRequest", request))
        if user is None:
            raise BadCredentials
        row, token = ask_for_token(person=user, request=cast("HttpRequest", request), **given)
        row.token = token
        return Response(NewToken(row).data, status=status.HTTP_201_CREATED)


class CurrentToken(ApiView):
    tag = "tokens"

    @operation("get_token", responses=TokenRow, refusals=("422",))
    def get(self, request: Request) -> Response:
        """Show the token of this request with its expiry."""
        return Response(TokenRow(self._token()).data)

    @operation("revoke_token", responses={204: None}, refusals=("422",))
    def delete(self, request: Request) -> Response:
        """Revoke the token of this request."""
        token = self._token()
        revoke_token(person=self.person, key=token.token_key, client=client_of(self.request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _token(self) -> AuthToken:
        if not isinstance(self.request.auth, AuthToken):
            raise Invalid("This request was made with a session, not with a token.", code="no_token")
        return self.request.auth
