from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0018_thumbnails")]

    operations = [
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("name", models.CharField(max_length=120, primary_key=True, serialize=False)),
                ("holder", models.UUIDField()),
                ("lease_until", models.DateTimeField()),
            ],
        ),
        # Written every other second, and worth nothing after a crash of the database.
        migrations.RunSQL(
            "ALTER TABLE conversations_lease SET UNLOGGED", "ALTER TABLE conversations_lease SET LOGGED"
        ),
    ]
