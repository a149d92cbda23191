from django.contrib.postgres.indexes import GinIndex
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0016_citations"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="filepart",
            index=GinIndex(fields=["terms"], gin_pending_list_limit=1_024, name="file_part_terms"),
        ),
    ]
