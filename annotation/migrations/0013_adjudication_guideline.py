import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0012_analysis_asked")]

    operations = [
        migrations.AddField(
            model_name="adjudication",
            name="guideline",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.guideline",
            ),
        ),
    ]
