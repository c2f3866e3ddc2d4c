from django.db import migrations, models


class Migration(migrations.Migration):
    """Answers that mark a gap in the guidelines are found without a walk over all answers."""

    dependencies = [("annotation", "0017_set_aside")]

    operations = [
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(
                condition=models.Q(("error_type", "guideline_gap"), ("withdrawn_at__isnull", True)),
                fields=["check_row"],
                name="verdict_of_gap",
            ),
        ),
    ]
