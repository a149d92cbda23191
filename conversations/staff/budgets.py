"""What groups and the whole server may use, and what is used of it."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Group
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext

from conversations.accounts import budget_use, budgets
from conversations.models import Assistant, Budget, Connection, GroupAccess, GroupManager, Model
from conversations.runtime.wording import filled
from conversations.staff.base import PageAdmin
from conversations.tools import registered

if TYPE_CHECKING:
    AccessBase = admin.StackedInline[GroupAccess, Group]
    ManagersBase = admin.TabularInline[GroupManager, Group]
    AccessModelForm = forms.ModelForm[GroupAccess]
else:
    AccessBase, ManagersBase, AccessModelForm = admin.StackedInline, admin.TabularInline, forms.ModelForm

LIMITS = ("tokens_day", "tokens_month", "money_day", "money_month")


class ManagersInline(ManagersBase):
    """Who sees what the group's members use, in sums."""

    model = GroupManager
    fields = ["user"]
    autocomplete_fields = ["user"]
    extra = 0


def assistants() -> list[tuple[str, str]]:
    return [(each.slug, each.name) for each in Assistant.objects.order_by("name")]


def models() -> list[tuple[str, str]]:
    return [(f"{each.provider}/{each.name}", f"{each} ({each.provider})") for each in Model.objects.all()]


def connections() -> list[tuple[str, str]]:
    return [(each.slug, each.label) for each in Connection.objects.all()]


def tools() -> list[tuple[str, str]]:
    return [(name, name) for name in sorted(registered())]


class AccessForm(AccessModelForm):
    """Lists of what there is; what is there no more stays ticked until somebody takes it away."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, offered in (
            ("assistants", assistants),
            ("models", models),
            ("connections", connections),
            ("tools", tools),
        ):
            choices = offered()
            gone = [(value, value) for value in getattr(self.instance, name) if value not in dict(choices)]
            self.fields[name] = forms.MultipleChoiceField(
                label=capfirst(gettext(name)),
                choices=[*choices, *gone],
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=gettext("None ticked: all.") if choices or gone else gettext("None yet."),
            )


class AccessInline(AccessBase):
    """What members of the group may choose. Whoever is in several groups may what any of them allows."""

    model = GroupAccess
    form = AccessForm
    fields = ["assistants", "models", "connections", "tools", ("sharing", "uploads", "temporary_chats", "export")]
    extra = 0


@admin.register(Budget)
class BudgetAdmin(PageAdmin[Budget]):
    list_display = ["whose", "today", "this_month"]
    list_select_related = ["group"]
    fieldsets = [
        (None, {"fields": ["group", "used"]}),
        ("Together", {"fields": LIMITS, "description": "Empty: no limit. 0: nothing may be used."}),
        ("Each person", {"fields": tuple(f"member_{name}" for name in LIMITS)}),
    ]
    readonly_fields = ["used"]
    actions = None
    empty_text = "No budgets. Add one for a group, or without a group for the whole server."

    def get_readonly_fields(self, request: HttpRequest, obj: Budget | None = None) -> list[str]:
        return ["used", "group"] if obj else ["used"]

    @admin.display(description="budget")
    def whose(self, budget: Budget) -> str:
        return budget.group.name if budget.group else gettext("The whole server")

    @admin.display(description="used today")
    def today(self, budget: Budget) -> str:
        return _used(budget, "day")

    @admin.display(description="used this month")
    def this_month(self, budget: Budget) -> str:
        return _used(budget, "month")

    @admin.display(description="now")
    def used(self, budget: Budget) -> SafeString | str:
        if not budget.pk:
            return ""
        lines = [
            filled("today: {used}", used=_used(budget, "day")),
            filled("this month: {used}", used=_used(budget, "month")),
        ]
        who = format_html('<a href="{}">{}</a>', reverse("budget", args=[budget.pk]), gettext("Who used it, and when"))
        return format_html_join("", "<div>{}</div>", ((line,) for line in [*lines, who]))


def _used(budget: Budget, period: str) -> str:
    return budget_use.in_words(budgets.use_in(budget, budget.pools.filter(user=None).first()), period)
