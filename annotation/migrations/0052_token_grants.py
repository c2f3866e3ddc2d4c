"""How far tokens reach, and the replies to requests with an idempotency key."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0051_imported_people'),
        ('knox', '0009_extend_authtoken_field'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenGrant',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='grant', serialize=False, to='knox.authtoken')),
                ('name', models.CharField(blank=True, help_text='What it is for.', max_length=80)),
                ('may_write', models.BooleanField(default=True)),
                ('is_of_one', models.BooleanField(default=False, help_text='For one project alone; when that is gone the token opens nothing.')),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='token_grants', to='annotation.project')),
            ],
        ),
        migrations.CreateModel(
            name='KeptReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('route', models.CharField(help_text='Hash of the address.', max_length=64)),
                ('key', models.CharField(max_length=200)),
                ('fingerprint', models.CharField(help_text='Hash of what was sent.', max_length=64)),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('body', models.TextField(blank=True)),
                ('began_at', models.DateTimeField()),
                ('person', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['began_at'], name='kept_reply_by_age')],
                'constraints': [models.UniqueConstraint(fields=('person', 'route', 'key'), name='kept_reply_once')],
            },
        ),
    ]
