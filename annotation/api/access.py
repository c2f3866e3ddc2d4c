"""The base of views of the API: authentication, the project in the address, and reading input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.utils.cache import patch_cache_control
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.generics import GenericAPIView
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.utils.urls import replace_query_param

from annotation.api.pagination import Pages
from annotation.api.schema import ApiSchema
from annotation.api.throttles import PerToken
from annotation.core.lists import Viewer
from annotation.core.permissions import (
    READ_CONTENT,
    Verb,
    project_and_verbs,
    project_for,
    require,
    roles_in,
    verbs_of,
)
from annotation.core.refusals import NotFound
from annotation.models import Project

Row = TypeVar("Row", bound=Model)


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]  # knox has no types
    def authenticate_credentials(self, token: bytes) -> tuple[User, Any]:
        try:
            return cast("tuple[User, Any]", super().authenticate_credentials(token))
        except (AuthenticationFailed, UnicodeDecodeError) as error:
            message = "This token is unknown, revoked or expired. Make another one on your account page."
            raise AuthenticationFailed(message) from error


class CookieAuthentication(SessionAuthentication):
    """Authentication by the session of the web pages. Unsafe methods need a CSRF token."""


class ApiView(GenericAPIView[Any]):
    """A view, by default for signed-in people. `schema.operation` documents its methods."""

    schema = ApiSchema()
    tag: ClassVar[str]
    authentication_classes: Sequence[type[BaseAuthentication]] = (TokenAuthentication, CookieAuthentication)
    permission_classes: Sequence[type[BasePermission]] = (IsAuthenticated,)
    throttle_classes: Sequence[type[BaseThrottle]] = (PerToken,)
    filter_backends = ()
    pagination_class: type[Pages] | None = Pages

    @property
    def person(self) -> User:
        return cast("User", self.request.user)

    def enter(self, *any_of: Verb) -> Project:
        """Return the project in the address if the caller has one of the verbs.

        Call this method first. Raises the errors of `project_for` and `require`.
        """
        project = project_for(self.person, self.kwargs["slug"], Verb.VIEW_PROJECT)
        allowed = verbs_of(roles_in(self.person, project))
        held = (verb for verb in any_of if verb in allowed)
        require(self.person, project, next(held, any_of[0]))
        return project

    def viewer(self, *any_of: Verb) -> Viewer:
        """Return the caller as a viewer of the project's lists. Raises the errors of `enter`."""
        project, verbs = project_and_verbs(self.person, self.kwargs["slug"], Verb.VIEW_PROJECT)
        if verbs.isdisjoint(any_of):
            self.enter(*any_of)
        return Viewer(self.person, project, verbs)

    def body(self, shape: type[serializers.Serializer[Any]], *, partial: bool = False) -> dict[str, Any]:
        """Read the request's body with the serializer. Raises ValidationError, also for unknown fields."""
        return read(shape(data=self.request.data, partial=partial), self.request.data)

    def query(self, *shapes: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """Read the query parameters with all these serializers. Raises ValidationError, also for unknown parameters."""
        given = self.request.query_params.dict()
        read: dict[str, Any] = {}
        known = {name for shape in shapes for name in _names(shape())}
        _refuse_unknown(given, known)
        for shape in shapes:
            read |= _validated(shape(data=given))
        return read

    def rows(self, results: Any, following: str) -> Response:
        """Build a page of results with the address of the next page, after the row `following` ("" for none)."""
        address = self.request.build_absolute_uri()
        link = replace_query_param(address, "after", following) if following else None
        return Response({"next": link, "results": results})

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        return response


def only(rows: QuerySet[Row], public_id: str, what: str) -> Row:
    """Return the row with this public id. Raises NotFound; `what` names the kind of row in its message."""
    row = rows.filter(public_id=public_id).first()
    if row is None:
        raise NotFound(f"There is no such {what} in this project.")
    return row


def read(shape: serializers.Serializer[Any], given: Any) -> dict[str, Any]:
    """Read `given` with a serializer of the same data. Raises ValidationError, also for unknown fields."""
    if isinstance(given, Mapping):
        _refuse_unknown(given, _names(shape))
    return _validated(shape)


def _names(shape: serializers.Serializer[Any]) -> set[str]:
    return {str(name) for name in shape.fields}


def _validated(shape: serializers.Serializer[Any]) -> dict[str, Any]:
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)


def _refuse_unknown(given: Mapping[str, Any], known: set[str]) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        message = f"There is no such input. Known are: {', '.join(sorted(known)) or 'none'}."
        raise serializers.ValidationError({name: [message] for name in unknown})


class AnyContent(BaseContentNegotiation):
    """Content negotiation for files that ignores the formats that the client accepts."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


__all__ = [
    "READ_CONTENT",
    "AnyContent",
    "ApiView",
    "CookieAuthentication",
    "TokenAuthentication",
    "only",
]
