"""Artifacts and their versions say whose they are, as all rows of a person do: see conversations/0023 and 0024."""

from django.conf import settings
from django.db import migrations, models

TRIGGER = """
CREATE TRIGGER say_whose BEFORE INSERT ON artifacts_{table}
    FOR EACH ROW WHEN (NEW.user_id IS NULL) EXECUTE FUNCTION openbook_user_of_thread()
"""
TABLES = ["artifact", "artifactversion"]


class Migration(migrations.Migration):
    dependencies = [("artifacts", "0003_guards"), ("conversations", "0023_user_of_rows")]

    operations = [
        *(
            migrations.AddField(
                model_name=table,
                name="user",
                field=models.ForeignKey(
                    null=True,
                    db_constraint=False,
                    db_index=False,
                    on_delete=models.DO_NOTHING,
                    related_name="+",
                    to=settings.AUTH_USER_MODEL,
                ),
            )
            for table in TABLES
        ),
        migrations.RunSQL([TRIGGER.format(table=table) for table in TABLES], migrations.RunSQL.noop),
    ]
