from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0035_samples_by_system")]

    operations = [
        migrations.AlterField(
            model_name="verdict",
            name="votes",
            field=models.JSONField(
                blank=True, default=list, help_text="Of a panel, or of raters in a file: names and labels."
            ),
        ),
    ]
