"""Projects name their licence and where their data come from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0048_suggested_verdicts")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="licence",
            field=models.CharField(
                blank=True,
                help_text="Under which its data may be passed on, best as an SPDX identifier such as CC-BY-4.0.",
                max_length=100,
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="provenance",
            field=models.TextField(
                blank=True,
                help_text="Where its texts and judgments come from, for those who get an archive of it.",
            ),
        ),
    ]
