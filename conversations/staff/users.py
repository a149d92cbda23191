from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin import ActionLocation
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.forms.widgets import Script
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations import audit
from conversations.accounts import (
    allowances,
    budget_use,
    budgets,
    deactivation,
    letters,
    lifecycle,
    mailing,
    rights,
    second_factors,
    service_accounts,
)
from conversations.accounts.groups import GROUPS
from conversations.accounts.limits import FILES, by_default
from conversations.accounts.passwords import NO_PASSWORDS
from conversations.models import ApiToken, Budget, ContentAccess, File, GroupSignIn, Thread, UserLimits
from conversations.runtime.wording import counted, filled, lazy, number
from conversations.staff import access, deletion_counts, display
from conversations.staff.base import STYLES, OfferedLookups, column
from conversations.staff.budgets import AccessInline, ManagersInline
from conversations.staff.uses import added_url
from conversations.threads import deletion
from conversations.web.token_revocation import RevokesTokens
from memory.models import Consolidation, DailySummary, Memory, Topic

BOXES: Any = [Script("conversations/admin/boxes.js", type="module")]  # the stubs know of addresses only

if TYPE_CHECKING:
    BaseAdmin = DjangoUserAdmin[User]
    BaseGroupAdmin = DjangoGroupAdmin
    BasePasswordForm = AdminPasswordChangeForm[User]
    BaseNewUserForm = AdminUserCreationForm[User]
    BaseInline = admin.StackedInline[UserLimits, User]
    BaseSignInInline = admin.StackedInline[GroupSignIn, Group]
else:
    BaseSignInInline = admin.StackedInline
    BaseAdmin, BaseGroupAdmin, BasePasswordForm = DjangoUserAdmin, DjangoGroupAdmin, AdminPasswordChangeForm
    BaseInline, BaseNewUserForm = admin.StackedInline, AdminUserCreationForm

admin.site.unregister(
    [Group, User, EmailAddress, UserSession, Authenticator]
)  # a mail address is the user's; nobody sees where others are signed in, or by what


SIGN_IN = ContentAccess.Action.SIGN_IN
NOT_AS_THEM = lazy(
    "Only a superuser may do so for staff, and for whoever may more than you do: one could sign in as them."
)


PASSWORD_FIELDS = ("usable_password", "password1", "password2")
NO_SIGN_IN = lazy("This is a service account: nobody signs in with it. Make a token on its page.")


class LimitsInline(BaseInline):
    """What this user may use, and uses today."""

    model = UserLimits
    can_delete = False
    fields = ["requests_minute", "running_replies", "tokens_day", "files_mb", "used"]
    readonly_fields = ["used"]

    def get_formset(self, request: HttpRequest, obj: User | None = None, **kwargs: Any) -> Any:
        formset = super().get_formset(request, obj, **kwargs)
        for name, default in {**asdict(by_default()), FILES: settings.OPENBOOK_LIMIT_FILES_MB}.items():
            if name in formset.form.base_fields:
                words = number(default) if default else gettext("no limit")
                formset.form.base_fields[name].help_text = filled(
                    "Empty: as in the settings, {words}. 0: no limit.", words=words
                )
        return formset

    @admin.display(description="now")
    def used(self, limits: UserLimits) -> str:
        use, noted = allowances.use_of(limits.user_id), allowances.spent_on_notes(limits.user_id)
        running = counted("{count} reply", "{count} replies", use.running)
        return filled(
            "{running} running; today {spent} tokens used ({noted} for notes), {reserved} set aside",
            running=running,
            spent=use.spent,
            noted=noted,
            reserved=use.reserved,
        )


class LeavingFilter(admin.SimpleListFilter):
    title = "deletion"
    parameter_name = "leaving"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", gettext("asked for")), ("no", gettext("not asked for"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        return queryset.filter(deletion__isnull=self.value() == "no") if self.value() in {"yes", "no"} else queryset


class PasswordForm(RevokesTokens, BasePasswordForm):  # type: ignore[misc]  # each says whose it is
    """Django's own, for somebody else, who is told of it."""

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        mailing.notify(user, "password_by_staff")
        return user


