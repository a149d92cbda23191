from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = "Conversations"

    def ready(self) -> None:
        # System checks register themselves when their module is loaded.
        from conversations import checks  # noqa: F401, PLC0415
