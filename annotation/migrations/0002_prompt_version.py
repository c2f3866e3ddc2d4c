import annotation.models.base
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PromptVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=annotation.models.base.new_public_id,
                        editable=False,
                        max_length=16,
                        unique=True,
                    ),
                ),
                ("step", models.CharField(max_length=40)),
                ("number", models.PositiveIntegerField(help_text="Counts the versions of a step, from 1.")),
                (
                    "is_built_in",
                    models.BooleanField(
                        default=False, help_text="Whether it goes back to the built-in words."
                    ),
                ),
                (
                    "system",
                    models.TextField(blank=True, help_text="The step's text; empty for the built-in one."),
                ),
                (
                    "parts",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Instructions of the step's parts that are reworded, by name.",
                    ),
                ),
                (
                    "version",
                    models.CharField(
                        help_text="Follows from the words; stored calls name it.", max_length=40
                    ),
                ),
                (
                    "note",
                    models.CharField(
                        blank=True, help_text="Why, in the words of who made it.", max_length=500
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="prompt_versions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prompt_versions",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="run",
            name="prompt_versions",
            field=models.ManyToManyField(
                blank=True,
                help_text="The project's own words that it began with, and keeps; built-in ones for other steps.",
                related_name="runs",
                to="annotation.promptversion",
            ),
        ),
        migrations.AddConstraint(
            model_name="promptversion",
            constraint=models.UniqueConstraint(
                fields=("project", "step", "number"), name="prompt_version_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="promptversion",
            constraint=models.CheckConstraint(
                condition=models.Q(("number__gte", 1)), name="prompt_version_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="promptversion",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("is_built_in", True), ("system", "")),
                    models.Q(("is_built_in", False), models.Q(("system", ""), _negated=True)),
                    _connector="OR",
                ),
                name="prompt_version_has_words_or_is_built_in",
            ),
        ),
    ]
