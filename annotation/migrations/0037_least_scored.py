from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0034_served_model"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="least_scored",
            field=models.FloatField(
                default=0.5,
                help_text="Where a smaller share of claims or questions is scored, what rests on them is blank (0 to 1).",
                verbose_name="least share of scored claims",
            ),
        ),
        migrations.AddConstraint(
            model_name="project",
            constraint=models.CheckConstraint(
                condition=models.Q(("least_scored__gte", 0), ("least_scored__lte", 1)),
                name="project_least_scored_0_1",
            ),
        ),
    ]
