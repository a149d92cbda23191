from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0020_picture_bytes"),
    ]

    operations = [
        migrations.AddField(
            model_name="allowance",
            name="forgettings",
            field=models.IntegerField(
                db_default=0,
                default=0,
                help_text="How often something of the user's was forgotten, cleared or deleted; -1 fails a reply "
                "that knows less.",
            ),
        ),
        migrations.AddConstraint(
            model_name="allowance",
            constraint=models.CheckConstraint(
                condition=models.Q(("forgettings__gte", 0)), name="allowance_forgettings"
            ),
        ),
    ]
