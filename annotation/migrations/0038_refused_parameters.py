from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0037_least_scored"),
    ]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="refused_parameters",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="Parameters that its server was found to refuse; they are left out of requests.",
            ),
        ),
        migrations.AlterField(
            model_name="judge",
            name="temperature",
            field=models.FloatField(
                blank=True, default=0.0, help_text="Empty where the request is to name none.", null=True
            ),
        ),
    ]
