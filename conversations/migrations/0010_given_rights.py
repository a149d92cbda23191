from django.db import migrations, models

from django.db.models import Q

SEEN = {
    "auth": ["user"],
    "conversations": ["assistant", "contextsnapshot", "message", "model", "modelprice", "reply", "thread"],
    "artifacts": ["artifact", "preset"],
    "memory": ["consolidation", "dailysummary", "memory", "threadsummary", "topic"],
}
CONTENT = ["read_content", "export_content", "view_contentaccess"]


def given_before(apps, schema_editor):
    """What the groups that there are were made with: whatever of it they lack was taken away."""
    groups, permissions, given = (
        apps.get_model(*name)._default_manager
        for name in (("auth", "Group"), ("auth", "Permission"), ("conversations", "GivenRight"))
    )
    existence = Q()
    for app, names in SEEN.items():
        existence |= Q(content_type__app_label=app, codename__in=[f"view_{name}" for name in names])
    content = Q(content_type__app_label="conversations", codename__in=CONTENT)
    for name, rights in {"Support": existence, "Support lead": existence | content}.items():
        for group in groups.filter(name=name):
            given.bulk_create(given.model(group=group, permission=right) for right in permissions.filter(rights))


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("conversations", "0009_fallbacks"),
    ]

    operations = [
        migrations.CreateModel(
            name="GivenRight",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("group", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="auth.group")),
                ("permission", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="auth.permission")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("group", "permission"), name="right_given_once"),
                ],
            },
        ),
        migrations.RunPython(given_before, migrations.RunPython.noop),
    ]
