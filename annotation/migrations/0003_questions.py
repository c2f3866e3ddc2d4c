from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0002_prompt_version"),
    ]

    operations = [
        migrations.AddField(
            model_name="question",
            name="retired_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="n_questions",
            field=models.PositiveSmallIntegerField(
                blank=True,
                help_text="How many questions a document set should have: the judge makes up what is missing. "
                "Empty: it makes some up only where nobody has given any.",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_questions__isnull", True), ("n_questions__lte", 50), _connector="OR"),
                name="run_n_questions_bounded",
            ),
        ),
    ]
