"""Servers that projects have sent their texts to before anybody was asked may receive them from now on too."""

from django.db import migrations

from annotation.models.base import new_public_id

DEFAULT_ADDRESS = "https://api.openai.com/v1"


def permit(apps, schema_editor):
    judges = apps.get_model("annotation", "Judge")
    permissions = apps.get_model("annotation", "TextPermission")
    runs = apps.get_model("annotation", "Run").objects.order_by().values_list("project_id", "judge_id").distinct()
    asked = {judge.pk: judge for judge in judges.objects.prefetch_related("members")}
    wanted = {
        (project, one.pk, one.base_url or DEFAULT_ADDRESS)
        for project, key in runs
        for one in (asked[key], *asked[key].members.all())
        if one.kind == "openai"
    }
    permissions.objects.bulk_create(
        permissions(public_id=new_public_id(), project_id=project, judge_id=judge, address=address)
        for project, judge, address in sorted(wanted)
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0021_judges_of_projects")]

    operations = [migrations.RunPython(permit, migrations.RunPython.noop)]
