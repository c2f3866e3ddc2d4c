"""Forms of rules that carry what they showed: a change is what somebody made of that, not of what stands by now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.text import Truncator, capfirst

from annotation.core.refusals import Conflict
from annotation.models import Event, Project
from annotation.models.project import rule_name

LONGEST_SHOWN = 80


def carry_shown(form: forms.BaseForm) -> None:
    """Send what each field shows along with it; a script that posts without it is held to what stands."""
    for name, field in form.fields.items():
        field.show_hidden_initial = not form.is_bound or form.add_initial_prefix(name) in form.data


def shown(form: forms.BaseForm, name: str) -> Any:
    """What the form showed in a field; None where the post does not say."""
    field = form.fields[name]
    if not field.show_hidden_initial:
        return None
    return field.hidden_widget().value_from_datadict(form.data, form.files, form.add_initial_prefix(name))


def overtaken(form: forms.BaseForm, now: Mapping[str, Any]) -> list[str]:
    """The changed fields that stand otherwise by now than they were shown, and than they are to be."""
    found = []
    for name in form.changed_data:
        field = form.fields[name]
        if field.show_hidden_initial and all(
            field.has_changed(now[name], told) for told in (shown(form, name), form[name].data)
        ):
            found.append(name)
    return found


def refuse_overtaken(form: forms.BaseForm, now: Mapping[str, Any], project: Project) -> None:
    """Raise Conflict (code `newer_rules`) where somebody else has changed the same rules meanwhile."""
    if names := overtaken(form, now):
        told = " ".join(_told(project, name) for name in names)
        raise Conflict(told, code="newer_rules", details={"rules": names})


def _told(project: Project, name: str) -> str:
    changes = Event.objects.filter(target_id=project.public_id, verb="change project")
    last = changes.filter(data__changed__has_key=name).select_related("actor").order_by("pk").last()
    who = last.actor.get_username() if last is not None and last.actor is not None else "somebody"
    value = getattr(project, f"get_{name}_display", lambda: getattr(project, name))()
    stands = "nothing" if value in (None, "") else f"“{Truncator(str(value)).chars(LONGEST_SHOWN)}”"
    return f"“{capfirst(rule_name(name))}” was changed to {stands} by {who} after you opened this page."
