"""The table of allowances is unlogged, and its sequence was with it. On a standby that becomes the primary PostgreSQL can't
read such a sequence ("bad magic number in sequence"), and no reply could begin."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("conversations", "0024_users_of_earlier_rows")]

    operations = [
        migrations.RunSQL(
            "ALTER SEQUENCE conversations_allowance_id_seq SET LOGGED",
            "ALTER SEQUENCE conversations_allowance_id_seq SET UNLOGGED",
        )
    ]
