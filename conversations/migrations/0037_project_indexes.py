"""Threads and files by their project, built while rows are stored."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ('conversations', '0036_projects'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='file',
            index=models.Index(condition=models.Q(('project__isnull', False)), fields=['project'], name='file_of_project'),
        ),
        AddIndexConcurrently(
            model_name='thread',
            index=models.Index(condition=models.Q(('project__isnull', False)), fields=['project', 'updated_at'], name='thread_of_project'),
        ),
    ]
