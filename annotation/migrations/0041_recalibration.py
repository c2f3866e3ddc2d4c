from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0038_refused_parameters'),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='recalibration',
            field=models.JSONField(editable=False, help_text="How the deciding judge's probabilities are recalibrated for its uncertainty; empty: not at all.", null=True),
        ),
    ]
