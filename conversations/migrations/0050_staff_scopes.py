from django.db import migrations


def staff_scopes(apps, schema_editor):
    """What tokens of staff could read by `read` alone: the queue of feedback, with its texts. Whether their user still may is
    asked at each use."""
    tokens = apps.get_model("conversations", "ApiToken")._default_manager
    for token in tokens.filter(user__is_staff=True, scopes__contains=["read"], revoked_at=None).iterator():
        token.scopes = [*token.scopes, "staff", "staff:content"]
        token.save(update_fields=["scopes"])


class Migration(migrations.Migration):
    dependencies = [("conversations", "0049_token_scopes")]

    operations = [migrations.RunPython(staff_scopes, migrations.RunPython.noop)]