class NewUserForm(BaseNewUserForm):
    """Django's own; without a password where nobody signs in by one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.OPENBOOK_PASSWORD_SIGN_IN:
            for name in PASSWORD_FIELDS:
                del self.fields[name]

    def validate_passwords(self, *args: Any, **kwargs: Any) -> None:
        if settings.OPENBOOK_PASSWORD_SIGN_IN:
            super().validate_passwords(*args, **kwargs)
        else:
            self.cleaned_data["set_usable_password"] = False


@admin.register(User)
class UserAdmin(OfferedLookups[User], BaseAdmin):
    """Django's own, with the way to a user's threads and with a delete that takes them along. Nobody changes who may more
    than they do, or makes more of anybody than they are."""

    list_display = ["username", "leaves", "threads", "is_active", "is_staff", "seen", "joined", "email"]
    list_filter = [*DjangoUserAdmin.list_filter, LeavingFilter]
    list_select_related = ["deletion"]
    fieldsets = [
        (None, {"fields": ["username", "password", "threads", "memories", "goes"]}),
        *(DjangoUserAdmin.fieldsets or [])[1:],
    ]
    readonly_fields = ["threads", "memories", "goes"]
    inlines = [LimitsInline]
    add_form = NewUserForm
    change_password_form = PasswordForm
    change_user_password_template = "admin/conversations/change_password.html"  # noqa: S105  # no password
    actions = ["link_for_password", "remove_second_factors"]

    joined = column("joined", "date_joined", display.when, sort="date_joined")
    seen = column("last sign-in", "last_login", display.when, sort="last_login")

    def get_urls(self) -> list[URLPattern]:
        return [added_url(self), *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        if obj is None and not settings.OPENBOOK_PASSWORD_SIGN_IN:
            return [(None, {"classes": ["wide"], "fields": ["username"]})]
        return super().get_fieldsets(request, obj)

    def _only_one(self, request: HttpRequest, queryset: QuerySet[User], otherwise: str) -> User | None:
        """The one user that was chosen; with none or several, ``None``, and staff are told."""
        people = list(queryset[:2])
        if len(people) == 1:
            return people[0]
        self.message_user(request, otherwise, messages.ERROR)
        return None

    @admin.action(
        permissions=["change"],
        description="Make a link for a new password",
        description_plural="Make a link for a new password",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def link_for_password(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        """For people who have forgotten theirs where no mail is set up. Shown in the answer itself, and nowhere else."""
        user = self._only_one(request, queryset, gettext("Choose one user: a link is for one."))
        if user is None:
            return None
        if service_accounts.is_service(user):
            self.message_user(request, NO_SIGN_IN, messages.ERROR)
            return None
        if not settings.OPENBOOK_PASSWORD_SIGN_IN:
            self.message_user(request, gettext(NO_PASSWORDS), messages.ERROR)
            return None
        if not rights.may_sign_in_as(request.user, user):
            self.message_user(request, NOT_AS_THEM, messages.ERROR)
            return None
        self._could_sign_in(request, user, "Made a link for a new password.")
        self.log_change(request, user, "Made a link for a new password.")
        audit.record(audit.AuditKind.PASSWORD_LINK_MADE, target=user)
        link = letters.password_link(user)
        context = self.admin_site.each_context(request) | {
            "title": gettext("A link for a new password"),
            "person": user,
            "link": link,
        }
        response = TemplateResponse(request, "admin/conversations/password_link.html", context)
        add_never_cache_headers(response)
        return response

    @admin.action(
        permissions=["change"],
        description="Remove a lost second factor",
        description_plural="Remove a lost second factor",
        location=[ActionLocation.CHANGE_LIST, ActionLocation.CHANGE_FORM],
    )
    def remove_second_factors(self, request: HttpRequest, queryset: QuerySet[User]) -> HttpResponse | None:
        """Of one person, who is told of it: asks first. Whoever is signed in as them is signed out."""
        user = self._only_one(request, queryset, gettext("Choose one user: it is about the factors of one."))
        if user is None:
            return None
        if not rights.may_sign_in_as(request.user, user):
            self.message_user(request, NOT_AS_THEM, messages.ERROR)
            return None
        factors = list(second_factors.of(user).exclude(type=second_factors.RECOVERY_CODES))
        if not factors:
            self.message_user(request, gettext("They have no second factor."), messages.ERROR)
            return None
        if "confirmed" not in request.POST:
            context = self.admin_site.each_context(request) | {
                "title": gettext("Remove a lost second factor"),
                "person": user,
                "factors": factors,
                "sent": [(name, value) for name in request.POST for value in request.POST.getlist(name)],
            }
            return TemplateResponse(request, "admin/conversations/remove_factors.html", context)
        with transaction.atomic():
            second_factors.remove_all(user)
            lifecycle.sign_out(UserSession.objects.filter(user=user))
            self._could_sign_in(request, user, "Removed the second factor.")
            self.log_change(request, user, "Removed the second factor.")
            audit.record(
                audit.AuditKind.SECOND_FACTOR_REMOVED,
                actor=audit.actor_of(request),
                target=user,
                details={"factors": len(factors)},
            )
            mailing.notify(user, "factors_removed")
        self.message_user(request, gettext("Their second factor is removed, and they are signed out."))
        return None

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or rights.may_manage(request.user, obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and (obj is None or rights.may_manage(request.user, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        mine = [] if request.user.is_superuser else ["is_superuser"]
        theirs = [] if obj is None or rights.may_sign_in_as(request.user, obj) else ["email"]
        return [*self.readonly_fields, *mine, *theirs]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        grantable = {"groups": rights.grantable_groups, "user_permissions": rights.grantable_permissions}
        if db_field.name in grantable:
            kwargs["queryset"] = grantable[db_field.name](request.user)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        if change and "email" in form.changed_data:
            self._could_sign_in(request, obj, "Changed the mail address, to which links for a new password go.")
        super().save_model(request, obj, form, change)
        if change and "is_active" in form.changed_data and not obj.is_active:
            deactivation.end_access(obj)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """One's own is changed where the old one is asked for."""
        if not settings.OPENBOOK_PASSWORD_SIGN_IN:
            raise PermissionDenied(gettext(NO_PASSWORDS))
        user = self.get_object(request, unquote(id))
        if user == request.user and self.has_change_permission(request, user):
            return redirect("account_change_password")
        if user and service_accounts.is_service(user):
            raise PermissionDenied(NO_SIGN_IN)
        if user and not rights.may_sign_in_as(request.user, user):
            raise PermissionDenied(NOT_AS_THEM)
        # Before it is set, as no transaction lasts while a password is hashed.
        if user and request.method == "POST" and self.change_password_form(user, request.POST).is_valid():
            self._could_sign_in(request, user, "Set a new password.")
        return super().user_change_password(request, id, form_url)

    def _could_sign_in(self, request: HttpRequest, user: User, how: str) -> None:
        """The person is told, as of any access to what they wrote."""
        if user != request.user:
            access.record(request, user=user.pk, what="account", object_id=user.pk, reason=how, action=SIGN_IN)

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        return self.inlines if obj else []

    class Media:
        css = STYLES
        js = BOXES

    @admin.display(description="is to go", ordering="deletion__due_at")
    def leaves(self, user: User) -> SafeString | str:
        return display.when(user.deletion.due_at if hasattr(user, "deletion") else None)

    @admin.display(description="deletion")
    def goes(self, user: User) -> str:
        if not hasattr(user, "deletion"):
            return gettext("Not asked for.")
        asked_at, due_at = (display.moment(at) for at in (user.deletion.asked_at, user.deletion.due_at))
        return filled(
            "Asked to be deleted on {asked_at}, goes on {due_at}. Whoever signs in before can keep the account.",
            asked_at=asked_at,
            due_at=due_at,
        )

    @admin.display
    def threads(self, user: User) -> SafeString:
        return display.list_link(Thread, gettext("their threads"), user__id__exact=user.pk)

    @admin.display
    def memories(self, user: User) -> SafeString | str:
        about = {"user__id__exact": user.pk}
        lists = [
            (Memory, gettext("memories")),
            (DailySummary, gettext("days")),
            (Topic, gettext("topics")),
            (Consolidation, gettext("consolidation")),
        ]
        links = [display.list_link(model, name, **about) for model, name in lists]
        added = reverse("admin:auth_user_added", args=[user.pk])
        links.append(format_html('<a href="{}">{}</a>', added, gettext("What would it have known if …")))
        return display.links(links)

    def get_deleted_objects(
        self, objs: Iterable[User], request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        users = list(objs)
        counts = deletion_counts.goes_with(Thread.objects.filter(user__in=users))
        files, tokens = (rows.objects.filter(user__in=users).count() for rows in (File, ApiToken))
        counts = {"users": len(users), **counts, "files": files, "API tokens": tokens}
        missing = set()
        if counts["threads"] and not request.user.has_perm("conversations.delete_thread"):
            missing.add("thread")
        if not all(self.has_delete_permission(request, user) for user in users):
            missing.add("user")
        return [display.link(User, user.pk, user) for user in users], counts, missing, []

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        deletion.delete_user(obj)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            deletion.delete_user(user)


def _refuse_shipped_name(name: str) -> None:
    if name in GROUPS:
        raise ValidationError(
            gettext("`migrate` gives a group of this name its rights: only a superuser may make one.")
        )


class SignInInline(BaseSignInInline):
    """How members sign in. Whoever may change the group may."""

    model = GroupSignIn
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return self._may_change(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return self._may_change(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return request.user.has_perm("auth.view_group") or self._may_change(request, obj)

    def _may_change(self, request: HttpRequest, group: Group | None) -> bool:
        return request.user.has_perm("auth.change_group") and (
            group is None or rights.may_manage_group(request.user, group)
        )


@admin.register(Group)
class GroupAdmin(OfferedLookups[Group], BaseGroupAdmin):
    """Django's own. To change a group is to give its permissions to whoever is in it."""

    list_display = ["name", "members", "managed_by"]
    inlines = [SignInInline, ManagersInline, AccessInline]

    class Media:
        css = STYLES
        js = BOXES

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        rows = super().get_queryset(request).annotate(member_count=Count("user"))
        return rows.prefetch_related("managers__user")

    def get_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        linked = {"members": "auth.view_user", "use": "conversations.view_budget"} if obj else {}
        return ["name", *(name for name, right in linked.items() if request.user.has_perm(right)), "permissions"]

    @admin.display(ordering="member_count")
    def members(self, group: Any) -> SafeString:
        return display.list_link(User, display.number(group.member_count), groups__id__exact=group.pk)

    @admin.display(description="managers")
    def managed_by(self, group: Group) -> str:
        return ", ".join(each.user.get_username() for each in group.managers.all()) or display.NOTHING

    @admin.display(description="budget")
    def use(self, group: Group) -> SafeString:
        budget = Budget.objects.filter(group=group).first()
        if budget is None:
            return format_html('<a href="{}">{}</a>', reverse("admin:conversations_budget_add"), gettext("Add one"))
        use = budgets.use_in(budget, budget.pools.filter(user=None).first())
        return display.link(Budget, budget.pk, budget_use.in_words(use, "month"))

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        may = obj is None or rights.may_manage_group(request.user, obj)
        return super().has_change_permission(request, obj) and may

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        may = obj is None or rights.may_manage_group(request.user, obj)
        return super().has_delete_permission(request, obj) and may

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> list[str]:
        named = ["name"] if obj and obj.name in GROUPS and not request.user.is_superuser else []
        return [*named, "members", "use"]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if db_field.name == "name" and field and not request.user.is_superuser:
            field.validators.append(_refuse_shipped_name)
        return field

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any) -> Any:
        if request and db_field.name == "permissions":
            kwargs["queryset"] = rights.grantable_permissions(request.user)
        return super().formfield_for_manytomany(db_field, request, **kwargs)
