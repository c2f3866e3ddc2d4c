from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0073_trials"),
    ]

    operations = [
        migrations.AddField(
            model_name="score",
            name="topic_preservation",
            field=models.FloatField(null=True),
        ),
        migrations.AlterField(
            model_name="rating",
            name="name",
            field=models.CharField(
                choices=[
                    ("conciseness", "Conciseness, by a judge"),
                    ("coherence", "Coherence, by a judge"),
                    ("topic_preservation", "Share of the source's topics dealt with, by a judge"),
                    ("completeness", "Completeness, computed"),
                    ("redundancy", "Freedom from repetition, computed"),
                ],
                max_length=20,
            ),
        ),
    ]
