"""Versions of artifacts are written once: what a person was shown and exported stays what it was. Only the turn that made one may
become another: the one that goes on with an answer that was cut short. (The size is made by PostgreSQL, and not yet there in a trigger.)

The door and the function that refuses are those of ``conversations``.
"""

from django.db import migrations

GUARDS = [
    """
    CREATE TRIGGER keep_versions BEFORE DELETE ON artifacts_artifactversion
        FOR EACH ROW EXECUTE FUNCTION openbook_refuse()
    """,
    """
    CREATE TRIGGER keep_versions_as_they_are BEFORE UPDATE ON artifacts_artifactversion
        FOR EACH ROW EXECUTE FUNCTION openbook_refuse_change('message_id', 'size')
    """,
    """
    CREATE TRIGGER keep_all_versions BEFORE TRUNCATE ON artifacts_artifactversion
        FOR EACH STATEMENT EXECUTE FUNCTION openbook_refuse()
    """,
]
UNDO = [
    "DROP TRIGGER keep_versions ON artifacts_artifactversion",
    "DROP TRIGGER keep_versions_as_they_are ON artifacts_artifactversion",
    "DROP TRIGGER keep_all_versions ON artifacts_artifactversion",
]


class Migration(migrations.Migration):
    dependencies = [("artifacts", "0002_shipped_presets"), ("conversations", "0002_guards")]
    operations = [migrations.RunSQL(GUARDS, UNDO)]
