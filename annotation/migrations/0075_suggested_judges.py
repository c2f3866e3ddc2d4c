from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0074_topic_preservation"),
    ]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="follows_suggestions",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text="A panel of one that says the suggested verdict wherever there is one when it answers.",
            ),
        ),
    ]
