from django.db import migrations, models


def take_latest_models(apps, schema_editor):
    """Judges that have answered go on with the model that answered last."""
    Judge = apps.get_model("annotation", "Judge")
    JudgeCall = apps.get_model("annotation", "JudgeCall")
    for judge in Judge.objects.filter(kind="openai"):
        calls = JudgeCall.objects.filter(judge=judge).exclude(served_model="").order_by("-pk")
        judge.served_model = calls.values_list("served_model", flat=True).first() or ""
        judge.save(update_fields=["served_model"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0043_judge_cascade"),
    ]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="call_space",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="Keeps its calls apart from those of the judge that it follows, which asks in the same words.",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="may_change_model",
            field=models.BooleanField(
                default=False,
                help_text="Where its server answers with another model, its verdicts are kept and the run says so. "
                "Otherwise the run stops.",
                verbose_name="go on with another model",
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="served_model",
            field=models.CharField(
                blank=True,
                editable=False,
                help_text="The model that its server named in its first reply.",
                max_length=200,
            ),
        ),
        migrations.RunPython(take_latest_models, migrations.RunPython.noop),
    ]
