"""The audit record, and what holds it: an event changes once, when it is sealed into the chain, and goes only when an anchor
says that the chain begins after it."""

import conversations.runtime.ids
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

GUARDS = [
    """
CREATE FUNCTION openbook_keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'conversations_auditevent' AND OLD.number IS NULL
       AND NEW.number IS NOT NULL AND NEW.digest IS NOT NULL
       AND (to_jsonb(NEW) - '{number,digest}'::text[]) = (to_jsonb(OLD) - '{number,digest}'::text[]) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'conversations_auditevent' AND OLD.number IS NOT NULL
       AND EXISTS (SELECT FROM conversations_auditanchor AS anchor WHERE anchor.number >= OLD.number) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% of %: the audit record stays as it is', lower(TG_OP), TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$
""",
    *(
        f"CREATE TRIGGER keep_{name} BEFORE {event} ON conversations_{table} FOR EACH {each} "
        "EXECUTE FUNCTION openbook_keep_audit()"
        for table in ("auditevent", "auditanchor")
        for name, event, each in (
            (f"{table}s", "UPDATE OR DELETE", "ROW"),
            (f"all_{table}s", "TRUNCATE", "STATEMENT"),
        )
    ),
]


class Migration(migrations.Migration):

    dependencies = [
        ("conversations", "0047_group_managers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditAnchor',
            fields=[
                ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                ('digest', models.BinaryField()),
                ('at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.UUIDField(default=conversations.runtime.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(help_text='One of AuditKind, or of an earlier release.', max_length=40)),
                ('outcome', models.CharField(choices=[('success', 'done'), ('failure', 'failed'), ('denied', 'refused')], default='success', max_length=7)),
                ('actor_kind', models.CharField(choices=[('person', 'person'), ('staff', 'staff'), ('token', 'access token'), ('system', 'the installation itself'), ('unknown', 'not known')], max_length=7)),
                ('actor_name', models.CharField(help_text='The user name of staff, as it was then.', max_length=150)),
                ('target_kind', models.CharField(help_text='Label of the model, such as `auth.User`.', max_length=60)),
                ('target_id', models.CharField(max_length=64)),
                ('address', models.CharField(help_text='Network address that the request came from.', max_length=45)),
                ('request_id', models.CharField(max_length=64)),
                ('details', models.JSONField(default=dict, help_text='Ids, names of fields, counts. Never content, never a secret.')),
                ('number', models.BigIntegerField(help_text='Place in the chain, from 1. Empty: not sealed yet.', null=True)),
                ('digest', models.BinaryField(help_text='SHA-256 of the digest before it and of this event.', null=True)),
                ('actor', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'audit event',
                'verbose_name_plural': 'audit events',
                'default_permissions': ('view',),
                'indexes': [models.Index(condition=models.Q(('number__isnull', True)), fields=['id'], name='audit_event_unsealed'), models.Index(fields=['actor', 'id'], name='audit_event_by_actor'), models.Index(fields=['target_kind', 'target_id', 'id'], name='audit_event_by_target'), models.Index(fields=['kind', 'id'], name='audit_event_by_kind')],
                'constraints': [models.UniqueConstraint(fields=('number',), name='audit_event_number'), models.CheckConstraint(condition=models.Q(models.Q(('digest__isnull', True), ('number__isnull', True)), models.Q(('digest__isnull', False), ('number__isnull', False)), _connector='OR'), name='audit_event_sealed_whole')],
            },
        ),
        migrations.RunSQL(GUARDS, "DROP FUNCTION openbook_keep_audit() CASCADE"),
    ]
