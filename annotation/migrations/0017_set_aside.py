from django.db import migrations, models


class Migration(migrations.Migration):
    """An answer that met another one is kept, set aside."""

    dependencies = [("annotation", "0016_leases_and_queues")]

    operations = [
        migrations.AddField(
            model_name="verdict",
            name="is_set_aside",
            field=models.BooleanField(
                default=False,
                help_text="Somebody else had answered otherwise first; its author met that with it.",
            ),
        ),
        migrations.AlterField(
            model_name="verdict",
            name="shown",
            field=models.CharField(
                choices=[
                    ("nothing", "Nothing"),
                    ("judge", "The judge's verdict"),
                    ("planted", "A wrong verdict, planted"),
                    ("person", "Another's answer"),
                ],
                default="nothing",
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_set_aside", False),
                    models.Q(("source", "reviewer"), ("withdrawn_at__isnull", False)),
                    _connector="OR",
                ),
                name="verdict_set_aside_never_stands",
            ),
        ),
    ]
