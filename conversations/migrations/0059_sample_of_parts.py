"""Every eighth part by its words, built while rows are stored."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Mod
from django.db.models.lookups import Exact


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0058_outgoing_mail")]

    operations = [
        AddIndexConcurrently(
            model_name="filepart",
            index=GinIndex(
                condition=models.Q(Exact(Mod("number", 8), 1)),
                fields=["terms"],
                gin_pending_list_limit=1_024,
                name="file_part_sample",
            ),
        ),
    ]
