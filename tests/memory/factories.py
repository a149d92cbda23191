"""Rows of memory for tests."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from conversations.models import Thread
from memory.models import DailySummary, Memory, Preferences, ThreadSummary, Topic
from memory.tags import user_tag


def make_preferences(user: User, **values: Any) -> Preferences:
    return Preferences.objects.create(user=user, **values)


def make_memory(user: User, content: str = "Ada lives in Hamburg.", **values: Any) -> Memory:
    values = {"tags": [user_tag(user.pk)], "created_at": timezone.now()} | values
    values = {"said_at": values["created_at"]} | values
    return Memory.objects.create(user=user, content=content, **values)


def make_daily_summary(user: User, day: str, text: str = "Ada planned her week.", **values: Any) -> DailySummary:
    values = {"updated_at": timezone.now()} | values
    return DailySummary.objects.create(user=user, day=day, text=text, **values)


def make_topic(user: User, title: str = "The trip to Lisbon", **values: Any) -> Topic:
    values = {"opened_at": timezone.now()} | values
    return Topic.objects.create(user=user, title=title, **values)


def make_thread_summary(
    thread: Thread, ended_at: datetime, text: str = "Lisbon or Porto.", **values: Any
) -> ThreadSummary:
    last = thread.last_position or 1
    values = {"started_at": ended_at, "made_at": ended_at, "first_position": 1, "last_position": last} | values
    return ThreadSummary.objects.create(thread=thread, user=thread.user, text=text, ended_at=ended_at, **values)
