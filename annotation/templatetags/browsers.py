from __future__ import annotations

from django import template

from annotation.core.shared.clients import browser_of

register = template.Library()
register.filter("browser", browser_of)
