from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_questions"),
    ]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="reply_format",
            field=models.CharField(
                blank=True,
                choices=[
                    ("json_schema", "JSON by a schema"),
                    ("json_object", "JSON, but not by a schema"),
                    ("text", "Plain text"),
                ],
                help_text="The best that its server was found to take. Empty until it has been asked.",
                max_length=11,
            ),
        ),
    ]
