"""One's own account, and tokens: a program signs in without a browser."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest
from knox.models import AuthToken
from rest_framework import serializers, status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.accounts.lock_out import refuse_if_locked
from annotation.accounts.own_account import (
    ask_for_token,
    change_password,
    rename,
    revoke_token,
    tokens_of,
)
from annotation.accounts.second_factor import (
    new_recovery_codes,
    propose,
    recovery_codes_left,
    remove,
    set_up_own,
)
from annotation.accounts.single_sign_on import disconnect, is_connected
from annotation.accounts.verified_email import has_verified_email
from annotation.api.access import ApiView
from annotation.api.errors import BadCredentials
from annotation.api.schema import operation
from annotation.api.throttles import LONGEST_PASSWORD, LONGEST_USERNAME, PerAddress
from annotation.core.accounts.clients import client_of
from annotation.core.accounts.second_factor import has_second_factor, must_have_second_factor
from annotation.core.accounts.tokens import DAYS, MOST_DAYS
from annotation.core.refusals import Invalid

LONGEST_CODE = 20


class WantedToken(serializers.Serializer[Any]):
    """The number of days that a new token is valid."""

    days = serializers.IntegerField(
        default=DAYS, min_value=1, max_value=MOST_DAYS, help_text="How long it lasts."
    )
    code = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_CODE,
        help_text="Of the second factor, for who has one: of the app, or a recovery code.",
    )


class Credentials(WantedToken):
    username = serializers.CharField(max_length=LONGEST_USERNAME)
    password = serializers.CharField(
        max_length=LONGEST_PASSWORD, trim_whitespace=False, style={"input_type": "password"}
    )


class TokenRow(serializers.Serializer[AuthToken]):
    key = serializers.CharField(source="token_key", help_text="What the token begins with.")
    created_at = serializers.DateTimeField(source="created")
    expires_at = serializers.DateTimeField(source="expiry", allow_null=True)


class TokenList(serializers.Serializer[Any]):
    results = TokenRow(many=True)


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

        The token is shown once and kept as a hash alone. Attempts are counted and limited. Who has a second factor
        sends a code of it, too: 422 with `code_needed` says so.
        """
        given = self.body(Credentials)
        secret = {name: given.pop(name) for name in ("username", "password")}
        # Not the request beneath: the lock's middleware would replace the envelope by a page.
        user = authenticate(cast("HttpRequest", request), **secret)
        refuse_if_locked(cast("HttpRequest", request))
        if user is None:
            raise BadCredentials
        return _made(user, given, request)


