from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0085_embed")]

    operations = [
        migrations.AddField(
            model_name="mcpsignin",
            name="renewing_until",
            field=models.DateTimeField(null=True),
        ),
    ]
