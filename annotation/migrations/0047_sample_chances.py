"""Samples keep the chance of every item of their frame, for the answers of several to be pooled."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0045_votes_of_raters"),
    ]

    operations = [
        migrations.AddField(
            model_name="draw",
            name="chances",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="Inclusion probability of every item of the frame, in its order; empty where all had the same.",
            ),
        ),
    ]