class CurrentToken(ApiView):
    tag = "tokens"

    @operation("get_token", responses=TokenRow, refusals=("422",))
    def get(self, request: Request) -> Response:
        """Show the token of this request, and until when it is valid."""
        return Response(TokenRow(self._token()).data)

    @operation("revoke_token", responses={204: None}, refusals=("422",))
    def delete(self, request: Request) -> Response:
        """Revoke the token that this request is made with."""
        token = self._token()
        revoke_token(person=self.person, key=token.token_key, client=client_of(self.request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _token(self) -> AuthToken:
        if not isinstance(self.request.auth, AuthToken):
            raise Invalid("This request was made with a session, not with a token.", code="no_token")
        return self.request.auth


class OwnTokens(ApiView):
    tag = "account"

    @operation("list_tokens", responses=TokenList)
    def get(self, request: Request) -> Response:
        """List the tokens of the caller, newest first."""
        self.query()
        return Response(TokenList({"results": tokens_of(self.person)}).data)

    @operation("make_token", request=WantedToken, responses={201: NewToken})
    def post(self, request: Request) -> Response:
        """Make a token for a program, shown this once.

        Who has a second factor sends a code of it.
        """
        return _made(self.person, self.body(WantedToken), request)


class OneOwnToken(ApiView):
    tag = "account"

    @operation("end_token", responses={204: None})
    def delete(self, request: Request, key: str) -> Response:
        """Revoke a token of the caller, named by what it begins with."""
        revoke_token(person=self.person, key=key, client=client_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class AccountRow(serializers.Serializer[User]):
    username = serializers.CharField()
    full_name = serializers.CharField(source="get_full_name")
    email = serializers.CharField(help_text="Visible only to administrators.")
    has_password = serializers.BooleanField(source="has_usable_password")
    has_verified_email = serializers.SerializerMethodField(
        help_text="Whether the person followed a link that was mailed to the address."
    )
    is_connected = serializers.SerializerMethodField(help_text="Whether single sign-on opens it.")

    def get_has_verified_email(self, person: User) -> bool:
        return has_verified_email(person)

    def get_is_connected(self, person: User) -> bool:
        return is_connected(person)


class AccountChange(serializers.Serializer[Any]):
    full_name = serializers.CharField(allow_blank=True, max_length=LONGEST_USERNAME)
    email = serializers.EmailField(allow_blank=True, max_length=254)
    password = serializers.CharField(
        max_length=LONGEST_PASSWORD,
        trim_whitespace=False,
        style={"input_type": "password"},
        help_text="Your password; required to change the e-mail address if the installation sends mail.",
    )


class NewPassword(serializers.Serializer[Any]):
    old = serializers.CharField(max_length=LONGEST_PASSWORD, trim_whitespace=False)
    new = serializers.CharField(max_length=LONGEST_PASSWORD, trim_whitespace=False)


class Account(ApiView):
    tag = "account"

    @operation("get_account", responses=AccountRow)
    def get(self, request: Request) -> Response:
        """Show the caller's account."""
        return Response(AccountRow(self.person).data)

    @operation("change_account", request=AccountChange, responses=AccountRow, refusals=("403",))
    def patch(self, request: Request) -> Response:
        """Change the caller's full name or e-mail address."""
        given = self.body(AccountChange, partial=True)
        person = rename(
            person=self.person,
            full_name=given.get("full_name", self.person.get_full_name()),
            email=given.get("email", self.person.email),
            old=given.get("password", ""),
            request=cast("HttpRequest", request),
        )
        return Response(AccountRow(person).data)


class Password(ApiView):
    tag = "account"

    @operation("change_password", request=NewPassword, responses={204: None})
    def post(self, request: Request) -> Response:
        """Change the caller's password.

        All tokens and sessions of the caller end, the one of this request too.
        """
        given = self.body(NewPassword)
        change_password(
            person=self.person,
            old=given["old"],
            new=given["new"],
            again=given["new"],
            request=cast("HttpRequest", request),
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class FactorState(serializers.Serializer[User]):
    is_set_up = serializers.SerializerMethodField()
    is_needed = serializers.SerializerMethodField(help_text="Whether the installation asks for one.")
    recovery_codes_left = serializers.SerializerMethodField()

    def get_is_set_up(self, person: User) -> bool:
        return has_second_factor(person)

    def get_is_needed(self, person: User) -> bool:
        return must_have_second_factor(person)

    def get_recovery_codes_left(self, person: User) -> int:
        return recovery_codes_left(person)


class ProposedSecret(serializers.Serializer[Any]):
    secret = serializers.CharField(help_text="Base32, for an authenticator app (RFC 6238).")
    address = serializers.CharField(help_text="The same as an otpauth:// address, for a QR code.")


class FactorCode(serializers.Serializer[Any]):
    code = serializers.CharField(max_length=LONGEST_CODE, help_text="Of the app, or a recovery code.")


class NewFactor(serializers.Serializer[Any]):
    secret = serializers.CharField(max_length=128)
    code = serializers.CharField(max_length=LONGEST_CODE, help_text="That the app shows for the secret.")
    password = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=LONGEST_PASSWORD,
        trim_whitespace=False,
        style={"input_type": "password"},
        help_text="Yours, where the account has one.",
    )


class RecoveryCodeList(serializers.Serializer[Any]):
    recovery_codes = serializers.ListField(child=serializers.CharField(), help_text="Shown this once.")


class SecondFactor(ApiView):
    tag = "account"

    @operation("get_second_factor", responses=FactorState)
    def get(self, request: Request) -> Response:
        """Show whether the caller has a second factor, and must have one."""
        return Response(FactorState(self.person).data)

    @operation(
        "set_up_second_factor", request=NewFactor, responses={201: RecoveryCodeList}, refusals=("403", "409")
    )
    def post(self, request: Request) -> Response:
        """Ask for codes of an app at every sign-in of the caller from now on.

        The reply holds recovery codes. All sessions of the caller end.
        """
        given = self.body(NewFactor)
        codes = set_up_own(person=self.person, request=cast("HttpRequest", request), **given)
        return Response({"recovery_codes": codes}, status=status.HTTP_201_CREATED)


class SecondFactorSecret(ApiView):
    tag = "account"

    @operation("propose_second_factor", responses=ProposedSecret)
    def post(self, request: Request) -> Response:
        """Make a secret for an authenticator app; nothing is saved before it is set up."""
        return Response(ProposedSecret(propose(self.person)).data)


class SecondFactorCodes(ApiView):
    tag = "account"

    @operation("replace_recovery_codes", request=FactorCode, responses=RecoveryCodeList, refusals=("404",))
    def post(self, request: Request) -> Response:
        """Replace all recovery codes of the caller by others."""
        code = self.body(FactorCode)["code"]
        codes = new_recovery_codes(person=self.person, code=code, request=cast("HttpRequest", request))
        return Response({"recovery_codes": codes})


class SecondFactorEnd(ApiView):
    tag = "account"

    @operation("remove_second_factor", request=FactorCode, responses={204: None}, refusals=("403", "404"))
    def post(self, request: Request) -> Response:
        """Remove the caller's second factor."""
        code = self.body(FactorCode)["code"]
        remove(person=self.person, code=code, request=cast("HttpRequest", request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SignOn(ApiView):
    tag = "account"

    @operation("disconnect_sign_on", responses={204: None}, refusals=("404", "409"))
    def delete(self, request: Request) -> Response:
        """End that the caller signs in by the installation's single sign-on."""
        disconnect(person=self.person, client=client_of(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _made(person: User, scope: dict[str, Any], request: Request) -> Response:
    row, token = ask_for_token(person=person, request=cast("HttpRequest", request), **scope)
    row.token = token
    return Response(NewToken(row).data, status=status.HTTP_201_CREATED)
