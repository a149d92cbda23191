"""Presets are part of their assistants' versions. Triggers copy them into the assistant's row, which makes a version."""

from django.db import migrations, models

PRESETS = """
CREATE FUNCTION openbook_presets_of(of_assistant bigint) RETURNS jsonb LANGUAGE sql AS $$
    SELECT coalesce(
        jsonb_object_agg(
            preset.slug,
            jsonb_build_object(
                'name', preset.name, 'prompt', preset.prompt, 'kind', preset.kind, 'language', preset.language
            )
        ),
        '{}'
    )
    FROM artifacts_preset preset JOIN artifacts_preset_assistants link ON link.preset_id = preset.id
    WHERE link.assistant_id = of_assistant AND preset.is_active
$$;

-- As before; the row's presets are those that there are, whatever is written. A version of before there were presets in it had
-- none.
CREATE OR REPLACE FUNCTION openbook_version_assistant() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wanted jsonb;
BEGIN
    NEW.presets := openbook_presets_of(NEW.id);
    wanted := openbook_assistant_content(to_jsonb(NEW));
    UPDATE conversations_assistantversion SET published_at = now()
    WHERE id = NEW.version_id AND assistant_id = NEW.id AND '{"presets": {}}'::jsonb || content = wanted
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

CREATE FUNCTION openbook_version_preset() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE conversations_assistant SET version_id = version_id
    WHERE id IN (SELECT assistant_id FROM artifacts_preset_assistants WHERE preset_id = NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER version_presets AFTER UPDATE ON artifacts_preset
    FOR EACH ROW WHEN (OLD IS DISTINCT FROM NEW) EXECUTE FUNCTION openbook_version_preset();

CREATE FUNCTION openbook_version_preset_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE conversations_assistant SET version_id = version_id WHERE id IN (OLD.assistant_id, NEW.assistant_id);
    RETURN NULL;
END $$;
CREATE TRIGGER version_preset_links AFTER INSERT OR UPDATE OR DELETE ON artifacts_preset_assistants
    FOR EACH ROW EXECUTE FUNCTION openbook_version_preset_link();

-- Each assistant that has presets is at a new version, which names them.
UPDATE conversations_assistant SET version_id = version_id;
"""

UNDO = """
DROP FUNCTION openbook_version_preset_link() CASCADE;
DROP FUNCTION openbook_version_preset() CASCADE;
CREATE OR REPLACE FUNCTION openbook_version_assistant() RETURNS trigger LANGUAGE plpgsql AS $$
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
DROP FUNCTION openbook_presets_of(bigint);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0091_rule_of_replay'),
        ('artifacts', '0005_users_of_earlier_rows'),
    ]

    operations = [
        migrations.AddField(
            model_name='assistant',
            name='preset_values',
            field=models.JSONField(blank=True, db_column='presets', db_default=models.Value({}, models.JSONField()), default=dict, editable=False, help_text='What the presets that it offers tell the model, by their slugs. Triggers keep it as they are.', verbose_name='presets'),
        ),
        migrations.RunSQL('SET CONSTRAINTS ALL IMMEDIATE', migrations.RunSQL.noop),
        migrations.RunSQL(PRESETS, UNDO),
    ]
