from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0019_leases"),
    ]

    operations = [
        migrations.AddField(
            model_name="file",
            name="picture_bytes",
            field=models.PositiveBigIntegerField(
                db_default=0,
                default=0,
                help_text="What the pictures of its parts take; it counts as the person's too.",
            ),
        ),
    ]
