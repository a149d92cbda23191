"""The list of model requests as it is read page by page: from the newest on, whatever number of rows there is.

A page goes on after an id, so that the thousandth costs what the first one does. Nothing is counted that would have to be
read: a page says whether more follow, and the whole list how many PostgreSQL thinks there are.
"""

import calendar
import uuid
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db import connections, transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import cached_property
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from conversations.models import ContextSnapshot, Thread
from conversations.runtime import lagging
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.wording import filled
from conversations.staff import display
from conversations.staff.requests.by_request_id import replies_of
from conversations.upkeep.hourly_figures import CLOCKS, PLAIN

AFTER, BEFORE = "after", "before"
FEW = 10_000
"""So many rows are counted: it takes a few milliseconds."""
PERIODS = ("year", "month", "day")


@dataclass(frozen=True, kw_only=True)
class Period:
    """A choice of the date hierarchy, or the one that stands above."""

    title: str
    link: str = ""


class RequestChangeList(ChangeList):
    """Sorted by id alone, which is by time."""

    has_more = False
    has_newer = False
    after: uuid.UUID | None = None
    before: uuid.UUID | None = None

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.after, self.before = (_id(request.GET.get(name)) for name in (AFTER, BEFORE))
        super().__init__(request, *args, **kwargs)

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        lookups: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in lookups.items() if name not in (AFTER, BEFORE)}

    def get_filters(self, request: HttpRequest) -> tuple[Any, ...]:
        specs, has_filters, queryset, duplicates, has_active = super().get_filters(request)
        lookups: dict[str, Any] = dict(queryset)
        # The primary key is the only index by time.
        for name, margin in (("gte", -CLOCKS), ("lt", CLOCKS)):
            for at in lookups.get(f"created_at__{name}", []):
                lookups[f"id__{name}"] = [lowest_uuid7(at + margin)]
        return specs, has_filters, lookups, duplicates, has_active

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[ContextSnapshot]) -> list[Any]:
        return ["-id"]

    def get_results(self, request: HttpRequest) -> None:
        backwards = self.before is not None
        # Not joined: PostgreSQL would rather read all of the rare ones than walk back from the newest.
        queryset = self.queryset.select_related(None).prefetch_related("thread__user", "thread__assistant")
        if backwards:
            queryset = queryset.filter(id__gt=self.before).order_by("id")
        elif self.after:
            queryset = queryset.filter(id__lt=self.after)
        with transaction.atomic(using=lagging.alias()):
            # A plan for whatever value would walk the whole table for one that is rare.
            with connections[lagging.alias()].cursor() as cursor:
                cursor.execute(PLAIN)
            rows = list(queryset[: self.list_per_page + 1])
        further = len(rows) > self.list_per_page
        rows = rows[: self.list_per_page]
        self.result_list = rows[::-1] if backwards else rows
        self.has_more = backwards or further
        self.has_newer = further if backwards else self.after is not None
        self.result_count = self.full_result_count = len(rows)
        self.show_full_result_count = True
        self.show_admin_actions = bool(rows)
        self.can_show_all = self.multi_page = False
        self.paginator = self.model_admin.get_paginator(request, self.queryset, self.list_per_page)

    @property
    def rows(self) -> list[SafeString]:
        """The cells of each row as Django draws them. Django looks each column up anew for each row: twice the work."""
        columns = [(name, getattr(self.model_admin, name)) for name in map(str, self.list_display)]
        back = f"?{self.preserved_filters}" if self.preserved_filters else ""
        return [
            format_html_join("", "{}", ((self._cell(name, show(row), row, back),) for name, show in columns))
            for row in self.result_list
        ]

    def _cell(self, name: str, shown: object, row: ContextSnapshot, back: str) -> SafeString:
        if name == "action_checkbox":
            return format_html('<td class="action-checkbox">{}</td>', shown)
        if name in self.list_display_links:
            url = f"{display.change_url(ContextSnapshot, row.pk)}{back}"
            return format_html('<th class="field-{}"><a href="{}">{}</a></th>', name, url, shown)
        return format_html('<td class="field-{}">{}</td>', name, shown)

    @property
    def older_link(self) -> str:
        return self._page(AFTER, self.result_list[-1].pk) if self.has_more and self.result_list else ""

    @property
    def newer_link(self) -> str:
        return self._page(BEFORE, self.result_list[0].pk) if self.has_newer and self.result_list else ""

    @property
    def newest_link(self) -> str:
        return self.get_query_string(remove=[AFTER, BEFORE]) if self.after or self.before else ""

    def _page(self, name: str, pk: uuid.UUID) -> str:
        link: str = self.get_query_string({name: str(pk)}, remove=[AFTER, BEFORE])
        return link

    @property
    def how_many(self) -> str:
        """What can be said of the number of rows without reading them."""
        shown = len(self.result_list)
        if self.has_more or self.has_newer:
            return filled("{shown} on this page", shown=shown)
        return display.with_noun(shown, "model request")

    @cached_property
    def in_all(self) -> str:
        """How many rows the whole table has."""
        if not (self.has_more or self.has_newer) and not (self.query or self.has_active_filters):
            return ""
        count, is_exact = all_rows()
        return (
            filled("{count} in all", count=count)
            if is_exact
            else filled("about {count} in all, as PostgreSQL last estimated", count=count)
        )

    @cached_property
    def periods(self) -> dict[str, Any] | None:
        """The choices of the date hierarchy, from the first row to the last, whether a day between them has rows or not."""
        first, last = (self._edge(order) for order in ("id", "-id"))
        if first is None or last is None:
            return None
        year, month, day = (int(value) if value.isdigit() else None for value in map(self._chosen, PERIODS))
        if year and month and day:
            here = datetime(year, month, day)
            back = self._period(date_format(here, "YEAR_MONTH_FORMAT"), year, month)
            return {"back": back, "choices": [Period(title=date_format(here, "MONTH_DAY_FORMAT"))]}
        if year is None and first.year == last.year:
            year = last.year
            month = last.month if first.month == last.month else month
        if year and month:
            days = (date(year, month, day) for day in range(1, calendar.monthrange(year, month)[1] + 1))
            shown = [at for at in days if first.date() <= at <= last.date()]
            choices = [self._period(date_format(at, "MONTH_DAY_FORMAT"), year, month, at.day) for at in shown]
            return {"back": self._period(str(year), year), "choices": choices}
        if year:
            months = (date(year, month, 1) for month in range(1, 13))
            shown = [at for at in months if first.date().replace(day=1) <= at <= last.date()]
            choices = [self._period(date_format(at, "YEAR_MONTH_FORMAT"), year, at.month) for at in shown]
            return {"back": self._period(gettext("All dates")), "choices": choices}
        return {"back": None, "choices": [self._period(str(year), year) for year in range(first.year, last.year + 1)]}

    def _chosen(self, period: str) -> str:
        return self.params.get(f"created_at__{period}") or ""

    def _period(self, title: str, *chosen: int) -> Period:
        values = {f"created_at__{name}": value for name, value in zip(PERIODS, chosen, strict=False)}
        return Period(title=title, link=self.get_query_string(values, remove=["created_at__", AFTER, BEFORE]))

    def _edge(self, order: str) -> datetime | None:
        at = ContextSnapshot.objects.order_by(order).values_list("created_at", flat=True).first()
        return timezone.localtime(at) if at else None


def all_rows() -> tuple[int, bool]:
    """How many model requests there are; whether that is exact, or what the last analysis of each partition estimated."""
    with connections[lagging.alias()].cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT sum(greatest(reltuples, 0))::bigint FROM pg_inherits JOIN pg_class ON oid = inhrelid"
            " WHERE inhparent = 'conversations_contextsnapshot'::regclass),"
            " (SELECT count(*) FROM (SELECT FROM conversations_contextsnapshot LIMIT %s) AS few)",
            [FEW + 1],
        )
        estimated, counted = cursor.fetchone()
    return (counted, True) if counted <= FEW else (max(estimated, counted), False)


def searched(text: str) -> Q:
    """By the id of a model request, of a thread or of the HTTP request that asked for it, or by a user's name."""
    text = text.strip()
    if replies := replies_of(text):
        return Q(reply__in=replies)
    id = _id(text)
    if id:
        return Q(id=id) | Q(thread=id)
    threads = Thread.objects.filter(user__username__iexact=text)
    return Q(thread__in=threads.values("id"))


def _id(text: str | None) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        return None
