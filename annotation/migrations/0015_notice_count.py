from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0014_review_queue_order"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="notice",
            name="count",
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("mention", "Mentioned"),
                    ("assigned", "Work assigned"),
                    ("reopened", "Work opened again"),
                    ("recalled", "Work taken away"),
                    ("drawn", "Checks drawn"),
                    ("export", "Export ready"),
                    ("dispute", "Disputes opened"),
                ],
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "dispute"), ("read_at__isnull", True)),
                fields=("project", "person"),
                name="notice_of_disputes_once",
            ),
        ),
    ]
