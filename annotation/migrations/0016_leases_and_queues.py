import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q

DISPUTED = Q(is_disputed=True)
AGAINST_JUDGE = Q(
    ("human_label__isnull", False),
    ("is_current", True),
    ("judge_label__isnull", False),
    Q(("human_label", F("judge_label")), _negated=True),
)


class Migration(migrations.Migration):
    """A lease leaves the indexes of checks alone, and what people differ on is in order by effect and document too."""

    dependencies = [
        ("annotation", "0015_notice_count"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="check",
            name="leased_to",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=DISPUTED,
                fields=["project", "-effect", "queue_key"],
                name="check_disputed_by_effect",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=DISPUTED, fields=["project", "peer", "claim"], name="check_disputed_by_peer"
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=AGAINST_JUDGE,
                fields=["project", "-effect", "queue_key"],
                name="check_against_by_effect",
            ),
        ),
        migrations.AddIndex(
            model_name="check",
            index=models.Index(
                condition=AGAINST_JUDGE, fields=["project", "peer", "claim"], name="check_against_by_peer"
            ),
        ),
    ]
