import gc

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config.languages import names  # noqa: PLC0415  # the models are there now

        names.translate()
        gc.freeze()  # what is loaded stays, so it is not looked through for garbage
        gc.enable()
