"""The checks themselves: one interface, and one implementation for each kind of moderator."""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypedDict

import httpx2
from django.conf import settings

from conversations.models import Moderator, Stage
from conversations.moderation import patterns
from conversations.moderation.verdicts import Opinion
from conversations.providers import ProviderError, get_provider
from conversations.providers.http_client import open_client
from conversations.providers.signatures import signature_headers
from conversations.runtime.db import in_database
from conversations.runtime.text import clean

CATEGORY = re.compile(r"[A-Za-z0-9][\w /.:-]{0,79}", re.ASCII)
"""The name of a category, which is recorded: a service must not repeat what somebody wrote."""
LARGEST_ANSWER = 64 * 1024
"""Bytes that a service may answer with."""


class CheckFailed(Exception):
    """The check could not be made. Its text says why, for staff, without a secret or a word of what was examined."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """A text at a stage, with whose it is. ``text`` is never empty."""

    stage: Stage
    text: str
    user_id: int
    thread_id: str
    reply_id: str
    assistant: str


class Check(Protocol):
    async def __call__(self, moderator: Moderator, examined: Examined) -> Opinion:
        """Raises ``CheckFailed``; may take as long as it likes, as whoever asks stops it in time."""


class WebhookRequest(TypedDict):
    """What a service of one's own is sent, as JSON by POST."""

    stage: str
    text: str
    user: int
    thread: str
    reply: str
    assistant: str


async def by_patterns(moderator: Moderator, examined: Examined) -> Opinion:
    try:
        return await asyncio.to_thread(patterns.opinion_of, moderator.patterns, examined.text)
    except patterns.InvalidPattern as error:
        raise CheckFailed(str(error)) from None


async def by_model(moderator: Moderator, examined: Examined) -> Opinion:
    """By a service that has OpenAI's ``POST /moderations``."""
    try:
        provider = await in_database(get_provider)(moderator.provider or "openai")
        categories = await provider.moderate(moderator.model, examined.text, seconds=moderator.seconds)
    except ProviderError as error:
        raise CheckFailed(error.message) from None
    return Opinion(labels=tuple(categories))


async def by_webhook(moderator: Moderator, examined: Examined) -> Opinion:
    """By POST; the answer is ``{"action": "allow" | "mark" | "refuse", "labels": [...], "message": "for the person"}``."""
    body = json.dumps(_request(examined)).encode()
    client = open_client(settings.OPENBOOK_INNER_NETWORKS, connect_seconds=moderator.seconds)
    try:
        headers = {"Content-Type": "application/json", **signature_headers(body, settings.OPENBOOK_MODERATION_SECRET)}
        async with client, client.stream("POST", moderator.url, content=body, headers=headers) as response:
            if response.status_code != 200:
                raise CheckFailed(f"It answered with the status {response.status_code} in place of 200.")
            answer = await _limited(response)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise CheckFailed(f"It can't be reached ({type(error).__name__}).") from None
    return parse_answer(answer)


def parse_answer(answer: bytes) -> Opinion:
    """Raises ``CheckFailed``."""
    try:
        match json.loads(answer):
            case {"action": "allow"}:
                return Opinion()
            case {"action": "mark" | "refuse" as action, **rest}:
                labels = rest.get("labels") or [action]
                words = rest.get("message") or ""
                if not (isinstance(words, str) and isinstance(labels, list)) or not all(
                    isinstance(label, str) for label in labels
                ):
                    raise CheckFailed("Its answer holds labels or a message that are no texts.")
                named = tuple(label if CATEGORY.fullmatch(label) else "unnamed" for label in labels)
                return Opinion(labels=named, refuses=action == "refuse", words=clean(words)[:300])
    except (ValueError, RecursionError):
        raise CheckFailed("Its answer is no JSON.") from None
    raise CheckFailed('Its answer has no "action" of "allow", "mark" or "refuse".')


def _request(examined: Examined) -> WebhookRequest:
    return {
        "stage": examined.stage.value,
        "text": examined.text,
        "user": examined.user_id,
        "thread": examined.thread_id,
        "reply": examined.reply_id,
        "assistant": examined.assistant,
    }


async def _limited(response: httpx2.Response) -> bytes:
    read = b""
    async for piece in response.aiter_bytes():
        read += piece
        if len(read) > LARGEST_ANSWER:
            raise CheckFailed(f"Its answer is longer than {LARGEST_ANSWER // 1024} KB.")
    return read


CHECKS: Mapping[str, Check] = {
    Moderator.Kind.PATTERNS: by_patterns,
    Moderator.Kind.MODEL: by_model,
    Moderator.Kind.WEBHOOK: by_webhook,
}
