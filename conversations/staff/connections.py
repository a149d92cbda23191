"""The services that models are asked of: where they are, whether they answer, what they offer. Keys are only written."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection as database
from django.db import transaction
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from conversations.accounts import allowances, budgets
from conversations.errors import RateLimited
from conversations.models import Assistant, Connection, ContextSnapshot, Model, TokenReservation
from conversations.models.connections import Kind
from conversations.providers import (
    ProviderError,
    connection_trial,
    connections,
    model_catalog,
    provider_name,
)
from conversations.providers.clouds import CLOUDS
from conversations.providers.model_listing import OfferedModel
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.wording import filled, translated
from conversations.staff import display
from conversations.staff.base import PageAdmin, column
from conversations.staff.connection_form import SECRET_FIELDS, ConnectionForm, kept_secrets
from conversations.staff.offered_models import add_models


@admin.register(Connection)
class ConnectionAdmin(PageAdmin[Connection]):
    form = ConnectionForm
    list_display = ["named", "state", "trial", "models", "kind", "address"]
    search_fields = ["label", "slug"]
    prepopulated_fields = {"slug": ["label"]}
    actions = None
    change_form_template = "admin/conversations/connection/change_form.html"
    empty_text = (
        "No connections. Openbook asks what the environment names. Add one to ask another service, or the same with another "
        "key."
    )
    fieldsets = [
        (None, {"fields": ["label", "slug", "kind", "server", ("is_active", "order")]}),
        (
            "Where it is reached",
            {
                "fields": [
                    "region",
                    "base_url",
                    "key",
                    "forget_key",
                    "headers",
                    "forget_headers",
                    "connect_seconds",
                    "proxy",
                ]
            },
        ),
    ]

    address = column(
        "address", "base_url", lambda url: display.mono(url) if url else "the maker's own", sort="base_url"
    )

    def get_prepopulated_fields(self, request: HttpRequest, obj: Connection | None = None) -> dict[str, Sequence[str]]:
        return {} if obj else {"slug": ["label"]}

    def get_readonly_fields(self, request: HttpRequest, obj: Connection | None = None) -> list[str]:
        return ["slug", "kind"] if obj else []

    def get_fieldsets(self, request: HttpRequest, obj: Connection | None = None) -> Any:
        _, (_, reached) = self.fieldsets
        if obj is None:
            left_out = {f"forget_{name}" for name in SECRET_FIELDS}
        elif self.has_change_permission(request, obj):
            left_out = set()
        else:
            left_out = {*reached["fields"]} - {*ConnectionForm.Meta.fields}
        if obj:  # its kind can't change any more
            left_out |= {"server"} if obj.kind != Kind.OPENAI else set()
            left_out |= {"region"} if obj.kind not in CLOUDS else set()
        return [
            (name, {"fields": [field for field in section["fields"] if field not in left_out]})
            for name, section in self.fieldsets
        ]

    @method_decorator(sensitive_post_parameters(*SECRET_FIELDS))
    def changeform_view(self, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().changeform_view(*args, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Connection | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or not is_used(obj))

    def save_model(self, request: HttpRequest, obj: Connection, form: ConnectionForm, change: bool) -> None:
        obj.set_secrets(form.secrets())
        if {
            "base_url",
            "region",
            "proxy",
            "connect_seconds",
            *SECRET_FIELDS,
            *(f"forget_{name}" for name in SECRET_FIELDS),
        } & {*form.changed_data}:
            obj.tested_at, obj.is_working, obj.test_result = None, None, ""
        super().save_model(request, obj, form, change)
        transaction.on_commit(connections.reread)
        if obj.base_url.startswith("http://") and form.secrets().key:
            messages.warning(request, "The address begins with http://: key and conversations can be read on the way.")

    @transaction.atomic
    def delete_model(self, request: HttpRequest, obj: Connection) -> None:
        Model.objects.filter(provider=obj.slug).delete()
        super().delete_model(request, obj)
        transaction.on_commit(connections.reread)
        transaction.on_commit(model_catalog.reread)

    def response_add(self, request: HttpRequest, obj: Connection, post_url_continue: str | None = None) -> HttpResponse:
        """To its page, where it can be tested."""
        if "_addanother" in request.POST or "_popup" in request.POST:
            return super().response_add(request, obj, post_url_continue)
        then = (
            gettext("Add its models under Models, then test it.")
            if obj.kind in CLOUDS
            else gettext("Test it, and see its models.")
        )
        self.message_user(
            request, filled("The connection “{obj}” was added. {then}", obj=obj, then=then), messages.SUCCESS
        )
        return HttpResponseRedirect(display.change_url(Connection, obj.pk))

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        row = kwargs.get("obj")
        if row:
            _, problem = kept_secrets(row)
            context |= {
                "problem": problem,
                "offered": model_catalog.offered(row.slug),
                "assistants": assistants_of(row),
            }
            context["may_test"] = self.has_change_permission(request, row)
            context["lists_models"] = row.kind not in CLOUDS
        return super().render_change_form(request, context, *args, **kwargs)

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<path:object_id>/{name}/",
                self.admin_site.admin_view(require_POST(view)),
                name=f"conversations_connection_{name}",
            )
            for name, view in {"test": self.test_view, "models": self.models_view}.items()
        ]
        return [*own, *super().get_urls()]

    def test_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask the service for a word, and tell what happened."""
        row = self._changeable(request, object_id)
        try:
            assert isinstance(request.user, User)
            trial = try_out(request.user, row)
        except RateLimited as error:
            self.message_user(request, translated(error.message), messages.ERROR)
            return HttpResponseRedirect(display.change_url(Connection, row.pk))
        self.log_change(request, row, f"Tested: {trial.words}")
        self.message_user(request, trial.words, messages.SUCCESS if trial.is_working else messages.ERROR)
        return HttpResponseRedirect(display.change_url(Connection, row.pk))

    def models_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What the service offers; those that were ticked become rows."""
        row = self._changeable(request, object_id)
        give_database_back()
        try:
            offered = connection_trial.offered_models(row)
        except ProviderError as error:
            self.message_user(request, connection_trial.in_words(error, row), messages.ERROR)
            return HttpResponseRedirect(display.change_url(Connection, row.pk))
        if "add" in request.POST:
            return self._add(request, row, offered)
        known = set(Model.objects.filter(provider=row.slug).values_list("name", flat=True))
        context = self.admin_site.each_context(request) | {
            "title": filled("Models of {row}", row=row),
            "opts": self.opts,
            "original": row,
            "listed": [(model, model.id in known) for model in offered],
            "may_add": request.user.has_perm("conversations.add_model"),
        }
        return TemplateResponse(request, "admin/conversations/connection/models.html", context)

    def _add(self, request: HttpRequest, row: Connection, offered: Sequence[OfferedModel]) -> HttpResponse:
        if not request.user.has_perm("conversations.add_model"):
            raise PermissionDenied
        ticked = set(request.POST.getlist("model"))
        added = add_models(row, [model for model in offered if model.id in ticked])
        if not added:
            self.message_user(request, gettext("Nothing was ticked that is not there yet."), messages.WARNING)
        for model in added:
            self.log_change(request, row, f"Added the model {model.name}.")
        if added:
            names = ", ".join(model.name for model in added)
            self.message_user(
                request,
                format_html(
                    gettext("Added {}. {} what was assumed of their sizes and abilities."), names, checked(row)
                ),
                messages.SUCCESS,
            )
        return HttpResponseRedirect(display.change_url(Connection, row.pk))

    def _changeable(self, request: HttpRequest, object_id: str) -> Connection:
        row = self.get_object(request, object_id)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        if row is None:
            raise Http404
        return row

    @admin.display(description="connection", ordering="label")
    def named(self, row: Connection) -> SafeString:
        return display.with_note(row.label, display.mono(row.slug))

    @admin.display(description="state", ordering="is_active")
    def state(self, row: Connection) -> SafeString:
        _, problem = kept_secrets(row)
        if problem:
            return display.status("failed", gettext("key can't be read"))
        return (
            display.status("completed", gettext("active"))
            if row.is_active
            else display.status("stopped", gettext("switched off"))
        )

    @admin.display(description="last test", ordering="tested_at")
    def trial(self, row: Connection) -> SafeString | str:
        if row.tested_at is None:
            return gettext("not tested")
        status = display.status("completed" if row.is_working else "failed", row.test_result)
        return display.with_note(status, display.when(row.tested_at))

    @admin.display(description="models")
    def models(self, row: Connection) -> SafeString | str:
        count = len(model_catalog.offered(row.slug))
        return (
            display.list_link(Model, display.with_noun(count, "model"), provider__exact=row.slug)
            if count
            else gettext("none yet")
        )


def give_database_back() -> None:
    """No other request is to go without a connection for as long as the service takes."""
    if not database.in_atomic_block:
        database.close()


def checked(row: Connection) -> SafeString:
    return display.list_link(Model, gettext("Check"), provider__exact=row.slug)


def assistants_of(row: Connection) -> list[Assistant]:
    """Those that it answers for, or would in the place of another."""
    is_asked = Q(provider=row.slug) | Q(fallbacks__provider=row.slug)
    if row.slug == provider_name():
        is_asked |= Q(provider="")
    return list(Assistant.objects.filter(is_asked).distinct())


def is_used(row: Connection) -> bool:
    """Whether it answers for an assistant or is the server's default, or a request was recorded of it, which can be rendered
    only while it is there."""
    recorded = ContextSnapshot.objects.filter(id__gte=lowest_uuid7(row.created_at), provider=row.slug)
    return row.slug == provider_name() or bool(assistants_of(row)) or recorded.exists()


def try_out(user: User, row: Connection) -> connection_trial.Trial:
    """Ask it for a word, and keep what came of it. The question costs whoever asks it. Raises ``RateLimited``."""
    charge = budgets.charge(
        row.slug,
        connection_trial.model_to_ask(row),
        input_tokens=connection_trial.QUESTION_TOKENS,
        output_tokens=connection_trial.ANSWER_TOKENS,
    )
    # A model has a price once it is listed, for which its connection is tried out first: a word without one costs nothing.
    charge = replace(charge, money=charge.money or 0)
    lasts = timedelta(seconds=3 * connection_trial.SECONDS)
    with allowances.reserved(user.pk, TokenReservation.Purpose.TRIAL, charge, lasts=lasts) as call:
        give_database_back()
        trial = connection_trial.try_out(row, call)
    trial = replace(trial, words=trial.words[: Connection._meta.get_field("test_result").max_length])
    Connection.objects.filter(pk=row.pk).update(
        tested_at=timezone.now(), is_working=trial.is_working, test_result=trial.words
    )
    return trial
