"""The checks themselves: one interface, and one implementation for each kind of moderator."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol, TypedDict

import httpx2
from django.conf import settings

from conversations.accounts import allowances, budgets
from conversations.context.tokens.estimate import estimate_tokens
from conversations.errors import RateLimited
from conversations.models import Moderator, Stage, TokenReservation
from conversations.moderation import patterns
from conversations.moderation.verdicts import Opinion
from conversations.providers import ProviderError, get_provider
from conversations.providers.base import ModelCall, moderate
from conversations.providers.signatures import signature_headers
from conversations.runtime.db import in_database
from conversations.runtime.text import clean

CATEGORY = re.compile(r"[A-Za-z0-9][\w /.:-]{0,79}", re.ASCII)
"""The name of a category, which is recorded: a service must not repeat what somebody wrote."""
PIECE_CHARS = 30_000
"""Moderation models take so much at once."""
PICTURE_TOKENS = 1_600
"""What a picture counts at most, as models count them that say so."""
LARGEST_ANSWER = 64 * 1024
"""Bytes that a service may answer with."""


class CheckFailed(Exception):
    """The check could not be made. Its text says why, for staff, without a secret or a word of what was examined."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Examined:
    """A text at a stage, with whose it is. ``text`` is empty only where there are ``pictures``, as addresses that hold them
    (``data:``)."""

    stage: Stage
    text: str
    pictures: Sequence[str] = ()
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
    """By a service that has OpenAI's ``POST /moderations``: a long text in pieces, then pictures, until something is seen."""
    pictures = examined.pictures if moderator.sees_pictures else ()
    try:
        provider = await in_database(get_provider)(moderator.provider or "openai")
        for text, picture in [*((piece, "") for piece in pieces_of(examined.text)), *(("", each) for each in pictures)]:
            tokens = estimate_tokens(text) if text else PICTURE_TOKENS
            async with _reserved(examined.user_id, provider.name, moderator, tokens) as call:
                categories = await moderate(provider, moderator.model, text, picture, call, seconds=moderator.seconds)
            if categories:
                return Opinion(labels=tuple(categories))
    except ProviderError as error:
        raise CheckFailed(error.message) from None
    except RateLimited as error:
        raise CheckFailed(f"It was not asked: the person's limits leave no room for it ({error.code}).") from None
    return Opinion()


@asynccontextmanager
async def _reserved(user_id: int, provider: str, moderator: Moderator, tokens: int) -> AsyncIterator[ModelCall]:
    """A call of the model, whose tokens are set aside until it has ended. It costs what its price says, and nothing where it
    has none. Raises ``RateLimited``."""
    charge = await in_database(budgets.charge)(provider, moderator.model, input_tokens=tokens, output_tokens=0)
    charge = replace(charge, money=charge.money or 0)
    lasts = timedelta(seconds=3 * moderator.seconds)
    reserve = in_database(allowances.reserve)
    call = ModelCall(reservation=await reserve(user_id, TokenReservation.Purpose.MODERATION, charge, lasts=lasts))
    try:
        yield call
    finally:
        await asyncio.shield(in_database(allowances.settle)(user_id, call))


def pieces_of(text: str) -> list[str]:
    return [text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)]


async def by_webhook(moderator: Moderator, examined: Examined) -> Opinion:
    """By POST; the answer is ``{"action": "allow" | "mark" | "refuse", "labels": [...], "message": "for the person"}``."""
    from conversations.providers.http_client import open_client  # noqa: PLC0415  (slow)

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
