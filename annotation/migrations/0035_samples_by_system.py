"""Samples know whether systems were sampled by themselves: by strata, or as planned, which the log tells."""

from typing import Any

from django.db import migrations, models


def read_from_log(apps: Any, schema_editor: Any) -> None:
    draws, events = apps.get_model("annotation", "Draw"), apps.get_model("annotation", "Event")
    draws.objects.filter(item="check", method="stratified").update(by_system=True)
    planned = events.objects.filter(verb="draw checks", data__has_key="planned")
    for draw in planned.values_list("target_id", flat=True).iterator():
        draws.objects.filter(public_id=draw).update(by_system=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0044_one_model")]

    operations = [
        migrations.AddField(
            model_name="draw",
            name="by_system",
            field=models.BooleanField(
                default=False,
                help_text="Checks of each system and target length were sampled by themselves, so that answers on one "
                "system may inform the estimate of another.",
            ),
        ),
        migrations.RunPython(read_from_log, migrations.RunPython.noop),
    ]
