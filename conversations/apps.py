from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = "Conversations"

    def ready(self) -> None:
        # System checks register themselves when their module is loaded.
        from conversations import checks  # noqa: F401, PLC0415
        from conversations.accounts import groups, session_user  # noqa: PLC0415
        from conversations.audit import account_signals  # noqa: PLC0415
        from conversations.upkeep import partitions  # noqa: PLC0415

        account_signals.connect()
        session_user.connect()
        post_migrate.connect(groups.make_groups, sender=self)
        post_migrate.connect(partitions.after_migrate, sender=self)
