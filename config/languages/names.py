"""What the admin calls models, fields, columns and filters, and how it explains them, in the language of the page.

Models and admins stay as they are: their texts are made lazy here, once. So no row below the doors knows languages.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import flatten, flatten_fieldsets
from django.db.models import Field, Model
from django.forms.utils import pretty_name
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

APPS = ("conversations", "artifacts", "memory")
SAID_BY_ADMINS = ("search_help_text", "empty_text", "verbose_name", "verbose_name_plural")

type Name = tuple[Any, str]
"""An object, and which of its attributes holds a text."""


def names() -> Iterator[Name]:
    yield from ((admin.site, name) for name in ("site_header", "site_title", "index_title"))
    yield apps.get_app_config("django_tasks_database"), "verbose_name"
    for label in APPS:
        yield apps.get_app_config(label), "verbose_name"
        for model in apps.get_app_config(label).get_models():
            yield model._meta, "verbose_name"
            yield model._meta, "verbose_name_plural"
    for each in admins():
        yield from admin_names(each)


def admins() -> Iterator[Any]:
    """Those of ours, and what stands in line on their pages."""
    for each in admin.site._registry.values():
        if type(each).__module__.partition(".")[0] in APPS:
            yield each
            yield from each.inlines


def admin_names(each: Any) -> Iterator[Name]:
    yield from ((each, name) for name in SAID_BY_ADMINS if hasattr(each, name))
    for column in columns(each):
        yield column, "short_description"
        if hasattr(column, "plural_description"):
            yield column, "plural_description"
    for chosen in getattr(each, "list_filter", ()):
        if isinstance(chosen, type) and hasattr(chosen, "title"):
            yield chosen, "title"
    for field in each.model._meta.get_fields() if each.model._meta.app_label in APPS else ():
        if isinstance(field, Field) and is_shown(field.name, each):
            yield field, "verbose_name"
            yield field, "help_text"
    if each.form.__module__.partition(".")[0] in APPS:
        for name, field in getattr(each.form, "declared_fields", {}).items():
            field.label = field.label or pretty_name(name)
            yield field, "label"
            yield field, "help_text"


def is_shown(name: str, of: Any) -> bool:
    """Whether an admin's pages show a field of its model. Without a list of fields all are."""
    if of.fieldsets is None and of.fields is None:
        return True
    filters = (chosen[0] if isinstance(chosen, tuple) else chosen for chosen in getattr(of, "list_filter", ()))
    return name in {*written_fields(of), *of.readonly_fields, *getattr(of, "list_display", ()), *filters}


def written_fields(of: Any) -> list[str]:
    return flatten_fieldsets(of.fieldsets) if of.fieldsets else flatten(of.fields or ())


def columns(each: Any) -> Iterator[Callable[..., Any]]:
    """The methods of an admin that are columns, fields or actions."""
    of: Any = each if isinstance(each, type) else type(each)
    shown = {*flatten(getattr(of, "list_display", ())), *of.readonly_fields, *written_fields(of)} - {"__str__"}
    for name in dir(of):
        method = getattr(of, name, None)
        if callable(method) and (
            name in shown or isinstance(getattr(method, "short_description", None), str | Promise)
        ):
            yield method


def translate() -> None:
    for holder, attribute in names():
        text = english(holder, attribute)
        if isinstance(text, str) and text:
            setattr(holder, attribute, gettext_lazy(text))
    for each in admins():
        translate_groups(each)
    for label in APPS:
        for model in apps.get_app_config(label).get_models():
            translate_choices(model)


def english(holder: Any, attribute: str) -> Any:
    """What Django would say, where nothing is said: of a column the name of its method, of a model its name with an s."""
    text = getattr(holder, attribute, None)
    match attribute:
        case "verbose_name_plural" if text:
            return str(text)
        case "short_description" if text is None:
            return pretty_name(holder.__name__).lower()
    return text


def translate_groups(of: Any) -> None:
    """The headings of a form's groups, and what is said below them."""
    if of.fieldsets:
        of.fieldsets = [
            (lazy(heading), {**options, **{name: lazy(options[name]) for name in ("description",) if name in options}})
            for heading, options in of.fieldsets
        ]


def translate_choices(model: type[Model]) -> None:
    for field in choosing(model):
        field.choices = [(value, lazy(label)) for value, label in field.choices]


def choosing(model: type[Model]) -> Iterator[Any]:
    """Fields whose values have names of their own, those within a list too."""
    for field in model._meta.get_fields():
        for one in (field, getattr(field, "base_field", None)):
            if getattr(one, "choices", None):
                yield one


def lazy(text: Any) -> Any:
    return gettext_lazy(text) if isinstance(text, str) and text else text


def texts() -> Iterator[str]:
    """All of them, in English, where that is the language."""
    yield from (text for holder, attribute in names() if (text := str(getattr(holder, attribute) or "")))
    for each in admins():
        for heading, options in each.fieldsets or ():
            yield from (str(text) for text in (heading, options.get("description")) if text)
        yield from (str(label) for field in choosing(each.model) for _, label in field.choices if label)
