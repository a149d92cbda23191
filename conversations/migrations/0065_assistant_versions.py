"""Versions of assistants. A trigger makes them, so that no way of changing an assistant leaves one out: a request has to be
made again byte for byte from the version that it was made with.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

VERSIONS = """
CREATE FUNCTION openbook_assistant_content(row_of jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS
$$ SELECT row_of - '{id,slug,name,description,is_default,is_active,order,version_id}'::text[] $$;

-- A row that is given a version whose content it has, is published or rolled back to it. One that changes otherwise gets a new
-- one. One that doesn't change keeps its own, whatever an older copy of the row in a program's memory says.
CREATE FUNCTION openbook_version_assistant() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wanted jsonb := openbook_assistant_content(to_jsonb(NEW));
BEGIN
    UPDATE conversations_assistantversion SET published_at = now()
    WHERE id = NEW.version_id AND assistant_id = NEW.id AND content = wanted
      AND (TG_OP = 'INSERT' OR NEW.version_id IS DISTINCT FROM OLD.version_id);
    IF FOUND THEN RETURN NEW; END IF;
    IF TG_OP = 'UPDATE' AND OLD.version_id IS NOT NULL AND wanted = openbook_assistant_content(to_jsonb(OLD)) THEN
        NEW.version_id := OLD.version_id;
        RETURN NEW;
    END IF;
    INSERT INTO conversations_assistantversion (assistant_id, number, content, note, published_at)
    SELECT NEW.id, coalesce(max(number), 0) + 1, wanted, '', now()
    FROM conversations_assistantversion WHERE assistant_id = NEW.id
    RETURNING id INTO NEW.version_id;
    RETURN NEW;
END $$;

CREATE TRIGGER version_assistants BEFORE INSERT OR UPDATE ON conversations_assistant
    FOR EACH ROW EXECUTE FUNCTION openbook_version_assistant();
CREATE TRIGGER keep_versions_as_they_are BEFORE UPDATE ON conversations_assistantversion
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse_change('note', 'author_id', 'published_at');

UPDATE conversations_assistant SET version_id = NULL;
"""

UNDO = """
DROP FUNCTION openbook_version_assistant() CASCADE;
DROP FUNCTION openbook_assistant_content(jsonb);
DROP TRIGGER keep_versions_as_they_are ON conversations_assistantversion;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0064_kinds_of_mail'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='contextsnapshot',
            name='rules',
            field=models.PositiveSmallIntegerField(help_text="The number of the code's rules that chose. Empty in older records.", null=True),
        ),
        migrations.CreateModel(
            name='AssistantVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='From 1, in the order in which they were made.')),
                ('content', models.JSONField(help_text="The assistant's columns that shape requests, by name.")),
                ('note', models.CharField(blank=True, help_text='What it is for, in a line.', max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('published_at', models.DateTimeField(help_text="When it last became the assistant's. Empty: a draft.", null=True)),
                ('assistant', models.ForeignKey(on_delete=django.db.models.deletion.DB_CASCADE, related_name='versions', to='conversations.assistant')),
                ('author', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.DB_SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['assistant', '-number'],
            },
        ),
        migrations.AddField(
            model_name='assistant',
            name='version',
            field=models.ForeignKey(db_constraint=False, db_index=False, editable=False, help_text='The version that it is at. A trigger makes a new one where a column that shapes requests changes.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='conversations.assistantversion'),
        ),
        migrations.AddField(
            model_name='contextsnapshot',
            name='version',
            field=models.ForeignKey(db_constraint=False, db_index=False, help_text='Of the assistant that replied, as it was. Empty in older records.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='conversations.assistantversion'),
        ),
        migrations.AddConstraint(
            model_name='assistantversion',
            constraint=models.UniqueConstraint(fields=('assistant', 'number'), name='assistant_version_once'),
        ),
        migrations.RunSQL('SET CONSTRAINTS ALL IMMEDIATE', migrations.RunSQL.noop),
        migrations.RunSQL(VERSIONS, UNDO),
    ]
