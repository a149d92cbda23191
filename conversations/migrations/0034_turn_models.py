from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0033_token_reservations'),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='model',
            field=models.CharField(blank=True, db_default='', default='', help_text='The model that wrote an imported turn, as its document names it. Of other turns the reply tells.', max_length=200),
        ),
    ]
