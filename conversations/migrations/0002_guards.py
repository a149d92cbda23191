"""What must hold even for a stray UPDATE, DELETE or TRUNCATE: turns never decrease (T3) and snapshots don't change (S1, S4).

The one door for a user's explicit delete is ``conversations.threads.deletion.door()``, which sets ``openbook.door``
for its transaction.
"""

import re

from django.db import migrations

GUARDS = """
CREATE FUNCTION openbook_door_is_open() RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT coalesce(current_setting('openbook.door', true), '') = 'open' $$;

CREATE FUNCTION openbook_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF openbook_door_is_open() THEN
        IF TG_OP = 'DELETE' THEN RETURN OLD; ELSE RETURN NEW; END IF;
    END IF;
    RAISE EXCEPTION '% of %: turns, requests and versions stay as they are', lower(TG_OP), TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', HINT = 'A user''s own delete goes through conversations.threads.deletion.';
END $$;

-- Whatever columns a table gets later are guarded too: the arguments name the only ones that may change.
CREATE FUNCTION openbook_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (to_jsonb(NEW) - TG_ARGV) IS NOT DISTINCT FROM (to_jsonb(OLD) - TG_ARGV) OR openbook_door_is_open() THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'update of %: only % may change', TG_TABLE_NAME, array_to_string(TG_ARGV, ', ')
        USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION openbook_refuse_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'update of %: it has ended', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

-- No door opens these.
CREATE FUNCTION openbook_refuse_always() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% of %: who looked stays on record', lower(TG_OP), TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER keep_accesses BEFORE UPDATE OR DELETE ON conversations_contentaccess
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse_always();
CREATE TRIGGER keep_all_accesses BEFORE TRUNCATE ON conversations_contentaccess
    FOR EACH STATEMENT EXECUTE FUNCTION openbook_refuse_always();
CREATE TRIGGER keep_turns BEFORE DELETE ON conversations_message
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_turns_as_they_are BEFORE UPDATE ON conversations_message
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse_change('is_active', 'status');
CREATE TRIGGER keep_status_of_turns BEFORE UPDATE ON conversations_message
    FOR EACH ROW WHEN (OLD.status <> NEW.status AND NOT openbook_door_is_open() AND NOT (
        OLD.role = 'user' AND OLD.status IN ('complete', 'refused') AND NEW.status IN ('complete', 'refused')
    )) EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_snapshots BEFORE DELETE ON conversations_contextsnapshot
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_snapshots_as_they_are BEFORE UPDATE ON conversations_contextsnapshot
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse_change(
        'status', 'stop_reason', 'provider_request_id', 'provider_message_id', 'diagnostics', 'usage', 'error', 'stop_details',
        'thinking_ms', 'first_token_ms', 'ended_at');
CREATE TRIGGER keep_snapshots_once_ended BEFORE UPDATE ON conversations_contextsnapshot
    FOR EACH ROW WHEN (OLD.status <> 'pending' AND NOT openbook_door_is_open()) EXECUTE FUNCTION openbook_refuse_end();
CREATE TRIGGER keep_blocks BEFORE UPDATE OR DELETE ON conversations_contextblock
    FOR EACH ROW EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_ended_replies BEFORE UPDATE ON conversations_reply
    FOR EACH ROW WHEN (OLD.status <> 'running' AND NOT openbook_door_is_open()) EXECUTE FUNCTION openbook_refuse_end();

-- TRUNCATE fires none of these. One that cascades from a person or a thread reaches them too.
CREATE TRIGGER keep_all_turns BEFORE TRUNCATE ON conversations_message
    FOR EACH STATEMENT EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_all_snapshots BEFORE TRUNCATE ON conversations_contextsnapshot
    FOR EACH STATEMENT EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_all_blocks BEFORE TRUNCATE ON conversations_contextblock
    FOR EACH STATEMENT EXECUTE FUNCTION openbook_refuse();
CREATE TRIGGER keep_all_replies BEFORE TRUNCATE ON conversations_reply
    FOR EACH STATEMENT EXECUTE FUNCTION openbook_refuse();

-- A mere sum of other rows, written twice a turn.
ALTER TABLE conversations_allowance SET UNLOGGED;
"""

UNDO = """
DROP FUNCTION openbook_refuse() CASCADE;
DROP FUNCTION openbook_refuse_change() CASCADE;
DROP FUNCTION openbook_refuse_always() CASCADE;
DROP FUNCTION openbook_refuse_end() CASCADE;
DROP FUNCTION openbook_door_is_open() CASCADE;
"""


def statements(script):
    """One command each: a prepared statement takes no more."""
    return re.split(r"(?<=;)\n+(?=CREATE|DROP|ALTER|--)", script.strip())


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]
    operations = [migrations.RunSQL(statements(GUARDS), statements(UNDO))]
