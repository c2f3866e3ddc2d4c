"""The OpenAPI schema: operations, errors, facts and security schemes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from typing import Any, TypeVar, get_args, get_origin

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from drf_spectacular.drainage import warn
from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction, extend_schema
from pydantic.json_schema import GenerateJsonSchema

from annotation.api.errors import Error
from annotation.core.facts import adapter_of

Handler = TypeVar("Handler", bound=Callable[..., Any])

UNSAFE = ("POST", "PATCH", "DELETE")


class ApiSchema(AutoSchema):
    """An operation with the texts of the method's docstring and its possible errors."""

    def get_summary(self) -> str:
        return self._paragraphs()[0].rstrip(".")

    def get_description(self) -> str:  # type: ignore[override]
        return "\n\n".join(self._paragraphs()[1:])

    def get_tags(self) -> list[str]:
        tag: str = getattr(self.view, "tag", "")
        return [tag]

    def _paragraphs(self) -> list[str]:
        text = inspect.getdoc(getattr(self.view, self.method.lower())) or ""
        return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        answers: dict[str, Any] = super()._get_response_bodies(direction)
        for code, meaning in self._errors():
            body = self._get_response_for_code(Error, code, None, direction)  # type: ignore[no-untyped-call]
            answers.setdefault(code, {**body, "description": meaning})
        for answer in answers.values():
            answer["description"] = answer["description"] or self.get_summary()
        return answers

    def _errors(self) -> list[tuple[str, str]]:
        is_unsafe = self.method in UNSAFE
        has_input = is_unsafe or bool(self.get_override_parameters())
        errors = [
            ("400", "The request does not match this description", has_input),
            ("401", "Not signed in, or wrong token or password", True),
            (
                "403",
                "The person's roles or open assessor work forbid it",
                "{" in self.path or bool(self.view.authentication_classes),
            ),
            ("404", "Not found, or not visible to this person", "{" in self.path),
            (
                "409",
                "Someone else changed it first, or its state has changed",
                is_unsafe and "{" in self.path,
            ),
            ("416", "The requested range is beyond the end of the file", False),
            ("422", "The project's rules do not allow this", has_input and self.method != "DELETE"),
            ("429", "Too many attempts", bool(self.view.throttle_classes)),
            ("503", "Still being computed; Retry-After says when to try again", False),
        ]
        further = getattr(getattr(self.view, self.method.lower()), "refusals", ())
        return [(code, meaning) for code, meaning, may_happen in errors if may_happen or code in further]


def operation(
    operation_id: str,
    *,
    request: Any = None,
    responses: Any,
    parameters: list[Any] | None = None,
    refusals: Sequence[str] = (),
) -> Callable[[Handler], Handler]:
    """Document a method of a view: its operation id, request and responses.

    `refusals` are further statuses, besides the statuses that follow from the method and path.
    """
    extend = extend_schema(
        operation_id=operation_id, request=request, responses=responses, parameters=parameters
    )

    def describe(handler: Handler) -> Handler:
        # Set the class; otherwise the decorator would extend the default schema class.
        handler.kwargs = {"schema": ApiSchema}  # type: ignore[attr-defined]
        handler.refusals = refusals  # type: ignore[attr-defined]
        extended: Handler = extend(handler)
        return extended

    return describe


class _FactsGenerator(GenerateJsonSchema):
    def field_is_required(self, field: Any, total: bool) -> bool:
        return True

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class FactsSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """Describes dataclasses, and lists of dataclasses, by their types and docstrings."""

    @classmethod
    def _matches(cls, target: Any) -> bool:
        shape = get_args(target)[0] if get_origin(target) is list else target
        return isinstance(shape, type) and is_dataclass(shape)

    def get_name(self, auto_schema: AutoSchema, direction: Direction) -> str:
        several = get_args(self.target)
        return f"{several[0].__name__}List" if several else self.target.__name__

    def get_identity(self, auto_schema: AutoSchema, direction: Direction) -> str:
        return self.get_name(auto_schema, direction)

    def map_serializer(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        schema = adapter_of(self.target).json_schema(
            mode="serialization",
            ref_template="#/components/schemas/{model}",
            schema_generator=_FactsGenerator,
        )
        for name, part in schema.pop("$defs", {}).items():
            _component(auto_schema, name, part)
        return schema


class FactsFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "annotation.api.fields.FactsField"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Direction) -> dict[str, Any]:
        reference: dict[str, Any] = auto_schema.resolve_serializer(self.target.shape, direction).ref
        return reference


class NamedChoiceSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes each choice as one component."""

    target_class = "annotation.api.fields.NamedChoice"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        words = {"type": "string", "enum": list(self.target.choices)}
        return _component(auto_schema, self.target.schema_name, words)


def _component(auto_schema: AutoSchema, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    component = ResolvedComponent(name, ResolvedComponent.SCHEMA, schema, name)  # type: ignore[no-untyped-call]
    auto_schema.registry.register_on_missing(component)
    if auto_schema.registry[component].schema != schema:
        warn(f"Two different shapes are called {name}.")
    reference: dict[str, Any] = component.ref
    return reference


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """Names token authentication in the schema."""

    target_class = "annotation.api.access.TokenAuthentication"
    name = "token"


class CookieScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """Names session authentication in the schema."""

    target_class = "annotation.api.access.CookieAuthentication"
    name = "session"
