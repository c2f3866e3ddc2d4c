import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    """Each check learns the document set of its peer summary."""
    alias = schema_editor.connection.alias
    peers = apps.get_model("annotation", "Summary").objects.using(alias).filter(pk=OuterRef("peer_id"))
    checks = apps.get_model("annotation", "Check").objects.using(alias)
    checks.update(document_set_id=Subquery(peers.values("document_set_id")))


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0028_ratings_of_wholes'),
    ]

    operations = [
        migrations.AddField(
            model_name='check',
            name='document_set',
            field=models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='checks', to='annotation.documentset'),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
