import conversations.models.tokens
import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('conversations', '0048_audit'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ServiceAccount',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.DB_CASCADE, primary_key=True, related_name='service_account', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('purpose', models.CharField(help_text='What it is for, and whom to ask about it.', max_length=200)),
                ('created_at', models.DateTimeField(editable=False)),
            ],
            options={
                'default_permissions': ('view', 'add', 'change'),
            },
        ),
        migrations.RemoveConstraint(
            model_name='apitoken',
            name='token_scopes_known',
        ),
        migrations.AddField(
            model_name='apitoken',
            name='addresses',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), blank=True, db_default=[], default=list, help_text='Networks from which it works, such as 192.0.2.0/24; empty: from everywhere.'),
        ),
        migrations.AddField(
            model_name='apitoken',
            name='last_used_from',
            field=models.CharField(blank=True, db_default='', default='', help_text='The network that it was used from last.', max_length=43),
        ),
        migrations.AlterField(
            model_name='apitoken',
            name='scopes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read: whatever changes nothing'), ('write', 'write: send messages, change and delete'), ('export', 'export: take everything along as files'), ('memory', 'memory: read, search, change and forget what is remembered, and nothing else'), ('files', 'files: read, upload and delete files, and nothing else'), ('staff', 'staff: what support sees that there is, without texts'), ('staff:content', 'staff:content: what people wrote, where its user may read it'), ('staff:audit', 'staff:audit: the record of what happened here'), ('scim', 'scim: a directory creates and deactivates people, and fills groups')], max_length=20), default=conversations.models.tokens.default_scopes),
        ),
        migrations.AddConstraint(
            model_name='apitoken',
            constraint=models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['read', 'write', 'export', 'memory', 'files', 'staff', 'staff:content', 'staff:audit', 'scim']), ('scopes__len__gt', 0)), name='token_scopes_known'),
        ),
    ]
