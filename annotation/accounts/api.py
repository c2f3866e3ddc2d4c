"""Tokens: a program signs in without a browser."""

from __future__ import annotations

import hashlib
from typing import Any, cast

from django.contrib.auth import authenticate
from django.http import HttpRequest
from knox.models import AuthToken
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle

from annotation.api.access import ApiView
from annotation.api.errors import BadCredentials, LockedOut
from annotation.api.schema import operation
from annotation.api.throttles import LONGEST_PASSWORD, LONGEST_USERNAME, PerAddress
from annotation.core.refusals import Invalid


class PerName(SimpleRateThrottle):
    """Per username, from wherever the attempts come."""

    scope = "tokens-name"
    rate = "10/min"

    def get_cache_key(self, request: Request, view: Any) -> str | None:
        given = request.data.get("username") if isinstance(request.data, dict) else None
        if not isinstance(given, str):
            return None
        return f"{self.scope}:{hashlib.sha256(given.casefold().encode(errors='replace')).hexdigest()}"


class Credentials(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=LONGEST_USERNAME)
    password = serializers.CharField(
        max_length=LONGEST_PASSWORD, trim_whitespace=False, style={"input_type": "password"}
    )


class NewToken(serializers.Serializer[Any]):
    token = serializers.CharField(
        help_text='Shown this once. Send it as the header "Authorization: Token <token>".'
    )
    expires_at = serializers.DateTimeField(allow_null=True)


class Tokens(ApiView):
    tag = "tokens"
    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (PerAddress, PerName)

    @operation("create_token", request=Credentials, responses={201: NewToken})
    def post(self, request: Request) -> Response:
        """Exchange username and password for a token.

        The token is shown once and kept as a hash alone. Attempts are counted and limited.
        """
        given = self.body(Credentials)
        # Not the request beneath: the lock's middleware would replace the envelope by a page.
        user = authenticate(cast("HttpRequest", request), **given)
        if getattr(request, "axes_locked_out", False):
            raise LockedOut
        if user is None:
            raise BadCredentials
        row, token = AuthToken.objects.create(user=user)
        made = NewToken({"token": token, "expires_at": row.expiry})
        return Response(made.data, status=status.HTTP_201_CREATED)


class CurrentToken(ApiView):
    tag = "tokens"

    @operation("revoke_token", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Revoke the token that this request is made with."""
        if not isinstance(request.auth, AuthToken):
            raise Invalid("This request was made with a session, not with a token.", code="no_token")
        request.auth.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)
