from __future__ import annotations

from django import template
from django.conf import settings
from django.contrib.auth.models import User

from annotation.demo.people import DEMO_PEOPLE, DemoPerson

register = template.Library()


@register.simple_tag
def demo_people() -> list[DemoPerson]:
    """Return the people as whom everybody can sign in with one click; nobody outside of the demo."""
    if not settings.DEMO_SIGN_IN:
        return []
    known = User.objects.filter(username__in=[person.username for person in DEMO_PEOPLE], is_active=True)
    names = set(known.values_list("username", flat=True))
    return [person for person in DEMO_PEOPLE if person.username in names]
