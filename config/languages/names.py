"""What the admin calls models and its own columns, in the language of the page.

Models and admins stay as they are: their names are made lazy here, once. So no row below the doors knows languages.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.utils.translation import gettext_lazy

APPS = ("conversations", "artifacts", "memory")

type Name = tuple[Any, str]
"""An object, and which of its attributes holds a name."""


def names() -> Iterator[Name]:
    yield from ((admin.site, name) for name in ("site_header", "site_title", "index_title"))
    for label in APPS:
        yield apps.get_app_config(label), "verbose_name"
        for model in apps.get_app_config(label).get_models():
            yield model._meta, "verbose_name"
            yield model._meta, "verbose_name_plural"
    for column in columns():
        yield column, "short_description"


def columns() -> Iterator[Callable[..., Any]]:
    """The methods of admins that name themselves."""
    for each in admin.site._registry.values():
        if type(each).__module__.partition(".")[0] in APPS:
            for name in dir(type(each)):
                method = getattr(type(each), name, None)
                if callable(method) and isinstance(getattr(method, "short_description", None), str):
                    yield method


def translate() -> None:
    for holder, attribute in names():
        text = getattr(holder, attribute)
        if isinstance(text, str) and text:
            setattr(holder, attribute, gettext_lazy(text))


def texts() -> Iterator[str]:
    """All of them, in English, where that is the language."""
    yield from (text for holder, attribute in names() if (text := str(getattr(holder, attribute))))
