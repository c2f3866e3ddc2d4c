from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0011_event_log")]

    operations = [
        migrations.AddField(
            model_name="analysis",
            name="asked_at",
            field=models.DateTimeField(blank=True, help_text="A worker is at it since then.", null=True),
        ),
        migrations.AlterField(
            model_name="analysis",
            name="made_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="analysis",
            name="inputs",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AlterField(
            model_name="analysis",
            name="payload",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AlterField(
            model_name="analysis",
            name="seconds",
            field=models.FloatField(default=0.0, help_text="How long it took to make."),
        ),
        migrations.AlterField(
            model_name="analysis",
            name="seed",
            field=models.BigIntegerField(default=0),
        ),
    ]
