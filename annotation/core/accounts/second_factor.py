"""Who has a second factor, and who must have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.conf import settings

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet


def has_second_factor(person: User) -> bool:
    """Whether the person is asked for a code when they sign in. Nobody is where the operator has switched it off."""
    return settings.SECOND_FACTOR != "off" and codes_of(person).exists()


def must_have_second_factor(person: User) -> bool:
    """Whether the operator asks the person for a second factor, set up or not."""
    is_staff = person.is_staff or person.is_superuser
    return settings.SECOND_FACTOR == "everybody" or (settings.SECOND_FACTOR == "staff" and is_staff)


def codes_of(person: User) -> QuerySet[Authenticator]:
    """The person's app of codes, if they have set one up; also where codes are switched off."""
    found: QuerySet[Authenticator] = Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP)
    return found
