"""What is remembered in a project is its own: notes by their place, days by a summary for each project."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('conversations', '0037_project_indexes'),
        ('memory', '0006_language'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='dailysummary',
            name='one_summary_a_day',
        ),
        migrations.AddField(
            model_name='dailysummary',
            name='project',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.DB_CASCADE, related_name='+', to='conversations.project'),
        ),
        # PostgreSQL can't change what a column is made by: it is made anew, and the table is written once more.
        migrations.RemoveIndex(model_name='memory', name='memory_lasting'),
        migrations.RemoveIndex(model_name='memory', name='memory_passing'),
        migrations.RemoveField(model_name='memory', name='confined_to'),
        migrations.AddField(model_name='memory', name='confined_to', field=models.GeneratedField(db_persist=True, expression=models.Func(models.F('tags'), output_field=models.CharField(max_length=100), template='left(CASE WHEN jsonb_path_exists(%(expressions)s, \'$[*] ? (@ starts with "user:")\') THEN \'\'\n     ELSE coalesce(jsonb_path_query_first(%(expressions)s, \'$[*] ? (@ like_regex "^project:[0-9a-f-]{36}$")\') #>> \'{}\',\n                   jsonb_path_query_first(%(expressions)s, \'$[*] ? (@ starts with "thread:")\') #>> \'{}\', \'\') END, 100)'), output_field=models.CharField(max_length=100))),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(
                condition=models.Q(('ended_at', None), ('valid_until', None)),
                fields=['user', 'confined_to', '-created_at', '-id'],
                name='memory_lasting',
            ),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(
                condition=models.Q(('ended_at', None), ('valid_until__isnull', False)),
                fields=['user', 'confined_to', '-valid_until', '-id'],
                name='memory_passing',
            ),
        ),
        migrations.AddIndex(
            model_name='dailysummary',
            index=models.Index(condition=models.Q(('project__isnull', False)), fields=['project'], name='day_of_project'),
        ),
        migrations.AddConstraint(
            model_name='dailysummary',
            constraint=models.UniqueConstraint(fields=('user', 'day', 'project'), name='one_summary_a_day_and_project', nulls_distinct=False),
        ),
    ]
