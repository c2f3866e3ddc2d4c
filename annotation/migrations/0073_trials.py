from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0071_judge_trials"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="decides_after",
            field=models.BooleanField(
                default=False, help_text="Its judge becomes the deciding one once it is finished."
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="is_trial",
            field=models.BooleanField(
                default=False,
                help_text="It judges its own peer summaries alone, to see what its judge is worth.",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="peers",
            field=models.ManyToManyField(
                blank=True,
                help_text="What a trial judges; empty for others.",
                related_name="+",
                to="annotation.summary",
            ),
        ),
    ]
