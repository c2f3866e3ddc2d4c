import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import annotation.models.base
import annotation.models.score
import annotation.models.watch
from annotation.migrations._event_log import guard, release


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AllowedServer",
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
                ("url", models.CharField(max_length=500, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("url",),
            },
        ),
        migrations.CreateModel(
            name="CachedValue",
            fields=[
                ("cache_key", models.CharField(max_length=255, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="ClaimSet",
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
                (
                    "kind",
                    models.CharField(
                        choices=[("claims", "Claims"), ("questions", "Questions")],
                        default="claims",
                        max_length=9,
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[("imported", "Imported"), ("judge", "Judge"), ("person", "Person")],
                        max_length=8,
                    ),
                ),
                (
                    "origin_name",
                    models.CharField(
                        help_text="The file, the judge's signature or the person.", max_length=200
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1)),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Comparison",
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
            ],
            options={
                "ordering": ("summary_id", "reference_id"),
            },
        ),
        migrations.CreateModel(
            name="DocumentSet",
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
                (
                    "external_id",
                    models.CharField(help_text="The document_id of the imported file.", max_length=200),
                ),
                (
                    "group",
                    models.CharField(
                        blank=True,
                        help_text="Cluster that intervals resample; empty if the set is a cluster of its own.",
                        max_length=200,
                    ),
                ),
                ("language", models.CharField(default="en", max_length=12)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("project_id", "external_id"),
            },
        ),
        migrations.CreateModel(
            name="SetupLink",
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
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, unique=True)),
                (
                    "version",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="Version of the program that it runs.",
                        max_length=40,
                    ),
                ),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Claim",
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
                ("position", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("start", models.PositiveIntegerField(blank=True, null=True)),
                ("end", models.PositiveIntegerField(blank=True, null=True)),
                ("weight", models.FloatField(default=1.0)),
                (
                    "origin",
                    models.CharField(
                        choices=[("imported", "Imported"), ("judge", "Judge"), ("person", "Person")],
                        max_length=8,
                    ),
                ),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "claim_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims",
                        to="annotation.claimset",
                    ),
                ),
            ],
            options={
                "ordering": ("claim_set_id", "position"),
            },
        ),
        migrations.CreateModel(
            name="Document",
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
                ("position", models.PositiveIntegerField(help_text="1 for the first document of the set.")),
                ("text", models.TextField()),
                (
                    "document_set",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="documents",
                        to="annotation.documentset",
                    ),
                ),
            ],
            options={
                "ordering": ("document_set_id", "position"),
            },
        ),
        migrations.AddField(
            model_name="claimset",
            name="document_set",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="claim_sets",
                to="annotation.documentset",
            ),
        ),
        migrations.CreateModel(
            name="Guideline",
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
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField(help_text="Markdown; HTML in it is shown as text.")),
                (
                    "note",
                    models.CharField(
                        blank=True,
                        help_text="The change, for people who know the previous version.",
                        max_length=200,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="guidelines",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("project_id", "-version"),
            },
        ),
        migrations.CreateModel(
            name="Assignment",
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
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Set while it is held from the queue; it remains after the lease ends or the set is returned.",
                        null=True,
                    ),
                ),
                (
                    "worked_at",
                    models.DateTimeField(blank=True, help_text="The last save of the form.", null=True),
                ),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                ("unassigned_at", models.DateTimeField(blank=True, null=True)),
                (
                    "may_have_seen",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="It was unassigned while open, and its assessor's roles then showed them others' answers. It counts in scores, and blind statistics leave it out.",
                    ),
                ),
                (
                    "assessor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "document_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="annotation.documentset",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The version on screen when the form was last opened.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Judge",
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
                ("name", models.SlugField(max_length=60)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("lexical", "Offline lexical baseline"),
                            ("openai", "OpenAI-compatible"),
                            ("panel", "Panel of judges"),
                        ],
                        max_length=7,
                    ),
                ),
                (
                    "model",
                    models.CharField(
                        blank=True,
                        help_text="The model's name at the provider.",
                        max_length=200,
                        verbose_name="Model",
                    ),
                ),
                (
                    "base_url",
                    models.CharField(
                        blank=True,
                        help_text="One of the allowed base URLs; empty: OpenAI.",
                        max_length=500,
                        verbose_name="Base URL",
                    ),
                ),
                (
                    "api_key_env",
                    models.CharField(
                        blank=True,
                        help_text="Name of the environment variable that holds the key.",
                        max_length=100,
                    ),
                ),
                (
                    "sealed_key",
                    models.TextField(
                        blank=True,
                        editable=False,
                        help_text="An API key, encrypted so that it opens for one server only.",
                    ),
                ),
                ("temperature", models.FloatField(blank=True, default=0.0, null=True)),
                ("seed", models.IntegerField(blank=True, null=True)),
                (
                    "concurrency",
                    models.PositiveIntegerField(
                        default=8, help_text="Across all workers.", verbose_name="Concurrent calls"
                    ),
                ),
                ("timeout_seconds", models.FloatField(default=60.0, verbose_name="Timeout in seconds")),
                (
                    "max_tokens",
                    models.PositiveIntegerField(
                        default=4000,
                        help_text="Longer replies are cut off and unusable.",
                        verbose_name="Maximum reply length in tokens",
                    ),
                ),
                (
                    "calls_per_minute",
                    models.PositiveIntegerField(
                        blank=True, help_text="Per 60 seconds; empty: no limit.", null=True
                    ),
                ),
                (
                    "tokens_per_minute",
                    models.PositiveIntegerField(
                        blank=True, help_text="Per 60 seconds; empty: no limit.", null=True
                    ),
                ),
                (
                    "context_tokens",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Maximum size of request and reply; longer texts are split into windows.",
                        null=True,
                        verbose_name="Context length in tokens",
                    ),
                ),
                (
                    "prompt_price",
                    models.FloatField(
                        default=0.0,
                        help_text="In any currency.",
                        verbose_name="Price per million prompt tokens",
                    ),
                ),
                (
                    "completion_price",
                    models.FloatField(
                        default=0.0,
                        help_text="In the same currency.",
                        verbose_name="Price per million reply tokens",
                    ),
                ),
                (
                    "custom_instruction",
                    models.TextField(
                        blank=True,
                        help_text="Added to the instructions of every step. Another text makes it another judge.",
                    ),
                ),
                (
                    "reply_format",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("json_schema", "JSON by a schema"),
                            ("json_object", "JSON, but not by a schema"),
                            ("text", "Plain text"),
                        ],
                        help_text="The best reply format that its server accepts. Empty until it has been asked.",
                        max_length=11,
                    ),
                ),
                (
                    "refused_parameters",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Parameters that its server refused; requests leave them out.",
                    ),
                ),
                (
                    "ask_next_below",
                    models.FloatField(
                        blank=True,
                        help_text="0 to 1, cheapest member first; empty: every member answers everything.",
                        null=True,
                        verbose_name="Ask the next member below confidence",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "archived_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="From then on no run may name it; its verdicts remain.",
                        null=True,
                    ),
                ),
                ("members", models.ManyToManyField(blank=True, related_name="panels", to="annotation.judge")),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="JudgeExamples",
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
                (
                    "chosen",
                    models.JSONField(default=list, help_text="The examples in the prompt for each half."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "base",
                    models.ForeignKey(
                        help_text="The judge without the examples.",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="taught",
                        to="annotation.judge",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        help_text="The guideline sent with the examples; the current one when they were chosen.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="examples",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "judge",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="examples",
                        to="annotation.judge",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "judge examples",
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Project",
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
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("description", models.TextField(blank=True)),
                (
                    "compares",
                    models.CharField(
                        choices=[
                            ("reference", "Summaries with a reference summary"),
                            ("source", "Summaries with their source alone"),
                            ("claims", "Summaries whose claims are there already"),
                        ],
                        default="reference",
                        help_text="The content of the project's files; pages choose their suggestions by it.",
                        max_length=9,
                        verbose_name="what to compare",
                    ),
                ),
                (
                    "blend",
                    models.CharField(
                        choices=[("human_first", "Human first"), ("weighted", "Weighted")],
                        default="human_first",
                        max_length=12,
                    ),
                ),
                (
                    "blend_human_weight",
                    models.FloatField(
                        default=0.5,
                        help_text="Weight of people's percents if the blend is weighted (0 to 1).",
                        verbose_name="weight of people (w)",
                    ),
                ),
                (
                    "assessor_average",
                    models.CharField(
                        choices=[("mean", "Mean"), ("median", "Median")],
                        default="mean",
                        max_length=6,
                        verbose_name="average of several assessors",
                    ),
                ),
                (
                    "composite_weight",
                    models.FloatField(
                        default=0.6666666666666666,
                        help_text="a in X = a·coverage + (1 - a)·brevity (0 to 1).",
                        verbose_name="weight of coverage (a)",
                    ),
                ),
                (
                    "own_weights",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text='Weights by score or own criterion: {"coverage": 2, "tone": 1}. Empty: no such composite.',
                        verbose_name="weights of the own composite",
                    ),
                ),
                (
                    "summarization_threshold",
                    models.FloatField(
                        default=0.5,
                        help_text="Summarization passes if the lower of its two parts reaches this (0 to 1).",
                    ),
                ),
                (
                    "summarization_strict",
                    models.BooleanField(
                        default=False,
                        help_text="Summarization is 1 if both parts are 1, else 0.",
                        verbose_name="strict summarization",
                    ),
                ),
                (
                    "summarization_scale",
                    models.FloatField(
                        default=1.0,
                        help_text="Summarization is multiplied by this, except in the comparison with the threshold (above 0).",
                    ),
                ),
                (
                    "least_scored",
                    models.FloatField(
                        default=0.5,
                        help_text="If a smaller share of claims or questions is scored, the scores from them are blank (0 to 1).",
                        verbose_name="least share of scored claims",
                    ),
                ),
                (
                    "length_unit",
                    models.CharField(
                        choices=[("words", "Words"), ("characters", "Characters"), ("bytes", "Bytes")],
                        default="words",
                        max_length=10,
                    ),
                ),
                (
                    "target_length",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="For summaries without a target length of their own, in the project's length unit.",
                        null=True,
                        verbose_name="default target length",
                    ),
                ),
                (
                    "over_length",
                    models.CharField(
                        choices=[
                            ("zero", "Brevity is 0 (DUC)"),
                            ("truncate", "Cut to the target before judging"),
                        ],
                        default="zero",
                        max_length=8,
                        verbose_name="summaries over the target length",
                    ),
                ),
                (
                    "percent_scale",
                    models.CharField(
                        choices=[
                            ("six", "0, 20, 40, 60, 80, 100 %"),
                            ("fives", "Steps of 5 %"),
                            ("free", "Any whole percent"),
                        ],
                        default="six",
                        max_length=5,
                        verbose_name="percent scale of the SEE form",
                    ),
                ),
                (
                    "assessors_per_set",
                    models.PositiveSmallIntegerField(
                        default=0,
                        help_text="Assessors take sets themselves until each has this many assessors; 0 for no queue.",
                        verbose_name="assessors per set from the queue",
                    ),
                ),
                (
                    "lease_minutes",
                    models.PositiveIntegerField(
                        default=30,
                        help_text="Idle minutes after which a set pulled from the queue returns to it.",
                        verbose_name="lease in minutes",
                    ),
                ),
                (
                    "reveal",
                    models.CharField(
                        choices=[("after_answer", "After own answer"), ("shown", "Shown")],
                        default="after_answer",
                        max_length=12,
                        verbose_name="reviewers see the judge's verdict",
                    ),
                ),
                (
                    "dispute_threshold",
                    models.FloatField(
                        default=0.2,
                        help_text="Answers further apart than this go to the adjudicators: yes is 1, unsure .5, no 0, 100 % is 1 (0 to 1).",
                        verbose_name="answers differ beyond",
                    ),
                ),
                (
                    "dispute_answers",
                    models.CharField(
                        choices=[("people", "People"), ("judge", "People and the deciding judge")],
                        default="people",
                        help_text="The answers that are compared with each other for disputes.",
                        max_length=6,
                        verbose_name="whose answers are compared with each other",
                    ),
                ),
                (
                    "rescore_due_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="All scores are to be rebuilt since then; empty once they are.",
                        null=True,
                    ),
                ),
                (
                    "archived_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="The project is read-only and out of lists since then.",
                        null=True,
                    ),
                ),
                (
                    "deleted_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="Nobody sees the project since then. It can be restored for 30 days and is then removed for good.",
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "deciding_judge",
                    models.ForeignKey(
                        blank=True,
                        help_text="The judge whose verdicts count if no person has decided.",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deciding_in",
                        to="annotation.judge",
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Membership",
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
                (
                    "roles",
                    models.JSONField(default=list, help_text='A list such as ["manager", "reviewer"].'),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project_id", "user_id"),
            },
        ),
        migrations.AddField(
            model_name="judge",
            name="project",
            field=models.ForeignKey(
                blank=True,
                help_text="The project of the judge; empty for a shared judge.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="own_judges",
                to="annotation.project",
            ),
        ),
        migrations.CreateModel(
            name="Job",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("run", "Runs"),
                            ("export", "Exports"),
                            ("import", "Imports"),
                            ("analysis", "Statistics"),
                            ("watch", "Watches"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("working", "Working"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("token", models.CharField(blank=True, max_length=32)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("attempt", models.PositiveIntegerField(default=0)),
                (
                    "total",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Summaries to judge or export, or document sets to import; 0 until the number is known.",
                    ),
                ),
                (
                    "done",
                    models.PositiveIntegerField(
                        default=0, help_text="The number done; for exports the rows written."
                    ),
                ),
                (
                    "unscored",
                    models.PositiveIntegerField(
                        default=0, help_text="Answers of a judge that cannot be used."
                    ),
                ),
                ("usable", models.PositiveIntegerField(default=0, help_text="Its other answers.")),
                ("rows_read", models.PositiveIntegerField(default=0)),
                ("error", models.CharField(blank=True, max_length=1000)),
                (
                    "request_id",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default=annotation.models.base.current_request_id,
                        help_text="Id of the request that asked for it.",
                        max_length=64,
                    ),
                ),
                ("queued_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "document_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="annotation.documentset",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="jobs",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Invitation",
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
                ("roles", models.JSONField(default=list)),
                (
                    "note",
                    models.CharField(
                        blank=True, help_text="The person whom it is meant for.", max_length=120
                    ),
                ),
                (
                    "email",
                    models.EmailField(
                        blank=True,
                        help_text="The address that the link is mailed to; empty if it was shown.",
                        max_length=254,
                    ),
                ),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "link_base",
                    models.TextField(
                        editable=False,
                        help_text="The installation's address, for the mailed link.",
                        null=True,
                    ),
                ),
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="accepted_invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invitations",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Import",
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
                ("files", models.JSONField(default=list, help_text="The names of the files, in order.")),
                ("choices", models.JSONField(blank=True, default=dict)),
                ("dry_run", models.BooleanField(default=False, help_text="The files are checked only.")),
                ("report", models.JSONField(blank=True, null=True)),
                ("refusal", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="imports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "job",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="import_row",
                        to="annotation.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="imports",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="GuidelineTrial",
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
                (
                    "side",
                    models.CharField(
                        choices=[
                            ("reference", "Reference"),
                            ("summary", "Summary"),
                            ("question", "Question"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "by_others",
                    models.BooleanField(
                        help_text="People answer again who have not answered the check before."
                    ),
                ),
                ("seed", models.BigIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("mix", "Old and new answers count"),
                            ("new", "Only new answers count"),
                            ("correct", "Old and new answers count, and estimates rest on new answers"),
                            ("drop", "Answers given again do not count"),
                        ],
                        max_length=7,
                        null=True,
                    ),
                ),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "new",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "old",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trials",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="guideline",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="guidelines",
                to="annotation.project",
            ),
        ),
        migrations.CreateModel(
            name="Export",
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
                ("level", models.CharField(max_length=10)),
                ("format", models.CharField(max_length=8)),
                ("named_people", models.BooleanField(default=False)),
                (
                    "path",
                    models.CharField(
                        blank=True, help_text="The file, below the folder of exports.", max_length=500
                    ),
                ),
                ("manifest", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exports",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="export",
                        to="annotation.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exports",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Event",
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
                ("verb", models.CharField(max_length=40)),
                ("target_kind", models.CharField(max_length=40)),
                ("target_id", models.CharField(help_text="Public id of the row.", max_length=16)),
                ("data", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="events",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="documentset",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="document_sets",
                to="annotation.project",
            ),
        ),
        migrations.CreateModel(
            name="Criterion",
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
                ("name", models.CharField(max_length=40)),
                ("version", models.PositiveIntegerField(default=1)),
                ("position", models.PositiveIntegerField(default=0)),
                ("question", models.CharField(max_length=500)),
                (
                    "scale",
                    models.CharField(
                        choices=[
                            ("points", "Points"),
                            ("yes_no", "Yes or no"),
                            ("percent", "Percent"),
                            ("share", "Share from 0 to 1"),
                        ],
                        default="points",
                        max_length=7,
                    ),
                ),
                (
                    "points",
                    models.JSONField(
                        blank=True, default=list, help_text='Values with words: [[1, "poor"], [2, "good"]].'
                    ),
                ),
                ("higher_is_better", models.BooleanField(default=True)),
                (
                    "reads",
                    models.CharField(
                        choices=[
                            ("summary", "The summary alone"),
                            ("reference", "With the reference"),
                            ("source", "With the source"),
                            ("unmarked", "The unmarked units of the summary"),
                        ],
                        default="summary",
                        max_length=9,
                    ),
                ),
                (
                    "answered_by",
                    models.CharField(
                        choices=[("people", "People"), ("judge", "Judges"), ("both", "People and judges")],
                        default="people",
                        max_length=6,
                    ),
                ),
                (
                    "asked",
                    models.CharField(
                        choices=[
                            ("before", "Before the reference is seen"),
                            ("after", "After the reference was judged"),
                        ],
                        default="before",
                        max_length=6,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="criteria",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "criteria",
                "ordering": ("project_id", "position", "id"),
            },
        ),
        migrations.CreateModel(
            name="Comment",
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
                ("text", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "claim",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="annotation.claim",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="comments",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Check",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True, help_text="Until then no queue gives it to anyone else.", null=True
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
                (
                    "side",
                    models.CharField(
                        choices=[
                            ("reference", "Reference"),
                            ("summary", "Summary"),
                            ("question", "Question"),
                        ],
                        max_length=9,
                    ),
                ),
                (
                    "is_current",
                    models.BooleanField(
                        default=True, help_text="Its claim is in the active claims of its text."
                    ),
                ),
                ("has_number", models.BooleanField(default=False, help_text="The claim contains a number.")),
                (
                    "judge_label",
                    models.CharField(
                        blank=True,
                        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")],
                        max_length=6,
                        null=True,
                    ),
                ),
                (
                    "judge_probability",
                    models.FloatField(
                        blank=True, help_text="Probability of yes, by the deciding judge.", null=True
                    ),
                ),
                (
                    "human_label",
                    models.CharField(
                        blank=True,
                        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")],
                        max_length=6,
                        null=True,
                    ),
                ),
                (
                    "final_label",
                    models.CharField(
                        blank=True,
                        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")],
                        max_length=6,
                        null=True,
                    ),
                ),
                (
                    "final_source",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("adjudicator", "Adjudicator"),
                            ("reviewer", "Reviewer"),
                            ("rule", "Rule"),
                            ("judge", "Judge"),
                        ],
                        max_length=11,
                        null=True,
                    ),
                ),
                ("unscored_reason", models.CharField(blank=True, max_length=500)),
                ("is_disputed", models.BooleanField(default=False)),
                (
                    "uncertainty",
                    models.FloatField(
                        default=1.0, help_text="1 if the judge cannot decide, 0 if it is certain."
                    ),
                ),
                (
                    "impact",
                    models.FloatField(
                        default=0.0, help_text="Change of the summary's coverage if the answer flips."
                    ),
                ),
                (
                    "queue_key",
                    models.PositiveBigIntegerField(
                        default=0, help_text="Random, for samples and tie-breaks."
                    ),
                ),
                (
                    "leased_to",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "claim",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checks",
                        to="annotation.claim",
                    ),
                ),
                (
                    "document_set",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="checks",
                        to="annotation.documentset",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checks",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Analysis",
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
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("leaderboard", "Leaderboard"),
                            ("agreement", "Agreement"),
                            ("judge", "Judge"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "key",
                    models.CharField(
                        help_text="The requested score, target length and other choices.", max_length=200
                    ),
                ),
                ("inputs", models.CharField(blank=True, max_length=64)),
                ("seed", models.BigIntegerField(default=0)),
                ("payload", models.JSONField(blank=True, default=dict)),
                (
                    "seconds",
                    models.FloatField(default=0.0, help_text="The seconds that the computation took."),
                ),
                ("made_at", models.DateTimeField(blank=True, null=True)),
                (
                    "job",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="analysis",
                        to="annotation.job",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="analyses",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "analyses",
                "ordering": ("project_id", "kind", "key"),
            },
        ),
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
                ("text", models.TextField(help_text="The words of the step and its parts.")),
                (
                    "version",
                    models.CharField(
                        help_text="Computed from the text; stored calls name it.", max_length=40
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
                "ordering": ("step", "-number"),
            },
        ),
        migrations.AddField(
            model_name="judge",
            name="prompts",
            field=models.ManyToManyField(
                blank=True,
                help_text="Built-in where no version is chosen.",
                related_name="judges",
                to="annotation.promptversion",
            ),
        ),
        migrations.CreateModel(
            name="Reading",
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
                (
                    "position",
                    models.PositiveIntegerField(default=1, help_text="Order within the assignment."),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("draft", "Draft"), ("submitted", "Submitted")],
                        default="open",
                        max_length=9,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("submitted_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="readings",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "comparison",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="readings",
                        to="annotation.comparison",
                    ),
                ),
            ],
            options={
                "ordering": ("assignment_id", "position", "id"),
            },
        ),
        migrations.CreateModel(
            name="Run",
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
                ("metrics", models.JSONField(default=list)),
                (
                    "n_questions",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="The number of questions of each document set: the judge adds the missing ones. If it is empty, it adds some only to sets without questions.",
                        null=True,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "Under way"),
                            ("cancelled", "Cancelled"),
                            ("stopped", "Stopped"),
                            ("failed", "Failed"),
                            ("finished", "Finished"),
                        ],
                        default="active",
                        max_length=9,
                    ),
                ),
                ("stop_reason", models.CharField(blank=True, max_length=500)),
                (
                    "cost",
                    models.FloatField(
                        default=0.0,
                        help_text="The cost of its calls, at the judge's prices; with a cap also the most that open calls may cost.",
                    ),
                ),
                (
                    "max_cost",
                    models.FloatField(
                        blank=True,
                        help_text="The run stops before its calls would cost more; empty for no cap.",
                        null=True,
                    ),
                ),
                (
                    "repeat_share",
                    models.FloatField(
                        blank=True,
                        help_text="Share of the summaries that are asked about again; empty for none.",
                        null=True,
                    ),
                ),
                (
                    "is_trial",
                    models.BooleanField(
                        default=False,
                        help_text="It judges its own summaries only, to measure the judge or for a watch.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="annotation.judge",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="annotation.project",
                    ),
                ),
                (
                    "prompt_versions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Those of its judges when it started.",
                        related_name="runs",
                        to="annotation.promptversion",
                    ),
                ),
                (
                    "started_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Rating",
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("judge", "Judge"),
                            ("reviewer", "Reviewer"),
                            ("assessor", "Assessor"),
                            ("adjudicator", "Adjudicator"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "evidence",
                    models.JSONField(
                        blank=True, default=list, help_text="Numbers of the units that support it."
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "error_type",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("hallucination", "Hallucination"),
                            ("omission", "Omission"),
                            ("wrong_number", "Wrong number"),
                            ("wrong_entity", "Wrong entity"),
                            ("contradiction", "Contradiction"),
                            ("not_checkable", "Not checkable"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        default=0, help_text="Time at the item before the answer, in ms, without idle time."
                    ),
                ),
                (
                    "had_seen",
                    models.BooleanField(
                        default=False, help_text="The author had seen others' answers before."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "origin_name",
                    models.CharField(
                        blank=True,
                        help_text="The judge's signature, or an imported rater's name.",
                        max_length=200,
                    ),
                ),
                ("value", models.FloatField(blank=True, null=True)),
                (
                    "confidence",
                    models.FloatField(blank=True, help_text="How sure the judge is, from 0 to 1.", null=True),
                ),
                (
                    "expected",
                    models.FloatField(
                        blank=True,
                        help_text="The mean of the values by the judge's probabilities of them.",
                        null=True,
                    ),
                ),
                (
                    "version",
                    models.PositiveIntegerField(
                        default=1,
                        help_text="Counts the rows of one assignment, or of one reviewer, on this criterion and summary.",
                    ),
                ),
                (
                    "assignment",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ratings",
                        to="annotation.assignment",
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.criterion",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ratings",
                        to="annotation.judge",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="ratings",
                        to="annotation.run",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="JudgeCall",
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
                (
                    "key",
                    models.CharField(
                        help_text="Hash of judge, prompt version and input.", max_length=64, unique=True
                    ),
                ),
                ("step", models.CharField(max_length=40)),
                ("prompt_version", models.CharField(max_length=40)),
                ("request", models.TextField(help_text="Canonical JSON of the request, without secrets.")),
                ("reply", models.TextField(blank=True)),
                ("finish_reason", models.CharField(blank=True, max_length=40)),
                ("prompt_tokens", models.PositiveIntegerField(default=0)),
                ("completion_tokens", models.PositiveIntegerField(default=0)),
                ("seconds", models.FloatField(default=0.0)),
                (
                    "chances",
                    models.TextField(
                        blank=True, help_text="JSON of the probabilities of the values in the reply."
                    ),
                ),
                (
                    "served_model",
                    models.CharField(
                        blank=True,
                        help_text="The model's name in the reply, which may differ from the one asked.",
                        max_length=200,
                    ),
                ),
                (
                    "erased_at",
                    models.DateTimeField(
                        help_text="From then on its texts are deleted; its question would be asked and paid for again.",
                        null=True,
                    ),
                ),
                (
                    "token",
                    models.CharField(blank=True, help_text="Token of the worker that asks.", max_length=32),
                ),
                (
                    "lease_until",
                    models.DateTimeField(
                        help_text="The worker may ask until then; empty after the reply.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "judge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="annotation.judge",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        help_text="The run that paid for it.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="calls",
                        to="annotation.run",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.AddField(
            model_name="job",
            name="run",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="jobs",
                to="annotation.run",
            ),
        ),
        migrations.CreateModel(
            name="Sample",
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
                (
                    "method",
                    models.CharField(
                        choices=[
                            ("uniform", "Same chance for every claim"),
                            ("active", "More claims where the judge is unsure"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "share",
                    models.FloatField(default=1.0, help_text="The requested share, above 0 and up to 1."),
                ),
                ("seed", models.BigIntegerField()),
                (
                    "frame",
                    models.JSONField(help_text="Public ids of all items that could have been sampled."),
                ),
                (
                    "chances",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Inclusion probability of every item of the frame, in its order; empty if all are equal.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "cancelled_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Nobody is asked for its answers any more, and no estimate uses them.",
                        null=True,
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="annotation.criterion",
                    ),
                ),
                (
                    "extends",
                    models.ForeignKey(
                        blank=True,
                        help_text="The sample that still counts for the systems that are not in this one.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="extensions",
                        to="annotation.sample",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
            },
        ),
        migrations.CreateModel(
            name="Summary",
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
                ("is_reference", models.BooleanField(default=False)),
                ("is_summary", models.BooleanField(default=False)),
                (
                    "external_id",
                    models.CharField(blank=True, help_text="The reference_id; may be empty.", max_length=200),
                ),
                (
                    "target_words",
                    models.PositiveIntegerField(
                        blank=True, help_text="Target length in the project's length unit.", null=True
                    ),
                ),
                (
                    "names_references",
                    models.BooleanField(
                        default=False,
                        help_text="Its rows name its references; otherwise it is compared with all references of its document set.",
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                (
                    "computed",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Values of formulas in a run, by score: value, reason and the formula's version.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "document_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="summaries",
                        to="annotation.documentset",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "summaries",
                "ordering": ("document_set_id", "id"),
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("summary_words", models.PositiveIntegerField()),
                ("coverage", models.FloatField(null=True)),
                ("coverage_judge", models.FloatField(null=True)),
                ("coverage_human", models.FloatField(null=True)),
                ("human_share", models.FloatField(null=True)),
                ("claim_coverage", models.FloatField(null=True)),
                ("alignment", models.FloatField(null=True)),
                ("factual_alignment", models.FloatField(null=True)),
                ("question_coverage", models.FloatField(null=True)),
                ("summarization", models.FloatField(null=True)),
                (
                    "passed",
                    models.BooleanField(help_text="Whether summarization reaches its threshold.", null=True),
                ),
                ("topic_preservation", models.FloatField(null=True)),
                ("completeness", models.FloatField(null=True)),
                ("redundancy", models.FloatField(null=True)),
                ("conciseness", models.FloatField(null=True)),
                ("coherence", models.FloatField(null=True)),
                ("brevity", models.FloatField(null=True)),
                ("composite_1", models.FloatField(null=True)),
                ("composite_2_3", models.FloatField(null=True)),
                ("composite_custom", models.FloatField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                ("claims_unscored", models.PositiveIntegerField(default=0)),
                ("flags", models.JSONField(default=list)),
                ("signature", models.CharField(max_length=300)),
                (
                    "revision",
                    models.PositiveBigIntegerField(
                        default=annotation.models.score.new_revision,
                        help_text="Set at every writing: the sum over a project changes if any score was written.",
                    ),
                ),
                ("computed_at", models.DateTimeField(auto_now=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="annotation.project",
                    ),
                ),
                (
                    "summary",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="score",
                        to="annotation.summary",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="SampledRating",
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
                ("inclusion_probability", models.FloatField()),
                (
                    "rating",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sampled_for",
                        to="annotation.rating",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sampled_ratings",
                        to="annotation.sample",
                    ),
                ),
                (
                    "summary",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sampled",
                        to="annotation.summary",
                    ),
                ),
            ],
            options={
                "ordering": ("sample_id", "id"),
            },
        ),
        migrations.AddField(
            model_name="run",
            name="summaries",
            field=models.ManyToManyField(
                blank=True,
                help_text="The texts that a trial judges; empty for other runs.",
                related_name="+",
                to="annotation.summary",
            ),
        ),
        migrations.AddField(
            model_name="rating",
            name="summary",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="ratings", to="annotation.summary"
            ),
        ),
        migrations.CreateModel(
            name="Look",
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
                ("opened_at", models.DateTimeField(auto_now_add=True)),
                ("revealed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "check_row",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="looks",
                        to="annotation.check",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="looks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "summary",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="looks",
                        to="annotation.summary",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.AddField(
            model_name="comparison",
            name="reference",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="comparisons_as_reference",
                to="annotation.summary",
            ),
        ),
        migrations.AddField(
            model_name="comparison",
            name="summary",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="comparisons_as_summary",
                to="annotation.summary",
            ),
        ),
        migrations.AddField(
            model_name="claimset",
            name="summary",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="claim_sets",
                to="annotation.summary",
            ),
        ),
        migrations.AddField(
            model_name="check",
            name="summary",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="checks",
                to="annotation.summary",
            ),
        ),
        # After `summary`, which its expression names.
        migrations.AddField(
            model_name="check",
            name="of_summary",
            field=models.GeneratedField(
                db_persist=True,
                expression=django.db.models.functions.comparison.Coalesce("summary", 0),
                help_text="The key of `summary`, or 0: an order of lists must not contain null.",
                output_field=models.BigIntegerField(),
            ),
        ),
        migrations.CreateModel(
            name="System",
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
                ("name", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("summariser", "Summariser"),
                            ("person", "Person"),
                        ],
                        default="summariser",
                        max_length=10,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="systems",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "ordering": ("project_id", "name"),
            },
        ),
        migrations.AddField(
            model_name="summary",
            name="system",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="summaries",
                to="annotation.system",
            ),
        ),
        migrations.CreateModel(
            name="Unit",
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
                ("position", models.PositiveIntegerField()),
                ("start", models.PositiveIntegerField(help_text="Offset of the first character.")),
                ("end", models.PositiveIntegerField(help_text="Offset after the last character.")),
                ("weight", models.FloatField(default=1.0)),
                (
                    "document",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to="annotation.document",
                    ),
                ),
                (
                    "summary",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to="annotation.summary",
                    ),
                ),
            ],
            options={
                "ordering": ("summary_id", "document_id", "position"),
            },
        ),
        migrations.CreateModel(
            name="Dispute",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True, help_text="Until then no queue gives it to anyone else.", null=True
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
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("settled", "Resolved"), ("agreed", "Agreed since")],
                        default="open",
                        max_length=7,
                    ),
                ),
                (
                    "spread",
                    models.FloatField(
                        help_text="Largest less smallest answer: yes is 1, unsure .5, no 0; others by their scale."
                    ),
                ),
                ("answers", models.PositiveIntegerField(help_text="The number of answers.")),
                ("queue_key", models.PositiveBigIntegerField(help_text="Random, for tie-breaks.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "check_row",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.check",
                    ),
                ),
                (
                    "claim",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.claim",
                    ),
                ),
                (
                    "comparison",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.comparison",
                    ),
                ),
                (
                    "criterion",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.criterion",
                    ),
                ),
                (
                    "leased_to",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.project",
                    ),
                ),
                (
                    "summary",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.summary",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disputes",
                        to="annotation.unit",
                    ),
                ),
            ],
            options={
                "ordering": ("-spread", "queue_key"),
            },
        ),
        migrations.CreateModel(
            name="CoverageJudgment",
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("judge", "Judge"),
                            ("reviewer", "Reviewer"),
                            ("assessor", "Assessor"),
                            ("adjudicator", "Adjudicator"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "evidence",
                    models.JSONField(
                        blank=True, default=list, help_text="Numbers of the units that support it."
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "error_type",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("hallucination", "Hallucination"),
                            ("omission", "Omission"),
                            ("wrong_number", "Wrong number"),
                            ("wrong_entity", "Wrong entity"),
                            ("contradiction", "Contradiction"),
                            ("not_checkable", "Not checkable"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        default=0, help_text="Time at the item before the answer, in ms, without idle time."
                    ),
                ),
                (
                    "had_seen",
                    models.BooleanField(
                        default=False, help_text="The author had seen others' answers before."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "percent",
                    models.PositiveSmallIntegerField(blank=True, help_text="Empty for a draft.", null=True),
                ),
                (
                    "version",
                    models.PositiveIntegerField(
                        default=1, help_text="Counts the rows on this unit in this reading."
                    ),
                ),
                ("is_current", models.BooleanField(default=True)),
                (
                    "claim",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="annotation.claim",
                    ),
                ),
                (
                    "comparison",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="annotation.comparison",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "reading",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="judgments",
                        to="annotation.reading",
                    ),
                ),
                (
                    "unit",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="judgments",
                        to="annotation.unit",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.AddField(
            model_name="claim",
            name="unit",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="claims",
                to="annotation.unit",
            ),
        ),
        migrations.CreateModel(
            name="Verdict",
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
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("judge", "Judge"),
                            ("reviewer", "Reviewer"),
                            ("assessor", "Assessor"),
                            ("adjudicator", "Adjudicator"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "evidence",
                    models.JSONField(
                        blank=True, default=list, help_text="Numbers of the units that support it."
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "error_type",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("hallucination", "Hallucination"),
                            ("omission", "Omission"),
                            ("wrong_number", "Wrong number"),
                            ("wrong_entity", "Wrong entity"),
                            ("contradiction", "Contradiction"),
                            ("not_checkable", "Not checkable"),
                        ],
                        max_length=13,
                    ),
                ),
                (
                    "active_ms",
                    models.PositiveIntegerField(
                        default=0, help_text="Time at the item before the answer, in ms, without idle time."
                    ),
                ),
                (
                    "had_seen",
                    models.BooleanField(
                        default=False, help_text="The author had seen others' answers before."
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "origin_name",
                    models.CharField(
                        blank=True,
                        help_text="The source of an imported verdict, or the judge's signature.",
                        max_length=200,
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        blank=True,
                        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")],
                        max_length=6,
                        null=True,
                    ),
                ),
                (
                    "probability",
                    models.FloatField(
                        blank=True, help_text="Probability of yes, as the judge gave it.", null=True
                    ),
                ),
                (
                    "confidence",
                    models.FloatField(
                        blank=True, help_text="The person's own confidence, 0 to 1.", null=True
                    ),
                ),
                (
                    "uncertainty",
                    models.FloatField(
                        blank=True,
                        help_text="For a panel: the share of its votes that differ from the label; 1 if a repetition changed it.",
                        null=True,
                    ),
                ),
                (
                    "votes",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="For a panel, or raters in a file: names and labels.",
                    ),
                ),
                (
                    "repeated",
                    models.CharField(
                        blank=True,
                        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")],
                        help_text="The judge's label when it was asked again at the same settings; empty if it was not.",
                        max_length=6,
                    ),
                ),
                (
                    "check_row",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="annotation.check",
                    ),
                ),
                (
                    "guideline",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.guideline",
                    ),
                ),
                (
                    "judge",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verdicts",
                        to="annotation.judge",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="verdicts",
                        to="annotation.run",
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="SampledCheck",
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
                ("inclusion_probability", models.FloatField()),
                (
                    "check_row",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sampled",
                        to="annotation.check",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sampled_checks",
                        to="annotation.sample",
                    ),
                ),
                (
                    "verdict",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sampled_for",
                        to="annotation.verdict",
                    ),
                ),
            ],
            options={
                "ordering": ("sample_id", "id"),
            },
        ),
        migrations.CreateModel(
            name="AnswerAgain",
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
                (
                    "is_control",
                    models.BooleanField(help_text="It is answered again under the old guidelines."),
                ),
                (
                    "label",
                    models.CharField(
                        blank=True,
                        choices=[("yes", "Yes"), ("no", "No"), ("unsure", "Unsure")],
                        max_length=6,
                        null=True,
                    ),
                ),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "check_row",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.check"
                    ),
                ),
                (
                    "trial",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="annotation.guidelinetrial",
                    ),
                ),
                (
                    "verdict",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="annotation.verdict"
                    ),
                ),
            ],
            options={
                "ordering": ("id",),
            },
        ),
        migrations.CreateModel(
            name="Watch",
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
                ("name", models.CharField(max_length=60)),
                (
                    "length",
                    models.CharField(
                        choices=[("day", "Day"), ("week", "Week")],
                        default="week",
                        max_length=4,
                        verbose_name="Period",
                    ),
                ),
                ("scores", models.JSONField(default=list)),
                (
                    "summaries",
                    models.PositiveIntegerField(
                        default=100,
                        help_text="In each period, at random.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(2000),
                        ],
                        verbose_name="Summaries to judge",
                    ),
                ),
                (
                    "checks",
                    models.PositiveIntegerField(
                        default=100,
                        help_text="Reviewers answer this many in each period. Enter 0 to watch the judge alone.",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(2000),
                        ],
                        verbose_name="Claims for people",
                    ),
                ),
                (
                    "smallest_drop",
                    models.FloatField(
                        default=0.05,
                        help_text="A smaller drop of a score is never reported.",
                        validators=[
                            django.core.validators.MinValueValidator(0),
                            django.core.validators.MaxValueValidator(1),
                        ],
                    ),
                ),
                (
                    "reference_periods",
                    models.PositiveSmallIntegerField(
                        default=13,
                        help_text="The first periods, with which later ones are compared.",
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(60),
                        ],
                        verbose_name="Periods of the reference",
                    ),
                ),
                (
                    "starts_on",
                    models.DateField(
                        default=annotation.models.watch._today,
                        help_text="It may be in the past: summaries that are here already then make the reference.",
                        validators=[annotation.models.watch._near],
                        verbose_name="First day",
                    ),
                ),
                (
                    "yearly_rate",
                    models.FloatField(
                        default=0.05,
                        help_text="The probability of a false alarm in a year, from 0 to 1.",
                        validators=[
                            django.core.validators.MinValueValidator(0.001),
                            django.core.validators.MaxValueValidator(0.5),
                        ],
                        verbose_name="Chance of a false alarm",
                    ),
                ),
                (
                    "group_by",
                    models.CharField(
                        blank=True,
                        help_text="A metadata key such as topic, or language: a changed mix of its values is then no drop.",
                        max_length=200,
                        verbose_name="Compare within",
                    ),
                ),
                ("anchors", models.JSONField(blank=True, default=dict)),
                ("latest", models.JSONField(blank=True, default=annotation.models.watch._no_report)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "job",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="watch", to="annotation.job"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="watches",
                        to="annotation.project",
                    ),
                ),
                (
                    "systems",
                    models.ManyToManyField(
                        blank=True, help_text="None: all systems.", related_name="+", to="annotation.system"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "watches",
                "ordering": ("project_id", "name"),
            },
        ),
        migrations.CreateModel(
            name="WatchPeriod",
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
                ("start", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("judging", "Being judged"),
                            ("answering", "Waiting for people's answers"),
                            ("settled", "Complete"),
                        ],
                        default="judging",
                        max_length=9,
                    ),
                ),
                ("total", models.PositiveIntegerField(default=0)),
                ("answers", models.PositiveIntegerField(default=0)),
                ("basis", models.CharField(blank=True, max_length=300)),
                ("values", models.JSONField(blank=True, default=dict)),
                ("asked", models.JSONField(blank=True, default=list)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                (
                    "anchor_run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.run",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="annotation.run",
                    ),
                ),
                (
                    "sample",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="watch_period",
                        to="annotation.sample",
                    ),
                ),
                (
                    "watch",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="periods",
                        to="annotation.watch",
                    ),
                ),
            ],
            options={
                "ordering": ("watch_id", "start"),
            },
        ),
        migrations.CreateModel(
            name="AccountEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("sign in", "Signed in"),
                            ("failure", "Wrong password or code"),
                            ("lock", "Locked for a while"),
                            ("sign out", "Signed out"),
                            ("password", "Password changed"),
                            ("reset link", "Reset link made"),
                            ("reset", "Password reset by a link"),
                            ("token", "Token made"),
                            ("token end", "Token ended"),
                            ("session end", "Session ended"),
                            ("email", "E-mail address changed"),
                            ("verified", "E-mail address verified"),
                            ("factor", "Second factor set up"),
                            ("factor end", "Second factor removed"),
                            ("recovery", "Recovery codes replaced"),
                            ("identity", "Single sign-on connected"),
                            ("identity end", "Single sign-on disconnected"),
                            ("refused", "Single sign-on refused"),
                        ],
                        max_length=12,
                    ),
                ),
                ("address", models.GenericIPAddressField(blank=True, null=True)),
                ("browser", models.CharField(blank=True, max_length=300)),
                ("note", models.CharField(blank=True, max_length=200)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "person",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="The account; empty if nobody has the typed name.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="account_events",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-id",),
                "indexes": [models.Index(fields=["person", "-id"], name="account_event_of_person")],
            },
        ),
        migrations.AddConstraint(
            model_name="document",
            constraint=models.UniqueConstraint(fields=("document_set", "position"), name="document_position"),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("closed_at__isnull", True), ("unassigned_at__isnull", True)),
                fields=["lease_until"],
                name="assignment_leased",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(fields=("assessor", "document_set"), name="assignment_once"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("closed_at__isnull", True), ("unassigned_at__isnull", True), _connector="OR"
                ),
                name="assignment_closed_or_unassigned",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("blend_human_weight__gte", 0), ("blend_human_weight__lte", 1)),
                name="project_blend_human_weight_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("composite_weight__gte", 0), ("composite_weight__lte", 1)),
                name="project_composite_weight_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("dispute_threshold__gte", 0), ("dispute_threshold__lte", 1)),
                name="project_dispute_threshold_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("summarization_threshold__gte", 0), ("summarization_threshold__lte", 1)),
                name="project_summarization_threshold_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("least_scored__gte", 0), ("least_scored__lte", 1)),
                name="project_least_scored_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("lease_minutes__gte", 1)), name="project_lease_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("target_length__isnull", True), ("target_length__gte", 1), _connector="OR"
                ),
                name="project_target_from_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("summarization_scale__gt", 0), ("summarization_scale__lte", 1000000)),
                name="project_summarization_scale_above_0",
            ),
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.UniqueConstraint(
                fields=("project", "user"), name="membership_once_per_project"
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("accepted_at__isnull", True), ("accepted_by__isnull", True)),
                    models.Q(("accepted_at__isnull", False), ("accepted_by__isnull", False)),
                    _connector="OR",
                ),
                name="invitation_accepted_by_somebody",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("accepted_at__isnull", True), ("revoked_at__isnull", True), _connector="OR"
                ),
                name="invitation_accepted_or_revoked",
            ),
        ),
        migrations.AddConstraint(
            model_name="guidelinetrial",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at__isnull", True), ("decision__isnull", True)),
                    models.Q(("decided_at__isnull", False), ("decision__isnull", False)),
                    _connector="OR",
                ),
                name="trial_decision_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="guidelinetrial",
            constraint=models.UniqueConstraint(
                condition=models.Q(("decision", None)), fields=("project",), name="trial_one_open"
            ),
        ),
        migrations.AddConstraint(
            model_name="guideline",
            constraint=models.UniqueConstraint(fields=("project", "version"), name="guideline_version_once"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "-id"], name="event_of_project"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["project", "-created_at", "-id"], name="event_by_time"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["target_id"], name="event_of_row"),
        ),
        migrations.AddConstraint(
            model_name="documentset",
            constraint=models.UniqueConstraint(
                fields=("project", "external_id"), name="document_set_external_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.UniqueConstraint(
                fields=("project", "name", "version"), name="criterion_version"
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("retired_at__isnull", True)),
                fields=("project", "name"),
                name="criterion_asked_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="comment",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="comment_has_text"
            ),
        ),
        migrations.AddConstraint(
            model_name="analysis",
            constraint=models.UniqueConstraint(fields=("project", "kind", "key"), name="analysis_once"),
        ),
        migrations.AddConstraint(
            model_name="promptversion",
            constraint=models.UniqueConstraint(
                fields=("project", "step", "number"), name="prompt_version_number"
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="judge_name_once_in_project"),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.UniqueConstraint(
                condition=models.Q(("project__isnull", True)), fields=("name",), name="judge_shared_name_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "openai"), _negated=True),
                    models.Q(("model", ""), _negated=True),
                    _connector="OR",
                ),
                name="judge_openai_has_model",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("concurrency__gte", 1)), name="judge_concurrency_at_least_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("timeout_seconds__gt", 0)), name="judge_timeout_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("ask_next_below__isnull", True),
                    models.Q(("ask_next_below__gte", 0), ("ask_next_below__lte", 1)),
                    _connector="OR",
                ),
                name="judge_ask_next_below_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_tokens__gte", 1)), name="judge_max_tokens_at_least_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("calls_per_minute__isnull", True), ("calls_per_minute__gte", 1), _connector="OR"
                    ),
                    models.Q(
                        ("tokens_per_minute__isnull", True), ("tokens_per_minute__gte", 1), _connector="OR"
                    ),
                ),
                name="judge_limits_at_least_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("context_tokens__isnull", True),
                    ("context_tokens__gt", models.F("max_tokens")),
                    _connector="OR",
                ),
                name="judge_context_holds_a_reply",
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("completion_price__gte", 0), ("prompt_price__gte", 0)),
                name="judge_prices_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="reading",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "submitted"), _negated=True),
                    ("submitted_at__isnull", False),
                    _connector="OR",
                ),
                name="reading_submitted_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="reading",
            constraint=models.UniqueConstraint(
                fields=("assignment", "comparison"), name="reading_once_per_assignment"
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["state", "lease_until"], name="job_by_state"),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("document_set__isnull", False), ("kind", "run"), ("run__isnull", False)),
                    models.Q(
                        models.Q(("kind", "run"), _negated=True),
                        ("document_set__isnull", True),
                        ("run__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="job_of_run_has_set",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(
                fields=("run", "document_set"), name="job_once_per_document_set"
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "working"), _negated=True),
                    models.Q(("lease_until__isnull", False), models.Q(("token", ""), _negated=True)),
                    _connector="OR",
                ),
                name="job_working_has_lease",
            ),
        ),
        migrations.AddConstraint(
            model_name="sample",
            constraint=models.CheckConstraint(
                condition=models.Q(("share__gt", 0), ("share__lte", 1)), name="sample_share_0_1"
            ),
        ),
        migrations.AddIndex(
            model_name="score",
            index=models.Index(fields=["project", "revision"], name="score_revisions"),
        ),
        migrations.AddConstraint(
            model_name="sampledrating",
            constraint=models.UniqueConstraint(fields=("sample", "summary"), name="sampled_rating_once"),
        ),
        migrations.AddConstraint(
            model_name="sampledrating",
            constraint=models.CheckConstraint(
                condition=models.Q(("inclusion_probability__gt", 0), ("inclusion_probability__lte", 1)),
                name="sampled_rating_probability_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("cost__gte", 0)), name="run_cost_not_negative"
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_cost__isnull", True), ("max_cost__gt", 0), _connector="OR"),
                name="run_max_cost_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("repeat_share__isnull", True),
                    models.Q(("repeat_share__gte", 0), ("repeat_share__lte", 1)),
                    _connector="OR",
                ),
                name="run_repeat_share_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_questions__isnull", True), ("n_questions__lte", 50), _connector="OR"),
                name="run_n_questions_bounded",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("value__isnull", True), models.Q(("value__gte", 0), ("value__lte", 100)), _connector="OR"
                ),
                name="rating_0_100",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("judge__isnull", False), ("person__isnull", True), ("role", "judge")),
                    models.Q(
                        models.Q(("role", "judge"), _negated=True),
                        ("judge__isnull", True),
                        models.Q(
                            ("person__isnull", False),
                            models.Q(("origin_name", ""), _negated=True),
                            _connector="OR",
                        ),
                    ),
                    _connector="OR",
                ),
                name="rating_has_author",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("role", "assessor"), _negated=True),
                    ("assignment__isnull", False),
                    _connector="OR",
                ),
                name="rating_in_assignment",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.UniqueConstraint(
                condition=models.Q(("assignment__isnull", False)),
                fields=("assignment", "summary", "criterion", "version"),
                name="rating_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.UniqueConstraint(
                condition=models.Q(("person__isnull", False), ("role", "reviewer")),
                fields=("person", "summary", "criterion", "version"),
                name="rating_version_of_reviewer",
            ),
        ),
        migrations.AddConstraint(
            model_name="rating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confidence__isnull", True),
                    models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                    _connector="OR",
                ),
                name="rating_confidence_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("check_row__isnull", False), ("summary__isnull", True)),
                    models.Q(("check_row__isnull", True), ("summary__isnull", False)),
                    _connector="OR",
                ),
                name="look_at_check_or_summary",
            ),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(fields=("person", "check_row"), name="look_once_at_check"),
        ),
        migrations.AddConstraint(
            model_name="look",
            constraint=models.UniqueConstraint(fields=("person", "summary"), name="look_once_at_summary"),
        ),
        migrations.AddConstraint(
            model_name="comparison",
            constraint=models.UniqueConstraint(fields=("summary", "reference"), name="comparison_once"),
        ),
        migrations.AddConstraint(
            model_name="comparison",
            constraint=models.CheckConstraint(
                condition=models.Q(("summary", models.F("reference")), _negated=True),
                name="comparison_not_with_itself",
            ),
        ),
        migrations.AddConstraint(
            model_name="claimset",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("document_set__isnull", True), ("summary__isnull", False)),
                    models.Q(("document_set__isnull", False), ("summary__isnull", True)),
                    _connector="OR",
                ),
                name="claim_set_of_one_text",
            ),
        ),
        migrations.AddConstraint(
            model_name="claimset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_active", True), ("summary__isnull", False)),
                fields=("summary",),
                name="claim_set_one_active_per_summary",
            ),
        ),
        migrations.AddConstraint(
            model_name="claimset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("document_set__isnull", False), ("is_active", True), ("kind", "claims")),
                fields=("document_set",),
                name="claim_set_one_active_per_document_set",
            ),
        ),
        migrations.AddConstraint(
            model_name="claimset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("summary__isnull", False)),
                fields=("summary", "version"),
                name="claim_set_version_of_summary",
            ),
        ),
        migrations.AddConstraint(
            model_name="claimset",
            constraint=models.UniqueConstraint(
                condition=models.Q(("document_set__isnull", False), ("kind", "claims")),
                fields=("document_set", "version"),
                name="claim_set_version_of_document_set",
            ),
        ),
        migrations.AddConstraint(
            model_name="claimset",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind", "claims"), ("summary__isnull", True), _connector="OR"),
                name="claim_set_questions_of_documents",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("leased_to__isnull", False)), fields=["leased_to"], name="check_leased"
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                fields=["project", "document_set", "side", "of_summary", "-uncertainty", "queue_key"],
                name="check_by_set",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(fields=["project", "-uncertainty", "queue_key"], name="check_by_uncertainty"),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(fields=["project", "-impact", "queue_key"], name="check_by_impact"),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("is_disputed", True)),
                fields=["project", "document_set", "side", "of_summary", "-uncertainty", "queue_key"],
                name="check_disputed_by_set",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("is_disputed", True)),
                fields=["project", "-impact", "queue_key"],
                name="check_disputed_by_impact",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("is_disputed", True)),
                fields=["project", "summary", "claim"],
                name="check_disputed_by_summary",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(fields=["project", "summary", "queue_key"], name="check_by_summary"),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("human_label__isnull", True), ("is_current", True)),
                fields=["project", "document_set", "side", "of_summary", "-uncertainty", "queue_key"],
                name="check_waits_by_set",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("human_label__isnull", True), ("is_current", True)),
                fields=["project", "-uncertainty", "queue_key"],
                name="check_waits_by_uncertainty",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("human_label__isnull", True), ("is_current", True)),
                fields=["project", "-impact", "queue_key"],
                name="check_waits_by_impact",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("human_label__isnull", True), ("is_current", True)),
                fields=["project", "summary", "claim"],
                name="check_waits_by_summary",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("human_label__isnull", False), ("is_current", True)),
                fields=["project", "queue_key"],
                name="check_answered",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(("has_number", True), ("human_label__isnull", True), ("is_current", True)),
                fields=["project", "document_set", "side", "of_summary", "-uncertainty", "queue_key"],
                name="check_waits_with_number",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(
                    ("human_label__isnull", False),
                    ("is_current", True),
                    ("judge_label__isnull", False),
                    models.Q(("human_label", models.F("judge_label")), _negated=True),
                ),
                fields=["project", "document_set", "side", "of_summary", "-uncertainty", "queue_key"],
                name="check_against_by_set",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(
                    ("human_label__isnull", False),
                    ("is_current", True),
                    ("judge_label__isnull", False),
                    models.Q(("human_label", models.F("judge_label")), _negated=True),
                ),
                fields=["project", "-impact", "queue_key"],
                name="check_against_by_impact",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=models.Q(
                    ("human_label__isnull", False),
                    ("is_current", True),
                    ("judge_label__isnull", False),
                    models.Q(("human_label", models.F("judge_label")), _negated=True),
                ),
                fields=["project", "summary", "claim"],
                name="check_against_by_summary",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.UniqueConstraint(fields=("claim", "summary"), name="check_once"),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.UniqueConstraint(
                condition=models.Q(("summary__isnull", True)),
                fields=("document_set", "claim"),
                name="check_of_source_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.CheckConstraint(
                condition=models.Q(("summary__isnull", False), ("side", "question"), _connector="OR"),
                name="check_of_source_is_question",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("lease_until__isnull", True), ("leased_to__isnull", True)),
                    ("lease_until__isnull", False),
                    _connector="OR",
                ),
                name="check_lease_has_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("final_label__isnull", True), ("final_source__isnull", True)),
                    models.Q(("final_label__isnull", False), ("final_source__isnull", False)),
                    _connector="OR",
                ),
                name="check_final_has_source",
            ),
        ),
        migrations.AddConstraint(
            model_name="check",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("judge_probability__isnull", True),
                    models.Q(("judge_probability__gte", 0), ("judge_probability__lte", 1)),
                    _connector="OR",
                ),
                name="check_judge_probability_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="system",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="system_name"),
        ),
        migrations.AddIndex(
            model_name="summary",
            index=models.Index(fields=["created_at"], name="summary_by_time"),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_reference", True), ("is_summary", True), _connector="OR"),
                name="summary_has_role",
            ),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_summary", False), ("system__isnull", False), _connector="OR"),
                name="summary_has_system",
            ),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.CheckConstraint(
                condition=models.Q(("target_words__isnull", True), ("target_words__gte", 1), _connector="OR"),
                name="summary_target_at_least_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_summary", True), ("target_words__isnull", False)),
                fields=("document_set", "system", "target_words"),
                name="summary_once_per_target",
            ),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_summary", True), ("target_words__isnull", True)),
                fields=("document_set", "system"),
                name="summary_once_without_target",
            ),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_reference", True), ("target_words__isnull", False)),
                fields=("document_set", "external_id", "target_words"),
                name="summary_reference_once_per_target",
            ),
        ),
        migrations.AddConstraint(
            model_name="summary",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_reference", True), ("target_words__isnull", True)),
                fields=("document_set", "external_id"),
                name="summary_reference_once_without_target",
            ),
        ),
        migrations.AddIndex(
            model_name="unit",
            index=models.Index(
                condition=models.Q(("summary__isnull", False)), fields=["summary"], name="unit_of_summary"
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("document__isnull", True), ("summary__isnull", False)),
                    models.Q(("document__isnull", False), ("summary__isnull", True)),
                    _connector="OR",
                ),
                name="unit_of_one_text",
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.CheckConstraint(
                condition=models.Q(("end__gt", models.F("start"))), name="unit_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.CheckConstraint(
                condition=models.Q(("weight__gt", 0)), name="unit_weight_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.CheckConstraint(
                condition=models.Q(("position__gte", 1)), name="unit_position_from_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.UniqueConstraint(
                condition=models.Q(("summary__isnull", False)),
                fields=("summary", "position"),
                name="unit_position_in_summary",
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.UniqueConstraint(
                condition=models.Q(("document__isnull", False)),
                fields=("document", "position"),
                name="unit_position_in_document",
            ),
        ),
        migrations.AddIndex(
            model_name="dispute",
            index=models.Index(
                condition=models.Q(("leased_to__isnull", False)), fields=["leased_to"], name="dispute_leased"
            ),
        ),
        migrations.AddIndex(
            model_name="dispute",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["project", "-spread", "queue_key"],
                name="dispute_open",
            ),
        ),
        migrations.AddIndex(
            model_name="dispute",
            index=models.Index(fields=["project", "state", "-id"], name="dispute_by_state"),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("check_row__isnull", False),
                        ("claim__isnull", True),
                        ("comparison__isnull", True),
                        ("criterion__isnull", True),
                        ("summary__isnull", True),
                        ("unit__isnull", True),
                    ),
                    models.Q(
                        ("check_row__isnull", True),
                        ("claim__isnull", True),
                        ("comparison__isnull", False),
                        ("criterion__isnull", True),
                        ("summary__isnull", True),
                        ("unit__isnull", False),
                    ),
                    models.Q(
                        ("check_row__isnull", True),
                        ("claim__isnull", False),
                        ("comparison__isnull", False),
                        ("criterion__isnull", True),
                        ("summary__isnull", True),
                        ("unit__isnull", True),
                    ),
                    models.Q(
                        ("check_row__isnull", True),
                        ("claim__isnull", True),
                        ("comparison__isnull", True),
                        ("criterion__isnull", False),
                        ("summary__isnull", False),
                        ("unit__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="dispute_of_one_item",
            ),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.CheckConstraint(
                condition=models.Q(("spread__gte", 0), ("spread__lte", 1)), name="dispute_spread_0_1"
            ),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.UniqueConstraint(
                condition=models.Q(("check_row__isnull", False)),
                fields=("check_row",),
                name="dispute_once_per_check",
            ),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.UniqueConstraint(
                condition=models.Q(("unit__isnull", False)),
                fields=("comparison", "unit"),
                name="dispute_once_per_unit",
            ),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.UniqueConstraint(
                condition=models.Q(("claim__isnull", False)),
                fields=("comparison", "claim"),
                name="dispute_once_per_claim",
            ),
        ),
        migrations.AddConstraint(
            model_name="dispute",
            constraint=models.UniqueConstraint(
                condition=models.Q(("summary__isnull", False)),
                fields=("summary", "criterion"),
                name="dispute_once_per_rating",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("claim__isnull", True), ("unit__isnull", False)),
                    models.Q(("claim__isnull", False), ("unit__isnull", True)),
                    _connector="OR",
                ),
                name="judgment_of_unit_or_claim",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("percent__isnull", True),
                    models.Q(("percent__gte", 0), ("percent__lte", 100)),
                    _connector="OR",
                ),
                name="judgment_percent_0_100",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("person__isnull", False), ("reading__isnull", False), ("role", "assessor")),
                    models.Q(
                        ("percent__isnull", False),
                        ("person__isnull", False),
                        ("reading__isnull", True),
                        ("role", "adjudicator"),
                    ),
                    _connector="OR",
                ),
                name="judgment_in_reading_or_decision",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_current", True), ("unit__isnull", False)),
                fields=("reading", "unit"),
                name="judgment_one_current_per_unit",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("claim__isnull", False), ("is_current", True)),
                fields=("reading", "claim"),
                name="judgment_one_current_per_claim",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("unit__isnull", False)),
                fields=("reading", "unit", "version"),
                name="judgment_unit_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="coveragejudgment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("claim__isnull", False)),
                fields=("reading", "claim", "version"),
                name="judgment_claim_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="claim",
            constraint=models.UniqueConstraint(
                condition=models.Q(("removed_at__isnull", True)),
                fields=("claim_set", "position"),
                name="claim_position_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="claim",
            constraint=models.CheckConstraint(
                condition=models.Q(("weight__gt", 0)), name="claim_weight_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="claim",
            constraint=models.CheckConstraint(
                condition=models.Q(("text", ""), _negated=True), name="claim_has_text"
            ),
        ),
        migrations.AddConstraint(
            model_name="claim",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("end__isnull", True), ("start__isnull", True)),
                    models.Q(
                        ("end__gt", models.F("start")), ("end__isnull", False), ("start__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="claim_offsets_both_or_none",
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("judge__isnull", False), ("person__isnull", True), ("role", "judge")),
                    models.Q(
                        ("judge__isnull", True),
                        ("role", "reviewer"),
                        models.Q(
                            ("person__isnull", False),
                            models.Q(("origin_name", ""), _negated=True),
                            _connector="OR",
                        ),
                    ),
                    models.Q(("judge__isnull", True), ("person__isnull", False), ("role", "adjudicator")),
                    _connector="OR",
                ),
                name="verdict_has_author",
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(("label__isnull", False), ("role", "judge"), _connector="OR"),
                name="verdict_only_judges_fail",
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("probability__isnull", True),
                    models.Q(("probability__gte", 0), ("probability__lte", 1)),
                    _connector="OR",
                ),
                name="verdict_probability_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("confidence__isnull", True),
                    models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                    _connector="OR",
                ),
                name="verdict_confidence_0_1",
            ),
        ),
        migrations.AddIndex(
            model_name="sampledcheck",
            index=models.Index(
                condition=models.Q(("verdict__isnull", True)),
                fields=["check_row"],
                name="sampled_check_waiting",
            ),
        ),
        migrations.AddIndex(
            model_name="sampledcheck",
            index=models.Index(fields=["sample", "id"], name="sampled_check_in_order"),
        ),
        migrations.AddConstraint(
            model_name="sampledcheck",
            constraint=models.UniqueConstraint(fields=("sample", "check_row"), name="sampled_check_once"),
        ),
        migrations.AddConstraint(
            model_name="sampledcheck",
            constraint=models.CheckConstraint(
                condition=models.Q(("inclusion_probability__gt", 0), ("inclusion_probability__lte", 1)),
                name="sampled_check_probability_0_1",
            ),
        ),
        migrations.AddConstraint(
            model_name="answeragain",
            constraint=models.UniqueConstraint(fields=("trial", "check_row"), name="answer_again_once"),
        ),
        migrations.AddConstraint(
            model_name="answeragain",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answered_at__isnull", True), ("label__isnull", True)),
                    models.Q(("answered_at__isnull", False), ("label__isnull", False)),
                    _connector="OR",
                ),
                name="answer_again_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="answeragain",
            constraint=models.CheckConstraint(
                condition=models.Q(("label__isnull", True), ("person__isnull", False), _connector="OR"),
                name="answer_again_has_person",
            ),
        ),
        migrations.AddConstraint(
            model_name="watch",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="watch_name"),
        ),
        migrations.AddConstraint(
            model_name="watchperiod",
            constraint=models.UniqueConstraint(fields=("watch", "start"), name="watch_period_once"),
        ),
        migrations.RunPython(guard, release),
    ]
